"""Objects that move between the states of directories and workspaces."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from nigari.cli.args import UsageError
from nigari.cli.commands import apply, state, state_mv, workspace
from tests.backends.world import moto, postgres
from tests.backends.world.state_server import StateServer
from tests.cli.in_process import ran
from tests.cli.process import inside
from tests.plan import cloud

MAIN = """
resource "terraform_data" "x" {
  count = 2
}

resource "terraform_data" "y" {}
"""


@pytest.fixture(autouse=True)
def directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    (tmp_path / "nothing.tfrc").touch()
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(tmp_path / "nothing.tfrc"))
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.tf").write_text(MAIN)
    monkeypatch.chdir(tmp_path / "a")
    ran(apply.COMMAND, ["-auto-approve"], dict(os.environ))
    return dict(os.environ)


def stored(path: str) -> set[str]:
    """The resources in a state file."""
    if not Path(path).exists():
        return set()
    return {each["name"] for each in json.loads(Path(path).read_text())["resources"]}


def test_to_another_directory(directories: dict[str, str]) -> None:
    status, text = ran(state_mv.COMMAND, ["-to=../b", "terraform_data.x"], directories)
    assert status == 0
    assert "Successfully moved 1 object(s)." in text
    assert text.count("removed {\n  from = terraform_data.x\n") == 1
    assert text.count("import {\n  to = terraform_data.x[") == 2
    assert stored("terraform.tfstate") == {"y"}
    assert stored("../b/terraform.tfstate") == {"x"}


def test_several_addresses_and_a_rehearsal(directories: dict[str, str]) -> None:
    both = ["-to=../b", "terraform_data.x[1]", "terraform_data.y"]
    status, text = ran(state_mv.COMMAND, ["-dry-run", *both], directories)
    assert (status, "Successfully" in text) == (0, False)
    assert stored("../b/terraform.tfstate") == set()
    assert ran(state_mv.COMMAND, both, directories)[0] == 0
    assert stored("terraform.tfstate") == {"x"}
    assert stored("../b/terraform.tfstate") == {"x", "y"}


def test_to_another_workspace(directories: dict[str, str]) -> None:
    status, text = ran(state_mv.COMMAND, ["-to-workspace=w", "terraform_data.y"], directories)
    assert status == 1
    assert 'no workspace "w"' in text
    ran(workspace.NEW, ["w"], directories)
    ran(workspace.SELECT, ["default"], directories)
    assert ran(state_mv.COMMAND, ["-to-workspace=w", "terraform_data.y"], directories)[0] == 0
    there = ran(state.LIST, [], {**directories, "TF_WORKSPACE": "w"})
    assert there == (0, "terraform_data.y\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-to=../b", "terraform_data.none"], "Nothing at that address"),
        (["-to=../none", "terraform_data.x"], "No such directory"),
        (["-to=../b", "terraform_data.x", "terraform_data.x"], "Nothing at that address"),
    ],
)
def test_what_cannot_move_stays(
    directories: dict[str, str], arguments: list[str], message: str
) -> None:
    status, text = ran(state_mv.COMMAND, arguments, directories)
    assert status == 1
    assert message in text
    assert stored("terraform.tfstate") == {"x", "y"}
    assert stored("../b/terraform.tfstate") == set()


def test_an_address_that_is_taken(directories: dict[str, str]) -> None:
    ran(state_mv.COMMAND, ["-to=../b", "terraform_data.y"], directories)
    ran(apply.COMMAND, ["-auto-approve"], directories)
    status, _ = ran(state_mv.COMMAND, ["-to=../b", "terraform_data.y"], directories)
    assert status == 1
    assert stored("terraform.tfstate") == {"x", "y"}


def test_both_or_neither(directories: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot leave must not arrive."""
    from nigari.backends.local import LocalStorage
    from nigari.diagnostics import Diagnostics

    write = LocalStorage.write

    async def failing(storage: LocalStorage, data: bytes, diags: Diagnostics) -> bool:
        if storage.location == "terraform.tfstate":
            diags.error("Disk full", "For a test.")
            return False
        return await write(storage, data, diags)

    monkeypatch.setattr(LocalStorage, "write", failing)
    assert ran(state_mv.COMMAND, ["-to=../b", "terraform_data.y"], directories)[0] == 1
    assert stored("terraform.tfstate") == {"x", "y"}
    assert stored("../b/terraform.tfstate") == set()


