"""What becomes of objects: kept, forgotten, protected, deposed, tainted, in every combination."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import Done, inside

Instances = list[dict[str, Any]]  # JSON as it comes


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(text: str) -> None:
    Path("main.tf").write_text(text)


def apply(*args: str, code: int = 0) -> str:
    done = inside("apply", "-auto-approve", "-no-color", *args)
    assert done.code == code, done.out + done.err
    return words(done)


def refused(*args: str) -> str:
    done = inside("plan", "-no-color", *args)
    assert done.code == 1, done.out
    return words(done)


def words(done: Done) -> str:
    return " ".join((done.out + done.err).replace("│", " ").split())


def state() -> dict[str, Instances]:
    data = json.loads(Path("terraform.tfstate").read_text())
    return {f"{each['type']}.{each['name']}": each["instances"] for each in data["resources"]}


def actions(*args: str) -> dict[str, tuple[str, str]]:
    """What a plan does, by address and deposed key, and why."""
    assert inside("plan", "-out=p", *args).code == 0
    data = json.loads(inside("show", "-json", "p").out)
    return {
        each["address"] + each.get("deposed", ""): (
            "+".join(each["change"]["actions"]),
            each.get("action_reason", ""),
        )
        for each in data.get("resource_changes", ())
    }


# -- destroy = false --------------------------------------------------------------------------

KEPT = """\
variable "t" { default = 1 }
variable "n" { default = 2 }
resource "terraform_data" "a" {
  triggers_replace = var.t
  lifecycle {
    destroy = %s
  }
}
resource "terraform_data" "b" {
  count = var.n
  lifecycle {
    destroy = false
  }
}
"""
BY_CONFIG = "forgot_because_lifecycle_destroy_in_config"
BY_STATE = "forgot_because_lifecycle_destroy_in_state"


@pytest.mark.parametrize("written", ["false", '"false"', "!true", "1 == 2"])
def test_kept(written: str) -> None:
    write(KEPT % written)
    apply()
    assert state()["terraform_data.a"][0]["skip_destroy"] is True
    assert actions("-var=t=2", "-var=n=1") == {
        "terraform_data.a": ("forget+create", "replace_because_cannot_update"),
        "terraform_data.b[0]": ("no-op", ""),
        "terraform_data.b[1]": ("forget", BY_CONFIG),
    }
    said = apply("-var=t=2", "-var=n=1")
    assert "Plan: 1 to add, 0 to change, 0 to destroy, 2 to forget." in said


def test_kept_though_no_longer_declared() -> None:
    write(KEPT % "false")
    apply()
    write("")
    assert set(actions().values()) == {("forget", BY_STATE)}
    apply()
    assert state() == {}


def test_kept_no_longer() -> None:
    write(KEPT % "false")
    apply()
    write(KEPT % "true")
    apply()
    assert "skip_destroy" not in state()["terraform_data.a"][0]
    write("")
    assert actions()["terraform_data.a"] == ("delete", "delete_because_no_resource_config")


def test_a_destroy_that_leaves_something_fails() -> None:
    write(KEPT % "false")
    apply()
    assert "forgotten instead of destroyed: 3" in apply("-destroy", code=1)
    assert state() == {}
    apply()
    apply("-destroy", "-suppress-forget-errors")


def test_what_is_tainted_and_kept_is_replaced_without_destroying_it() -> None:
    write(KEPT % "false")
    apply()
    assert inside("taint", "terraform_data.a").code == 0
    assert actions()["terraform_data.a"] == ("forget+create", "replace_because_tainted")


# -- removed blocks ---------------------------------------------------------------------------

REMOVED = """\
removed {
  from = terraform_data.a
  lifecycle {
    destroy = %s
  }
  %s
}
"""
LAST_WORDS = """\
  provisioner "local-exec" {
    when    = destroy
    command = "echo ends ${self.input} ${path.module} >> log"
  }
