"""`ignore_changes`: what is ignored is not planned, and what is not ignored is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plan import sessions

_TEXT = """
resource "terraform_data" "a" {
  input            = "%s"
  triggers_replace = "%s"
  lifecycle {
    ignore_changes = %s
  }
}
"""


@pytest.mark.parametrize(
    ("ignored", "now", "actions"),
    [
        ("[input]", ("new", "t"), []),
        ("[input]", ("i", "new"), ["replace"]),
        ("[triggers_replace]", ("i", "new"), []),
        ("[triggers_replace]", ("new", "t"), ["update"]),
        ("[input, triggers_replace]", ("new", "new"), []),
        ("all", ("new", "new"), []),
        ("[]", ("new", "t"), ["update"]),
    ],
)
def test_only_what_is_not_ignored_is_planned(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ignored: str,
    now: tuple[str, str],
    actions: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.tf").write_text(_TEXT % ("i", "t", ignored))
    sessions.applied()
    Path("main.tf").write_text(_TEXT % (*now, ignored))
    plan = sessions.plan()
    assert [each.action for each in plan.changes] == actions
