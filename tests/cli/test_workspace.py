"""The `workspace` commands and `force-unlock`."""

import json
from pathlib import Path

import pytest

from nigari.backends.locking import LockInfo
from tests.cli.process import inside
from tests.cli.states import resource, usual_state, write_state

WORKSPACE_STATE = Path("terraform.tfstate.d/a/terraform.tfstate")


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_from_new_to_deleted() -> None:
    assert inside("workspace", "list").out == "* default\n\n"
    created = inside("workspace", "new", "a")
    assert created.code == 0
    assert created.out.startswith('Created and switched to workspace "a"!\n')
    assert inside("workspace", "show").out == "a\n"
    assert inside("workspace", "list").out == "  default\n* a\n\n"
    assert Path(".terraform/environment").read_text() == "a"
    switched = inside("workspace", "select", "default")
    assert switched.out == 'Switched to workspace "default".\n'
    assert inside("workspace", "select", "default").out == ""
    assert inside("workspace", "delete", "a").out == 'Deleted workspace "a"!\n'
    assert inside("workspace", "list").out == "* default\n\n"


@pytest.mark.parametrize(
    "text",
    [
        'variable "v" {}\nterraform {\n  backend "local" { path = var.v }\n}\n',
        'terraform {\n  backend "nobody" {}\n}\n',
        "terraform {",
    ],
)
def test_showing_the_selected_workspace_needs_no_backend(text: str) -> None:
    inside("workspace", "new", "a")
    Path("main.tf").write_text(text)
    assert inside("workspace", "show").out == "a\n"


def test_select_or_create() -> None:
    missing = inside("workspace", "select", "a")
    assert missing.code == 1
    assert 'Workspace "a" doesn\'t exist' in missing.err
    created = inside("workspace", "select", "-or-create", "a")
    assert created.out.startswith('Created and switched to workspace "a"!')
    assert inside("workspace", "select", "-or-create", "a").out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["new", "default"],
        ["new", "a/b"],
        ["new", ""],
        ["new"],
        ["new", "a", "b"],
        ["delete", "default"],
        ["delete", "nope"],
        ["select"],
    ],
)
def test_refused(arguments: list[str]) -> None:
    done = inside("workspace", *arguments)
    assert (done.code, done.out) == (1, "")
    assert done.err


@pytest.mark.parametrize("command", ["select", "delete"])
def test_a_misspelt_name(command: str) -> None:
    inside("workspace", "new", "staging")
    inside("workspace", "select", "default")
    assert 'Did you mean "staging"?' in inside("workspace", command, "stagign").err


def test_each_workspace_has_its_own_state() -> None:
    usual_state()
    inside("workspace", "new", "a")
    assert inside("state", "list").out == ""
    write_state(WORKSPACE_STATE, resource("b"))
    assert inside("state", "list").out == "terraform_data.b\n"
    inside("workspace", "select", "default")
    refused = inside("workspace", "delete", "a")
    assert refused.code == 1
    assert WORKSPACE_STATE.exists()
    deleted = inside("workspace", "delete", "-force", "a")
    assert deleted.code == 0
    assert "Warning: Deleted workspace was not empty" in deleted.out
    assert not WORKSPACE_STATE.exists()


def test_new_with_a_state() -> None:
    write_state(Path("given.tfstate"), resource("b"))
    assert inside("workspace", "new", "-state=given.tfstate", "a").code == 0
    assert inside("state", "list").out == "terraform_data.b\n"
    assert inside("workspace", "new", "-state=missing", "b").code == 1
    assert inside("workspace", "show").out == "a\n"


def test_the_environment_chooses() -> None:
    chosen = {"TF_WORKSPACE": "a"}
    assert inside("workspace", "show", settings=chosen).out == "a\n"
    assert inside("workspace", "select", "default", settings=chosen).code == 1
    assert inside("workspace", "new", "b", settings=chosen).code == 1
    assert inside("workspace", "new", "a", settings=chosen).code == 0
    listed = inside("workspace", "list", settings=chosen).out
    assert listed.startswith("  default\n* a\n\n")
    assert "TF_WORKSPACE" in listed


def test_data_directory() -> None:
    inside("workspace", "new", "a", settings={"TF_DATA_DIR": "data"})
    assert Path("data/environment").read_text() == "a"
    assert inside("workspace", "show").out == "default\n"


def test_as_events() -> None:
    lines = inside("workspace", "list", "-json").out.splitlines()
    event = json.loads(lines[1])
    assert event["type"] == "workspace_list"
    assert (event["workspaces"], event["current_workspace"]) == (["default"], "default")


def test_configured_local_backend() -> None:
    Path(".terraform").mkdir()
    config = {"path": "x/y.tfstate", "workspace_dir": "spaces"}
    backend = {"type": "local", "config": config, "hash": 1}
    Path(".terraform/terraform.tfstate").write_text(json.dumps({"version": 3, "backend": backend}))
    Path("main.tf").write_text(
        'terraform {\n  backend "local" {\n    path = "x/y.tfstate"\n'
        '    workspace_dir = "spaces"\n  }\n}\n'
    )
    write_state(Path("x/y.tfstate"), resource("far"))
    assert inside("state", "list").out == "terraform_data.far\n"
    assert inside("workspace", "new", "a").code == 0
    assert Path("spaces/a").is_dir()
    Path("main.tf").write_text('terraform {\n  backend "local" {\n    path = "z"\n  }\n}\n')
    done = inside("state", "list")
    assert done.code == 1
    assert "init" in done.err


def test_a_backend_that_was_never_set_up() -> None:
    Path("main.tf").write_text('terraform {\n  backend "local" {}\n}\n')
    done = inside("workspace", "list")
    assert done.code == 1
    assert "init" in done.err


def test_force_unlock_removes_what_a_dead_process_left() -> None:
    usual_state()
    info = Path(".terraform.tfstate.lock.info")
    info.write_bytes(LockInfo("some-id", "apply").to_bytes())
    assert inside("force-unlock", "-force", "another-id").code == 1
    assert inside("force-unlock", "some-id", stdin="no\n").code == 1
    assert info.exists()
    assert inside("force-unlock", "some-id", stdin="yes\n").code == 0
    assert not info.exists()
    assert inside("force-unlock", "-force", "some-id").code == 1
    assert inside("force-unlock").code == 1


def test_env_is_the_old_name() -> None:
    for arguments in (["new", "a"], ["list"], ["show"], ["select", "default"], ["delete", "a"]):
        done = inside("env", *arguments)
        assert done.code == 0
        assert '"env" is an old name' in done.err
    assert inside("workspace", "list").out == "* default\n\n"
    assert inside("env").out == inside("workspace").out
    assert inside("env", "nonsense").code == 1


NEEDY = 'variable "p" {}\nterraform {\n  backend "local" {\n    path = var.p\n  }\n}\n'


@pytest.mark.parametrize(
    "args", [["select", "a"], ["select", "-or-create", "c"], ["delete", "a"], ["new", "c"]]
)
def test_nothing_is_done_before_a_failure(args: list[str]) -> None:
    Path("main.tf").write_text(NEEDY)
    given = ("-var", "p=here")
    assert inside("init", *given).code == 0
    for name in ("a", "b"):
        assert inside("workspace", "new", *given, name).code == 0
    before = Path(".terraform/environment").read_text(), sorted(Path().rglob("*"))
    assert inside("workspace", *args).code == 1
    assert before == (Path(".terraform/environment").read_text(), sorted(Path().rglob("*")))
    assert inside("workspace", args[0], *given, *args[1:]).code == 0
