"""States encrypted with keys of services, read and written by both programs, also from far away."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.backends.world.moto import KEYS, Moto, running
from tests.backends.world.state_server import StateServer
from tests.real.stored_beside import WORDS, Shared
from tests.state.key_services import GOOGLE_KEY, VAULT, FakeBao, FakeGoogleKms, FakeVault

pytestmark = pytest.mark.real

ENCRYPTION: Final = """
terraform {
  encryption {
%s
    method "aes_gcm" "m" { keys = key_provider.%s }
    state {
      method   = method.aes_gcm.m
      enforced = true
    }
    remote_state_data_sources {
      default { method = method.aes_gcm.m }
    }
  }
}
"""


def _provider(kind: str, body: str, name: str = "k") -> str:
    return f'key_provider "{kind}" "{name}" {{\n{body}\n}}\n'


_MORE: Final = {
    "aws_kms": 'encryption_context = { team = "platform" }',
    "gcp_kms": 'additional_authenticated_data = "bmlnYXJp"',
    "openbao": 'associated_data = "bmlnYXJp"',
}
"""The arguments of OpenTofu 1.13."""


def _aws_key(moto: Moto) -> str:
    created = moto.call("TrentService.CreateKey", {})["KeyMetadata"]
    assert isinstance(created, dict)
    body = f'kms_key_id = "{created["KeyId"]}"\nkey_spec = "AES_256"'
    return f"{body}\nskip_credentials_validation = true\nskip_requesting_account_id = true"


@contextmanager
def aws_kms(path: Path) -> Iterator[Shared]:
    with running() as moto:
        environ = {**KEYS, "AWS_ENDPOINT_URL": moto.url}
        block = ENCRYPTION % (_provider("aws_kms", _aws_key(moto)), "aws_kms.k")
        yield Shared(path, block, environ)


@contextmanager
def azure_vault(path: Path) -> Iterator[Shared]:
    with FakeVault(path) as vault:
        body = f'vault_uri = "https://{VAULT}"\nvault_key_name = "k"\nkey_length = 32'
        block = ENCRYPTION % (_provider("azure_vault", body), "azure_vault.k")
        yield Shared(path, block, vault.environ)


@contextmanager
def openbao(path: Path) -> Iterator[Shared]:
    with FakeBao() as bao:
        environ = {"BAO_ADDR": bao.url, "BAO_TOKEN": "root"}
        block = ENCRYPTION % (_provider("openbao", 'key_name = "k"'), "openbao.k")
        yield Shared(path, block, environ)


class WithGoogle(Shared):
    """OpenTofu speaks gRPC with the service, and we do not."""

    def __init__(self, path: Path, block: str, kms: FakeGoogleKms) -> None:
        super().__init__(path, block, kms.environ)
        self._kms = kms

    def tofu(self, directory: Path, *arguments: str) -> tuple[int, str]:
        self._kms.speak(is_grpc=True)
        return super().tofu(directory, *arguments)

    def ours(self, directory: Path, *arguments: str) -> tuple[int, str]:
        self._kms.speak(is_grpc=False)
        return super().ours(directory, *arguments)


@contextmanager
def gcp_kms(path: Path) -> Iterator[Shared]:
    with FakeGoogleKms(path) as kms:
        body = f'kms_encryption_key = "{GOOGLE_KEY}"\nkey_length = 32'
        block = ENCRYPTION % (_provider("gcp_kms", body), "gcp_kms.k")
        yield WithGoogle(path, block, kms)


@contextmanager
def chained(path: Path) -> Iterator[Shared]:
    """A passphrase from a service, and the state on a server."""
    with FakeBao() as bao, StateServer() as server:
        keys = _provider("openbao", 'key_name = "k"')
        keys += _provider("pbkdf2", "chain = key_provider.openbao.k", "p")
        environ = {"BAO_ADDR": bao.url, "BAO_TOKEN": "root"}
        yield Shared(path, ENCRYPTION % (keys, "pbkdf2.p") + server.block(), environ)


@contextmanager
def in_s3(path: Path) -> Iterator[Shared]:
    with running() as moto:
        environ = {**KEYS, "AWS_ENDPOINT_URL": moto.url}
        block = ENCRYPTION % (_provider("aws_kms", _aws_key(moto)), "aws_kms.k")
        yield Shared(path, block + moto.block(moto.bucket(), use_lockfile=True), environ)


KINDS: Final[Mapping[str, Callable[[Path], AbstractContextManager[Shared]]]] = {
    "aws_kms": aws_kms,
    "aws_kms and s3": in_s3,
    "azure_vault": azure_vault,
    "chain and http": chained,
    "gcp_kms": gcp_kms,
    "openbao": openbao,
}


def done(result: tuple[int, str]) -> str:
    code, output = result
    assert code == 0, output
    return output


@pytest.mark.parametrize("kind", KINDS)
def test_each_reads_what_the_other_wrote(kind: str, tmp_path: Path) -> None:
    with KINDS[kind](tmp_path) as shared:
        work = shared.directory("work", WORDS)
        is_local = 'backend "' not in shared.block
        done(shared.tofu(work, "init"))
        done(shared.tofu(work, "apply", "-auto-approve"))
        assert not is_local or "encrypted_data" in (work / "terraform.tfstate").read_text()
        assert done(shared.ours(work, "output", "-raw", "word")) == "one"
        done(shared.ours(work, "apply", "-auto-approve", "-var", "word=two"))
        assert not is_local or "encrypted_data" in (work / "terraform.tfstate").read_text()
        assert done(shared.tofu(work, "output", "-raw", "word")) == "two"
        assert "No changes" in done(shared.tofu(work, "plan", "-var", "word=two"))


@pytest.mark.parametrize("kind", _MORE)
def test_associated_data(kind: str, tmp_path: Path) -> None:
    """What OpenTofu 1.13 binds to the key, each program gives back, and none does without it."""
    with KINDS[kind](tmp_path) as shared:
        shared.peer = "tofu-1.13"
        header = f'key_provider "{kind}" "k" {{'
        plain = shared.block
        shared.block = plain.replace(header, f"{header}\n{_MORE[kind]}")
        work = shared.directory("work", WORDS)
        done(shared.tofu(work, "init"))
        done(shared.tofu(work, "apply", "-auto-approve"))
        assert done(shared.ours(work, "output", "-raw", "word")) == "one"
        done(shared.ours(work, "apply", "-auto-approve", "-var", "word=two"))
        assert done(shared.tofu(work, "output", "-raw", "word")) == "two"
        (work / "backend.tf").write_text(plain)
        is_needed = kind == "gcp_kms"
        # The others store it beside the key.
        for run in (shared.ours, shared.tofu):
            assert (run(work, "output", "-raw", "word")[0] != 0) is is_needed


READER: Final = """
data "terraform_remote_state" "other" {
  backend = "local"
  config  = { path = "../written/terraform.tfstate" }
}
output "seen" { value = data.terraform_remote_state.other.outputs.word }
"""


@pytest.mark.parametrize("kind", ["aws_kms", "gcp_kms", "openbao"])
def test_remote_states(kind: str, tmp_path: Path) -> None:
    """A data source has the key of the state that it reads."""
    with KINDS[kind](tmp_path) as shared:
        work, reader = shared.directory("written", WORDS), shared.directory("reader", READER)
        done(shared.tofu(work, "init"))
        done(shared.tofu(work, "apply", "-auto-approve"))
        for run in (shared.ours, shared.tofu):
            done(run(reader, "init"))
            done(run(reader, "apply", "-auto-approve"))
            assert done(run(reader, "output", "-raw", "seen")) == "one"


ROTATION: Final = """
terraform {
  encryption {
    key_provider "openbao" "old" { key_name = "k" }
%s
    method "aes_gcm" "old" { keys = key_provider.openbao.old }
    method "aes_gcm" "new" { keys = key_provider.aws_kms.new }
    state {
      method = method.aes_gcm.%s
      %s
    }
  }
}
"""


@pytest.mark.parametrize("by", ["tofu", "ours"])
def test_a_new_key_takes_the_place_of_an_old_one(by: str, tmp_path: Path) -> None:
    """What a fallback decrypts is encrypted anew by the next apply, though nothing has changed."""
    with FakeBao() as bao, running() as moto, StateServer() as server:
        environ = {**KEYS, "AWS_ENDPOINT_URL": moto.url, "BAO_ADDR": bao.url, "BAO_TOKEN": "root"}
        new = _provider("aws_kms", _aws_key(moto), "new")
        shared = Shared(tmp_path, "", environ)
        work = shared.directory("work", WORDS)
        run, other = (shared.tofu, shared.ours) if by == "tofu" else (shared.ours, shared.tofu)

        def encrypted(method: str, fallback: str = "") -> None:
            more = f"fallback {{ method = method.aes_gcm.{fallback} }}" if fallback else ""
            block = ROTATION % (new, method, more) + server.block()
            (work / "backend.tf").write_text(block)

        encrypted("old")
        done(other(work, "init"))
        done(other(work, "apply", "-auto-approve"))
        encrypted("new")
        assert run(work, "plan")[0] == 1
        encrypted("new", "old")
        assert "No changes" in done(run(work, "plan"))
        done(run(work, "apply", "-auto-approve"))
        encrypted("new")
        assert done(other(work, "output", "-raw", "word")) == "one"
        assert "No changes" in done(other(work, "plan"))
