"""The own test suites of libraries that run `tofu`, with both programs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from nigari.cli.main import main
from tests.real import PEERS, program
from tests.real.e2e_world import EndToEnd, Results

pytestmark = pytest.mark.tools

KNOWN: Final[dict[str, frozenset[str]]] = {
    "terraform-exec": frozenset(("TestValidate", "TestValidate/invalid-1.12.6")),
    "Terratest": frozenset(("TestInitAndValidateWithError",)),
}
"""Tests that pass with OpenTofu and not with Nigari; each is named in `tests/tools/rows.py`."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EndToEnd]:
    made = EndToEnd(tmp_path_factory.mktemp("suites"))
    yield made
    made.close()


def _terraform_exec(world: EndToEnd, work: Path, binary: Path) -> Results:
    shutil.copytree(PEERS / "data" / "terraform-exec-e2e", work / "testdata")
    return world.suite(
        program("terraform-exec-e2e"),
        work,
        ["-test.timeout=1200s"],
        TFEXEC_E2ETEST_TERRAFORM_PATH=str(binary),
    )


def _terratest(world: EndToEnd, work: Path, binary: Path) -> Results:
    shutil.copytree(PEERS / "data" / "terratest-terraform", work / "test" / "fixtures")
    place, path = work / "modules" / "terraform", work / "path"
    for folder in (place, path):
        folder.mkdir(parents=True)
    # It runs the first program of either name that it finds.
    for name in ("terraform", "tofu"):
        (path / name).symlink_to(binary)
    (path / "terragrunt").symlink_to(program("terragrunt"))
    return world.suite(
        program("terratest-terraform"),
        place,
        ["-test.timeout=1200s", "-test.parallel=2"],
        PATH=f"{path}{os.pathsep}{os.environ['PATH']}",
    )


SUITES: Final = {"terraform-exec": _terraform_exec, "Terratest": _terratest}


@pytest.mark.parametrize("name", SUITES)
def test_suite(world: EndToEnd, tmp_path: Path, name: str) -> None:
    assert main(["shim", str(tmp_path / "shims")]) == 0
    suite = SUITES[name]
    theirs = suite(world, tmp_path / "theirs", program("tofu"))
    ours = suite(world, tmp_path / "ours", tmp_path / "shims" / "tofu")
    passed = {each for each, outcome in theirs.outcome.items() if outcome == "PASS"}
    failed = {each for each in passed if ours.outcome.get(each) != "PASS"}
    assert len(passed) > 40, theirs.text
    assert failed == KNOWN[name], ours.text
