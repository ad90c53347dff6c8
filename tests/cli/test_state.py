"""The `state` commands, `taint` and `untaint`: what they print, store and refuse."""

import json
import os
from pathlib import Path

import pytest

from nigari.backends.local import LocalBackend, LocalPaths
from nigari.backends.lock_options import LockOptions
from nigari.backends.snapshots import Snapshots
from nigari.diagnostics import Diagnostics
from nigari.state.encryption import no_encryption
from nigari.workspace.context.asyncio_bridge import run_to_end
from tests.cli.process import inside
from tests.cli.states import LINEAGE, resource, stored, usual_state, write_state

ALL = [
    "terraform_data.a",
    "terraform_data.c[0]",
    "terraform_data.c[1]",
    'terraform_data.e["k v"]',
    'terraform_data.e["z"]',
    'module.m["p"].terraform_data.inner',
]


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    usual_state()
    return tmp_path


def backups() -> list[str]:
    return sorted(name for name in os.listdir() if name.endswith(".backup"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ALL),
        (["terraform_data.c"], ALL[1:3]),
        (["terraform_data.c[1]", "terraform_data.a"], [ALL[2], ALL[0]]),
        (["module.m"], [ALL[5]]),
        (["-id=id-1"], [ALL[2]]),
        (["-id", "nothing"], []),
        (["-state=other.tfstate"], ["terraform_data.only"]),
    ],
)
def test_list(arguments: list[str], expected: list[str]) -> None:
    write_state(Path("other.tfstate"), resource("only"))
    done = inside("state", "list", *arguments)
    assert (done.code, done.out.splitlines(), done.err) == (0, expected, "")


def test_where_there_is_no_state_yet() -> None:
    Path("terraform.tfstate").unlink()
    pulled, listed = inside("state", "pull"), inside("state", "list")
    assert (pulled.code, pulled.out) == (0, "")
    assert (listed.code, listed.out) == (1, "")
    assert "There is no state yet" in listed.err
    replaced = inside("state", "replace-provider", "-auto-approve", "hashicorp/a", "hashicorp/b")
    assert (replaced.code, replaced.err) == (1, listed.err)
    write_state(Path("terraform.tfstate"))
    assert inside("state", "list") == pulled


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["terraform_data.nope"], "terraform_data.nope"),
        (["not an address"], '"not an address"'),
    ],
)
def test_list_refuses(arguments: list[str], word: str) -> None:
    done = inside("state", "list", *arguments)
    assert done.code == 1
    assert done.out == ""
    assert word in done.err


def test_list_as_events() -> None:
    done = inside("state", "list", "-json", "terraform_data.c")
    events = [json.loads(line) for line in done.out.splitlines()]
    assert [event["type"] for event in events] == ["version"] + ["resource_address"] * 2
    assert events[0]["ui"] == "1.2"
    assert [event["@message"] for event in events[1:]] == ALL[1:3]
    assert inside("state", "list", "-json", "x").out.count('"type":"diagnostic"') == 1


def test_events_beside_the_usual() -> None:
    done = inside("state", "list", "-json-into=events.json", "terraform_data.a")
    assert done.out == "terraform_data.a\n"
    lines = Path("events.json").read_text().splitlines()
    assert [json.loads(line)["@message"] for line in lines[1:]] == ["terraform_data.a"]


def test_show() -> None:
    done = inside("state", "show", "terraform_data.c[1]")
    assert done.code == 0
    assert done.out == (
        "# terraform_data.c[1]:\n"
        'resource "terraform_data" "c" {\n'
        '    id     = "id-1"\n'
        '    input  = "x"\n'
        '    output = "x"\n'
        "}\n"
    )
    document = json.loads(inside("state", "show", "-json", "terraform_data.a").out.splitlines()[1])
    (shown,) = document["values"]["root_module"]["resources"]
    assert shown["address"] == "terraform_data.a"


def test_show_names_the_instances_that_there_are() -> None:
    done = inside("state", "show", "terraform_data.c")
    assert done.code == 1
    assert "terraform_data.c[0], terraform_data.c[1]" in done.err.replace("\n", " ")


def test_remove() -> None:
    done = inside("state", "rm", "terraform_data.c", "terraform_data.a", "module.nope")
    assert done.code == 0
    assert done.out.splitlines() == [
        "Removed terraform_data.c[0]",
        "Removed terraform_data.c[1]",
        "Removed terraform_data.a",
        "Successfully removed 3 resource instance(s).",
    ]
    assert stored()["serial"] == 4
    assert inside("state", "list").out.splitlines() == ALL[3:]
    (backup,) = backups()
    assert backup.startswith("terraform.tfstate.1")
    assert stored(Path(backup))["serial"] == 3


@pytest.mark.parametrize(
    ("address", "code", "line"),
    [
        ("terraform_data.a", 0, "Would remove terraform_data.a"),
        ("terraform_data.nope", 0, "Would have removed nothing."),
    ],
)
def test_rehearsed_removal_changes_nothing(address: str, code: int, line: str) -> None:
    before = Path("terraform.tfstate").read_bytes()
    done = inside("state", "rm", "-dry-run", address)
    assert (done.code, done.out) == (code, f"{line}\n")
    assert Path("terraform.tfstate").read_bytes() == before
    assert backups() == []


