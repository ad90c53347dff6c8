"""Tokens of the native syntax.

A token is a kind, an offset and a text, stored in three parallel lists: a file has tens of
thousands of them, and an object for each would dominate the cost of parsing. Deliberately unknown
here: the scanner, and the grammar.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


END: Final = 0
NEWLINE: Final = 1
"""A significant line end; it includes a comment up to the line end."""
IDENTIFIER: Final = 2
PATH: Final = 3
"""Two or more names joined by dots: `a.b.c`."""
NUMBER: Final = 4
STRING: Final = 5
"""A quoted string without sequences and escapes; includes its quotes."""
ESCAPED_STRING: Final = 6
"""A quoted string without sequences but with escapes; includes its quotes."""
OPEN_QUOTE: Final = 7
CLOSE_QUOTE: Final = 8
QUOTED_TEXT: Final = 9
"""Text between the quotes of a template, with unresolved escapes."""
OPEN_HEREDOC: Final = 10
CLOSE_HEREDOC: Final = 11
TEXT: Final = 12
"""One line, or a part of one, of a heredoc or of a template without quotes."""
INTERPOLATION: Final = 13
"""`${` or `${~`"""
DIRECTIVE: Final = 14
"""`%{` or `%{~`"""
SEQUENCE_END: Final = 15
"""The `}` or `~}` that ends an interpolation or directive."""

ARGUMENT: Final = 16
"""A name and an equals sign at the start of a line; the text is the name."""
BLOCK_HEADER: Final = 17
"""A block's type, labels and opening brace at the start of a line, with a line end after it."""

OPEN_BRACE: Final = 18
CLOSE_BRACE: Final = 19
OPEN_BRACKET: Final = 20
CLOSE_BRACKET: Final = 21
OPEN_PARENTHESIS: Final = 22
CLOSE_PARENTHESIS: Final = 23

# Operators, in the order of `operators.SYMBOLS`.
OR: Final = 24
AND: Final = 25
EQUAL: Final = 26
NOT_EQUAL: Final = 27
GREATER: Final = 28
GREATER_EQUAL: Final = 29
LESS: Final = 30
LESS_EQUAL: Final = 31
PLUS: Final = 32
MINUS: Final = 33
STAR: Final = 34
SLASH: Final = 35
PERCENT: Final = 36

ASSIGN: Final = 37
DOT: Final = 38
COMMA: Final = 39
QUESTION: Final = 40
COLON: Final = 41
DOUBLE_COLON: Final = 42
ELLIPSIS: Final = 43
ARROW: Final = 44
BANG: Final = 45

FOR: Final = 46
"""The word `for` directly after an opening bracket or brace."""
IN: Final = 47
"""The word `in` of a for expression, not inside brackets within it."""
IF: Final = 48
"""The word `if` of a for expression, not inside brackets within it."""

INVALID: Final = 49
"""A character that the language does not use."""
COMMENT: Final = 50
"""A comment, only in a lossless scan; one that ends with its line includes the line end."""

FIRST_OPERATOR: Final = OR
LAST_OPERATOR: Final = PERCENT

PUNCTUATION: Final = {
    "{": OPEN_BRACE,
    "}": CLOSE_BRACE,
    "~}": SEQUENCE_END,
    "[": OPEN_BRACKET,
    "]": CLOSE_BRACKET,
    "(": OPEN_PARENTHESIS,
    ")": CLOSE_PARENTHESIS,
    "||": OR,
    "&&": AND,
    "==": EQUAL,
    "!=": NOT_EQUAL,
    ">": GREATER,
    ">=": GREATER_EQUAL,
    "<": LESS,
    "<=": LESS_EQUAL,
    "+": PLUS,
    "-": MINUS,
    "*": STAR,
    "/": SLASH,
    "%": PERCENT,
    "=": ASSIGN,
    ".": DOT,
    ",": COMMA,
    "?": QUESTION,
    ":": COLON,
    "::": DOUBLE_COLON,
    "...": ELLIPSIS,
    "=>": ARROW,
    "!": BANG,
}


class Tokens:
    """The tokens of a text. The last is `END`, of no length.

    - `broken_strings` has the offsets of line ends that cut a quoted string short.
    """

    __slots__ = ("broken_strings", "kinds", "starts", "texts")

    kinds: list[int]
    starts: list[int]
    texts: list[str]
    broken_strings: list[tuple[int, int]]

    def __init__(
        self,
        kinds: list[int],
        starts: list[int],
        texts: list[str],
        broken_strings: list[tuple[int, int]],
    ) -> None:
        self.kinds = kinds
        self.starts = starts
        self.texts = texts
        self.broken_strings = broken_strings

    def __len__(self) -> int:
        return len(self.kinds)
