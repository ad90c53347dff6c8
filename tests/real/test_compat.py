"""The stand-ins beside the libraries that they stand in for."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from nigari.compat import hcl2, pygohcl
from scripts.bench import PEERS, environment, runtime_requirements
from tests.conformance import CONFORMANCE, needs_conformance

pytestmark = pytest.mark.real

ROOT: Final = Path(__file__).resolve().parents[2]
OPTIONS: Final = {
    "default": hcl2.SerializationOptions(),
    "plain": hcl2.SerializationOptions(
        strip_string_quotes=True,
        explicit_blocks=False,
        with_comments=False,
        preserve_heredocs=False,
    ),
    "wrapped": hcl2.SerializationOptions(
        wrap_objects=True,
        wrap_tuples=True,
        force_operation_parentheses=True,
        preserve_scientific_notation=False,
    ),
}


def files() -> list[str]:
    """Every eighth of the middle-sized files: python-hcl2 takes its time."""
    found = [
        str(path)
        for path in sorted(CONFORMANCE.rglob("*.tf"))
        if path.is_file() and 200 < path.stat().st_size < 6000
    ]
    return [path for path in found if _is_utf8(path)][::8]


def _is_utf8(path: str) -> bool:
    try:
        Path(path).read_text("utf-8")
    except UnicodeDecodeError:
        return False
    return True


@needs_conformance
def test_the_same_data() -> None:
    python = environment([*PEERS, *runtime_requirements()], "bench")
    script = Path(__file__).with_name("compat_theirs.py")
    done = subprocess.run([python, script, *files()], capture_output=True, check=True)
    for path, theirs in json.loads(done.stdout).items():
        text = Path(path).read_text("utf-8")
        for name, options in OPTIONS.items():
            if theirs[name] is not None:
                ours = hcl2.loads(text, serialization_options=options)
                assert json.loads(json.dumps(ours)) == theirs[name], (path, name)
        if theirs["dumps"] is not None:
            assert hcl2.dumps(hcl2.loads(text)) == theirs["dumps"], path
        for keep in (False, True):
            if theirs[f"pygohcl {keep}"] is not None:
                assert pygohcl.loads(text, keep) == theirs[f"pygohcl {keep}"], path


_REFUSED: Final = (
    "its file has quotes with a backslash in a directive, which HCL and OpenTofu refuse"
)
_SUITES: Final = {
    "hcl2": (
        "python-hcl2",
        {
            "TestRoundTripSerialization::test_hcl_to_json": _REFUSED,
            "TestDirectReconstruction::test_direct_reconstruct": _REFUSED,
            "TestRoundTripReserialization::test_json_reserialization": _REFUSED,
            "TestRoundTripReconstruction::test_json_to_hcl": _REFUSED,
            "TestRoundTripFull::test_full_round_trip": _REFUSED,
            "TestTemplateDirectives::test_direct_reconstruct": _REFUSED,
            "TestTemplateDirectives::test_full_round_trip": _REFUSED,
            "TestTemplateDirectives::test_hcl_to_json": _REFUSED,
            "TestTemplateDirectives::test_json_reserialization": _REFUSED,
            "TestTemplateDirectives::test_json_to_hcl": _REFUSED,
            "TestBuilderRoundTrip::test_builder_reserialization": "data that holds the source of a list is read again as a list",
        },
    ),
    "pygohcl": (
        "pygohcl",
        {
            "test_value_is_null": "an error of its JSON conversion is expected for null in a template"
        },
    ),
}
"""For each library its checkout, and the tests of its suite that fail here, with the reason."""


@pytest.mark.parametrize("library", _SUITES)
def test_suites_of_the_libraries_fail_only_where_they_contradict_hcl(library: str) -> None:
    folder = os.environ.get("NIGARI_COMPAT_SUITES")
    if not folder:
        pytest.skip("NIGARI_COMPAT_SUITES names no folder with checkouts of those projects")
    checkout, expected = _SUITES[library]
    command = [
        sys.executable,
        "-m",
        "scripts.compat_suites",
        library,
        f"{folder}/{checkout}",
        "-rf",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    failed = re.findall(r"^(?:SUB)?FAILED\S* \S+?\.py::(\S+)", done.stdout, re.MULTILINE)
    assert sorted(failed) == sorted(expected), done.stdout
    assert "passed" in done.stdout.splitlines()[-1]
