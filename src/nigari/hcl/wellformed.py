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
    t.END: "",
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
    """The symbol of each kind; an operator is `o`, and what is not listed has none, `?`'s sake."""
    table = bytearray(b"\x00" * 256)
    for kind in range(t.FIRST_OPERATOR, t.LAST_OPERATOR + 1):
        table[kind] = ord("o")
    for kind, symbol in _SYMBOLS.items():
        table[kind] = ord(symbol) if symbol else ord("Z")
    return bytes(table)


_TABLE: Final = _table()

# T is a complete value; X is a value in brackets, which is a list or an index; S is [*].
_OPERAND: Final = rb"[!-]*[TIPX](?:\.[IP]|[XS])*"
_CHAIN: Final = rb"%b(?:[o*-]%b)*" % (_OPERAND, _OPERAND)
_EXPRESSION: Final = rb"%b(?:\?%b:%b)*" % (_CHAIN, _CHAIN, _CHAIN)
_ITEM: Final = rb"(?:A|[TIP][=:])%b" % _EXPRESSION

_INDEX: Final = re.compile(rb"\[%b\]" % _EXPRESSION)
_COMPLETE: Final = re.compile(
    rb"I(?:dI)*\((?:E(?:,E)*[,e]?)?\)"
    rb"|\(E\)"
    rb"|\[(?:E,)*(?:E)?\]"
    rb"|\{N*(?:%b(?:[,N]N*%b)*[,N]?N*)?\}"
    rb"|q(?:t|\$Es)*Q"
    rb"|h(?:t|\$Es)*H"
    rb"|\[fI(?:,I)?nE:E(?:iE)?\]"
    rb"|\{N*fI(?:,I)?nE:E>Ee?(?:iE)?\}".replace(b"E", _EXPRESSION)
    % (_ITEM, _ITEM)
)
_BODY: Final = rb"(?:N|A%b(?=N)|K(?=N))*" % _EXPRESSION
_BLOCK: Final = re.compile(rb"b%b\}" % _BODY)
_FILE: Final = re.compile(rb"(?:N|A%b(?=[NZ])|K(?=[NZ]))*Z" % _EXPRESSION)

_DEEPEST: Final = 100
"""Who nests more deeply than this has to be looked at anyway."""


def is_well_formed(tokens: t.Tokens) -> bool:
    """Whether parsing a file of these tokens certainly reports nothing."""
    if tokens.is_doubtful:
        return False
    symbols = bytes(tokens.kinds).translate(_TABLE)
    symbols = symbols.replace(b"[*]", b"S")
    symbols = _reduce(symbols)
    for _ in range(_DEEPEST):
        symbols, count = _BLOCK.subn(b"K", symbols)
        if not count:
            break
    return _FILE.fullmatch(symbols) is not None


def _reduce(symbols: bytes) -> bytes:
    """The symbols with every complete expression in brackets, quotes or calls made one."""
    for _ in range(_DEEPEST):
        symbols, indexes = _INDEX.subn(b"X", symbols)
        symbols, others = _COMPLETE.subn(b"T", symbols)
        if not indexes and not others:
            break
    return symbols
