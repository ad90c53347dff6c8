"""Programs that read plans, states and other answers in JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.real import program
from tests.real.json_forms import functions, schemas
from tests.tools.beside import Side, planned, read, sides

pytestmark = pytest.mark.tools

_FEATURE = """
Feature: names
  Scenario: every object has an input
    Given I have terraform_data defined
    Then it must contain input
  Scenario: no object is called c
    Given I have terraform_data defined
    When it has input
    Then it must contain triggers_replace
"""
_POLICY = """
package main

deny contains message if {
  some change in input.resource_changes
  "delete" in change.change.actions
  message := sprintf("%s is destroyed", [change.address])
}

warn contains message if {
  some name, output in input.output_changes
  output.after_sensitive == true
  message := sprintf("%s is sensitive", [name])
}
"""
_CHECK = """
metadata:
  id: "CKV2_NIGARI_1"
  name: "Objects are replaced when a name asks for it"
  category: "GENERAL_SECURITY"
definition:
  cond_type: "attribute"
  resource_types: ["terraform_data"]
  attribute: "triggers_replace"
  operator: "exists"
"""


def _terraform_json(side: Side) -> list[object]:
    reader, folder = program("reader-terraform-json"), side.directory
    texts = [("plan", path.read_text()) for path in planned(side)]
    texts += [
        ("state", side.run("show", "-json")),
        ("schemas", side.run("providers", "schema", "-json")),
        ("version", side.run("version", "-json")),
        ("functions", side.run("metadata", "functions", "-json")),
        ("validate", side.run("validate", "-json")),
    ]
    forms = {"schemas": schemas, "functions": functions}
    found: list[object] = []
    for what, text in texts:
        seen = read([reader, what], text, folder)
        found.append(forms[what](seen) if what in forms else json.loads(seen))
    return found


def _tf_summarize(side: Side) -> list[object]:
    options: list[list[str]] = [[], ["-md"], ["-json"], ["-tree"], ["-separate-tree"], ["-html"]]
    # Its order differs from run to run.
    return [
        sorted(read([program("tf-summarize"), *each, path], "", side.directory).split())
        for path in planned(side)
        for each in options
    ]


def _conftest(side: Side) -> list[object]:
    (side.directory / "policy").mkdir()
    (side.directory / "policy" / "main.rego").write_text(_POLICY)
    command: list[str | Path] = [program("conftest"), "test", "--output=json"]
    return [read([*command, path.name], "", side.directory) for path in planned(side)]


def _terraform_compliance(side: Side) -> list[object]:
    (side.directory / "features").mkdir()
    (side.directory / "features" / "names.feature").write_text(_FEATURE)
    command: list[str | Path] = [
        program("terraform-compliance"),
        "--no-ansi",
        "-f",
        "features",
        "-p",
    ]
    found: list[object] = []
    for path in planned(side):
        lines = read([*command, path.name], "", side.directory).splitlines()
        found.append([each for each in lines if str(side.directory) not in each])
    return found


def _checkov(side: Side) -> list[object]:
    (side.directory / "checks").mkdir()
    (side.directory / "checks" / "check.yaml").write_text(_CHECK)
    found: list[object] = []
    for path in planned(side):
        options = ["--external-checks-dir=checks", "--output=json", "--compact", "--quiet"]
        options += ["--framework=terraform_plan", f"--file={path.name}", "--soft-fail"]
        options += ["--skip-download"]
        report = json.loads(read([program("checkov"), *options], "", side.directory))
        # There are no results of a plan that only destroys.
        results = report.get("results", {})
        checks = [*results.get("failed_checks", ()), *results.get("passed_checks", ())]
        objects = sorted(each["resource"] for each in checks)
        assert objects or path.name == "plan2.json", report
        found.append([report.get("summary", report), objects])
    return found


READERS = {
    "terraform-json": _terraform_json,
    "tf-summarize": _tf_summarize,
    "conftest": _conftest,
    "terraform-compliance": _terraform_compliance,
    "checkov": _checkov,
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_reader(reader: Callable[[Side], list[object]], tmp_path: Path) -> None:
    theirs, ours = map(reader, sides(tmp_path))
    assert ours == theirs
    assert all(theirs)