def test_the_same_state_is_no_other(directories: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="same one"):
        ran(state_mv.COMMAND, ["-to=.", "terraform_data.y"], directories)


def http_block(stack: ExitStack) -> str:
    return stack.enter_context(StateServer()).block()


def s3_block(stack: ExitStack) -> str:
    server = stack.enter_context(moto.running())
    return server.block(server.bucket(), use_lockfile=True)


def pg_block(stack: ExitStack) -> str:
    pytest.importorskip("psycopg")
    server = stack.enter_context(postgres.running())
    return server.block(server.schema())


def local_block(_: ExitStack) -> str:
    return ""


@pytest.mark.parametrize(
    ("here", "there"),
    [(local_block, s3_block), (s3_block, http_block), (http_block, pg_block)],
)
def test_between_backends(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    here: Callable[[ExitStack], str],
    there: Callable[[ExitStack], str],
) -> None:
    settings = {**moto.KEYS, "TF_CLI_CONFIG_FILE": str(tmp_path / "nothing.tfrc")}

    def done(directory: str, *words: str) -> str:
        monkeypatch.chdir(tmp_path / directory)
        result = inside(*words, settings=settings)
        assert result.code == 0, result.err
        return result.out

    with ExitStack() as stack:
        for name, block in (("here", here), ("there", there)):
            (tmp_path / name).mkdir()
            (tmp_path / name / "main.tf").write_text(block(stack) + MAIN)
            done(name, "init")
        done("here", "apply", "-auto-approve")
        done("here", "state", "mv", "-to=../there", "terraform_data.x")
        assert done("here", "state", "list").split() == ["terraform_data.y"]
        assert done("there", "state", "list").split() == [f"terraform_data.x[{n}]" for n in (0, 1)]
        # The locks were given back, and what has moved is known where it is now.
        assert "1 to add" in done("there", "plan")
        assert "2 to add" in done("here", "plan")


def test_what_is_remembered_of_providers_goes_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A provider block with keys, of which the state remembers the one that an object needs."""
    (tmp_path / "c").mkdir()
    monkeypatch.chdir(tmp_path / "c")
    clouds = cloud.install(monkeypatch)
    provider = 'provider "cloud" {\n  alias = "by"\n  for_each = var.keys\n  region = each.key\n}\n'
    box = 'resource "cloud_box" "b" {\n  for_each = var.keys\n  provider = cloud.by[each.key]\n'
    keys = 'variable "keys" {\n  type = set(string)\n  default = ["eu", "us"]\n}\n'
    Path("main.tf").write_text(f'{cloud.REQUIRED}{keys}{provider}{box}  name = "b"\n}}\n')

    def remembered() -> list[str]:
        state = json.loads(Path("terraform.tfstate").read_text())
        return [each["provider"][-6:] for each in state["nigari_provider_instances"]]

    assert inside("apply", "-auto-approve").code == 0
    flags = ["-state=terraform.tfstate", "-state-out=other.tfstate"]
    done = inside("state", "mv", *flags, 'cloud_box.b["us"]', 'cloud_box.b["us"]')
    assert done.code == 0, done.err
    assert remembered() == ['["eu"]']
    Path("other.tfstate").replace("terraform.tfstate")
    assert remembered() == ['["us"]']
    assert inside("apply", "-auto-approve", '-var=keys=["eu"]').code == 0
    assert sorted(clouds.objects) == [("eu", "b")]
