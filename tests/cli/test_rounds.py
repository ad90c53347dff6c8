"""Applying in rounds as a person or a script sees it: `-allow-deferral` and `-rounds`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.process import Done, inside, nigari
from tests.cli.typist import Typist

TWO = """\
resource "terraform_data" "a" {
  input = "x"
}
resource "terraform_data" "b" {
  for_each = toset([terraform_data.a.id])
  input    = each.key
}
output "n" {
  value = length(terraform_data.b)
}
"""
NEVER = """\
resource "terraform_data" "a" {
  for_each = toset([uuid()])
}
"""


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("main.tf").write_text(TWO)
    return tmp_path


def run(*args: str) -> Done:
    return inside(*args, "-no-color")


def stored() -> list[str]:
    found = json.loads(Path("terraform.tfstate").read_text())
    return sorted(each["name"] for each in found["resources"] for _ in each["instances"])


# -- plan -------------------------------------------------------------------------------------


def test_without_the_option_the_error_names_it() -> None:
    done = run("plan")
    assert done.code == 1
    assert "-allow-deferral" in done.err


def test_a_plan_lists_what_is_left_after_the_changes() -> None:
    done = run("plan", "-allow-deferral")
    assert done.code == 0, done.err
    before, _, after = done.out.partition("Deferred to later rounds:\n")
    assert "terraform_data.a will be created" in before
    assert after.startswith(
        "\n  Once terraform_data.a is applied:\n"
        "    output.n: waits for terraform_data.b[*] ← terraform_data.a\n"
        "    terraform_data.b[*]: waits for terraform_data.a\n"
        "\nPlan: 1 to add, 0 to change, 0 to destroy.\n"
        "Deferred: 1 resource, 1 output. At least 2 rounds in all.\n"
    )


@pytest.mark.parametrize("form", ["-summary", "-summary=addresses", "-only=delete"])
def test_other_forms_of_a_plan(form: str) -> None:
    done = run("plan", "-allow-deferral", form)
    assert done.code == 0, done.err
    assert ("Deferred: 1 resource" in done.out) is (form != "-summary=addresses")


def test_the_exit_code_is_2_while_anything_is_left() -> None:
    assert run("plan", "-allow-deferral", "-detailed-exitcode").code == 2
    Path("main.tf").write_text(NEVER)
    done = run("plan", "-allow-deferral", "-detailed-exitcode")
    assert done.code == 2
    assert "Plan: 0 to add, 0 to change, 0 to destroy.\nDeferred: 1 resource." in done.out
    assert "waits for uuid()" in done.out
    Path("main.tf").write_text(TWO)
    assert run("apply", "-allow-deferral", "-auto-approve").code == 0
    assert run("plan", "-allow-deferral", "-detailed-exitcode").code == 0


def test_events_for_programs() -> None:
    done = run("plan", "-allow-deferral", "-json")
    events = [json.loads(line) for line in done.out.splitlines()]
    left = [each["deferred"] for each in events if each["type"] == "deferred_change"]
    assert [(each["address"], each["reason"]) for each in left] == [
        ("output.n", "deferred_prereq"),
        ("terraform_data.b[*]", "instance_count_unknown"),
    ]
    assert left[1]["change"]["action"] == "create"
    assert left[1]["waits_for"] == ["terraform_data.a"]
    (counted,) = [each for each in events if each["type"] == "deferred_summary"]
    assert counted["deferred"] == {"resource": 1, "output": 1}
    assert counted["rounds"] == 2
    kinds = [each["type"] for each in events]
    assert kinds.index("change_summary") < kinds.index("deferred_change")


def test_a_saved_plan_in_terraforms_form() -> None:
    assert run("plan", "-allow-deferral", "-out=p").code == 0
    shown = json.loads(run("show", "-json", "p").out)
    assert shown["complete"] is False
    (left,) = shown["deferred_changes"]
    assert left["reason"] == "instance_count_unknown"
    change = left["resource_change"]
    assert change["address"] == "terraform_data.b[*]"
    assert change["index_unknown"] is True
    assert change["change"]["actions"] == ["create"]
    assert [each["address"] for each in shown["resource_changes"]] == ["terraform_data.a"]
    assert "Deferred: 1 resource, 1 output." in run("show", "p").out
    Path("main.tf").write_text('resource "terraform_data" "a" {}\n')
    assert run("plan", "-allow-deferral", "-out=q").code == 0
    assert "complete" not in json.loads(run("show", "-json", "q").out)


# -- apply ------------------------------------------------------------------------------------


def test_a_saved_plan_holds_one_round_and_says_what_is_left() -> None:
    assert run("plan", "-allow-deferral", "-out=p").code == 0
    done = run("apply", "p")
    assert done.code == 0, done.err
    assert "Left for later rounds:\n\n  output.n: waits for" in done.out
    assert stored() == ["a"]
    assert run("plan", "-out=p").code == 0
    done = run("apply", "p")
    assert "Left for later" not in done.out
    assert stored() == ["a", "b"]


def test_one_apply_does_it_all() -> None:
    done = run("apply", "-allow-deferral", "-auto-approve")
    assert done.code == 0, done.err
    assert "Round 2" in done.out
    assert "Apply complete! Resources: 2 added, 0 changed, 0 destroyed." in done.out
    assert done.out.count("Apply complete!") == 1
    assert "n = 1" in done.out
    assert stored() == ["a", "b"]
    assert run("plan", "-detailed-exitcode").code == 0


def test_events_of_an_apply() -> None:
    done = run("apply", "-allow-deferral", "-auto-approve", "-json")
    events = [json.loads(line) for line in done.out.splitlines()]
    assert [each["round"] for each in events if each["type"] == "round"] == [1, 2]
    (last,) = [each for each in events if each["@message"].startswith("Apply complete")]
    assert last["changes"]["add"] == 2


def test_what_earlier_rounds_import_is_counted_at_the_end() -> None:
    Path("main.tf").write_text(
        """\
