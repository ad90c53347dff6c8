"""Tokens: kinds and texts, where line ends matter, and nothing lost in a lossless scan."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari.hcl import tokens
from nigari.hcl.scanner import (
    first_invalid,
    is_identifier,
    scan,
    scan_expression,
    scan_lossless,
    scan_template,
)
from nigari.hcl.tokens import Tokens

NAMES = {
    value: name
    for name, value in vars(tokens).items()
    if isinstance(value, int) and not name.startswith(("FIRST", "LAST"))
}


def shown(found: Tokens) -> list[str]:
    return [
        f"{NAMES[kind]} {text}".rstrip()
        for kind, text in zip(found.kinds, found.texts, strict=True)
    ]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a = 1\n", ["ARGUMENT a", "NUMBER 1", "NEWLINE", "END"]),
        (
            'a = "b" # c\nd = e.f',
            ["ARGUMENT a", 'STRING "b"', "NEWLINE # c", "ARGUMENT d", "PATH e.f", "END"],
        ),
        ('a "b" {\n}\n', ['BLOCK_HEADER a "b" {', "NEWLINE", "CLOSE_BRACE }", "NEWLINE", "END"]),
        ("a {}", ["IDENTIFIER a", "OPEN_BRACE {", "CLOSE_BRACE }", "END"]),
        (
            "a = [\n1,\n]\n",
            [
                "ARGUMENT a",
                "OPEN_BRACKET [",
                "NUMBER 1",
                "COMMA ,",
                "CLOSE_BRACKET ]",
                "NEWLINE",
                "END",
            ],
        ),
        (
            "a = {\nb = c\n}",
            [
                "ARGUMENT a",
                "OPEN_BRACE {",
                "NEWLINE",
                "ARGUMENT b",
                "IDENTIFIER c",
                "NEWLINE",
                "CLOSE_BRACE }",
                "END",
            ],
        ),
        ("a = /* b */ 1", ["ARGUMENT a", "NUMBER 1", "END"]),
        ("/* a", ["SLASH /", "STAR *", "IDENTIFIER a", "END"]),
        ("a=b-c - 1", ["ARGUMENT a", "IDENTIFIER b-c", "MINUS -", "NUMBER 1", "END"]),
        ("a = “b”", ["ARGUMENT a", "INVALID “b”", "END"]),
    ],
)
def test_file(text: str, want: list[str]) -> None:
    assert shown(scan(text)) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a\n+\nb", ["IDENTIFIER a", "PLUS +", "IDENTIFIER b", "END"]),
        ('"a\\n"', ['ESCAPED_STRING "a\\n"', "END"]),
        ('"$${a}%%{b} $ %"', ['ESCAPED_STRING "$${a}%%{b} $ %"', "END"]),
        (
            '"a${b}c"',
            [
                'OPEN_QUOTE "',
                "QUOTED_TEXT a",
                "INTERPOLATION ${",
                "IDENTIFIER b",
                "SEQUENCE_END }",
                "QUOTED_TEXT c",
                'CLOSE_QUOTE "',
                "END",
            ],
        ),
        (
            '"${~ {a = "}"} ~}"',
            [
                'OPEN_QUOTE "',
                "INTERPOLATION ${~",
                "OPEN_BRACE {",
                "IDENTIFIER a",
                "ASSIGN =",
                'STRING "}"',
                "CLOSE_BRACE }",
                "SEQUENCE_END ~}",
                'CLOSE_QUOTE "',
                "END",
            ],
        ),
        (
            "[for a in b : c if d]",
            [
                "OPEN_BRACKET [",
                "FOR for",
                "IDENTIFIER a",
                "IN in",
                "IDENTIFIER b",
                "COLON :",
                "IDENTIFIER c",
                "IF if",
                "IDENTIFIER d",
                "CLOSE_BRACKET ]",
                "END",
            ],
        ),
        (
            "a::b(1...)",
            [
                "IDENTIFIER a",
                "DOUBLE_COLON ::",
                "IDENTIFIER b",
                "OPEN_PARENTHESIS (",
                "NUMBER 1",
                "ELLIPSIS ...",
                "CLOSE_PARENTHESIS )",
                "END",
            ],
        ),
        (
            "1.2.3 1e5 1.e 1..2",
            [
                "NUMBER 1.2.3",
                "NUMBER 1e5",
                "NUMBER 1",
                "DOT .",
                "IDENTIFIER e",
                "NUMBER 1..2",
                "END",
            ],
        ),
        (
            "a<=b<c<<d",
            [
                "IDENTIFIER a",
                "LESS_EQUAL <=",
                "IDENTIFIER b",
                "LESS <",
                "IDENTIFIER c",
                "LESS <",
                "LESS <",
                "IDENTIFIER d",
                "END",
            ],
        ),
    ],
)
def test_expression(text: str, want: list[str]) -> None:
    assert shown(scan_expression(text)) == want


def test_heredoc_takes_its_marker_and_no_line_end() -> None:
    text = "a = <<-E\n b ${c}\n  E \nd = 1\n"
    assert shown(scan(text))[1:] == [
        "OPEN_HEREDOC <<-E",
        "TEXT  b",
        "INTERPOLATION ${",
        "IDENTIFIER c",
        "SEQUENCE_END }",
        "TEXT",
        "CLOSE_HEREDOC   E",
        "NEWLINE",
        "ARGUMENT d",
        "NUMBER 1",
        "NEWLINE",
        "END",
    ]


def test_bare_template_is_one_text_for_each_line() -> None:
    text = "a\nb ${c}"
    assert shown(scan_template(text))[:3] == ["TEXT a", "TEXT b", "INTERPOLATION ${"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "line", ["a = 1", "a = 1 # b", "a.b == [c]", "} ~", 'a "b" {', "${", '"${c}"']
)
def test_a_long_text_has_the_tokens_of_its_lines(line: str, line_end: str) -> None:
    # Words are cut many lines at a time; where these stop must not show.
    alone = shown(scan(line + line_end))[:-1]
    assert shown(scan((line + line_end) * 5_000))[:-1] == alone * 5_000


def test_a_sequence_that_ends_on_a_line_by_itself() -> None:
    text = "a = <<E\n${\nb\n}\nc = 1\nE\n"
    assert shown(scan(text))[2:-1] == [
        "INTERPOLATION ${",
        "IDENTIFIER b",
        "SEQUENCE_END }",
        "TEXT",
        "TEXT c = 1",
        "CLOSE_HEREDOC E",
        "NEWLINE",
    ]


def test_a_line_end_ends_a_quoted_string() -> None:
    found = scan('a = "b\nc = "d"\n')
    assert found.broken_strings == [(6, 7)]
    assert tokens.ARGUMENT in found.kinds[2:]


def test_a_quoted_string_over_two_lines_is_one_string() -> None:
    found = scan('a = "b\nc"\nd = 1\n')
    assert found.broken_strings == [(6, 7)]
    assert found.kinds.count(tokens.ARGUMENT) == 2


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a", True),
        ("a-b_1", True),
        ("é", True),
        ("e\u0301", True),
        ("", False),
        ("1a", False),
        ("-a", False),
        ("a b", False),
        ("a²", False),
    ],
)
def test_identifier(text: str, want: bool) -> None:
    assert is_identifier(text) == want


def test_first_invalid_character_of_names() -> None:
    assert first_invalid("ab.c\xa0d") == 4


PIECES = st.sampled_from(
    ["a", " ", "\t", "\n", "\r\n", "\r", "=", '"', "${", "%{", "}", "{", "[", "]", "(", ")", "# x\n", "//", "/*", "*/", "<<E\n", "E\n", "\\", "1.5", "for", "in", ".", ",", "é", "\xa0", "~}", "..."]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join))
def test_lossless_scan_covers_the_text(text: str) -> None:
    found = scan_lossless(text)
    position = 0
    for start, token in zip(found.starts, found.texts, strict=True):
        assert text.startswith(token, start)
        assert start >= position
        assert not text[position:start].strip(" \t")
        position = start + len(token)
    assert position == len(text)
