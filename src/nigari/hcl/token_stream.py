"""Token stream: the current position in a source's tokens, shared by the parsers.

Owns reporting a syntax error once, recovery after it, and the nesting limit. After an error the
parser abandons the current item, and the nearest list (a body, a list, an object, arguments)
continues with the next, so that one run finds all errors of a file. Deliberately unknown here: the
grammar.
"""

# ruff: noqa: SIM109 - two comparisons cost less than making a tuple

from __future__ import annotations

import sys

from nigari.diagnostics import Diagnostics
from nigari.hcl.scanner import first_invalid
from nigari.hcl.source import Source
from nigari.hcl.tokens import (
    BLOCK_HEADER,
    CLOSE_BRACE,
    CLOSE_BRACKET,
    CLOSE_HEREDOC,
    CLOSE_PARENTHESIS,
    CLOSE_QUOTE,
    COMMA,
    DIRECTIVE,
    DOT,
    END,
    ESCAPED_STRING,
    IDENTIFIER,
    INTERPOLATION,
    INVALID,
    NEWLINE,
    OPEN_BRACE,
    OPEN_BRACKET,
    OPEN_HEREDOC,
    OPEN_PARENTHESIS,
    OPEN_QUOTE,
    PATH,
    SEQUENCE_END,
    STRING,
    Tokens,
)
from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


MAX_DEPTH: Final = 2000
"""Maximum nesting of blocks, brackets, templates and operators."""

_USUAL_DEPTH: Final = 60
_FRAMES_PER_LEVEL: Final = 12

_CLOSERS: Final = {
    OPEN_BRACE: CLOSE_BRACE,
    BLOCK_HEADER: CLOSE_BRACE,
    OPEN_BRACKET: CLOSE_BRACKET,
    OPEN_PARENTHESIS: CLOSE_PARENTHESIS,
    OPEN_QUOTE: CLOSE_QUOTE,
    OPEN_HEREDOC: CLOSE_HEREDOC,
    INTERPOLATION: SEQUENCE_END,
    DIRECTIVE: SEQUENCE_END,
}
_TYPE_END: Final = lazy_pattern(r'[\s"{]')
_CLOSING: Final = frozenset(_CLOSERS.values())

_HINTS: Final = {
    "'": 'Strings are written in double quotes, as in "text".',
    "`": "Strings are written in double quotes; for several lines of text, use a heredoc, which "
    "begins with <<EOT.",
    "&": "For a logical and, write &&.",
    "|": "For a logical or, write ||.",
    "~": "For a logical not, write !.",
    "^": "There is no power operator: use the pow function, if it is available.",
    ";": "Arguments and blocks are separated by new lines, elements by commas.",
    "“": "Replace curly quotes with straight double quotes.",
    "”": "Replace curly quotes with straight double quotes.",
    "‘": "Replace curly quotes with straight double quotes.",
    "’": "Replace curly quotes with straight double quotes.",
    "\xa0": "This is a non-breaking space: replace it with an ordinary one.",
    "@": "Names must begin with a letter or an underscore.",
    "\\": "Escapes such as \\n are valid in quoted strings only.",
}


class Abandon(Exception):
    """Unwinds to the nearest list after a syntax error, which has been reported."""


class TooDeep(Exception):
    """Unwinds after the nesting limit is exceeded, which has been reported."""


