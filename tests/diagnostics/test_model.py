"""What the collector promises: counts, the order for reading, each diagnostic once."""

from __future__ import annotations

import pytest

from nigari.diagnostics import Diagnostic, Diagnostics, Pos, Range, Severity


def place(filename: str, start: int, end: int) -> Range:
    return Range(filename, Pos(1, start + 1, start), Pos(1, end + 1, end))


def test_an_empty_collector_has_no_errors() -> None:
    diags = Diagnostics()
    assert not diags.has_errors
    assert len(diags) == 0
    assert list(diags) == []


def test_a_warning_is_not_an_error() -> None:
    diags = Diagnostics()
    diags.warning("Old name", "Use the new one.")
    assert not diags.has_errors
    assert (diags.error_count, diags.warning_count) == (0, 1)


def test_errors_and_warnings_are_counted() -> None:
    diags = Diagnostics()
    diags.error("One")
    diags.warning("Two")
    diags.append(Diagnostic(Severity.ERROR, "Three"))
    assert diags.has_errors
    assert (diags.error_count, diags.warning_count, len(diags)) == (2, 1, 3)
    assert [diagnostic.summary for diagnostic in diags] == ["One", "Two", "Three"]
    assert diags[2].summary == "Three"


def test_extending_a_collector_with_itself_ends() -> None:
    diags = Diagnostics([Diagnostic(Severity.ERROR, "One")])
    diags.extend(diags)
    assert diags.error_count == 2


def test_what_a_child_finds_is_adopted_once() -> None:
    parent = Diagnostics()
    parent.warning("Before")
    child = parent.child()
    child.error("In the child")
    assert not parent.has_errors
    parent.adopt(child)
    parent.adopt(child)
    assert [each.summary for each in parent] == ["Before", "In the child"]
    assert (parent.error_count, child.error_count, len(child)) == (1, 0, 0)
    child.error("Later")
    parent.adopt(child)
    assert [each.summary for each in parent] == ["Before", "In the child", "Later"]


def test_a_child_knows_what_was_found_before() -> None:
    parent = Diagnostics()
    assert parent.is_new("a")
    child = parent.child()
    assert not child.is_new("a")
    assert child.is_new("b")
    assert not parent.is_new("b")


def test_what_is_taken_is_forgotten() -> None:
    diags = Diagnostics()
    diags.error("Wrong")
    assert [each.summary for each in diags.take()] == ["Wrong"]
    assert not diags.has_errors
    assert diags.take() == []


def test_order_is_severity_then_depth_then_file_then_place() -> None:
    diags = Diagnostics()
    diags.error("f", subject=place("modules/a/main.tf", 0, 1))
    diags.error("e", subject=place("main.tf", 5, 9))
    diags.error("d", subject=place("main.tf", 5, 7))
    diags.error("c", subject=place("a.tf", 9, 10))
    diags.error("b")
    diags.warning("a", subject=place("z.tf", 99, 100))
    assert "".join(diagnostic.summary for diagnostic in diags.in_order()) == "abcdef"


def test_identical_diagnostics_are_shown_once_and_order_of_reporting_is_kept() -> None:
    diags = Diagnostics()
    for summary in ("second", "first", "second"):
        diags.error(summary, subject=place("main.tf", 0, 1))
    assert [diagnostic.summary for diagnostic in diags.in_order()] == ["second", "first"]


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        (Range("a.tf", Pos(1, 2, 1), Pos(1, 5, 4)), "a.tf:1,2-5"),
        (Range("a.tf", Pos(1, 2, 1), Pos(3, 1, 9)), "a.tf:1,2-3,1"),
    ],
)
def test_a_range_prints_as_file_line_and_columns(subject: Range, text: str) -> None:
    assert str(subject) == text
