"""Attributes written as nested blocks, from the text to what is stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nigari.diagnostics import Diagnostic
from tests.cases import Case, check_case
from tests.plan.firewall import CASES, REQUIRED, install, lay_out
from tests.plan.sessions import applied, plan, planned


@pytest.mark.parametrize("case", CASES, ids=str)
def test_attributes_written_as_blocks(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    monkeypatch.chdir(tmp_path)
    install(monkeypatch)
    if any(name.startswith("before") for name in case.files):
        lay_out(case, is_before=True)
        applied()
    lay_out(case, is_before=False)
    made, told = planned()
    if made is None:
        check_case(
            case, "\n".join(_place(each) for each in told), pytestconfig.getoption("--update")
        )
        return
    summary = str(applied().plan.summary)
    check_case(case, "\n".join([*_stored(), summary]), pytestconfig.getoption("--update"))


_RESOURCES = """\
resource "terraform_data" "t" { input = "t" }
resource "firewall_group" "a" { name = "x" }
resource "firewall_group" "b" {
  name = terraform_data.t.output
  rule {
    host { name = firewall_group.a.name }
  }
}
"""


def test_programs_are_told_of_blocks_as_of_an_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    install(monkeypatch)
    Path("main.tf").write_text(REQUIRED + _RESOURCES)
    applied()
    Path("output.tf").write_text('output "o" { value = firewall_group.b.rule[0].host }')
    data: dict[str, Any] = plan().to_json()
    resources = data["configuration"]["root_module"]["resources"]
    rule = next(each["expressions"]["rule"] for each in resources if each["name"] == "b")
    assert rule == {"references": ["firewall_group.a.name", "firewall_group.a"]}
    relevant = [(each["resource"], *each["attribute"]) for each in data["relevant_attributes"]]
    assert relevant == [
        ("firewall_group.a", "name"),
        ("firewall_group.b", "rule", 0, "host"),
    ]


def _place(diagnostic: Diagnostic) -> str:
    assert diagnostic.subject is not None
    start = diagnostic.subject.start
    return f"{start.line}:{start.column}: {diagnostic.summary}"


def _stored() -> list[str]:
    state = json.loads(Path("terraform.tfstate").read_text())
    found = []
    for resource in state["resources"]:
        for instance in resource["instances"]:
            key = instance.get("index_key")
            address = f"{resource['type']}.{resource['name']}" + ("" if key is None else f"[{key}]")
            values = {
                name: value
                for name, value in instance["attributes"].items()
                if name != "id" and value is not None
            }
            found.append(f"{address} {json.dumps(values)}")
    return found