def test_nothing_to_remove_is_an_error() -> None:
    assert inside("state", "rm", "terraform_data.nope").code == 1
    assert inside("state", "rm").code == 1
    assert stored()["serial"] == 3


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("terraform_data.a", "terraform_data.b", 'Move "terraform_data.a" to "terraform_data.b"'),
        ("terraform_data.c", "terraform_data.d", 'Move "terraform_data.c" to "terraform_data.d"'),
        ('module.m["p"]', "module.n", 'Move "module.m[\\"p\\"]" to "module.n"'),
    ],
)
def test_move(old: str, new: str, line: str) -> None:
    rehearsal = inside("state", "mv", "-dry-run", old, new)
    assert rehearsal.out == line.replace("Move", "Would move", 1) + "\n"
    done = inside("state", "mv", old, new)
    assert done.code == 0
    assert done.out.splitlines() == [line, "Successfully moved 1 object(s)."]
    assert inside("state", "list", new).code == 0
    assert inside("state", "list", old).code == 1
    assert len(backups()) == 1


def test_move_to_another_state() -> None:
    done = inside("state", "mv", "-state-out=sub/other.tfstate", "terraform_data.a", "module.x")
    assert done.code == 1
    assert not Path("sub/other.tfstate").exists()
    address = "module.x.terraform_data.a"
    done = inside("state", "mv", "-state-out=sub/other.tfstate", "terraform_data.a", address)
    assert done.code == 0, done.err
    assert inside("state", "list", "-state=sub/other.tfstate").out == f"{address}\n"
    assert inside("state", "list").out.splitlines() == ALL[1:]


def test_move_refuses_what_is_taken() -> None:
    done = inside("state", "mv", "terraform_data.a", "terraform_data.c[0]")
    assert done.code == 1
    assert stored()["serial"] == 3
    assert inside("state", "mv", "terraform_data.a").code == 1


def test_pull_and_push() -> None:
    pulled = inside("state", "pull")
    assert pulled.code == 0
    assert json.loads(pulled.out)["lineage"] == LINEAGE
    Path("terraform.tfstate").unlink()
    assert inside("state", "push", "-", stdin=pulled.out).code == 0
    assert stored() == json.loads(pulled.out)
    newer = {**json.loads(pulled.out), "serial": 9, "resources": []}
    Path("newer.json").write_text(json.dumps(newer))
    assert inside("state", "push", "newer.json").code == 0
    assert stored()["serial"] == 9


@pytest.mark.parametrize(
    "content",
    [
        pytest.param({"serial": 2}, id="older"),
        pytest.param({"lineage": "another"}, id="another lineage"),
    ],
)
def test_push_refuses_without_force(content: dict[str, object]) -> None:
    other = {**stored(), "resources": [], **content}
    Path("other.json").write_text(json.dumps(other))
    assert inside("state", "push", "other.json").code == 1
    assert stored()["lineage"] == LINEAGE
    assert inside("state", "push", "-force", "other.json").code == 0
    assert stored()["resources"] == []


@pytest.mark.parametrize("text", ["", "{", '{"version": 99}', '{"a": 1}'])
def test_push_refuses_what_is_no_state(text: str) -> None:
    before = Path("terraform.tfstate").read_bytes()
    Path("bad.json").write_text(text)
    done = inside("state", "push", "bad.json")
    assert done.code == 1
    assert done.err
    assert inside("state", "push", "missing.json").code == 1
    assert Path("terraform.tfstate").read_bytes() == before


def test_replace_provider() -> None:
    arguments = ("state", "replace-provider", "terraform.io/builtin/terraform", "acme/other")
    refused = inside(*arguments, stdin="no\n")
    assert refused.code == 0
    assert "Cancelled replacing providers.\n" in refused.out
    assert inside(*arguments).code == 1
    assert stored()["serial"] == 3
    done = inside(*arguments, stdin="yes\n")
    assert done.code == 0
    assert "Changing 4 resources:" in done.out
    assert done.out.endswith("Successfully replaced provider for 4 resources.\n")
    again = inside(arguments[0], arguments[1], "-auto-approve", *arguments[2:])
    assert (again.code, again.out) == (0, "No matching resources found.\n")


def test_nobody_is_asked_with_json() -> None:
    assert inside("state", "replace-provider", "-json", "a/b", "c/d").code == 1


def test_taint_and_untaint() -> None:
    tainted = inside("taint", "terraform_data.a")
    assert tainted.out == "Resource instance terraform_data.a has been marked as tainted.\n"
    assert '"status": "tainted"' in Path("terraform.tfstate").read_text()
    assert backups() == ["terraform.tfstate.backup"]
    sound = inside("untaint", "terraform_data.a")
    assert sound.out == "Resource instance terraform_data.a has been successfully untainted.\n"
    assert inside("untaint", "terraform_data.a").code == 1
    assert '"status"' not in Path("terraform.tfstate").read_text()


