"""Plans and applies beside the real program: the same changes, the same state afterwards.

Each case is a configuration that is created, found unchanged, changed step by step, replaced in
part, and destroyed. Both programs plan from the same state; then each applies in a directory of its
own, and the real one must find nothing left to do where we have applied.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.real.beside import Pair
from tests.real.case_files import Step, read_case

pytestmark = pytest.mark.real

CASES = {path.stem: path for path in sorted((Path(__file__).parent / "cases").glob("*.case"))}


@pytest.mark.parametrize("name", CASES)
def test_same_as_tofu(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_case(read_case(CASES[name]), tmp_path, monkeypatch)


def run_case(
    steps: list[Step],
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    more: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Go through a case with both programs, in an environment with more in it."""
    pair = Pair(path, monkeypatch, more)
    for number, step in enumerate(steps):
        pair.step(f"step {number + 1}", step)
        if not (number or step.fails or step.breaks or step.unsettled):
            pair.nothing_to_do("step 1", step.flags)
    last = [step for step in steps if not step.fails][-1]
    if steps[-1].ends:
        return
    inputs = [flag for flag in last.flags if flag.startswith("-var")]
    address = pair.managed()
    if address:
        flags = [f"-replace={address}", *inputs]
        pair.step("replace", Step(last.files, flags, unsettled=last.unsettled))
    pair.step("destroy", Step(last.files, ["-destroy", *inputs]))
