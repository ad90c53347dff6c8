"""What people see of a plan: a state, a configuration, and the text of the plan between them.

A case has `main.tf`, and before it perhaps `before.tf`, which is applied first; `flags` are given to
the plan, what `taint` names is marked as unsound, and other files change objects from outside.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from nigari.cli.commands import plan
from tests.cases import Case, check_case
from tests.cli.in_process import ran
from tests.cli.plan_texts import CASES, comparable, lay_out


@pytest.mark.parametrize("case", CASES, ids=str)
def test_plan_text(
    case: Case,
    tmp_path: Path,
    rich: dict[str, str],
    request: pytest.FixtureRequest,
) -> None:
    flags = lay_out(case, tmp_path, rich)
    status, said = ran(plan.COMMAND, flags, rich)
    assert status == 0, said
    check_case(case, comparable(said), bool(request.config.getoption("--update")))