@pytest.mark.parametrize("command", ["taint", "untaint"])
def test_taint_of_what_is_not_there(command: str) -> None:
    assert inside(command, "terraform_data.nope").code == 1
    allowed = inside(command, "-allow-missing", "terraform_data.nope")
    assert allowed.code == 0
    assert "Warning: No such resource instance" in allowed.out
    assert inside(command, "data.x.y").code == 1
    assert inside(command, "module.m").code == 1


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["state", "show", "terraform_dta.a"], "terraform_data.a"),
        (["state", "rm", "terraform_data.cc"], "terraform_data.c"),
        (["state", "mv", 'modul.m["p"].terraform_data.inner', "x.y"], ""),
        (["state", "list", 'module.n["p"]'], 'module.m["p"]'),
        (["taint", "terraform_data.c[3]"], "terraform_data.c[0]"),
    ],
)
def test_a_misspelt_address(arguments: list[str], meant: str) -> None:
    done = inside(*arguments)
    assert done.code == 1
    words = " ".join(done.err.split())
    assert (f'Did you mean "{meant}"?' in words) if meant else ("Did you mean" not in words)


def test_a_lock_stops_every_change_and_no_reading() -> None:
    storage = LocalBackend(Path(), LocalPaths()).storage("default")
    holder = Snapshots(storage, no_encryption().state)
    diags = Diagnostics()
    assert run_to_end(holder.lock("a test", LockOptions(), diags))
    try:
        assert inside("state", "list").code == 0
        refused = inside("state", "rm", "terraform_data.a")
        assert refused.code == 1
        assert "a test" in refused.err
        assert inside("taint", "-lock=false", "terraform_data.a").code == 0
    finally:
        run_to_end(holder.unlock(diags))
    assert inside("state", "rm", "-lock-timeout=1s", "terraform_data.a").code == 0


def test_a_wrong_duration_is_told() -> None:
    done = inside("taint", "-lock-timeout=soon", "terraform_data.a")
    assert done.code == 1
    assert "soon" in done.err


def test_a_damaged_state_is_left_alone() -> None:
    Path("terraform.tfstate").write_text('{"version": 4,')
    for arguments in (["state", "list"], ["state", "rm", "a.b"], ["taint", "a.b"], ["output"]):
        assert inside(*arguments).code == 1
    assert Path("terraform.tfstate").read_text() == '{"version": 4,'


def test_a_broken_configuration_does_not_matter() -> None:
    Path("main.tf").write_text("resource {\n")
    assert inside("state", "list").out.splitlines() == ALL


def test_an_address_is_required_of_a_resource() -> None:
    assert inside("state", "show", "module.m").err.count("Error:") == 1


@pytest.mark.parametrize(
    "text",
    [
        'terraform {\n  required_version = "< 1.0"\n}\n',
        'locals {\n  v = "< 1.0"\n}\nterraform {\n  required_version = local.v\n}\n',
        'variable "v" {\n  default = "< 1.0"\n}\nterraform {\n  required_version = var.v\n}\n',
        'locals {\n  v = "< 1.0"\n}\nlanguage {\n  compatible_with {\n    opentofu = local.v\n  }\n}\n',
        (
            'resource "terraform_data" "x" {}\n'
            "terraform {\n  required_version = terraform_data.x.id\n}\n"
        ),
    ],
    ids=["written out", "a local value", "a variable", "compatible_with", "not known"],
)
@pytest.mark.parametrize(
    "command", [["state", "rm"], ["taint"], ["untaint"]], ids=["rm", "taint", "untaint"]
)
def test_a_configuration_for_another_version_is_not_worked_on(
    text: str, command: list[str]
) -> None:
    Path("main.tofu").write_text(text)
    done = inside(*command, "terraform_data.a")
    assert done.code == 1
    assert done.err.count("Error:") == 1
    assert inside("state", "list").code == 0
    assert stored()["serial"] == 3


def test_a_version_that_fits_is_worked_on_whatever_else_is_wrong() -> None:
    Path("main.tofu").write_text(
        'locals {\n  v = ">= 1.0"\n}\nterraform {\n  required_version = local.v\n}\n'
        'module "m" {\n  source = "example.com/not/installed"\n}\n'
    )
    done = inside("state", "rm", "terraform_data.a")
    assert done.code == 0, done.err


def test_other_names_of_commands() -> None:
    assert inside("state", "ls").out == inside("state", "list").out
    moved = inside("state", "move", "terraform_data.a", "terraform_data.z")
    assert (moved.code, moved.err) == (0, "")
    assert inside("state", "remove", "terraform_data.z").code == 0
    assert "terraform_data.z" not in inside("state", "ls").out
    assert inside("state", "ls", settings={"TF_CLI_ARGS_state_ls": "terraform_data.nope"}).code == 1
    assert " move " not in inside("state").out
