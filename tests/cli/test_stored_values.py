"""The block `store` of `terraform_data`: what is stored, and that nothing of it is in OpenTofu's way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import inside
from tests.cli.store_stories import HEAD, STORIES, Step


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def apply(text: str, *args: str) -> dict[str, Any]:
    """Apply a configuration through a saved plan, and return the actions by address."""
    Path("main.tf").write_text(text)
    planned = inside("plan", "-out=p", *args)
    assert planned.code == 0, planned.err
    shown = json.loads(inside("show", "-json", "p").out)
    done = inside("apply", "p")
    assert done.code == 0, done.err
    return {each["address"]: each["change"] for each in shown["resource_changes"]}


def stored(name: str = "a") -> dict[str, Any]:
    """The attributes of an object in the state."""
    for resource in json.loads(Path("terraform.tfstate").read_text())["resources"]:
        if resource["name"] == name:
            found = resource["instances"][0]["attributes"]
            assert isinstance(found, dict)
            return found
    raise AssertionError(name)


def follow(step: Step) -> tuple[tuple[str, ...], object, object]:
    change = apply(step.text)["terraform_data.a"]
    state = json.loads(inside("show", "-json").out)["values"]["root_module"]["resources"]
    (values,) = (each["values"] for each in state if each["name"] == "a")
    store = values.get("store") or {}
    assert store.get("input") is None
    return tuple(change["actions"]), store.get("output"), store.get("sensitive_output")


@pytest.mark.parametrize("name", STORIES)
def test_stories(name: str) -> None:
    for step in STORIES[name]:
        assert follow(step) == (step.actions, step.output, step.sensitive_output)


def test_a_null_is_left_out_of_states() -> None:
    apply(Step('input = "a"', ()).text)
    assert "store" in stored()
    assert "store" not in stored("other")
    assert inside("state", "show", "terraform_data.a").out.count("store {") == 1
    assert inside("show").out.count("store") == 1
    apply(Step(None, ()).text)
    assert "store" not in inside("show").out
    assert "store" not in stored()
    assert (
        "store"
        not in json.loads(inside("show", "-json").out)["values"]["root_module"]["resources"][0]
    )


def test_objects_are_as_in_opentofu_where_nothing_is_stored() -> None:
    whole = f'{HEAD}output "whole" {{\n  value = terraform_data.other\n}}\n'
    names = ["id", "input", "output", "triggers_replace"]
    change = apply(whole)["terraform_data.other"]
    assert sorted(change["after"] | change["after_unknown"]) == [
        "id",
        "input",
        "output",
        "triggers_replace",
    ]
    assert sorted(json.loads(inside("output", "-json", "whole").out)) == names
    Path("main.tf").write_text(f'{HEAD}output "x" {{\n  value = terraform_data.other.store\n}}\n')
    assert inside("validate").code == 1
    # What is in the state only is still an object with a block, which the next apply removes.
    apply(Step('input = "a"', ()).text)
    changed = apply(f'{Step(None, ()).text}output "whole" {{\n  value = terraform_data.other\n}}\n')
    assert changed["terraform_data.a"]["before"]["store"]["output"] == "a"
    assert inside("plan", "-detailed-exitcode").code == 2, "the output loses the null"
    assert inside("apply", "-auto-approve").code == 0
    assert sorted(json.loads(inside("output", "-json", "whole").out)) == names


def test_states_of_terraform_have_a_null() -> None:
    apply(Step(None, ()).text)
    state = json.loads(Path("terraform.tfstate").read_text())
    for resource in state["resources"]:
        resource["instances"][0]["attributes"]["store"] = None
    Path("terraform.tfstate").write_text(json.dumps(state))
    assert inside("plan", "-detailed-exitcode").code == 0


def test_neither_plan_nor_state_has_an_ephemeral_value() -> None:
    text = Step("input = var.given\nversion = 1", ()).text
    Path("main.tf").write_text(text)
    assert inside("plan", "-out=p", "-var=given=S3CR3T").code == 0
    assert "S3CR3T" not in inside("show", "-json", "p").out
    done = inside("apply", "-var=given=later", "p")
    assert done.code == 0, done.err
    # The value at the time of the apply counts, as with any ephemeral value.
    assert stored()["store"]["output"]["value"] == "later"


@pytest.mark.parametrize("name", ["sensitive", "replace"])
def test_settings_must_be_known(name: str) -> None:
    step = Step(f'input = "a"\n{name} = terraform_data.other.id != "x"', ())
    Path("main.tf").write_text(step.text)
    found = inside("plan")
    assert found.code == 1
    assert "Unknown setting of a store" in found.err
    assert f"{name} decides what is planned" in found.err


def test_dynamic_blocks() -> None:
    more = """
  count = 2
  dynamic "store" {
    for_each = count.index == 1 ? [1] : []
    content {
      input = "x"
    }
  }
"""
    value = "[for each in terraform_data.a : try(each.store.output, null)]"
    apply(f'{Step(None, (), more=more).text}output "o" {{\n  value = {value}\n}}\n')
    assert json.loads(inside("output", "-json", "o").out) == [None, "x"]


@pytest.mark.parametrize(
    ("target", "code"), [("opentofu-1.12", 1), ("terraform-1.15", 1), ("terraform-1.16", 0)]
)
def test_plain_configurations(target: str, code: int) -> None:
    Path("main.tf").write_text(Step('input = "a"', ()).text)
    found = inside("config", "-plain", "-out=plain", f"-for={target}")
    assert found.code == code, found.err + found.out
    if code:
        assert "terraform_data has no store block" in found.err
