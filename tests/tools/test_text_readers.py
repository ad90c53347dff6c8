"""What the packages of Atlantis and tfnotify read in the output of plans and applies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.real import program
from tests.tools.beside import Side, read, sides, story

pytestmark = pytest.mark.tools


def _atlantis(side: Side) -> list[object]:
    reader = program("reader-atlantis")
    return [json.loads(read([reader], text, side.directory)) for _, text in story(side)]


def _tfnotify(side: Side) -> list[object]:
    reader = program("reader-tfnotify")
    found: list[dict[str, object]] = []
    for what, text in story(side):
        result = json.loads(read([reader, what], text, side.directory))
        if result["ExitCode"]:
            # Errors are in our own words.
            result["Result"] = str(result["Result"]).startswith("Error: ")
        found.append(result)
    return [*found]


@pytest.mark.parametrize("reader", [_atlantis, _tfnotify], ids=["atlantis", "tfnotify"])
def test_reader(reader: object, tmp_path: Path) -> None:
    assert callable(reader)
    theirs, ours = map(reader, sides(tmp_path))
    assert ours == theirs
    assert len({json.dumps(each) for each in theirs}) > 4
