"""State files of others, read and written as OpenTofu does it."""

import json
from pathlib import Path

import pytest

from nigari.diagnostics import Diagnostics
from nigari.state.files import format_state, parse_state
from nigari.state.model import StateFile
from tests.conformance import CONFORMANCE, Json, needs_conformance

pytestmark = needs_conformance

CASES = sorted((CONFORMANCE / "statefiles").glob("*.in.tfstate"))


def read(path: Path) -> StateFile:
    diags = Diagnostics()
    file = parse_state(path.read_bytes(), diags)
    assert file is not None, list(diags)
    return file


def comparable(file: Json) -> Json:
    """A file without what every writer says in its own way.

    OpenTofu stamps its own version, no longer writes `each`, and always writes the paths of
    sensitive attributes and the check results.
    """
    assert isinstance(file, dict)
    file.pop("terraform_version")
    file.setdefault("check_results", None)
    resources = file["resources"]
    assert isinstance(resources, list)
    for resource in resources:
        assert isinstance(resource, dict)
        resource.pop("each", None)
        instances = resource["instances"]
        assert isinstance(instances, list)
        for instance in instances:
            assert isinstance(instance, dict)
            instance.setdefault("sensitive_attributes", [])
    return file


@pytest.mark.parametrize("path", CASES, ids=[path.name.partition(".")[0] for path in CASES])
def test_what_is_written_is_equal(path: Path) -> None:
    expected = json.loads(path.with_name(path.name.replace(".in.", ".out.")).read_text())
    written = json.loads(format_state(read(path), is_for_people=True))
    assert comparable(written) == comparable(expected)


@pytest.mark.parametrize("path", CASES, ids=[path.name.partition(".")[0] for path in CASES])
def test_both_files_are_the_same_state(path: Path) -> None:
    after = path.with_name(path.name.replace(".in.", ".out."))
    assert read(path).state == read(after).state
