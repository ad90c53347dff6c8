"""What OpenTofu 1.13 has changed, beside it: functions, provisioners, workspaces, and states that cross over."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real import program

pytestmark = pytest.mark.real

_NULLS = """\
variable "null" {
  default = null
}
variable "text" {
  type    = string
  default = null
}
"""
_FUNCTIONS = {
    "contains a null": 'contains(tolist([null, "a"]), var.text)',
    "contains no null": 'contains(tolist(["a"]), var.text)',
    "contains after a null": "contains([null, 1], 1)",
    "contains nothing after a null": 'contains([null, "a"], "b")',
    "merge nothing": "merge(var.null)",
    "merge nulls": "merge(var.null, { a = 1 }, var.null)",
    "a large host": 'cidrhost("fd00::/8", 100000000000000000000000)',
    "a large host from the end": 'cidrhost("fd00::/8", -100000000000000000000000)',
    "more than 32 bits": 'cidrsubnets("fd00::/8", 40, 40, 120)',
    "a subnet of more than 32 bits": 'cidrsubnet("fd00::/8", 40, 7)',
    "a template with a sensitive variable": "nonsensitive(templatestring(local.t, { v = sensitive(1) }))",
    "the mark of such a template": "issensitive(templatestring(local.t, { v = sensitive(1) }))",
    "convert": "convert({ a = 1 }, map(string))",
}
_PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Side:
    """One program in a directory of its own."""

    def __init__(self, command: list[str], path: Path, text: str) -> None:
        self._command, self.path = command, path
        path.mkdir(exist_ok=True)
        (path / "main.tf").write_text(text)
        (path / "empty.tfrc").write_text("")

    def run(self, *words: str, code: int = 0, **settings: str) -> str:
        done = subprocess.run(
            [*self._command, *words],
            cwd=self.path,
            env={"TF_CLI_CONFIG_FILE": "empty.tfrc", "PATH": "/usr/bin:/bin", **settings},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def outputs(self) -> dict[str, object]:
        self.run("apply", "-auto-approve")
        return {
            name: each["value"] for name, each in json.loads(self.run("output", "-json")).items()
        }


def both(path: Path, text: str) -> tuple[Side, Side]:
    ours = Side([sys.executable, "-m", "nigari"], path / "ours", text)
    return ours, Side([str(program("tofu-1.13"))], path / "theirs", text)


def test_functions(tmp_path: Path) -> None:
    outputs = [
        f'output "o{number}" {{\n  value = {text}\n}}\n'
        for number, text in enumerate(_FUNCTIONS.values())
    ]
    text = f'{_NULLS}locals {{\n  t = "x $${{v}}"\n}}\n{"".join(outputs)}'
    ours, theirs = (
        dict(
            zip(_FUNCTIONS, (found[f"o{number}"] for number in range(len(_FUNCTIONS))), strict=True)
        )
        for found in (side.outputs() for side in both(tmp_path, text))
    )
    assert ours == theirs


def test_provisioners_pass_on_the_trace(tmp_path: Path) -> None:
    text = (
        'resource "terraform_data" "a" {\n'
        '  provisioner "local-exec" {\n    command = "echo trace=$TRACEPARENT"\n  }\n}\n'
    )
    for side in both(tmp_path, text):
        assert f"trace={_PARENT}" in side.run("apply", "-auto-approve", TRACEPARENT=_PARENT)


def test_an_existing_workspace_is_selected_instead(tmp_path: Path) -> None:
    for side in both(tmp_path, ""):
        side.run("workspace", "new", "w")
        assert "workspace select" in side.run("workspace", "new", "w", code=1)


def test_a_saved_plan_replaces_what_is_forgotten(tmp_path: Path) -> None:
    text = (
        'variable "v" {}\nresource "terraform_data" "a" {\n  triggers_replace = var.v\n'
        "  lifecycle {\n    destroy = false\n  }\n}\n"
    )
    for side in both(tmp_path, text):
        side.run("apply", "-auto-approve", "-var=v=1")
        first = (side.path / "terraform.tfstate").read_text()
        side.run("plan", "-out=plan", "-var=v=2")
        shown = json.loads(side.run("show", "-json", "plan"))
        (change,) = (each["change"] for each in shown["resource_changes"])
        assert change["actions"] == ["forget", "create"]
        side.run("apply", "plan")
        assert "1 forgotten" in side.run("show", "plan") or "forget" in side.run("show", "plan")
        assert first != (side.path / "terraform.tfstate").read_text()
        side.run("plan", "-detailed-exitcode", "-var=v=2")


def test_states_cross_over(tmp_path: Path) -> None:
    """Each program goes on with what the other has stored, and OpenTofu 1.12 with both."""
    text = (
        'resource "terraform_data" "a" {\n  input = { x = [1, "y"] }\n}\n'
        'resource "terraform_data" "b" {\n  count = 2\n  input = terraform_data.a.output\n}\n'
        'output "o" {\n  value = terraform_data.b[*].output\n}\n'
    )
    released = [str(program("tofu"))]
    ours, theirs = both(tmp_path, text)
    for first, second in ((ours, theirs), (theirs, ours)):
        first.run("apply", "-auto-approve")
        stored = (first.path / "terraform.tfstate").read_bytes()
        (second.path / "terraform.tfstate").write_bytes(stored)
        second.run("plan", "-detailed-exitcode")
        Side(released, first.path, text).run("plan", "-detailed-exitcode")
