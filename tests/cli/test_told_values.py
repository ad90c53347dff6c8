"""What people and programs see of the values, differences and calls that diagnostics tell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.process import inside


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_secret_inside_a_difference_is_hidden() -> None:
    Path("main.tf").write_text(
        'variable "s" {\n default = "hunter2"\n sensitive = true\n}\n'
        'locals {\n have = { a = 1, s = var.s }\n want = { a = 2, s = "other" }\n}\n'
        'resource "terraform_data" "a" {\n lifecycle {\n precondition {\n'
        ' condition = local.have == local.want\n error_message = "no"\n }\n }\n}\n'
    )
    said = inside("plan", "-no-color")
    assert "hunter2" not in said.out + said.err
    assert "~ a = 1 -> 2" in said.err
    said = inside("plan", "-json")
    assert "hunter2" not in said.out + said.err
    events = [json.loads(line) for line in said.out.splitlines()]
    (found,) = [each["diagnostic"] for each in events if each["type"] == "diagnostic"]
    assert found["difference"]["before"] == {"a": 1, "s": None}
    assert found["difference"]["before_sensitive"] == {"s": True}


def test_one_mistake_of_many_instances_is_shown_once() -> None:
    Path("main.tf").write_text(
        'variable "m" {\n default = {}\n}\n'
        'resource "terraform_data" "a" {\n count = 3\n input = var.m["b"]\n}'
    )
    said = inside("plan", "-no-color").err
    assert said.count("Invalid index") == 1
    assert "with terraform_data.a[0], terraform_data.a[1] and terraform_data.a[2]," in said


@pytest.mark.parametrize(
    ("call", "name"), [("substr(1)", "substr"), ('join(",", 5)', "join"), ("nofunc()", None)]
)
def test_programs_are_told_the_signature_of_a_call(call: str, name: str | None) -> None:
    Path("main.tf").write_text(f'output "o" {{ value = {call} }}\n')
    done = inside("validate", "-json")
    assert done.code == 1
    snippet = json.loads(done.out)["diagnostics"][0]["snippet"]
    assert snippet.get("function_call", {}).get("called_as") == name