resource "terraform_data" "a" {}
import {
  to = terraform_data.taken
  id = terraform_data.a.id
}
resource "terraform_data" "taken" {}
resource "terraform_data" "b" {
  for_each = toset([terraform_data.taken.id])
}
resource "terraform_data" "c" {
  for_each = toset([for each in terraform_data.b : each.id])
}
"""
    )
    assert run("init").code == 0
    done = run("apply", "-allow-deferral", "-auto-approve")
    assert "\nRound 3\n" in done.out
    assert "Apply complete! Resources: 1 imported, 3 added, 0 changed" in done.out


def test_so_many_rounds_and_no_more() -> None:
    done = run("apply", "-allow-deferral", "-auto-approve", "-rounds=1")
    assert done.code == 0, done.err
    assert "Left for later rounds:" in done.out
    assert stored() == ["a"]
    assert run("apply", "-allow-deferral", "-auto-approve", "-rounds=1").code == 0
    assert stored() == ["a", "b"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("-rounds=2",), "can only be used with -allow-deferral"),
        (("-allow-deferral", "-rounds=-1"), "greater than 0"),
        (("-allow-deferral", "-rounds=many"), "whole number"),
    ],
)
def test_wrong_numbers_of_rounds(args: tuple[str, ...], said: str) -> None:
    done = run("apply", "-auto-approve", *args)
    assert done.code == 1
    assert said in " ".join(done.err.split())


def test_what_is_replaced_is_replaced_once() -> None:
    assert run("apply", "-allow-deferral", "-auto-approve").code == 0
    done = run("apply", "-allow-deferral", "-auto-approve", "-replace=terraform_data.a")
    assert done.code == 0, done.err
    assert "Apply complete! Resources: 2 added, 0 changed, 2 destroyed." in done.out
    # What waits is replaced in its own round.
    made = run("state", "list").out.splitlines()
    (address,) = [each for each in made if each.startswith("terraform_data.b")]
    done = run(
        "apply",
        "-allow-deferral",
        "-auto-approve",
        "-replace=terraform_data.a",
        f"-replace={address}",
    )
    assert done.code == 0, done.err
    assert run("plan", "-detailed-exitcode").code == 0


@pytest.mark.parametrize("is_applied", [False, True])
def test_only_the_state(is_applied: bool) -> None:
    if is_applied:
        assert run("apply", "-allow-deferral", "-auto-approve", "-rounds=1").code == 0
    done = run("plan", "-refresh-only", "-allow-deferral")
    assert done.code == 0, done.out + done.err
    assert "later rounds" not in done.out
    done = run("apply", "-refresh-only", "-allow-deferral", "-auto-approve")
    assert done.code == 0, done.err
    assert "later rounds" not in done.out
    assert run("refresh", "-allow-deferral").code == 0


def test_a_loop_is_named() -> None:
    Path("main.tf").write_text(NEVER)
    done = run("apply", "-allow-deferral", "-auto-approve")
    assert done.code == 1
    said = " ".join(done.err.split())
    assert "Rounds without progress" in said
    assert "terraform_data.a[*]: waits for uuid()" in said


def test_a_change_in_every_round_is_no_way_ahead() -> None:
    Path("main.tf").write_text(
        NEVER + 'resource "terraform_data" "restless" {\n  input = plantimestamp()\n}\n'
    )
    done = run("apply", "-allow-deferral", "-auto-approve")
    assert done.code == 1
    assert "Rounds without progress" in done.err
    assert stored() == ["restless"]


def test_checks_that_wait_have_not_passed() -> None:
    text = """\
