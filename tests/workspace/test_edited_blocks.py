"""`-refresh=changed-since=REF`: the objects of blocks that were edited since a git revision are read."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import nigari
from nigari.events import Event
from tests.plan.meters import World, refreshed, session, world

__all__ = ["world"]


def _read_by(refresh: str) -> set[str]:
    events: list[Event] = []
    session({}).plan(refresh=refresh, listen=events.append)
    return refreshed(events)


def _git(*arguments: str) -> None:
    subprocess.run(
        ("git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments),
        check=True,
        capture_output=True,
    )


@pytest.mark.parametrize(
    ("old", "new", "read"),
    [
        ("", "", set()),
        ("# nothing", "# something", set()),
        ('default = "z"', 'default = "z" # the same', {"gauge_meter.end"}),
        ('name = "alone"', 'name = join("", ["alone"])', {"gauge_meter.alone"}),
        (
            'name = "base"',
            'name = "${"base"}"',
            {"gauge_meter.base", "gauge_meter.middle", "gauge_meter.end"},
        ),
        (
            "for_each = toset(var.names)",
            "for_each = toset([for each in var.names : each])",
            {'gauge_meter.each["p"]', 'gauge_meter.each["q"]'},
        ),
    ],
)
def test_edited_blocks_and_their_dependants_are_read(
    world: World, old: str, new: str, read: set[str]
) -> None:
    path = Path("main.tf")
    path.write_text("# nothing\n" + path.read_text())
    _git("init", "-q")
    _git("add", "main.tf")
    _git("commit", "-q", "-m", "one")
    path.write_text(path.read_text().replace(old, new) if old else path.read_text())
    assert _read_by("changed-since=HEAD") == read


def test_unknown_revision(world: World) -> None:
    _git("init", "-q")
    with pytest.raises(nigari.SessionError, match="nope"):
        session({}).plan(refresh="changed-since=nope")
