"""State files of others, read and written as OpenTofu does it.

The expected files were not all written by a program: some have another order, the old names of
providers, or members that are no longer written. So both files of a case are read, and what is
written of them is compared.
"""

import json
from pathlib import Path

import pytest

from nigari.diagnostics import Diagnostics
from nigari.state.files import format_state, parse_state
from nigari.state.model import StateFile
from tests.conformance import CONFORMANCE, needs_conformance

pytestmark = needs_conformance

CASES = sorted((CONFORMANCE / "statefiles").glob("*.in.tfstate"))


def read(path: Path) -> StateFile:
    diags = Diagnostics()
    file = parse_state(path.read_bytes(), diags)
    assert file is not None, list(diags)
    return file


@pytest.mark.parametrize("path", CASES, ids=[path.name.partition(".")[0] for path in CASES])
def test_what_is_written_is_equal(path: Path) -> None:
    given, expected = read(path), read(path.with_name(path.name.replace(".in.", ".out.")))
    assert given.state == expected.state
    assert format_state(given, is_for_people=True) == format_state(expected, is_for_people=True)
    written = json.loads(format_state(given, is_for_people=False))
    original = json.loads(path.read_text())
    assert (written["lineage"], written["serial"]) == (original["lineage"], original["serial"])
    assert written["outputs"] == original["outputs"]
    assert sorted(each["name"] for each in written["resources"]) == sorted(
        each["name"] for each in original["resources"]
    )