check "one" {
  assert {
    condition     = length(terraform_data.b) == 1
    error_message = "There must be one."
  }
}
"""
    Path("main.tf").write_text(TWO + text)
    assert run("apply", "-allow-deferral", "-auto-approve", "-rounds=1").code == 0
    (found,) = json.loads(Path("terraform.tfstate").read_text())["check_results"]
    assert found["status"] == "unknown"
    assert json.loads(Path("terraform.tfstate").read_text())["outputs"] == {}
    assert run("apply", "-allow-deferral", "-auto-approve").code == 0
    (found,) = json.loads(Path("terraform.tfstate").read_text())["check_results"]
    assert found["status"] == "pass"


# -- a person ---------------------------------------------------------------------------------


def test_a_person_is_asked_in_every_round(directory: Path) -> None:
    with Typist("apply", "-allow-deferral", cwd=directory) as person:
        person.wait_for("Enter a value:")
        person.type("yes\n")
        person.wait_for("Round 2")
        person.wait_for("Enter a value:")
        # Nobody else can change the state meanwhile.
        other = nigari("plan", "-lock-timeout=0s", cwd=directory)
        assert other.code == 1
        assert "lock" in other.err
        person.type("yes\n")
        person.wait_for("Apply complete! Resources: 2 added")
        assert person.code() == 0


def test_a_person_stops_between_rounds(directory: Path) -> None:
    with Typist("apply", "-allow-deferral", cwd=directory) as person:
        person.wait_for("Enter a value:")
        person.type("yes\n")
        person.wait_for("Round 2")
        person.wait_for("Enter a value:")
        person.type("no\n")
        person.wait_for("Apply cancelled.")
        assert person.code() == 1
    assert stored() == ["a"]
    assert run("apply", "-allow-deferral", "-auto-approve").code == 0
    assert stored() == ["a", "b"]


def test_a_person_interrupts_between_rounds(directory: Path) -> None:
    with Typist("apply", "-allow-deferral", cwd=directory) as person:
        person.wait_for("Enter a value:")
        person.type("yes\n")
        person.wait_for("Round 2")
        person.wait_for("Enter a value:")
        person.interrupt()
        assert person.code() != 0
    assert stored() == ["a"]
    assert not list(directory.glob("*.lock.info"))
    assert run("apply", "-allow-deferral", "-auto-approve").code == 0
    assert stored() == ["a", "b"]


def test_a_person_interrupts_a_round(directory: Path) -> None:
    slow = '  provisioner "local-exec" { command = "sleep 1; echo done" }\n}\n'
    Path("main.tf").write_text(TWO.replace('  input = "x"\n}\n', slow))
    with Typist("apply", "-allow-deferral", "-auto-approve", cwd=directory) as person:
        person.wait_for("Executing: ")
        person.interrupt()
        rest = person.wait_for("Stopped early")
        assert "Round 2" not in rest
        assert person.code() == 1
    assert stored() == ["a"]
    assert run("apply", "-allow-deferral", "-auto-approve").code == 0
    assert stored() == ["a", "b"]


# -- destroy ----------------------------------------------------------------------------------


def test_destroy_needs_no_rounds() -> None:
    assert run("apply", "-allow-deferral", "-auto-approve").code == 0
    done = run("destroy", "-auto-approve")
    assert done.code == 0, done.err
    assert "Destroy complete! Resources: 2 destroyed." in done.out


def test_destroy_after_the_first_round_and_of_what_lost_its_cause(directory: Path) -> None:
    Path("m").mkdir()
    Path("m/main.tf").write_text('resource "terraform_data" "in" {}\n')
    Path("main.tf").write_text(
        TWO + 'module "m" {\n  source   = "./m"\n  for_each = terraform_data.b\n}\n'
    )
    assert run("init").code == 0
    assert run("apply", "-allow-deferral", "-auto-approve", "-rounds=1").code == 0
    assert run("destroy", "-auto-approve").code == 0
    assert run("apply", "-allow-deferral", "-auto-approve").code == 0
    assert run("state", "rm", "terraform_data.a", "terraform_data.b").code == 0
    done = run("destroy", "-auto-approve")
    assert done.code == 0, done.err
    assert "Destroy complete! Resources: 1 destroyed." in done.out


# -- explain ----------------------------------------------------------------------------------


MANY = (
    TWO
    + """\
