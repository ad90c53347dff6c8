"""The last apply on the page: from its journal, while that grows, and from the process itself."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, cast
from urllib.request import urlopen

import pytest

import nigari
from nigari.explore import live
from nigari.explore.event_stream import Event, Feed
from nigari.explore.journal import JournalFollower, event_of, journal_events
from nigari.explore.live import LivePage
from nigari.explore.page import Page
from nigari.plan.model.plan_options import PlanOptions
from nigari.workspace.session.apply_journal import journal_path
from nigari.workspace.session.apply_result import Saved
from nigari.workspace.session.locked_session import locked
from tests.explore.explored import session, write

MAIN = """
variable "password" {
  default   = "planted-password"
  sensitive = true
}
resource "terraform_data" "first" {
  input = var.password
  provisioner "local-exec" {
    command = "echo planted-password"
  }
}
resource "terraform_data" "second" {
  input = terraform_data.first.id
}
"""


def keep(text: str) -> str:
    return text.replace("secret", "••••••")


def types(events: list[Event]) -> list[object]:
    return [each["type"] for each in events]


def test_an_entry_loses_its_secrets_and_its_variables() -> None:
    entry = {"type": "diagnostic", "at": 1.5, "text": "A secret", "detail": "secret"}
    assert event_of(entry, keep) == {**entry, "text": "A ••••••", "detail": "••••••"}
    header = {"type": "apply", "at": 1, "variables": {"a": 1}}
    assert event_of(header, keep) == {"type": "apply", "at": 1}


def test_operations_become_nodes() -> None:
    operations = [
        {"kind": "create", "address": "module.a.x.y", "after": []},
        {"kind": "create", "address": "x.z", "after": [0]},
    ]
    found = cast(Any, event_of({"type": "plan", "at": 1, "operations": operations}, keep))
    assert found["operations"] == [
        {"kind": "create", "address": "module.a.x.y", "needs": [], "module": "module.a"},
        {"kind": "create", "address": "x.z", "needs": [0]},
    ]


def test_the_journal_of_an_apply_is_shown(tmp_path: Path) -> None:
    write(tmp_path, {"main.tf": MAIN})
    path = journal_path(str(tmp_path / ".terraform"), "default")
    assert journal_events(path, keep) == []
    nigari.open(tmp_path, environ={}).apply()
    found = journal_events(path, keep)
    assert types(found)[:3] == ["apply", "plan", "apply_start"]
    assert types(found)[-1] == "end"
    assert "planted" not in json.dumps(found)


def line(type: str, **members: object) -> str:
    return json.dumps({"type": type, "at": 1.0, **members}) + "\n"


HEADER = line("apply", format=1, workspace="default")


def test_an_apply_that_had_no_time_to_end_was_stopped(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_text(HEADER + line("apply_start") + '{"type":"app')
    found = journal_events(str(path), keep)
    assert types(found) == ["apply", "apply_start", "stopped"]


def test_a_damaged_line_leaves_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_text(HEADER + line("plan", operations=[{"kind": "create"}]) + line("apply_start"))
    found = journal_events(str(path), keep)
    assert types(found) == ["apply", "plan", "apply_start", "stopped"]
    assert found[1]["operations"] == []


def test_journals_are_followed_one_after_the_other(tmp_path: Path) -> None:
    path, feed = tmp_path / "journal", Feed()
    follower = JournalFollower(str(path), keep, feed)

    def heard() -> list[object]:
        follower.step()
        return types(feed.after(0, 0)[0])

    assert heard() == []
    path.write_text(HEADER + '{"type":"plan",')
    assert heard() == ["apply"]
    with path.open("a") as file:
        file.write('"at":2}\n' + line("end"))
    assert heard() == ["apply", "plan", "end"]
    assert heard() == ["apply", "plan", "end"]
    path.write_text(HEADER)
    assert heard() == ["apply", "plan", "end", "apply"]
    assert heard() == ["apply", "plan", "end", "apply", "stopped"]


@pytest.fixture(name="_built")
def built_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that need not be built."""
    monkeypatch.setattr(live, "page", lambda document, is_served: Page(document.json(), ""))


@pytest.mark.usefixtures("_built")
def test_an_apply_is_told_while_it_goes_on(tmp_path: Path) -> None:
    write(tmp_path, {"main.tf": MAIN})
    shown = LivePage()
    pages: list[str] = []

    def read(path: str = "") -> str:
        with urlopen(shown.url + path) as answer:
            return str(answer.read().decode())

    async def whole() -> None:
        async with locked(session(tmp_path), "test") as held:
            assert held is not None
            made = await held.plan(PlanOptions())
            assert made is not None
            shown.show(made)
            pages.append(read())
            await held.apply(made, shown.events, 10)
            shown.events.end(succeeded=True)

    asyncio.run(whole())
    shown.close_feed()
    pages.append(read("events"))
    document = json.loads(pages[0])
    assert document["live"]
    assert [each["address"] for each in document["plan"]["changes"]]
    assert "apply_complete" in pages[1]
    assert "provision_progress" in pages[1]
    assert '"succeeded":true' in pages[1]
    assert "planted" not in "".join(pages)
    shown.close(1)
    assert shown.url == ""


@pytest.mark.usefixtures("_built")
def test_what_goes_wrong_with_it_does_not_reach_the_apply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"main.tf": MAIN})
    shown = LivePage()

    def refuse(*_: object) -> None:
        raise RuntimeError

    async def whole() -> bool:
        async with locked(session(tmp_path), "test") as held:
            assert held is not None
            made = await held.plan(PlanOptions())
            assert made is not None
            shown.show(made)
            monkeypatch.setattr(live, "event_of", refuse)
            applied = await held.apply(made, shown.events, 10)
            return isinstance(applied, Saved) and not held.diags.has_errors

    assert asyncio.run(whole())
    shown.close(0)
