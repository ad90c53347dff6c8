"""Plans and applies beside the real program: the same changes, the same state afterwards.

Each case is a configuration that is created, found unchanged, changed step by step, replaced in
part, and destroyed. Both programs plan from the same state; then each applies in a directory of its
own, and the real one must find nothing left to do where we have applied.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.case_files import read_case
from tests.real.plan_cases import run_case

pytestmark = pytest.mark.real

CASES = {path.stem: path for path in sorted((Path(__file__).parent / "cases").glob("*.case"))}


@pytest.mark.parametrize("name", CASES)
def test_same_as_tofu(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_case(read_case(CASES[name]), tmp_path, monkeypatch)