class TokenStream:
    """Tokens and the index of the next one. `muted` is a token that is already reported, and
    `broken_lines` has the line ends that cut a string short.
    """

    __slots__ = (
        "at",
        "broken_lines",
        "depth",
        "diags",
        "kinds",
        "muted",
        "source",
        "starts",
        "text",
        "texts",
    )

    source: Source
    diags: Diagnostics
    text: str
    kinds: list[int]
    starts: list[int]
    texts: list[str]
    at: int
    depth: int
    muted: int
    broken_lines: set[int]

    def __init__(self, source: Source, tokens: Tokens, diags: Diagnostics) -> None:
        self.source = source
        self.text = source.text
        self.kinds = tokens.kinds
        self.starts = tokens.starts
        self.texts = tokens.texts
        self.diags = diags
        self.at = 0
        self.depth = 0
        self.muted = -1
        self.broken_lines = set()
        for start, end in tokens.broken_strings:
            self.broken_lines.add(start)
            self._report_broken_string(start, end)
        if not self.text.isascii():
            self._check_encoding()

    def end(self, index: int) -> int:
        """Return the end offset of a token."""
        return self.starts[index] + len(self.texts[index])

    def split_path(self, index: int) -> None:
        """Split a `PATH` token into a name, a dot and the rest, where only a name is valid."""
        name, _, rest = self.texts[index].partition(".")
        dot = self.starts[index] + len(name)
        self.kinds[index : index + 1] = [IDENTIFIER, DOT, PATH if "." in rest else IDENTIFIER]
        self.starts[index : index + 1] = [self.starts[index], dot, dot + 1]
        self.texts[index : index + 1] = [name, ".", rest]

    # -- nesting ------------------------------------------------------------------------------

    def enter(self, index: int) -> None:
        """Enter one more level of nesting, opened by a token."""
        depth = self.depth + 1
        self.depth = depth
        if depth > _USUAL_DEPTH:
            if depth > MAX_DEPTH:
                self._report_depth(index)
                raise TooDeep
            if depth == _USUAL_DEPTH + 1:
                _allow_deep_recursion()

    def _report_depth(self, index: int) -> None:
        self.diags.error(
            "Nested too deeply",
            f"Blocks, brackets, templates and operators can be nested at most {MAX_DEPTH} levels "
            "deep, and this is one level more.",
            self.source.range(self.starts[index], self.end(index)),
        )
        self.muted = index

    # -- errors -------------------------------------------------------------------------------

    def fail(
        self,
        index: int,
        summary: str,
        detail: str,
        context: int = -1,
        subject: int = -1,
        until: int = -1,
    ) -> Abandon:
        """Report an error at a token, and return the exception for the caller to raise.

        The range extends from the token `subject` to the token `until`, if passed; `context` is a
        token at which the invalid construct begins. Each token is reported only once, so that
        consequences of an error are not.
        """
        if index == self.muted:
            return Abandon()
        self.muted = index
        # The broken string that ends here has been reported.
        if self.kinds[index] == NEWLINE and self.starts[index] in self.broken_lines:
            return Abandon()
        if self.kinds[index] == INVALID:
            self._report_invalid(index)
            return Abandon()
        shown = index if subject < 0 else subject
        start, end = self.starts[shown], self._end_of_first(shown if until < 0 else until)
        context_range = None
        if context >= 0 and self.starts[context] <= start:
            context_range = self.source.range(self.starts[context], end)
        self.diags.error(summary, detail, self.source.range(start, end), context_range)
        return Abandon()

    def _end_of_first(self, index: int) -> int:
        """Return the end of a token, or of its first invalid piece."""
        kind = self.kinds[index]
        start, text = self.starts[index], self.texts[index]
        if kind == STRING or kind == ESCAPED_STRING:
            return start + 1
        if kind == PATH:
            return start + text.index(".")
        if kind == BLOCK_HEADER:
            return start + len(_TYPE_END.split(text, 1)[0])
        return start + len(text)

    def _report_invalid(self, index: int) -> None:
        start = self.starts[index] + max(first_invalid(self.texts[index]), 0)
        character = self.text[start]
        # A byte that is not UTF-8, which is reported once for the file.
        if 0xDC80 <= ord(character) <= 0xDCFF:
            return
        if character == "$" and self.text.startswith("{", start + 1):
            detail = (
                "Outside quotes, write an expression as it is, without ${ and }. Inside quotes, "
                "${ ... } inserts its value into the string."
            )
        else:
            shown = character if character.isprintable() else f"U+{ord(character):04X}"
            hint = _HINTS.get(character, "")
            detail = f"The character {shown} is not valid here. {hint}".rstrip()
        self.diags.error("Invalid character", detail, self.source.range(start, start + 1))

    def _report_broken_string(self, start: int, end: int) -> None:
        self.diags.error(
            "New line in a quoted string",
            "A quoted string must end on the line where it begins. If it should end here, its "
            "closing quote is missing. To include a line break, write \\n or use a heredoc, "
            "which begins with <<EOT.",
            self.source.range(start, end),
        )

    def _check_encoding(self) -> None:
        """Report the first byte that is not UTF-8; comments may contain any bytes."""
        text = self.text
        try:
            text.encode()
            return
        except UnicodeEncodeError as error:
            first = error.start
        from nigari.hcl.scanner import scan_lossless
        from nigari.hcl.tokens import COMMENT

        tokens = scan_lossless(text)
        for index, kind in enumerate(tokens.kinds):
            start = tokens.starts[index]
            end = start + len(tokens.texts[index])
            if end <= first or kind == COMMENT:
                continue
            for offset in range(max(start, first), end):
                if 0xD800 <= ord(text[offset]) <= 0xDFFF:
                    self._report_encoding(offset)
                    return

    def _report_encoding(self, offset: int) -> None:
        self.diags.error(
            "Invalid UTF-8",
            "Source files must be encoded in UTF-8, and this byte is not valid UTF-8. Save the "
            "file in that encoding.",
            self.source.range(offset, offset + 1),
        )

    # -- going on after an error --------------------------------------------------------------

    def skip_item(self, first: int, stops_at_comma: bool, closing: int = -1) -> None:
        """Skip to the end of an invalid item that began with the token `first`.

        That is the comma or line end after it, or the closing bracket around it: a token of kind
        `closing`, if passed.
        """
        kinds = self.kinds
        error = self.at
        open_: list[int] = []
        counts = dict.fromkeys(_CLOSING, 0)
        index = first
        while True:
            kind = kinds[index]
            if kind == END:
                break
            if kind in _CLOSERS:
                if kind == BLOCK_HEADER and index > first and kinds[index - 1] == NEWLINE:
                    break
                closer = _CLOSERS[kind]
                open_.append(closer)
                counts[closer] += 1
            elif kind in _CLOSING:
                if counts[kind]:
                    closed = -1
                    while closed != kind:
                        closed = open_.pop()
                        counts[closed] -= 1
                elif index >= error and (closing < 0 or kind == closing):
                    break
            elif (
                index >= error
                and not open_
                and (kind == NEWLINE or (stops_at_comma and kind == COMMA))
            ):
                break
            index += 1
        self.at = index
        self.muted = index


def _allow_deep_recursion() -> None:
    """Raise Python's recursion limit for a deeply nested tree.

    Its default of 1,000 frames is too low for 2,000 levels at a few frames each, both for parsing
    such a tree and for all later work on it. So the limit is raised once a text requires it, and
    never lowered. Python frames do not use the C stack.
    """
    needed = MAX_DEPTH * _FRAMES_PER_LEVEL
    if sys.getrecursionlimit() < needed:
        sys.setrecursionlimit(needed)
