"""A diagnostic as people see it, with and without colours, and as programs get it."""

from __future__ import annotations

import pytest

from nigari.diagnostics import (
    Cause,
    Diagnostic,
    Layout,
    Pos,
    Range,
    ScopeValue,
    Severity,
    to_json,
    to_text,
)

SOURCE = """variable "a" {
  default = 5
}
locals {
  b = var.a + "zé" + "q"
  c = [

"""
SOURCES = {"main.tf": SOURCE.encode()}


def at(start: tuple[int, int, int], end: tuple[int, int, int]) -> Range:
    return Range("main.tf", Pos(*start), Pos(*end))


OPERAND = at((5, 15, 54), (5, 19, 59))
VARIABLE = at((1, 10, 9), (1, 13, 12))


def block(subject: Range) -> str:
    return 'variable "a"' if subject.start.line < 4 else "locals"


FULL = Diagnostic(
    Severity.ERROR,
    "Not a number",
    "The operator + adds numbers, and this text is none.",
    OPERAND,
    values=(ScopeValue("var.b", "is a string"), ScopeValue("var.a", "is 5")),
    causes=(Cause("var.a, whose default is 5", VARIABLE), Cause("local.b")),
    address="terraform_data.x",
)


def test_plain_text() -> None:
    assert to_text([FULL], SOURCES, Layout(width=40), block) == (
        """
Error: Not a number

  with terraform_data.x,
  on main.tf line 5, in locals:
   5:   b = var.a + "zé" + "q"
                    ^^^^
    ├────────────────
    │ var.a is 5
    │ var.b is a string

The operator + adds numbers, and this
text is none.

Caused by, from the root cause on:
  - var.a, whose default is 5
    on main.tf line 1, in variable "a":
     1: variable "a" {
                 ^^^
  - local.b
"""
    )


def test_coloured_text_has_a_rule_and_underlines_the_subject() -> None:
    text = to_text([FULL], SOURCES, Layout(width=60, colour=True), block)
    lines = text.splitlines()
    assert lines[0] == "\x1b[31m╷\x1b[0m"
    assert lines[-1] == "\x1b[31m╵\x1b[0m"
    assert all(line.startswith("\x1b[31m│\x1b[0m") for line in lines[1:-1])
    assert 'b = var.a + \x1b[4m"zé"\x1b[0m + "q"' in text
    assert "\x1b[1mvar.a\x1b[0m is 5" in text
    assert "^" not in text


def test_a_warning_without_a_place_is_its_summary_and_detail() -> None:
    warning = Diagnostic(Severity.WARNING, "Old name", "Use the new one.")
    assert to_text([warning], {}) == "\nWarning: Old name\n\nUse the new one.\n"


def test_without_the_source_the_place_is_still_named() -> None:
    text = to_text([Diagnostic(Severity.ERROR, "Wrong", "", OPERAND)], {})
    assert "on main.tf line 5 (source not available)" in text


@pytest.mark.parametrize(
    ("subject", "shown"),
    [
        pytest.param(at((6, 8, 73), (7, 1, 74)), "   6:   c = [\n             ^\n", id="line end"),
        pytest.param(at((8, 1, 75), (8, 1, 75)), "   8:\n      ^\n", id="end of file"),
        pytest.param(
            at((1, 14, 13), (3, 2, 30)),
            '   1: variable "a" {\n                   ^\n   2:   default = 5\n   3: }\n',
            id="several lines",
        ),
    ],
)
def test_underlined(subject: Range, shown: str) -> None:
    assert shown in to_text([Diagnostic(Severity.ERROR, "Wrong", "", subject)], SOURCES)


def test_wide_characters_keep_the_underline_in_place() -> None:
    data = '漢 = "x"'.encode()
    subject = Range("a.tf", Pos(1, 5, 6), Pos(1, 8, 9))
    text = to_text([Diagnostic(Severity.ERROR, "Wrong", "", subject)], {"a.tf": data})
    assert '   1: 漢 = "x"\n           ^^^\n' in text


def test_a_long_snippet_keeps_its_beginning_and_end() -> None:
    data = b"x\n" * 100
    subject = Range("a.tf", Pos(1, 1, 0), Pos(100, 2, 199))
    text = to_text([Diagnostic(Severity.ERROR, "Wrong", "", subject)], {"a.tf": data})
    assert "… 70 more lines" in text
    assert " 25: x" in text
    assert " 96: x" in text
    assert " 26: x" not in text


def test_a_long_line_is_clipped_around_the_subject() -> None:
    data = b"a" * 5_000 + b"HERE" + b"b" * 5_000
    subject = Range("a.tf", Pos(1, 5_001, 5_000), Pos(1, 5_005, 5_004))
    text = to_text([Diagnostic(Severity.ERROR, "Wrong", "", subject)], {"a.tf": data})
    assert len(text) < 1_000
    assert "aHEREb" in text


def test_control_characters_from_a_source_are_shown_not_obeyed() -> None:
    data = b'a = "\x1b[2J"'
    subject = Range("a.tf", Pos(1, 1, 0), Pos(1, 2, 1))
    text = to_text([Diagnostic(Severity.ERROR, "Wr\x1bong", "\x07", subject)], {"a.tf": data})
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "␛[2J" in text


def test_json() -> None:
    assert to_json(FULL, SOURCES, block) == {
        "severity": "error",
        "summary": "Not a number",
        "detail": "The operator + adds numbers, and this text is none.\n\n"
        "Caused by, from the root cause on:\n"
        "  - var.a, whose default is 5 (main.tf line 1)\n"
        "  - local.b",
        "address": "terraform_data.x",
        "range": {
            "filename": "main.tf",
            "start": {"line": 5, "column": 15, "byte": 54},
            "end": {"line": 5, "column": 19, "byte": 59},
        },
        "snippet": {
            "context": "locals",
            "code": '  b = var.a + "zé" + "q"',
            "start_line": 5,
            "highlight_start_offset": 14,
            "highlight_end_offset": 19,
            "values": [
                {"traversal": "var.a", "statement": "is 5"},
                {"traversal": "var.b", "statement": "is a string"},
            ],
        },
    }


@pytest.mark.parametrize(
    ("diagnostic", "keys"),
    [
        (Diagnostic(Severity.ERROR, "Wrong"), ["severity", "summary", "detail"]),
        (
            Diagnostic(Severity.ERROR, "Wrong", "", Range("no.tf", Pos(1, 1, 0), Pos(1, 2, 1))),
            ["severity", "summary", "detail", "range"],
        ),
    ],
)
def test_json_leaves_out_what_is_not_known(diagnostic: Diagnostic, keys: list[str]) -> None:
    assert list(to_json(diagnostic, SOURCES)) == keys


def test_json_widens_an_empty_range_and_says_that_there_is_no_context() -> None:
    subject = at((5, 15, 54), (5, 15, 54))
    result = to_json(Diagnostic(Severity.ERROR, "Wrong", "", subject), SOURCES)
    assert result["range"] == {
        "filename": "main.tf",
        "start": {"line": 5, "column": 15, "byte": 54},
        "end": {"line": 5, "column": 16, "byte": 55},
    }
    snippet = result["snippet"]
    assert isinstance(snippet, dict)
    assert snippet["context"] is None
    assert snippet["values"] == []
