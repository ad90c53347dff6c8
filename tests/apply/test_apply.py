"""Applying: what is done is in the state, also when something goes wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest

from tests.cli.in_process import applied
from tests.plan import cloud as clouds
from tests.plan.vault import REQUIRED, install


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _state() -> dict[str, list[dict[str, object]]]:
    data = json.loads(Path("terraform.tfstate").read_text())
    return {
        f"{each['type']}.{each['name']}": cast("list[dict[str, object]]", each["instances"])
        for each in data["resources"]
    }


_FAILING = """
resource "terraform_data" "a" { input = 1 }
resource "terraform_data" "b" {
  input = terraform_data.a.output
  lifecycle {
    postcondition {
      condition     = self.output == 2
      error_message = "must be two"
    }
  }
}
resource "terraform_data" "c" { input = terraform_data.b.output }
resource "terraform_data" "d" { input = 4 }
"""


def test_what_was_done_before_an_error_is_kept(here: Path) -> None:
    Path("main.tf").write_text(_FAILING)
    status, said = applied([], {})
    assert status == 1
    assert "must be two" in said
    assert sorted(_state()) == ["terraform_data.a", "terraform_data.b", "terraform_data.d"]
    Path("main.tf").write_text(_FAILING.replace("== 2", "== 1"))
    status, said = applied([], {})
    assert status == 0, said
    assert "Apply complete! Resources: 1 added, 0 changed, 0 destroyed." in said


def test_outputs_and_destroy(here: Path) -> None:
    Path("main.tf").write_text(
        'resource "terraform_data" "a" { input = "x" }\n'
        'output "o" { value = terraform_data.a.output }\n'
        'output "s" {\n  value = "hush"\n  sensitive = true\n}\n'
    )
    status, said = applied([], {})
    assert status == 0, said
    assert said.endswith('\nOutputs:\n\no = "x"\ns = <sensitive>\n')
    status, said = applied(["-destroy"], {})
    assert status == 0, said
    assert said.endswith("\nApply complete! Resources: 0 added, 0 changed, 1 destroyed.\n")
    data = json.loads(Path("terraform.tfstate").read_text())
    assert (data["resources"], data["outputs"]) == ([], {})


def test_outputs_of_what_was_not_made(here: Path) -> None:
    Path("main.tf").write_text(
        'resource "terraform_data" "a" {\n  provisioner "local-exec" { command = "exit 1" }\n}\n'
        'resource "terraform_data" "b" {\n  input = "x"\n  depends_on = [terraform_data.a]\n}\n'
        'output "known" { value = terraform_data.b.input }\n'
        'output "unknown" { value = terraform_data.b.id }\n'
    )
    assert applied([], {})[0] == 1
    outputs = json.loads(Path("terraform.tfstate").read_text())["outputs"]
    assert outputs == {"known": {"value": "x", "type": "string"}}


def test_a_destroy_ends_outputs_though_it_fails(here: Path) -> None:
    Path("main.tf").write_text(
        'resource "terraform_data" "a" {\n  provisioner "local-exec" {\n    when = destroy\n'
        '    command = "exit 1"\n  }\n}\noutput "o" { value = terraform_data.a.id }\n'
    )
    assert applied([], {})[0] == 0
    assert applied(["-destroy"], {})[0] == 1
    data = json.loads(Path("terraform.tfstate").read_text())
    assert (len(data["resources"]), data["outputs"]) == (1, {})


def test_checks_of_an_apply_that_fails(here: Path) -> None:
    check = 'check "%s" {\n  assert {\n    condition = %s\n    error_message = "no"\n  }\n}\n'
    made = 'resource "terraform_data" "a" {\n  input = %d\n  triggers_replace = %d\n'
    made += '  provisioner "local-exec" { command = "exit %d" }\n}\n'
    checks = check % ("about", "terraform_data.a.input > 0") + check % ("other", "var.v > 0")
    text = 'variable "v" { default = 1 }\n' + checks + made
    Path("main.tf").write_text(text % (1, 1, 0))
    assert applied([], {})[0] == 0
    Path("main.tf").write_text(text % (2, 2, 1))
    assert applied([], {})[0] == 1
    found = json.loads(Path("terraform.tfstate").read_text())["check_results"]
    assert {each["config_addr"]: each["status"] for each in found} == {
        "check.about": "unknown",
        "check.other": "pass",
    }


_RULE = 'condition = %s\n    error_message = "no"\n'
_GOOD = 'resource "terraform_data" "good" { input = 1 }\n'
_BAD = 'resource "terraform_data" "bad" {\n  %s\n  provisioner "local-exec" {\n    command = "exit 1"\n%s  }\n}\n'


@pytest.mark.parametrize("is_ending", [False, True], ids=["a creation fails", "an end fails"])
@pytest.mark.parametrize(
    ("text", "status"),
    [
        (
            'check "c" {\n  assert {\n    '
            + _RULE % "terraform_data.good.output == 1"
            + "  }\n}\n",
            "pass",
        ),
        (
            'check "c" {\n  assert {\n    '
            + _RULE % "terraform_data.good.output == 2"
            + "  }\n}\n",
            "fail",
        ),
        (
            'output "o" {\n  value = 1\n  precondition {\n    '
            + _RULE % "terraform_data.good.output == 2"
            + "  }\n}\n",
            "fail",
        ),
        (
            'check "c" {\n  assert {\n    ' + _RULE % "length(terraform_data.bad) < 9" + "  }\n}\n",
            "unknown",
        ),
    ],
    ids=["check", "failing check", "failing output", "about what failed"],
)
def test_conditions_of_what_was_made_though_something_failed(
    text: str, status: str, is_ending: bool, here: Path
) -> None:
    """What an end that fails leaves behind is not what the configuration is about."""
    bad = _BAD % ("count = %d", "    when = destroy\n" if is_ending else "")
    if is_ending:
        Path("main.tf").write_text(bad % 1)
        assert applied([], {})[0] == 0
    Path("main.tf").write_text(_GOOD + bad % (0 if is_ending else 1) + text)
    assert applied([], {})[0] == 1
    (found,) = json.loads(Path("terraform.tfstate").read_text())["check_results"]
    assert found["status"] == ("pass" if is_ending and status == "unknown" else status)


def test_conditions_of_what_was_not_made(here: Path) -> None:
    Path("main.tf").write_text(
        'variable "v" { default = 1 }\n'
        'resource "terraform_data" "a" {\n  provisioner "local-exec" { command = "exit 1" }\n}\n'
        'resource "terraform_data" "b" {\n  count = 2\n  input = terraform_data.a.id\n'
        "  lifecycle {\n    precondition {\n      condition     = var.v > 0\n"
        '      error_message = "no"\n    }\n  }\n}\n'
    )
    assert applied([], {})[0] == 1
    (found,) = json.loads(Path("terraform.tfstate").read_text())["check_results"]
    assert found["status"] == "unknown"
    assert {each["status"] for each in found["objects"]} == {"unknown"}


def test_postconditions_of_what_was_made_in_part(here: Path) -> None:
    """The object is there, so what must hold for it can be said."""
    rule = "  lifecycle {\n    postcondition {\n      " + _RULE % "self.input == 1" + "    }\n  }\n"
    Path("main.tf").write_text(
        'resource "terraform_data" "a" {\n  input = 1\n'
        f'  provisioner "local-exec" {{ command = "exit 1" }}\n{rule}}}\n'
    )
    assert applied([], {})[0] == 1
    (found,) = json.loads(Path("terraform.tfstate").read_text())["check_results"]
    assert (found["config_addr"], found["status"]) == ("terraform_data.a", "pass")


def test_conditions_of_what_stays_and_needs_what_was_not_made(here: Path) -> None:
    """They must hold once all that the object needs is done, and that is not known here."""
    rule = "  lifecycle {\n    precondition {\n      " + _RULE % "var.v > 0" + "    }\n  }\n"
    Path("main.tf").write_text(
        'variable "v" { default = 1 }\n'
        'resource "terraform_data" "a" {\n  triggers_replace = var.v\n'
        '  provisioner "local-exec" { command = "exit ${var.v - 1}" }\n}\n'
        'resource "terraform_data" "b" {\n  depends_on = [terraform_data.a]\n'
        f"  count = 2\n{rule}}}\n"
        f'resource "terraform_data" "alone" {{\n{rule}}}\n'
    )
    assert applied([], {})[0] == 0
    assert applied(["-var=v=2"], {})[0] == 1
    found = json.loads(Path("terraform.tfstate").read_text())["check_results"]
    assert {each["config_addr"]: each["status"] for each in found} == {
        "terraform_data.alone": "pass",
        "terraform_data.b": "unknown",
    }


def test_dependencies_are_stored(here: Path) -> None:
    Path("main.tf").write_text(
        'resource "terraform_data" "a" { input = 1 }\n'
        "locals { x = terraform_data.a.output }\n"
        'resource "terraform_data" "b" { input = local.x }\n'
        'resource "terraform_data" "c" { depends_on = [terraform_data.b] }\n'
    )
    status, said = applied([], {})
    assert status == 0, said
    found = {name: each[0].get("dependencies") for name, each in _state().items()}
    assert found == {
        "terraform_data.a": None,
        "terraform_data.b": ["terraform_data.a"],
        "terraform_data.c": ["terraform_data.a", "terraform_data.b"],
    }


def test_a_tainted_object_is_replaced(here: Path) -> None:
    Path("main.tf").write_text('resource "terraform_data" "a" {}')
    applied([], {})
    path = Path("terraform.tfstate")
    data = json.loads(path.read_text())
    data["resources"][0]["instances"][0]["status"] = "tainted"
    path.write_text(json.dumps(data))
    status, said = applied([], {})
    assert status == 0, said
    assert "Apply complete! Resources: 1 added, 0 changed, 1 destroyed." in said
    assert "status" not in _state()["terraform_data.a"][0]


def test_deposed_objects_are_destroyed(here: Path) -> None:
    Path("main.tf").write_text('resource "terraform_data" "a" {}')
    applied([], {})
    path = Path("terraform.tfstate")
    data = json.loads(path.read_text())
    instances = data["resources"][0]["instances"]
    instances.append({**instances[0], "deposed": "00112233"})
    path.write_text(json.dumps(data))
    status, said = applied([], {})
    assert status == 0, said
    assert "Apply complete! Resources: 0 added, 0 changed, 1 destroyed." in said
    assert len(_state()["terraform_data.a"]) == 1


_PROVISIONED = """
resource "terraform_data" "a" {
  input = "x"
  provisioner "local-exec" {
    command     = "echo made $WHAT >> log"
    environment = { WHAT = self.output }
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo ends ${self.input} >> log"
  }
  provisioner "local-exec" {
    command    = "exit 3"
    on_failure = %s
  }
}
"""


def test_provisioners(here: Path) -> None:
    Path("main.tf").write_text(_PROVISIONED % "continue")
    status, said = applied([], {})
    assert status == 0, said
    status, said = applied(["-destroy"], {})
    assert status == 0, said
    assert Path("log").read_text() == "made x\nends x\n"


def test_a_failing_provisioner_taints(here: Path) -> None:
    Path("main.tf").write_text(_PROVISIONED % "fail")
    status, said = applied([], {})
    assert status == 1
    assert "status 3" in said
    assert _state()["terraform_data.a"][0]["status"] == "tainted"


_WITHOUT_ARGUMENTS = """
resource "terraform_data" "a" {
  input = ["a list is no text"]
  provisioner "local-exec" {
    when       = %s
    command    = "echo ${self.input}"
    on_failure = continue
  }
}
"""


@pytest.mark.parametrize("moment", ["create", "destroy"])
def test_arguments_of_a_provisioner_that_have_no_value_fail_whatever_on_failure_says(
    here: Path, moment: str
) -> None:
    Path("main.tf").write_text(_WITHOUT_ARGUMENTS % moment)
    status, said = applied([], {})
    if moment == "destroy":
        assert status == 0, said
        status, said = applied(["-destroy"], {})
    assert status == 1
    assert "Invalid value in a template" in said
    assert _state()["terraform_data.a"][0].get("status") == {"create": "tainted"}.get(moment)


_CONDITIONS = """
variable "v" {}
resource "terraform_data" "a" { triggers_replace = var.v }
resource "terraform_data" "b" {
  input = 1
  lifecycle {
    precondition {
      condition     = terraform_data.a.id != "" && var.v != "bad"
      error_message = "b minds"
    }
  }
}
resource "terraform_data" "c" { triggers_replace = [var.v, terraform_data.b.id] }
"""


def test_conditions_of_what_stays_are_looked_at_when_they_are_known(here: Path) -> None:
    Path("main.tf").write_text(_CONDITIONS)
    assert applied(["-var=v=1"], {})[0] == 0
    status, said = applied(["-var=v=2"], {})
    assert status == 0, said
    assert "2 added, 0 changed, 2 destroyed" in said
    Path("main.tf").write_text(_CONDITIONS.replace('!= ""', '== ""'))
    status, said = applied(["-var=v=3"], {})
    assert status == 1
    assert "b minds" in said
    data = json.loads(Path("terraform.tfstate").read_text())
    (result,) = data["check_results"]
    assert (result["config_addr"], result["status"]) == ("terraform_data.b", "fail")
    assert "terraform_data.c" not in _state(), "c was made although b failed"


def test_an_output_whose_precondition_fails_keeps_its_value(here: Path) -> None:
    text = """
    variable "v" {}
    resource "terraform_data" "a" { input = var.v }
    output "o" {
      value = terraform_data.a.output
      precondition {
        condition     = terraform_data.a.output != "bad"
        error_message = "that is bad"
      }
    }
    """
    Path("main.tf").write_text(text)
    assert applied(["-var=v=good"], {})[0] == 0
    status, said = applied(["-var=v=bad"], {})
    assert status == 1
    assert "that is bad" in said
    assert json.loads(Path("terraform.tfstate").read_text())["outputs"]["o"]["value"] == "good"


def test_an_output_that_becomes_sensitive_is_a_change(here: Path) -> None:
    Path("main.tf").write_text('output "o" { value = 1 }')
    assert applied([], {})[0] == 0
    Path("main.tf").write_text('output "o" {\n  value = 1\n  sensitive = true\n}')
    assert applied([], {})[0] == 0
    assert json.loads(Path("terraform.tfstate").read_text())["outputs"]["o"]["sensitive"] is True


def test_a_provisioner_that_turns_out_to_run_at_destroy_can_use_only_its_object(
    here: Path,
) -> None:
    text = 'variable "w" {}\nresource "terraform_data" "a" {\n  provisioner "local-exec" {\n'
    text += '    when    = var.w\n    command = "echo ${var.w}"\n  }\n}\n'
    Path("main.tf").write_text(text)
    status, said = applied(["-var=w=destroy"], {})
    assert status == 1
    assert "Reference from a destroy provisioner" in said
    assert applied(["-var=w=create"], {})[0] == 0


def test_a_provider_is_not_asked_where_only_secrecy_changes(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = install(monkeypatch)
    text = REQUIRED + 'resource "vault_thing" "t" {\n  name = %s\n}\n'
    Path("main.tf").write_text(text % '"t"')
    assert applied([], {})[0] == 0
    vault.taken()
    Path("main.tf").write_text(text % 'sensitive("t")')
    status, said = applied([], {})
    assert status == 0, said
    assert "1 changed" in said
    assert vault.taken() == ["read t"]
    assert "sensitive_attributes" in _state()["vault_thing.t"][0]
    assert applied([], {})[1].count("No changes") == 1


def test_a_move_that_counting_implies_may_be_blocked(here: Path) -> None:
    Path("main.tf").write_text('resource "terraform_data" "a" { count = 2 }\n')
    assert applied([], {})[0] == 0
    path = Path("terraform.tfstate")
    state = json.loads(path.read_text())
    del state["resources"][0]["instances"][1]["index_key"]
    path.write_text(json.dumps(state))
    status, said = applied([], {})
    assert status == 0, said
    assert "Warning: Move is blocked" in said


def test_an_output_of_what_failed_keeps_its_value(here: Path) -> None:
    text = 'resource "terraform_data" "a" {{\n  triggers_replace = {0}\n  input = {0}\n{1}}}\n'
    text += 'output "known" {{ value = terraform_data.a.input }}\n'
    text += 'output "unknown" {{ value = "${{terraform_data.a.id}} {0}" }}\n'
    failing = '  provisioner "local-exec" { command = "exit 1" }\n'
    for number, provisioner, kept in ((1, failing, None), (2, "", "2"), (3, failing, "2")):
        Path("main.tf").write_text(text.format(number, provisioner))
        assert applied([], {})[0] == bool(provisioner)
        outputs = json.loads(Path("terraform.tfstate").read_text())["outputs"]
        assert outputs["known"]["value"] == number
        found = outputs["unknown"]["value"].split()[-1] if "unknown" in outputs else None
        assert found == kept


def test_an_output_of_what_was_not_updated_is_what_was_planned(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud = clouds.install(monkeypatch)
    text = 'provider "cloud" { region = "eu" }\nresource "cloud_box" "b" {\n  name = "b"\n'
    text += '  content = "%s"\n}\noutput "o" { value = cloud_box.b.content }\n'
    for content, status in (("made", 0), ("broken", 1)):
        Path("main.tf").write_text(clouds.REQUIRED + text % content)
        assert applied([], {})[0] == status
        outputs = json.loads(Path("terraform.tfstate").read_text())["outputs"]
        assert outputs["o"]["value"] == content
        cloud.objects["eu", "b"] = "drifted"
