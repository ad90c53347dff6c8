"""Cases of `config -plain`: configurations, the words in `flags`, and what is written for them."""

from __future__ import annotations

import shlex
from pathlib import Path

from tests.cases import Case, read_cases

CASES = read_cases(Path(__file__).parent / "plain_cases")


def write_case(case: Case, directory: Path) -> list[str]:
    """Write the files of a case; its flags."""
    for name, text in case.files.items():
        if name != "flags":
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return shlex.split(case.files.get("flags", ""))
