"""Module instances that differ, beside the same configuration with a call for each of them.

A case has `main.tf`, and `twin.tf` with a call `m_KEY` for each instance `m["KEY"]`; the modules are
those of both unless `twin:` says otherwise. Files of `step N` are written before that step, which is
planned with the words in `flags`, applied, and planned again without any change.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cases import Case
from tests.cli.instance_cases import CASES
from tests.cli.instance_steps import Story, story_of
from tests.cli.process import inside


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("is_saved", [False, True], ids=["direct", "saved"])
def test_instances_are_like_calls_of_their_own(
    case: Case, is_saved: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(directory: Path) -> Callable[..., tuple[int, str]]:
        def command(*args: str) -> tuple[int, str]:
            monkeypatch.chdir(directory)
            done = inside(*args)
            return done.code, done.out + done.err

        return command

    story = story_of(case)
    ours = Story(tmp_path / "ours", story, is_twin=False, is_saved=is_saved).told(run)
    twin = Story(tmp_path / "twin", story, is_twin=True, is_saved=is_saved).told(run)
    assert ours == twin
    assert not any("Internal" in line or "unexpected" in line for line in ours)
