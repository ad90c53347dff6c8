"""Configurations of others are plain already: writing them for OpenTofu changes no file."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import pytest

from tests.cli.process import inside
from tests.conformance import CONFORMANCE, Row, needs_conformance, rows

pytestmark = needs_conformance

_DATA: Final = CONFORMANCE / "configurations" / "data"
_EVERY: Final = 12
"""How many configurations there are for each that is tried without the real programs."""
_REWRITTEN: Final = frozenset(("1e2e5a7dbf55", "6fcbff1a8c76"))
"""Configurations with an attribute in `depends_on`, which OpenTofu loads and then refuses."""


def _parameters() -> list[object]:
    found = [
        row
        for row in rows("configurations/manifest.jsonl")
        if row["expect"] == "valid" and row["id"] not in _REWRITTEN
    ]
    return [
        pytest.param(row, id=str(row["id"]), marks=pytest.mark.real if number % _EVERY else ())
        for number, row in enumerate(found)
    ]


@pytest.mark.parametrize("row", _parameters())
def test_nothing_changes(row: Row, tmp_path: Path) -> None:
    given, work, out = _DATA / str(row["path"]), tmp_path / "work", tmp_path / "plain"
    if given.is_dir():
        shutil.copytree(given, work)
    else:
        work.mkdir()
        shutil.copy(given, work)
    done = inside(f"-chdir={work}", "config", "-plain", f"-out={out}", "-no-color")
    if done.code:
        # It calls modules that are not there, or is not judged as a whole by its row.
        assert "Error: " in done.err
        assert not out.exists()
        return
    for path in out.rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (work / path.relative_to(out)).read_bytes()