variable "on" {
  default = false
}
locals {
  plain = "p"
  late  = terraform_data.d[0].id
}
resource "terraform_data" "c" {
  input = terraform_data.b
}
resource "terraform_data" "d" {
  count = length(terraform_data.c.output)
}
resource "terraform_data" "planned" {
  for_each = toset([terraform_data.a.input])
}
resource "terraform_data" "passed" {
  for_each = toset([terraform_data.late.input])
}
resource "terraform_data" "late" {
  input = terraform_data.a.id
}
resource "terraform_data" "each" {
  for_each = toset([for each in terraform_data.b : each.id])
}
resource "terraform_data" "counted" {
  count = length(terraform_data.a.id)
}
resource "terraform_data" "off" {
  count = var.on ? length(terraform_data.b["x"].id) : 0
}
resource "terraform_data" "perhaps" {
  count = terraform_data.a.input == "x" ? length(terraform_data.d[0].id) : 0
}
resource "terraform_data" "both" {
  for_each = toset([terraform_data.a.id, terraform_data.d[0].id])
}
resource "terraform_data" "after" {
  depends_on = [terraform_data.d]
}
data "terraform_remote_state" "read" {
  backend    = "local"
  config     = { path = "other.tfstate" }
  depends_on = [terraform_data.a]
}
resource "terraform_data" "found" {
  for_each = data.terraform_remote_state.read.outputs
}
data "terraform_remote_state" "named" {
  backend = "local"
  config  = { path = terraform_data.d[0].id }
}
resource "terraform_data" "named" {
  for_each = data.terraform_remote_state.named.outputs
}
module "m" {
  source   = "./m"
  for_each = toset([local.late])
  given    = terraform_data.b
}
resource "terraform_data" "from_module" {
  for_each = toset([for each in module.m : each.id])
}
resource "terraform_data" "restless" {
  count = length(uuid())
}
"""
)
WITHIN = """\
variable "given" {}
resource "terraform_data" "in" {
  input = var.given
}
resource "terraform_data" "next" {
  for_each = toset([terraform_data.in.id])
}
output "id" {
  value = terraform_data.in.id
}
"""


@pytest.mark.parametrize(
    ("address", "least"),
    [
        ("terraform_data.a", 1),
        ("local.plain", 1),
        ("terraform_data.b", 2),
        ("terraform_data.b.for_each", 2),
        ("output.n", 2),
        # What needs something deferred waits with it.
        ("terraform_data.c", 2),
        ("terraform_data.after", 3),
        # What only the provider of something deferred can say takes another round.
        ("terraform_data.d", 3),
        ("local.late", 3),
        # An argument that is unknown is planned as unknown.
        ("terraform_data.late", 1),
        ("terraform_data.late.input", 1),
        # It may be known when planning: by what is written, or by how many there are.
        ("terraform_data.planned", 1),
        ("terraform_data.passed", 2),
        ("terraform_data.each", 2),
        ("terraform_data.counted", 2),
        # A branch that is not taken, and one that may not be.
        ("terraform_data.off", 1),
        ("terraform_data.perhaps", 1),
        # All elements have to be known.
        ("terraform_data.both", 2),
        # Data sources are read once what they depend on is there.
        ("terraform_data.found", 2),
        ("terraform_data.named", 4),
        # Modules.
        ("module.m.terraform_data.in", 4),
        ("module.m.terraform_data.next", 5),
        ("terraform_data.from_module", 4),
        ("terraform_data.restless", 1),
    ],
)
def test_explain_says_how_many_rounds_are_certain(address: str, least: int) -> None:
    Path("m").mkdir()
    Path("m/main.tf").write_text(WITHIN)
    Path("main.tf").write_text(MANY)
    assert run("init").code == 0
    done = run("explain", address)
    assert done.code == 0, done.err
    said = [line for line in done.out.splitlines() if "round" in line]
    wanted = f"  at least {least} rounds of apply -allow-deferral, starting from an empty state"
    assert said == ([wanted] if least > 1 else [])
    found = json.loads(run("explain", "-json", address).out)
    assert (found.get("least_rounds", 1), "rounds" in found) == (least, False)
