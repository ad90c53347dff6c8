"""States in remote backends that both programs use: each reads what the other writes, and respects
the other's lock.
"""

import getpass
import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

import pytest

from nigari.version import OPENTOFU_VERSION
from tests.backends.world import azurite, fake_gcs, postgres
from tests.backends.world.buckets import FakeAlibaba, FakeTencent
from tests.backends.world.consul import FakeConsul
from tests.backends.world.hosted import FakeService
from tests.backends.world.kubernetes import FakeCluster
from tests.backends.world.moto import KEYS, running
from tests.backends.world.state_server import StateServer
from tests.real.stored_beside import HOLDER, NOTHING, SESSION, WORKSPACE, Shared

pytestmark = pytest.mark.real


@contextmanager
def http(path: Path) -> Iterator[Shared]:
    with StateServer() as server:
        yield Shared(path, server.block(), has_workspaces=False)


def s3(**more: object) -> Callable[[Path], AbstractContextManager[Shared]]:
    @contextmanager
    def made(path: Path) -> Iterator[Shared]:
        with running() as moto:
            named = {"dynamodb_table": moto.table()} if more.get("table") else {}
            yield Shared(
                path,
                moto.block(
                    moto.bucket(), **{k: v for k, v in more.items() if k != "table"}, **named
                ),
                KEYS,
            )

    return made


@contextmanager
def pg(path: Path) -> Iterator[Shared]:
    with postgres.running() as server:
        shared = Shared(path, server.block("states"))
        shared.tells = SESSION
        yield shared


@contextmanager
def gcs(path: Path) -> Iterator[Shared]:
    with fake_gcs.running() as server:
        yield Shared(path, server.block(server.bucket()), server.environ)


@contextmanager
def cos(path: Path) -> Iterator[Shared]:
    with FakeTencent(path) as server:
        yield Shared(path, server.block(), server.environ)


@contextmanager
def oss(path: Path) -> Iterator[Shared]:
    with FakeAlibaba() as server:
        shared = Shared(path, server.block(), server.environ)
        shared.tells = NOTHING
        yield shared


@contextmanager
def consul(path: Path) -> Iterator[Shared]:
    with FakeConsul() as server:
        yield Shared(path, server.block("a/state"))


@contextmanager
def kubernetes(path: Path) -> Iterator[Shared]:
    with FakeCluster() as server:
        yield Shared(path, server.block("states", path))


@contextmanager
def azurerm(path: Path) -> Iterator[Shared]:
    with azurite.running(path) as server:
        yield Shared(path, server.block(server.container()), server.environ)


@contextmanager
def azurerm_elsewhere(path: Path) -> Iterator[Shared]:
    with azurite.with_metadata(path) as server:
        yield Shared(path, server.block(server.container()), server.environ)


def hosted(
    kind: str, workspaces: str, first: str = ""
) -> Callable[[Path], AbstractContextManager[Shared]]:
    """A service; `first` is a workspace that it has already, in place of a default one."""

    @contextmanager
    def made(path: Path) -> Iterator[Shared]:
        with FakeService(path) as service:
            shared = Shared(path, service.block(kind, workspaces), service.environ, bool(first))
            shared.tells = WORKSPACE
            if first:
                service.add(first, ["t"])
                shared.first = "main"
            yield shared

    return made


KINDS: Final[dict[str, Callable[[Path], AbstractContextManager[Shared]]]] = {
    "azurerm": azurerm,
    "azurerm by metadata": azurerm_elsewhere,
    "cloud by name": hosted("cloud", 'name = "one"'),
    "cloud by tags": hosted("cloud", 'tags = ["t"]', "main"),
    "consul": consul,
    "cos": cos,
    "gcs": gcs,
    "http": http,
    "kubernetes": kubernetes,
    "oss": oss,
    "pg": pg,
    "remote by name": hosted("remote", 'name = "one"'),
    "remote by prefix": hosted("remote", 'prefix = "p-"', "p-main"),
    "s3 with a lock file": s3(use_lockfile=True, encrypt=True),
    "s3 with a table": s3(table=True),
    "s3 with both": s3(use_lockfile=True, table=True, workspace_key_prefix="other"),
}


@pytest.fixture(params=sorted(KINDS))
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shared]:
    with KINDS[request.param](tmp_path) as made:
        yield made


def done(result: tuple[int, str]) -> str:
    code, output = result
    assert code == 0, output
    return output


def test_each_reads_what_the_other_wrote(shared: Shared) -> None:
    theirs, ours = shared.both()
    done(shared.tofu(theirs, "apply", "-auto-approve"))
    assert done(shared.ours(ours, "output", "-raw", "word")) == "one"
    assert "No changes" in done(shared.ours(ours, "plan"))
    before = json.loads(done(shared.tofu(theirs, "state", "pull")))
    done(shared.ours(ours, "apply", "-auto-approve", "-var", "word=two"))
    assert done(shared.tofu(theirs, "output", "-raw", "word")) == "two"
    assert "No changes" in done(shared.tofu(theirs, "plan", "-var", "word=two"))
    after = json.loads(done(shared.tofu(theirs, "state", "pull")))
    assert after == json.loads(done(shared.ours(ours, "state", "pull")))
    assert after["lineage"] == before["lineage"]
    assert after["serial"] == before["serial"] + 1
    done(shared.tofu(theirs, "destroy", "-auto-approve"))
    assert done(shared.ours(ours, "state", "list")) == ""


