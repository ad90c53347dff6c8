"""Configurations whose plan the real program has made: the same verdict, outputs and changes."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from nigari.diagnostics import Severity
from nigari.plan.show.plan_json import Members, plan_to_json
from tests.cli.in_process import planned
from tests.conformance import CONFORMANCE, Row, needs_conformance, rows

_DATA = CONFORMANCE / "configurations" / "data"


_POINTS_ELSEWHERE = {
    "authored/plan/check-fail-warning": "ours points at the condition, not at the check",
}


def _cases() -> list[Row]:
    return [row for row in rows("configurations/manifest.jsonl") if row["level"] == "plan"]


def _change(each: object) -> Members:
    assert isinstance(each, dict)
    change = each["change"]
    return {
        "address": each["address"],
        "mode": each["mode"],
        "actions": change["actions"],
        "after": change["after"],
        "after_unknown": change["after_unknown"],
        "after_sensitive": change["after_sensitive"] or {},
        "action_reason": each.get("action_reason"),
    }


def _same(one: object, other: object) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@needs_conformance
@pytest.mark.parametrize("row", _cases(), ids=lambda row: str(row["path"]))
def test_plan(row: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "work"
    shutil.copytree(_DATA / str(row["path"]), target)
    monkeypatch.chdir(target)
    given = row["args"]
    assert isinstance(given, list)
    environ = dict(os.environ)
    for each in given:
        if str(each).startswith("ENV:"):
            name, _, value = str(each).removeprefix("ENV:").partition("=")
            environ[name] = value
    args = [str(each) for each in given if str(each)[:4] != "ENV:"]
    plan, found, _ = planned(args, environ)
    told = "\n".join(f"{each.severity.value} {each.subject} {each.summary}" for each in found)
    errors = [each for each in found if each.severity is Severity.ERROR]
    assert bool(errors) is (row["expect"] == "error"), told
    expected = row.get("diags") or []
    assert isinstance(expected, list)
    for wanted in expected:
        assert isinstance(wanted, dict)
        if wanted.get("line") and row["path"] not in _POINTS_ELSEWHERE:
            assert any(
                each.severity.value == wanted["severity"]
                and each.subject is not None
                and each.subject.start.line == wanted["line"]
                for each in found
            ), f"nothing like {wanted} in\n{told}"
    if plan is None or row["expect"] == "error":
        return
    shown = plan_to_json(plan)
    changes, wanted_changes = shown["resource_changes"], row.get("resource_changes")
    assert isinstance(changes, list)
    assert isinstance(wanted_changes, list)
    ours = sorted((_change(each) for each in changes), key=lambda each: str(each["address"]))
    found_changes = [each for each in wanted_changes if isinstance(each, dict)]
    theirs = sorted(found_changes, key=lambda each: str(each["address"]))
    assert _same(ours, theirs), f"{json.dumps(ours)}\n{json.dumps(theirs)}"
    outputs = shown["output_changes"]
    wanted_outputs = row.get("outputs") or {}
    assert isinstance(outputs, dict)
    assert isinstance(wanted_outputs, dict)
    assert outputs.keys() == wanted_outputs.keys()
    for name, output in outputs.items():
        theirs_output = wanted_outputs[name]
        assert isinstance(theirs_output, dict)
        assert _same(output["after_unknown"], theirs_output["after_unknown"]), name
        assert _same(output["after_sensitive"], theirs_output["sensitive"]), name
        if theirs_output["after_unknown"] is False:
            assert _same(output["after"], theirs_output["after"]), name
