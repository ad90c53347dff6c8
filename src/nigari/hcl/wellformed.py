"""Tells from the tokens alone that a file has no syntax errors.

Nearly every file is right, and most of its content is not looked at by everyone who parses it. So
the parser first asks here, and makes the tree of a file that is certainly right when someone asks
for it. The kinds of the tokens are the characters of a text, and patterns replace what is complete
by one character, from the inside out, until nothing is left but a sequence of items. The answer
"no" means only that the parser has to look; the grammar itself is in the parser.
"""

from __future__ import annotations

import re
from typing import Final

from nigari.hcl import tokens as t

_SYMBOLS: Final = {
    t.END: "Z",
    t.NEWLINE: "N",
    t.IDENTIFIER: "I",
    t.PATH: "P",
    t.NUMBER: "T",
    t.STRING: "T",
    t.ESCAPED_STRING: "T",
    t.OPEN_QUOTE: "q",
    t.CLOSE_QUOTE: "Q",
    t.QUOTED_TEXT: "t",
    t.OPEN_HEREDOC: "h",
    t.CLOSE_HEREDOC: "H",
    t.TEXT: "t",
    t.INTERPOLATION: "$",
    t.SEQUENCE_END: "s",
    t.ARGUMENT: "A",
    t.BLOCK_HEADER: "b",
    t.OPEN_BRACE: "{",
    t.CLOSE_BRACE: "}",
    t.OPEN_BRACKET: "[",
    t.CLOSE_BRACKET: "]",
    t.OPEN_PARENTHESIS: "(",
    t.CLOSE_PARENTHESIS: ")",
    t.MINUS: "-",
    t.STAR: "*",
    t.ASSIGN: "=",
    t.DOT: ".",
    t.COMMA: ",",
    t.QUESTION: "?",
    t.COLON: ":",
    t.DOUBLE_COLON: "d",
    t.ELLIPSIS: "e",
    t.ARROW: ">",
    t.BANG: "!",
    t.FOR: "f",
    t.IN: "n",
    t.IF: "i",
}


def _table() -> bytes:
    """The symbol of each kind; an operator is `o`, the end is `Z`, and what is not listed fits nowhere."""
    table = bytearray(b"\x00" * 256)
    for kind in range(t.FIRST_OPERATOR, t.LAST_OPERATOR + 1):
        table[kind] = ord("o")
    for kind, symbol in _SYMBOLS.items():
        table[kind] = ord(symbol)
    return bytes(table)


_TABLE: Final = _table()

# E is an expression that goes as far as it can without brackets, T a value that is complete, X one
# in brackets, which is a list or an index, S is [*], D an attribute with its dot, c opens a call
# and F begins a for expression.
_STEPS: Final = rb"[DX]*+(?:S[DX]*+){0,4}"
_OPERAND: Final = rb"[!-]{0,4}+[TIPXE]" + _STEPS
_EXPRESSION: Final = re.compile(
    rb"(?:(?<![!-])[!-]{1,4}+[TIPXE]|[TIPX]|E(?=[o*?DXS-]))%b(?:[o*-]%b)*(?:\?O:O)*".replace(
        b"O", _OPERAND + rb"(?:[o*-]" + _OPERAND + rb")*"
    )
    % (_STEPS, _OPERAND)
)
_COMPLETE: Final = re.compile(
    rb"c(?:E(?:,E)*[,e]?)?\)"
    rb"|\(E\)"
    rb"|\[(?:E,)*(?:E)?\]"
    rb"|\{N*(?:(?:A|E[=:])E(?:[,N]N*(?:A|E[=:])E)*[,N]?N*)?\}"
    rb"|q(?:t|\$Es)*Q"
    rb"|h(?:t|\$Es)*H"
    rb"|\[FE:E(?:iE)?\]"
    rb"|\{N*FE:E>Ee?(?:iE)?\}"
)
_CALL: Final = re.compile(rb"I(?:dI)*\(")
_FOR: Final = re.compile(rb"fI(?:,I)?n")
_BLOCK: Final = re.compile(rb"b(?:N|AE(?=N)|K(?=N))*\}")
_FILE: Final = re.compile(rb"(?:N|AE(?=[NZ])|K(?=[NZ]))*Z")

_DEEPEST: Final = 16
"""Who nests more deeply than this has to be looked at anyway."""

_MOST_TOKENS: Final = 2_000_000
"""Patterns that repeat groups need memory for each time; a text with more is read as it comes."""


def is_well_formed(tokens: t.Tokens) -> bool:
    """Whether parsing a file of these tokens certainly reports nothing."""
    if tokens.is_doubtful or len(tokens) > _MOST_TOKENS:
        return False
    symbols = bytes(tokens.kinds).translate(_TABLE)
    symbols = _reduce(symbols)
    for _ in range(_DEEPEST):
        symbols, count = _BLOCK.subn(b"K", symbols)
        if not count:
            break
    return _FILE.fullmatch(symbols) is not None


def _reduce(symbols: bytes) -> bytes:
    """The symbols with every expression made one, as far as they are complete."""
    symbols = symbols.replace(b"[*]", b"S")
    symbols = _CALL.sub(b"c", symbols)
    symbols = symbols.replace(b".I", b"D").replace(b".P", b"D")
    symbols = _FOR.sub(b"F", symbols)
    for simple in (b"ATN", b"APN", b"AIN"):
        symbols = symbols.replace(simple, b"N")
    for _ in range(_DEEPEST):
        # An argument on its line is complete, and lines without anything count for nothing.
        symbols = symbols.replace(b"AEN", b"N").replace(b"NNN", b"N").replace(b"NN", b"N")
        symbols = _EXPRESSION.sub(b"E", symbols)
        before = len(symbols)
        symbols = symbols.replace(b"[E]", b"X")
        symbols = _COMPLETE.sub(b"T", symbols)
        if len(symbols) == before:
            break
    return symbols