def test_a_lock_stops_the_other(shared: Shared) -> None:
    """What is told about the lock of the one is what is told about that of the other."""
    if shared.tells is NOTHING:
        pytest.skip("there are no locks")
    theirs, ours = shared.both()
    with shared.locked("tofu"):
        code, output = shared.ours(ours, "plan")
    assert code == 1, output
    assert "Error: Error acquiring the state lock" in output
    of_tofu = _told(output)
    with shared.locked("ours"):
        code, refused = shared.tofu(theirs, "plan")
    assert code == 1, refused
    assert "Error: Error acquiring the state lock" in refused
    of_ours = _told(refused)
    who = f"{getpass.getuser()}@{socket.gethostname()}"
    if shared.tells is HOLDER:
        expected = ("OperationTypeApply", who, OPENTOFU_VERSION)
        assert (of_tofu["Operation"], of_tofu["Who"], of_tofu["Version"]) == expected
        assert (of_ours["Operation"], of_ours["Who"], of_ours["Version"]) == expected
        assert of_tofu.get("Path", "") == of_ours["Path"]
        info = "consul session: " if 'backend "consul"' in shared.block else "process "
        assert of_ours["Info"].startswith(info)
    elif shared.tells is SESSION:
        # Only the database knows who holds the lock, and OpenTofu shows what it asked for itself.
        assert of_tofu["Who"] == "postgres@127.0.0.1"
        assert re.fullmatch("session [0-9]+ of the database user postgres", of_tofu["Info"])
        assert "Error message: Workspace is already locked: default" in " ".join(refused.split())
        assert of_ours["Operation"] == "OperationTypePlan"
    else:
        assert of_tofu["Info"] == "Locked by OpenTofu"
        assert f'already locked (lock ID: "{of_tofu["ID"]}")' in " ".join(refused.split())
    assert "No changes" not in done(shared.ours(ours, "plan"))
    assert "No changes" not in done(shared.tofu(theirs, "plan"))


def _told(output: str) -> dict[str, str]:
    """What is told about a lock, by name."""
    lines = re.findall(r"^  (\w[\w ]*): *(.*)$", output, re.MULTILINE)
    return {name: text.strip() for name, text in lines}


def test_workspaces(shared: Shared) -> None:
    if not shared.has_workspaces:
        pytest.skip("there are none")
    theirs, ours = shared.both()
    done(shared.tofu(theirs, "workspace", "new", "a"))
    done(shared.ours(ours, "workspace", "new", "b"))
    for output in (
        done(shared.tofu(theirs, "workspace", "list")),
        done(shared.ours(ours, "workspace", "list")),
    ):
        assert sorted(output.replace("*", " ").split()) == sorted([shared.first, "a", "b"])
    done(shared.ours(ours, "workspace", "select", "a"))
    done(shared.ours(ours, "apply", "-auto-approve"))
    assert done(shared.tofu(theirs, "output", "-raw", "word")) == "one"
    done(shared.tofu(theirs, "destroy", "-auto-approve"))
    done(shared.tofu(theirs, "workspace", "select", shared.first))
    done(shared.tofu(theirs, "workspace", "delete", "b"))
    done(shared.ours(ours, "workspace", "select", shared.first))
    done(shared.ours(ours, "workspace", "delete", "a"))
    assert done(shared.ours(ours, "workspace", "list")).split() == ["*", shared.first]


def test_moving_a_local_state(shared: Shared) -> None:
    if "cloud {" in shared.block:
        pytest.skip("a terminal is asked about states that go into a block cloud")
    ours = shared.directory("moved")
    (ours / "backend.tf").unlink()
    done(shared.ours(ours, "init"))
    done(shared.ours(ours, "apply", "-auto-approve"))
    local = json.loads((ours / "terraform.tfstate").read_text())
    (ours / "backend.tf").write_text(shared.block)
    code, output = shared.ours(ours, "init", "-input=false")
    assert code == 1, output
    done(shared.ours(ours, "init", "-force-copy"))
    assert (ours / "terraform.tfstate").read_text() == ""
    theirs = shared.directory("theirs")
    done(shared.tofu(theirs, "init"))
    assert "No changes" in done(shared.tofu(theirs, "plan"))
    pulled = json.loads(done(shared.tofu(theirs, "state", "pull")))
    assert (pulled["lineage"], pulled["serial"]) == (local["lineage"], local["serial"])
    (ours / "backend.tf").unlink()
    done(shared.ours(ours, "init", "-force-copy"))
    where = "" if shared.first == "default" else f"terraform.tfstate.d/{shared.first}/"
    back = json.loads((ours / f"{where}terraform.tfstate").read_text())
    assert back["lineage"] == local["lineage"]
    assert "No changes" in done(shared.ours(ours, "plan"))


def test_remote_state(shared: Shared) -> None:
    theirs, _ = shared.both()
    done(shared.tofu(theirs, "apply", "-auto-approve"))
    kind = re.search(r'backend "(\w+)" \{(.*)\n  \}\n\}', shared.block, re.DOTALL)
    if kind is None:
        pytest.skip("a block cloud has no data source")
    config = kind[2].replace("workspaces {", "workspaces = {")
    workspace = "" if shared.first == "default" else f'  workspace = "{shared.first}"\n'
    reader = shared.path / "reader"
    reader.mkdir()
    (reader / "main.tf").write_text(
        f'data "terraform_remote_state" "other" {{\n  count = 30\n  backend = "{kind[1]}"\n'
        f"{workspace}  config = {{{config}\n  }}\n}}\n"
        'output "seen" { value = data.terraform_remote_state.other[29].outputs.word }\n'
    )
    done(shared.ours(reader, "init"))
    done(shared.ours(reader, "apply", "-auto-approve"))
    assert done(shared.ours(reader, "output", "-raw", "seen")) == "one"
