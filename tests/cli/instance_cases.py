"""The case files of module instances."""

from __future__ import annotations

from pathlib import Path

from tests.cases import read_cases

CASES = read_cases(Path(__file__).parent / "instance_cases")
