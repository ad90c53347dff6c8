"""Standard layout of the native syntax: the spaces between tokens.

Lines stay intact. Each is indented by the brackets open before it, has one or no space between any
two tokens, and in adjacent lines the equals signs, and the comments at line ends, are aligned. Only
spaces and tabs change. The meaning of tokens is unknown here, so that a text with syntax errors can
be laid out too.
"""

# ruff: noqa: SIM109 - two comparisons cost less than making a tuple

from __future__ import annotations

from nigari.cty.graphemes import grapheme_count
from nigari.hcl.token_stream import MAX_DEPTH
from nigari.hcl.tokens import (
    AND,
    ARROW,
    ASSIGN,
    BANG,
    CLOSE_BRACE,
    CLOSE_BRACKET,
    CLOSE_HEREDOC,
    CLOSE_PARENTHESIS,
    CLOSE_QUOTE,
    COLON,
    COMMA,
    COMMENT,
    DIRECTIVE,
    DOT,
    DOUBLE_COLON,
    ELLIPSIS,
    EQUAL,
    ESCAPED_STRING,
    GREATER,
    GREATER_EQUAL,
    IDENTIFIER,
    INTERPOLATION,
    LESS,
    LESS_EQUAL,
    MINUS,
    NEWLINE,
    NOT_EQUAL,
    NUMBER,
    OPEN_BRACE,
    OPEN_BRACKET,
    OPEN_HEREDOC,
    OPEN_PARENTHESIS,
    OPEN_QUOTE,
    OR,
    PERCENT,
    PLUS,
    QUESTION,
    QUOTED_TEXT,
    SEQUENCE_END,
    SLASH,
    STAR,
    STRING,
    TEXT,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_NOTHING: Final = -1
"""The absent token before the first of a cell."""

_OPENING: Final = frozenset((OPEN_BRACE, OPEN_BRACKET, OPEN_PARENTHESIS, DIRECTIVE, INTERPOLATION))
_CLOSING: Final = frozenset((CLOSE_BRACE, CLOSE_BRACKET, CLOSE_PARENTHESIS, SEQUENCE_END))
_TEMPLATE_BEFORE: Final = frozenset((QUOTED_TEXT, TEXT, OPEN_QUOTE, OPEN_HEREDOC))
_TEMPLATE_AFTER: Final = frozenset((QUOTED_TEXT, TEXT, CLOSE_QUOTE, CLOSE_HEREDOC))
_INDEXED: Final = frozenset((IDENTIFIER, NUMBER)) | _CLOSING
_MERGES_WITH_BANG: Final = frozenset((ASSIGN, EQUAL, ARROW))
_BEFORE_NEGATION: Final = frozenset(
    (
        _NOTHING,
        OPEN_PARENTHESIS,
        OPEN_BRACE,
        OPEN_BRACKET,
        ASSIGN,
        COLON,
        COMMA,
        QUESTION,
        PLUS,
        STAR,
        SLASH,
        PERCENT,
        MINUS,
        EQUAL,
        NOT_EQUAL,
        GREATER,
        GREATER_EQUAL,
        LESS,
        LESS_EQUAL,
        AND,
        OR,
        BANG,
    )
)
"""After these a minus sign negates a number instead of subtracting."""


class Line:
    """One line: the tokens from `start` to `end`, in up to three cells.

    `assign` is the index of its equals sign, `comment` that of the comment at its end; if absent
    they equal the next index, so that the cells are `start:assign`, `assign:comment`,
    `comment:end`.
    """

    __slots__ = ("assign", "comment", "end", "start")

    start: int
    assign: int
    comment: int
    end: int

    def __init__(self, start: int, assign: int, comment: int, end: int) -> None:
        self.start = start
        self.assign = assign
        self.comment = comment
        self.end = end


def laid_out(kinds: list[int], texts: list[str]) -> str:
    """Join the tokens with the spaces of the standard layout."""
    spaces = layout(kinds, texts)
    parts: list[str] = []
    for count, text in zip(spaces, texts, strict=True):
        if count:
            parts.append(" " * count)
        parts.append(text)
    return "".join(parts)


def layout(kinds: list[int], texts: list[str]) -> list[int]:
    """Compute the number of spaces before each token. The tokens do not include `END`."""
    spaces = [0] * len(kinds)
    lines = _lines(kinds, texts)
    _indent(lines, kinds, spaces)
    for line in lines:
        _space(line.start, line.assign, kinds, texts, spaces)
        if line.assign < line.comment:
            spaces[line.assign] = 1
            _space(line.assign, line.comment, kinds, texts, spaces)
    widths = [_columns(kind, text) for kind, text in zip(kinds, texts, strict=True)]
    _align(lines, False, spaces, widths)
    _align(lines, True, spaces, widths)
    return spaces


def _lines(kinds: list[int], texts: list[str]) -> list[Line]:
    lines: list[Line] = []
    start = 0
    for position, kind in enumerate(kinds):
        if kind == NEWLINE or (kind == COMMENT and texts[position].endswith("\n")):
            lines.append(_line(start, position + 1, kinds))
            start = position + 1
    if start < len(kinds):
        lines.append(_line(start, len(kinds), kinds))
    return lines


def _line(start: int, end: int, kinds: list[int]) -> Line:
    comment = end - 1 if end - start > 1 and kinds[end - 1] == COMMENT else end
    for position in range(start + 1, comment):
        if kinds[position] == ASSIGN:
            # A cell with unclosed brackets continues in the next lines, so it is not aligned.
            if _net_brackets(position, comment, kinds) == 0:
                return Line(start, position, comment, end)
            break
    return Line(start, comment, comment, end)


def _net_brackets(start: int, end: int, kinds: list[int]) -> int:
    net = 0
    for position in range(start, end):
        kind = kinds[position]
        if kind in _OPENING:
            net += 1
        elif kind in _CLOSING:
            net -= 1
    return net


def _indent(lines: list[Line], kinds: list[int], spaces: list[int]) -> None:
    """Indent each line by the lines before it that left brackets open."""
    opened: list[int] = []
    for line in lines:
        # Empty lines get no indentation.
        if kinds[line.start] == NEWLINE:
            continue
        lead_end = line.assign
        for position in range(line.start, line.assign):
            if kinds[position] == OPEN_HEREDOC:
                lead_end = position
                break
        net = _net_brackets(line.start, lead_end, kinds)
        net += _net_brackets(line.assign, line.comment, kinds)
        closed = -net
        while closed > 0 and opened:
            if closed < opened[-1]:
                opened[-1] -= closed
                break
            closed -= opened.pop()
        # Deeper nesting is invalid, and its indentation could take any amount of space.
        if len(opened) <= MAX_DEPTH:
            spaces[line.start] = 2 * len(opened)
        if net > 0:
            opened.append(net)


def _space(start: int, end: int, kinds: list[int], texts: list[str], spaces: list[int]) -> None:
    before = _NOTHING
    for position in range(start, end - 1):
        subject = kinds[position]
        after = kinds[position + 1]
        is_in = subject == IDENTIFIER and before == IDENTIFIER and texts[position] == "in"
        if texts[position] == "\r" or texts[position + 1] == "\r":
            # A lone carriage return may end an unclosed string before it, and must not become part
            # of a line end after it.
            spaces[position + 1] = 1 if texts[position + 1] == "\n" else 0
        elif (texts[position] == "~" and after in _CLOSING) or (
            subject in (DIRECTIVE, INTERPOLATION) and texts[position + 1] == "~"
        ):
            # A tilde must not become the strip marker of an adjacent brace.
            spaces[position + 1] = 1
        elif _space_between(before, subject, after, is_in):
            spaces[position + 1] = 1
        before = subject


def _space_between(before: int, subject: int, after: int, is_in: bool) -> bool:
    """Decide on a space between `subject` and `after`; the first matching rule applies."""
    # Without a space, ".." or "...." would be other tokens.
    if (subject == DOT or subject == ELLIPSIS) and (after == DOT or after == ELLIPSIS):
        return True
    if after == NEWLINE or after == COMMA or after == ELLIPSIS or after == DOT or subject == DOT:
        return False
    # spaceAfterToken of hclwrite: no space between a function and its arguments.
    if subject == IDENTIFIER and (after == OPEN_PARENTHESIS or after == DOUBLE_COLON):
        return False
    if subject == DOUBLE_COLON and after == IDENTIFIER:
        return False
    if subject == COMMA:
        return True
    if subject in _TEMPLATE_BEFORE or after in _TEMPLATE_AFTER:
        return False
    # The word "in" of a for expression is no name that an index could follow.
    if is_in:
        return True
    if after == OPEN_BRACKET and subject in _INDEXED:
        return False
    if subject == BANG:
        return after in _MERGES_WITH_BANG
    if subject == MINUS:
        # A space after a minus sign only if it subtracts.
        return before not in _BEFORE_NEGATION
    if subject == OPEN_BRACE or after == CLOSE_BRACE:
        return not (subject == OPEN_BRACE and after == CLOSE_BRACE)
    return _space_by_brackets(subject, after)


def _space_by_brackets(subject: int, after: int) -> bool:
    if after == OPEN_BRACE and (subject == INTERPOLATION or subject == DIRECTIVE):
        return True
    if subject == CLOSE_BRACE and after == SEQUENCE_END:
        return True
    if subject == SEQUENCE_END and (after == INTERPOLATION or after == DIRECTIVE):
        return False
    return subject not in _OPENING and after not in _CLOSING


def _align(lines: list[Line], comments: bool, spaces: list[int], widths: list[int]) -> None:
    """Align the equals signs, or the comments, of adjacent lines."""
    group: list[tuple[int, int]] = []
    for line in lines:
        cell, end = (line.comment, line.end) if comments else (line.assign, line.comment)
        if cell < end:
            columns = sum(spaces[line.start : cell]) + sum(widths[line.start : cell])
            group.append((cell, columns))
        # A line without the cell ends the group of aligned lines.
        elif group:
            _align_group(group, spaces)
            group = []
    _align_group(group, spaces)


def _align_group(group: list[tuple[int, int]], spaces: list[int]) -> None:
    widest = max([columns for _, columns in group], default=0)
    for cell, columns in group:
        spaces[cell] = widest - columns + 1


def _columns(kind: int, text: str) -> int:
    if not text.isascii() and (kind == STRING or kind == ESCAPED_STRING):
        # A combining character after the quote does not combine with it.
        return grapheme_count(text[1:-1]) + 2
    return grapheme_count(text)
