"""What command lines mean: their exit status, and what they leave in the directory.

`tests/real/test_command_lines.py` holds the same and more against the real program.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from nigari.cli.main import COMMANDS, load
from tests.cli.process import inside

CONFIGURATION = """
variable "a" { default = "x" }
resource "terraform_data" "one" { input = var.a }
resource "terraform_data" "two" {}
module "m" {
  source = "./m"
  v      = var.a
}
output "a" { value = terraform_data.one.output }
output "m" { value = module.m.o }
"""
MODULE = """
variable "v" {}
resource "terraform_data" "in" { input = var.v }
output "o" { value = terraform_data.in.output }
"""


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m").mkdir()
    Path("m/main.tf").write_text(MODULE)
    Path("main.tf").write_text(CONFIGURATION)
    assert inside("apply", "-auto-approve").code == 0
    Path("other.tfstate").write_bytes(Path("terraform.tfstate").read_bytes())


def left(name: str) -> tuple[dict[str, str], list[str]]:
    """The outputs and resources in a state file."""
    document = json.loads(Path(name).read_text())
    outputs = {key: each["value"] for key, each in document["outputs"].items()}
    return outputs, [each["name"] for each in document["resources"]]


@pytest.mark.parametrize(
    ("line", "status", "environ"),
    [
        # The forms of options.
        ("plan --refresh=false", 0, {}),
        ("plan -refresh=F", 0, {}),
        ("plan -refresh false", 1, {}),
        ("plan -refresh=maybe", 1, {}),
        ("plan -out", 1, {}),
        ("plan ---refresh", 1, {}),
        ("plan --", 0, {}),
        ("plan -- x", 1, {}),
        ("plan -parallelism 3", 0, {}),
        ("plan -parallelism=0", 0, {}),
        ("plan -parallelism=0x10", 0, {}),
        ("plan -parallelism=010", 0, {}),
        ("plan -parallelism=-1", 1, {}),
        ("plan -parallelism=x", 1, {}),
        ("plan -lock-timeout=1h30m", 0, {}),
        ("plan -lock-timeout=5", 1, {}),
        ("plan -json -json-into=f", 1, {}),
        ("plan -json-into=missing/f", 1, {}),
        # Kinds of plans.
        ("plan -destroy -refresh-only", 1, {}),
        ("plan -refresh-only -refresh=false", 1, {}),
        ("plan -destroy -generate-config-out=g.tf", 1, {}),
        ("plan -destroy -replace=terraform_data.one", 1, {}),
        ("plan -target=terraform_data.one -exclude=terraform_data.two", 1, {}),
        ("plan -state=new.tfstate -detailed-exitcode", 2, {}),
        ("plan -state-out=q -backup=b", 0, {}),
        ("plan -detailed-exitcode -var a=z", 2, {}),
        ("plan -auto-approve", 1, {}),
        ("apply -json", 1, {}),
        ("apply -detailed-exitcode", 1, {}),
        ("destroy -destroy -auto-approve", 1, {}),
        ("destroy -refresh-only -auto-approve", 1, {}),
        ("destroy -replace=terraform_data.one -auto-approve", 1, {}),
        ("refresh -refresh=false", 0, {}),
        ("refresh -replace=terraform_data.one", 0, {}),
        ("refresh -destroy -refresh-only", 1, {}),
        ("refresh -auto-approve", 1, {}),
        ("refresh -show-sensitive", 1, {}),
        # Single options.
        ("plan -deprecation=module:none", 0, {}),
        ("plan -deprecation=module:whatever", 0, {}),
        ("plan -deprecation=whatever", 1, {}),
        ("graph -draw-cycles -verbose -module-depth=1", 0, {}),
        ("graph -module-depth=x", 1, {}),
        ("show -config", 1, {}),
        ("show -module=m", 1, {}),
        ("show -module=m -json", 0, {}),
        ("show -module=m -config -json", 1, {}),
        ("show -plan=terraform.tfstate", 1, {}),
        ("show -state x", 1, {}),
        ("workspace show -var a=1", 0, {}),
        ("state list -state=missing", 1, {}),
        ("init -force-copy -reconfigure", 0, {}),
        ("init -migrate-state -reconfigure", 1, {}),
        ("console -json", 1, {}),
        ("import -config=missing terraform_data.in x", 1, {}),
        ("metadata functions -json x", 0, {}),
        # Arguments from the environment stand before the others.
        ("plan", 2, {"TF_CLI_ARGS": "-detailed-exitcode -var 'a=b c'"}),
        ("plan", 2, {"TF_CLI_ARGS_plan": "-detailed-exitcode -var a=z"}),
        ("plan -var a=x", 0, {"TF_CLI_ARGS_plan": "-detailed-exitcode -var a=z"}),
        ("plan", 2, {"TF_CLI_ARGS": "-var a=z -detailed-exitcode", "TF_CLI_ARGS_plan": "-var a=x"}),
        ("plan", 0, {"TF_CLI_ARGS_apply": "-nonsense"}),
        ("plan", 1, {"TF_CLI_ARGS": "-var 'a"}),
        ("plan", 0, {"TF_CLI_ARGS": "-version"}),
        ("", 0, {"TF_CLI_ARGS": "version"}),
        ("", 127, {}),
        ("force-unlock x", 1, {"TF_CLI_ARGS_force_unlock": "-nonsense"}),
        ("plan -detailed-exitcode", 2, {"TF_VAR_a": "z"}),
        ("plan -detailed-exitcode -var a=x", 0, {"TF_VAR_a": "z"}),
        ("plan -detailed-exitcode", 0, {"TF_VAR_missing": "z"}),
        ("plan -detailed-exitcode", 2, {"TF_WORKSPACE": "other"}),
        ("workspace select default", 1, {"TF_WORKSPACE": "other"}),
        ("init", 0, {"TF_PLUGIN_CACHE_DIR": "missing"}),
    ],
    ids=str,
)
def test_status(line: str, status: int, environ: dict[str, str]) -> None:
    done = inside(*shlex.split(line), settings=environ)
    assert done.code == status, done.out + done.err
    assert not Path("g.tf").exists()


def test_view_switches_stand_anywhere_and_in_every_help() -> None:
    assert inside("plan", "-refresh=false", "-concise", "-out=p").code == 0
    assert inside("output", "a", "-no-color").out == '"x"\n'
    for name in COMMANDS:
        text = inside(*name.split(), "-help").out
        for option in ("-no-color", "-consolidate-errors", "-concise", "-deprecation=module:"):
            assert option in text
        assert "-help" not in [f"-{flag.name}" for flag in load(name).flags]


@pytest.mark.parametrize(
    ("line", "written", "kept", "missing"),
    [
        ("apply -auto-approve -var a=z -state-out=q", "q", "terraform.tfstate", "q.backup"),
        ("apply -auto-approve -state-out=q", "q", "terraform.tfstate", "q.backup"),
        ("refresh -state-out=q", "q", "terraform.tfstate", "q.backup"),
        (
            "apply -auto-approve -var a=z -state=new.tfstate",
            "new.tfstate",
            "",
            "new.tfstate.backup",
        ),
        ("apply -auto-approve -var a=z -backup=b", "terraform.tfstate", "b", "q"),
        ("apply -auto-approve -var a=z -backup=-", "terraform.tfstate", "other.tfstate", "-"),
        (
            "apply -auto-approve -var a=z -state=other.tfstate -state-out=q -backup=b",
            "q",
            "other.tfstate",
            "b",
        ),
        ("taint -state-out=q terraform_data.one", "q", "terraform.tfstate", "q.backup"),
    ],
)
def test_where_states_go(line: str, written: str, kept: str, missing: str) -> None:
    """A backup is of what a file was before the command, not of what came in between."""
    assert inside(*shlex.split(line)).code == 0
    expected = "z" if "a=z" in line else "x"
    assert left(written)[0] == {"a": expected, "m": expected}
    if kept:
        assert left(kept)[0] == {"a": "x", "m": "x"}
    assert not Path(missing).exists()


def test_backup_of_what_state_out_replaces() -> None:
    Path("q").write_bytes(Path("other.tfstate").read_bytes().replace(b'"x"', b'"old"'))
    assert inside("apply", "-auto-approve", "-var", "a=z", "-state-out=q").code == 0
    assert left("q.backup")[0] == {"a": "old", "m": "old"}


@pytest.mark.parametrize("selection", ["-target=terraform_data.two", "-exclude=terraform_data.one"])
def test_destroying_a_part_leaves_the_outputs(selection: str) -> None:
    assert inside("destroy", "-auto-approve", selection).code == 0
    outputs, resources = left("terraform.tfstate")
    assert outputs == {"a": "x", "m": "x"}
    assert "two" not in resources
    assert inside("destroy", "-auto-approve").code == 0
    assert left("terraform.tfstate") == ({}, [])


def test_paths_count_from_the_changed_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("sub").mkdir()
    Path("v.tfvars").write_text('a = "y"\n')
    monkeypatch.chdir("sub")
    assert inside("-chdir=..", "plan", "-var-file=v.tfvars", "-out=p").code == 0
    # The working directory of the process has changed for good.
    assert Path("p").exists()
    monkeypatch.chdir("sub")
    assert inside("-chdir=..", "apply", "-state-out=q", "p").code == 0
    assert left("q")[0]["a"] == "y"


def test_import_with_the_configuration_elsewhere() -> None:
    line = ["import", "-config=m", "-var", "v=1", "-state=new.tfstate", "terraform_data.in", "abc"]
    assert inside(*line).code == 0
    assert left("new.tfstate")[1] == ["in"]


def test_console_knows_the_state() -> None:
    typed = "terraform_data.one.output\nmodule.m.o\nterraform_data.one.id == null\n"
    assert inside("console", stdin=typed).out == '"x"\n"x"\nfalse\n'
    assert inside("console", "-state=new.tfstate", stdin="module.m.o\n").out == (
        "(known after apply)\n"
    )


def test_console_tells_programs() -> None:
    done = inside("console", "-json-into=j", stdin="1 + 2\nmissing.x\n")
    assert (done.code, done.out) == (1, "3\n")
    events = [json.loads(line) for line in Path("j").read_text().splitlines()]
    assert [each["@level"] for each in events] == ["info", "info", "error"]
    assert events[1]["@message"] == "3"


def test_selecting_what_is_selected_changes_nothing() -> None:
    assert inside("workspace", "select", "default").code == 0
    assert not Path(".terraform/environment").exists()


def test_lock_file_without_providers() -> None:
    assert inside("providers", "lock").code == 0
    assert Path(".terraform.lock.hcl").exists()


@pytest.mark.parametrize(
    ("typed", "flags", "environ", "code"),
    [
        ("3\n", [], {}, 2),
        ("", [], {}, 1),
        ("3\n", ["-input=false"], {}, 1),
        ("3\n", ["-json"], {}, 1),
        ("3\n", [], {"TF_INPUT": "false"}, 1),
        ("", ["-var", "need=1"], {}, 2),
        ("", ["-var", "need=1", "-var", "more=[1"], {}, 1),
        ("", [], {"TF_VAR_need": "1"}, 2),
    ],
)
def test_variables_without_a_value(
    typed: str, flags: list[str], environ: dict[str, str], code: int
) -> None:
    """They are asked for, were it through a pipe; without an answer nothing is planned."""
    Path("main.tf").write_text(
        'variable "need" {\n  type = number\n}\noutput "n" {\n  value = var.need\n}\n'
        'variable "more" {\n  type    = list(number)\n  default = []\n}\n'
    )
    done = inside("plan", "-detailed-exitcode", *flags, stdin=typed, settings=environ)
    assert done.code == code
    assert ("Changes to Outputs" in done.out) == (code == 2)
