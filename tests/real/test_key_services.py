"""States encrypted with keys of a service, read and written by both programs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends.world.moto import KEYS, running
from tests.real.stored_beside import WORDS, Shared
from tests.state.key_services import VAULT, FakeBao, FakeVault

pytestmark = pytest.mark.real

ENCRYPTION = """
terraform {
  encryption {
    key_provider "%s" "k" {
%s
    }
    method "aes_gcm" "m" { keys = key_provider.%s.k }
    state {
      method   = method.aes_gcm.m
      enforced = true
    }
  }
}
"""


@pytest.fixture(params=["aws_kms", "azure_vault", "openbao"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shared]:
    kind = request.param
    if kind == "aws_kms":
        with running() as moto:
            created = moto.call("TrentService.CreateKey", {})["KeyMetadata"]
            assert isinstance(created, dict)
            body = f'kms_key_id = "{created["KeyId"]}"\nkey_spec = "AES_256"'
            body += "\nskip_credentials_validation = true\nskip_requesting_account_id = true"
            environ = {**KEYS, "AWS_ENDPOINT_URL": moto.url}
            yield Shared(tmp_path, ENCRYPTION % (kind, body, kind), environ)
    elif kind == "azure_vault":
        with FakeVault(tmp_path) as vault:
            body = f'vault_uri = "https://{VAULT}"\nvault_key_name = "k"\nkey_length = 32'
            yield Shared(tmp_path, ENCRYPTION % (kind, body, kind), vault.environ)
    else:
        with FakeBao() as bao:
            environ = {"BAO_ADDR": bao.url, "BAO_TOKEN": "root"}
            yield Shared(tmp_path, ENCRYPTION % (kind, 'key_name = "k"', kind), environ)


def done(result: tuple[int, str]) -> str:
    code, output = result
    assert code == 0, output
    return output


def test_each_reads_what_the_other_wrote(shared: Shared) -> None:
    work = shared.directory("work", WORDS)
    done(shared.tofu(work, "init"))
    done(shared.tofu(work, "apply", "-auto-approve"))
    assert "encrypted_data" in (work / "terraform.tfstate").read_text()
    assert done(shared.ours(work, "output", "-raw", "word")) == "one"
    done(shared.ours(work, "apply", "-auto-approve", "-var", "word=two"))
    assert "encrypted_data" in (work / "terraform.tfstate").read_text()
    assert done(shared.tofu(work, "output", "-raw", "word")) == "two"
    assert "No changes" in done(shared.tofu(work, "plan", "-var", "word=two"))
