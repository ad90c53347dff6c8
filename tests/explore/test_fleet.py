"""A fleet on the page: the last applies of its units, and what happens to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import nigari
from nigari.explore.feed import Feed
from nigari.explore.fleet import FleetFollower, fleet_data
from nigari.fleet.units.survey import survey
from tests.explore.explored import write

FILES = {
    "a/main.tf": 'resource "terraform_data" "x" {}\noutput "o" {\n  value = 1\n}\n',
    "b/main.tf": 'resource "terraform_data" "x" {\n  input = 1\n}\n',
    "fleet.hcl": 'unit "b" {\n  directory = "b"\n  needs     = [unit.a]\n}\nunit "a" {\n  directory = "a"\n}\n',
}


def test_units_have_their_last_applies(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    nigari.open(tmp_path / "a", environ={}).apply()
    found = cast(Any, fleet_data(survey(str(tmp_path), {}), {}))
    (applied,) = found["applied"].items()
    name, summary = applied
    assert name == "a"
    assert (summary["state"], summary["counts"]["added"]) == ("done", 1)
    assert "journal" not in found


def test_only_what_is_different_is_told(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    feed = Feed()
    follower = FleetFollower(survey(str(tmp_path), {}), {}, feed)

    def heard() -> list[tuple[object, object]]:
        follower.step()
        return [(each["type"], each.get("state")) for each in feed.after(0, 0)[0]]

    assert heard() == [("fleet", None)]
    nigari.open(tmp_path / "b", environ={}).apply()
    assert heard() == [("fleet", None), ("unit", "done")]
    assert heard() == [("fleet", None), ("unit", "done")]
    journal = tmp_path / "b" / ".terraform" / "nigari.apply.default.jsonl"
    first = json.loads(journal.read_text().split("\n")[0])
    journal.write_text(json.dumps({**first, "at": 1}) + "\n")
    assert heard()[-1] == ("unit", "stopped")
