"""`nigari init` beside `tofu init` in many small directories: the same verdict, the same result."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.packages.repositories import needs_git
from tests.real import program
from tests.real.directory_cases import Directory, read_directories
from tests.real.init_beside import OURS, Surroundings, resolved

pytestmark = [pytest.mark.real, needs_git]


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Surroundings:
    return Surroundings(tmp_path_factory.mktemp("init"))


@pytest.mark.parametrize("case", read_directories("init"), ids=str)
def test_directory(case: Directory, surroundings: Surroundings, tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs" / "work", tmp_path / "ours" / "work"
    theirs.parent.mkdir()
    ours.parent.mkdir()
    codes, text = surroundings.run(case, program("tofu"), theirs)
    mine, told = surroundings.run(case, OURS, ours)
    assert "Traceback" not in told
    if case.is_refused_by_us or case.is_accepted_by_us:
        wanted = (0, 1) if case.is_refused_by_us else (1, 0)
        assert (codes[-1], mine[-1]) == wanted, f"{text}\n{told}"
        return
    assert mine == codes, f"{text}\n{told}"
    if not case.note and codes[-1] == 0:
        assert resolved(ours) == resolved(theirs), told
