"""A fleet on the page: the last applies of its units, and what happens to them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import nigari
from nigari.explore.event_stream import Feed
from nigari.explore.fleet import FleetFollower, fleet_data
from nigari.fleet.fleet import open as open_fleet
from nigari.fleet.runs.progress import FleetProgress
from nigari.fleet.units.graph_loader import Survey, survey
from nigari.plan.model.changes import PlanMode
from tests.explore.explored import write

FILES = {
    "a/main.tf": 'resource "terraform_data" "x" {}\noutput "o" {\n  value = 1\n}\n',
    "b/main.tf": 'resource "terraform_data" "x" {\n  input = 1\n}\n',
    "fleet.hcl": 'unit "b" {\n  directory  = "b"\n  depends_on = [unit.a]\n}\nunit "a" {\n  directory = "a"\n}\n',
}


def test_units_have_their_last_applies(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    nigari.open(tmp_path / "a", environ={}).apply()
    found = cast(Any, fleet_data(survey(str(tmp_path), {}), {}))
    (applied,) = found["applied"].items()
    name, summary = applied
    assert name == "a"
    assert (summary["state"], summary["counts"]["added"]) == ("done", 1)
    assert (found["progress"], found["unfinished"]) == ([], None)


def test_the_last_plan_or_apply_of_the_fleet_is_told(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    found = survey(str(tmp_path), {})
    feed = Feed()
    follower = FleetFollower(found, {}, feed)

    def told() -> list[list[object]]:
        progress = cast(Any, fleet_data(found, {}))["progress"]
        return [[each["type"], each.get("unit"), each.get("status")] for each in progress]

    with open_fleet(tmp_path, jobs=1) as fleet:
        plan = fleet.plan()
        units = [
            ["unit_start", "a", None],
            ["unit_end", "a", "done"],
            ["unit_start", "b", None],
            ["unit_end", "b", "done"],
        ]
        expected = [["fleet", None, None], *units, ["end", None, None]]
        assert told() == expected
        follower.step()
        fleet.apply(plan)
        assert told() == expected
        follower.step()
    heard = [each for each in feed.after(0, 0)[0] if str(each["type"]).startswith("fleet")]
    assert [(each["phase"], each["units"]) for each in heard] == [
        ("plan", ["b", "a"]),
        ("apply", ["b", "a"]),
    ]


def test_a_command_that_was_killed_is_told_to_have_stopped(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    FleetProgress(str(tmp_path), lambda _: None).begin("plan", PlanMode.NORMAL, ["a"])
    found = survey(str(tmp_path), {})
    # The file is locked as long as there is somebody to write it.
    assert _types(found) == ["fleet"]
    code = (
        "import os, sys; from nigari.fleet.runs.progress import FleetProgress as P; "
        "from nigari.plan.model.changes import PlanMode as M; "
        "P(sys.argv[1], print).begin('plan', M.NORMAL, ['a']); os._exit(1)"
    )
    other = tmp_path / "other"
    write(other, FILES)
    subprocess.run([sys.executable, "-c", code, str(other)], check=False)
    assert _types(survey(str(other), {})) == ["fleet", "stopped"]


def _types(found: Survey) -> list[str]:
    return [each["type"] for each in cast(Any, fleet_data(found, {}))["progress"]]


def test_only_what_is_different_is_told(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    feed = Feed()
    follower = FleetFollower(survey(str(tmp_path), {}), {}, feed)

    def heard() -> list[tuple[object, object]]:
        follower.step()
        return [(each["type"], each.get("state")) for each in feed.after(0, 0)[0]]

    assert heard() == [("unfinished", None)]
    nigari.open(tmp_path / "b", environ={}).apply()
    assert heard() == [("unfinished", None), ("unit", "done")]
    assert heard() == [("unfinished", None), ("unit", "done")]
    journal = tmp_path / "b" / ".terraform" / "nigari.apply.default.jsonl"
    first = json.loads(journal.read_text().split("\n")[0])
    journal.write_text(json.dumps({**first, "at": 1}) + "\n")
    assert heard()[-1] == ("unit", "stopped")
