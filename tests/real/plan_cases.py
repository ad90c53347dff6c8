"""Case files that both programs plan and apply."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.real.beside import Pair
from tests.real.case_files import Step


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