"""


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("true", "delete"),
        ('"true"', "delete"),
        ("false", "forget"),
        ('"false"', "forget"),
    ],
)
def test_removed(written: str, wanted: str) -> None:
    write('resource "terraform_data" "a" { input = "x" }')
    apply()
    write(REMOVED % (written, LAST_WORDS))
    assert actions()["terraform_data.a"] == (wanted, "delete_because_no_resource_config")
    apply()
    ran = Path("log").read_text() if Path("log").exists() else ""
    assert ran == ("ends x .\n" if wanted == "delete" else "")


def test_removed_counts_more_than_what_was_said_before() -> None:
    write('resource "terraform_data" "a" {\n  lifecycle {\n    destroy = false\n  }\n}')
    apply()
    write(REMOVED % ("true", ""))
    assert actions()["terraform_data.a"][0] == "delete"


def test_a_failing_provisioner_of_a_removed_block_keeps_the_object() -> None:
    write('resource "terraform_data" "a" { input = "x" }')
    apply()
    write(REMOVED % ("true", LAST_WORDS.replace("echo", "exit 3 #")))
    assert "status 3" in apply(code=1)
    assert len(state()["terraform_data.a"]) == 1


def test_removed_in_a_module() -> None:
    Path("m").mkdir()
    Path("m/main.tf").write_text('resource "terraform_data" "a" {\n  count = 2\n  input = "x"\n}\n')
    write('module "m" {\n  source = "./m"\n  count = 2\n}\n')
    assert inside("get").code == 0
    apply()
    Path("m/main.tf").write_text(REMOVED % ("true", LAST_WORDS))
    apply()
    assert sorted(Path("log").read_text().splitlines()) == ["ends x m"] * 4


def test_removed_and_still_declared() -> None:
    write('resource "terraform_data" "a" {}\n' + REMOVED % ("true", ""))
    assert "Removed and still declared" in refused()


def test_removed_with_an_unknown_provisioner() -> None:
    write(REMOVED % ("true", LAST_WORDS.replace("local-exec", "smoke-signals")))
    assert "smoke-signals" in refused()


# -- prevent_destroy --------------------------------------------------------------------------

PROTECTED = """\
variable "t" { default = 1 }
variable "p" {
  type    = bool
  default = null
}
resource "terraform_data" "other" { input = var.t }
resource "terraform_data" "a" {
  triggers_replace = var.t
  lifecycle {
    prevent_destroy = %s
  }
}
"""


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("true", "Destroying is prevented"),
        ("var.p", "prevent_destroy is null"),
        ("tonumber(terraform_data.other.output) == 2", "known only after something is applied"),
    ],
)
def test_protected(written: str, wanted: str) -> None:
    write(PROTECTED % written)
    apply()
    apply()
    assert wanted in refused("-var=t=2")
    write(PROTECTED % "false")
    assert actions("-var=t=2")["terraform_data.a"][0] == "delete+create"


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("count.index == 1", "count"),
        ("sensitive(true)", "sensitive"),
        ('"maybe"', "bool"),
    ],
)
def test_unfit_protection(written: str, wanted: str) -> None:
    write(PROTECTED % written)
    assert wanted in refused()


ABSENT = """\
resource "terraform_data" "counted" { count = %s }
resource "terraform_data" "enabled" {
  lifecycle { enabled = false }
}
resource "terraform_data" "a" {
  lifecycle {
    prevent_destroy = %s
  }
}
"""


@pytest.mark.parametrize(
    ("written", "is_protected"),
    [
        ("length(terraform_data.counted) == 0", True),
        ("length(terraform_data.counted) == 1", False),
        ("terraform_data.enabled == null", True),
        ('try(terraform_data.enabled.id, "") != ""', False),
    ],
)
def test_what_has_no_instances_is_known_to_have_none_in_a_destroy(
    written: str, is_protected: bool
) -> None:
    write(ABSENT % ("0", written))
    apply()
    if is_protected:
        assert "Destroying is prevented" in refused("-destroy")
    else:
        assert actions("-destroy")["terraform_data.a"][0] == "delete"


def test_what_is_still_to_be_made_is_not_known_in_a_destroy() -> None:
    write(ABSENT % ("0", "false"))
    apply()
    write(ABSENT % ("1", 'terraform_data.counted[0].id == ""'))
    assert "known only after something is applied" in refused("-destroy")


# -- objects of module instances that are gone ------------------------------------------------

CALLED = """\
variable "p" { default = true }
variable "name" { default = "" }
resource "terraform_data" "a" {
  input = var.name
  lifecycle {
    prevent_destroy = %s
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo ends ${self.input} ${path.module} >> ../log"
    working_dir = path.module
  }
}
"""
CALLER = """\
variable "on" { default = true }
module "m" {
  source = "./%s"
  name   = %s
  %s
}
"""
NESTED = """\
variable "name" {}
variable "p" { default = true }
module "inner" {
  for_each = toset(["x"])
  source   = "../m"
  name     = "${var.name}-${each.key}"
  p        = var.p
}
"""
REPETITIONS = {
    "for_each": ("each.key", 'for_each = toset(var.on ? ["a", "b"] : ["a"])', '["b"]', "b"),
    "count": ("count.index", "count = var.on ? 2 : 1", "[1]", "1"),
    "enabled": ('"only"', "lifecycle { enabled = var.on }", "", "only"),
}


def write_call(inner: str, repetition: str, protected: str = "false", argument: str = "") -> None:
    for folder, text in (("m", CALLED % protected), ("nested", NESTED)):
        Path(folder).mkdir(exist_ok=True)
        Path(folder, "main.tf").write_text(text)
    name, how, _, _ = REPETITIONS[repetition]
    write(CALLER % (inner, name, how + "\n" + argument))
    assert inside("get").code == 0


@pytest.mark.parametrize("repetition", REPETITIONS)
@pytest.mark.parametrize(
    ("inner", "address", "ending"),
    [("m", "terraform_data.a", ""), ("nested", 'module.inner["x"].terraform_data.a', "-x")],
)
def test_an_instance_of_a_module_goes(
    repetition: str, inner: str, address: str, ending: str
) -> None:
    _, _, key, name = REPETITIONS[repetition]
    gone = f"module.m{key}.{address}"
    write_call(inner, repetition, "true")
    apply()
    assert f"{gone} has prevent_destroy set" in refused("-var=on=false")
    assert "has prevent_destroy set" in refused("-destroy")
    write_call(inner, repetition)
    apply("-var=on=false")
    assert Path("log").read_text() == f"ends {name}{ending} m\n"
    apply("-destroy")
    assert len(Path("log").read_text().splitlines()) == (1 if repetition == "enabled" else 2)


@pytest.mark.parametrize(
    ("argument", "wanted"),
    [
        ("p = true", "Destroying is prevented"),
        ("p = false", ""),
        ("p = !var.on", "Destroying is prevented"),
        ('p = each.value != "b"', "prevent_destroy is known only after"),
        ('p = each.key == "b"', "Destroying is prevented"),
        ("p = null", "prevent_destroy is null"),
    ],
)
@pytest.mark.parametrize("inner", ["m", "nested"])
def test_protection_of_an_instance_that_is_gone(inner: str, argument: str, wanted: str) -> None:
    write_call(inner, "for_each", "var.p", argument)
    apply()
    if wanted:
        assert wanted in refused("-var=on=false")
    else:
        assert ("delete", "delete_because_no_module") in actions("-var=on=false").values()


def test_without_its_call_nothing_protects_an_object() -> None:
    write_call("m", "for_each", "true")
    apply()
    write("")
    apply()
    assert state() == {}
    assert not Path("log").exists()


def test_protected_while_everything_is_destroyed() -> None:
    write(PROTECTED % "true")
    apply()
    assert "Destroying is prevented" in refused("-destroy")
    write("")
    assert actions()["terraform_data.a"][0] == "delete"


def test_forgetting_is_no_destruction() -> None:
    write(PROTECTED.replace("prevent", "destroy = false\n    prevent") % "true")
    apply()
    assert actions("-var=t=2")["terraform_data.a"][0] == "forget+create"


# -- deposed and tainted objects --------------------------------------------------------------

OBJECT = """\
resource "terraform_data" "a" {
  input = "x"
  %s
  provisioner "local-exec" {
    when    = destroy
    command = "echo ${self.id} >> log"
  }
}
"""


def _disturb(is_tainted: bool, deposed: int) -> None:
    path = Path("terraform.tfstate")
    data = json.loads(path.read_text())
    instances = data["resources"][0]["instances"]
    for number in range(deposed):
        attributes = {**instances[0]["attributes"], "id": f"old {number}"}
        instances.append({**instances[0], "deposed": f"0000000{number}", "attributes": attributes})
    instances[0]["attributes"]["id"] = "current"
    if is_tainted:
        instances[0]["status"] = "tainted"
    path.write_text(json.dumps(data))


@pytest.mark.parametrize("lifecycle", ["", "create_before_destroy = true", "destroy = false"])
@pytest.mark.parametrize("is_tainted", [False, True])
@pytest.mark.parametrize("deposed", [0, 1, 2])
def test_combinations(lifecycle: str, is_tainted: bool, deposed: int) -> None:
    write(OBJECT % (f"lifecycle {{\n    {lifecycle}\n  }}" if lifecycle else ""))
    apply()
    _disturb(is_tainted, deposed)
    current = "no-op"
    if is_tainted:
        current = {
            "": "delete+create",
            "create_before_destroy = true": "create+delete",
            "destroy = false": "forget+create",
        }[lifecycle]
    end = "forget" if lifecycle == "destroy = false" else "delete"
    wanted = {f"terraform_data.a0000000{number}": end for number in range(deposed)}
    found = {address: what for address, (what, _) in actions().items()}
    assert found == {"terraform_data.a": current, **wanted}
    apply()
    left = state()["terraform_data.a"]
    assert len(left) == 1
    assert (left[0]["attributes"]["id"] == "current") is not is_tainted
    # Neither tainted nor deposed objects have last words.
    assert not Path("log").exists()


@pytest.mark.parametrize("lifecycle", ["", "create_before_destroy = true"])
def test_deposed_objects_wait_for_what_comes_in_their_place(lifecycle: str) -> None:
    text = (
        'resource "terraform_data" "a" {\n  triggers_replace = %d\n  lifecycle {\n    %s\n  }\n'
        '  provisioner "local-exec" {\n    command = "exit %d"\n  }\n}\n'
    )
    write(text % (1, lifecycle, 0))
    apply()
    _disturb(False, 1)
    write(text % (2, lifecycle, 1))
    apply(code=1)
    assert "old 0" in [each["attributes"]["id"] for each in state()["terraform_data.a"]]


def test_deposed_objects_wait_for_what_depends_on_them() -> None:
    text = (
        'resource "terraform_data" "a" {}\n'
        'resource "terraform_data" "b" {\n  triggers_replace = [terraform_data.a.id, %d]\n'
        '  provisioner "local-exec" {\n    command = "exit %d"\n  }\n}\n'
    )
    write(text % (1, 0))
    apply()
    _disturb(False, 1)
    write(text % (2, 1))
    apply(code=1)
    assert "old 0" in [each["attributes"]["id"] for each in state()["terraform_data.a"]]


@pytest.mark.parametrize("is_tainted", [False, True])
def test_the_end_of_everything(is_tainted: bool) -> None:
    write(OBJECT % "")
    apply()
    _disturb(is_tainted, 2)
    assert "0 added, 0 changed, 3 destroyed" in apply("-destroy")
    assert state() == {}
    assert Path("log").exists() is not is_tainted


def test_deposed_objects_of_what_is_removed() -> None:
    write(OBJECT % "")
    apply()
    _disturb(False, 2)
    write(REMOVED % ("false", ""))
    assert [what for what, _ in actions().values()] == ["forget"] * 3
    apply()
    assert state() == {}
