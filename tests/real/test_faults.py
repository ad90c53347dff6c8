"""An apply that is killed a hundred times; the real program then finds nothing left to do."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.apply.journal import Yard
from tests.apply.kills import kill_again_and_again
from tests.real import program

pytestmark = pytest.mark.real

_TIMES = 25


@pytest.mark.parametrize("pause", [0.0, 0.01, 0.03, 0.1])
def test_killed_at_a_hundred_moments(pause: float, tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    kill_again_and_again(yard, _TIMES, seed=int(pause * 100) + 1, pause=pause)
    value = next(iter(yard.stored().values()))
    done = subprocess.run(
        [str(program("tofu")), "plan", "-detailed-exitcode", f"-var=value={value}"],
        cwd=yard.path,
        env=yard.environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
