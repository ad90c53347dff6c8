"""Parser of a file's structure: bodies, arguments and blocks.

Each item of a body is parsed independently: after an error in one, the body continues with the
next. Deliberately unknown here: the arguments and blocks that a body should have.
"""

# ruff: noqa: SIM109 - two comparisons cost less than making a tuple

from __future__ import annotations

from nigari.diagnostics import Diagnostics
from nigari.hcl.body import Attribute, Block, report_duplicate_argument
from nigari.hcl.expressions import Expression, Literal, Reference, SyntaxFault
from nigari.hcl.native_body import NativeBody
from nigari.hcl.parse_expression import KEYWORDS, ExpressionParser, dotted_names
from nigari.hcl.source import Source
from nigari.hcl.templates import StringLiteral
from nigari.hcl.token_stream import Abandon, TooDeep
from nigari.hcl.tokens import (
    ARGUMENT,
    ARROW,
    ASSIGN,
    BLOCK_HEADER,
    CLOSE_BRACE,
    COLON,
    COMMA,
    END,
    EQUAL,
    ESCAPED_STRING,
    IDENTIFIER,
    INVALID,
    NEWLINE,
    NUMBER,
    OPEN_BRACE,
    OPEN_QUOTE,
    PATH,
    STRING,
    Tokens,
)
from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_WORD: Final = lazy_pattern(r'"[^"]*"|[^\s"{]+')
"""The type and the labels in the text of a `BLOCK_HEADER` token."""

_OTHER_OPERATORS: Final = {
    "and": "To require both of two conditions, use &&.",
    "or": "To require one of two conditions, use ||.",
}
"""Hints for words that are operators in other languages."""
_OTHER_SIGNS: Final = frozenset((ARROW, COLON, EQUAL))
"""Signs that separate a name from its value in other languages."""
_ITEM_STARTS: Final = frozenset((IDENTIFIER, ARGUMENT, BLOCK_HEADER, CLOSE_BRACE, END))


class StructureParser(ExpressionParser):
    __slots__ = ("_errors",)

    at: int
    depth: int
    muted: int

    def __init__(self, source: Source, tokens: Tokens, diags: Diagnostics) -> None:
        self._errors = diags.error_count
        super().__init__(source, tokens, diags)

    @property
    def _has_failed(self) -> bool:
        """True after an error in this text; braces are then likely to be unbalanced."""
        return self.diags.error_count > self._errors

    def file(self) -> NativeBody:
        """Parse the body of a whole file.

        It ends at an unmatched closing brace. Text after such a brace is rarely what it seems to
        be, and after an earlier error the brace is part of that error.
        """
        attributes: dict[str, Attribute] = {}
        blocks: list[Block] = []
        self._items(attributes, blocks)
        if self.kinds[self.at] != END and not self._has_failed:
            self.fail(
                self.at,
                "Closing brace without a block",
                "This closing brace does not match any open block.",
            )
        return NativeBody(attributes, blocks, self.source, 0, len(self.text))

    # -- bodies -------------------------------------------------------------------------------

    def _items(self, attributes: dict[str, Attribute], blocks: list[Block]) -> None:
        """Production: {newline | argument | block}, up to the end of the file or a closing brace."""
        source = self.source
        kinds, starts, texts = self.kinds, self.starts, self.texts
        at = self.at
        while True:
            kind = kinds[at]
            if kind == NEWLINE:
                at += 1
            elif kind == ARGUMENT:
                name = texts[at]
                name_start = starts[at]
                name_end = name_start + len(name)
                kind = kinds[at + 1]
                expr: Expression
                # The usual argument has one token as its value.
                if IDENTIFIER <= kind <= STRING and kinds[at + 2] <= NEWLINE:
                    start, text = starts[at + 1], texts[at + 1]
                    end = start + len(text)
                    if kind == STRING:
                        expr = StringLiteral(source, start, end, text[1:-1])
                    elif kind == PATH:
                        expr = dotted_names(source, start, end)
                    elif kind == NUMBER:
                        expr = Literal(source, start, end, self.number(at + 1))
                    else:
                        keyword = KEYWORDS.get(text)
                        if keyword is None:
                            expr = Reference(source, start, end)
                        else:
                            expr = Literal(source, start, end, keyword)
                    at += 2
                else:
                    self.at = at + 1
                    expr = self._argument_value(at)
                    end = max(expr.end, name_end)
                    at = self.at
                attribute = Attribute(name, expr, source, name_start, end, name_start, name_end)
                if name in attributes:
                    self._duplicate(attributes[name], attribute)
                else:
                    attributes[name] = attribute
            elif kind == BLOCK_HEADER:
                self.at = at
                blocks.append(self._headed_block())
                at = self.at
            elif kind == CLOSE_BRACE or kind == END:
                self.at = at
                return
            else:
                self.at = at
                self._item(attributes, blocks)
                at = self.at

    def _add_attribute(
        self, attributes: dict[str, Attribute], name: str, attribute: Attribute
    ) -> None:
        if name in attributes:
            self._duplicate(attributes[name], attribute)
        else:
            attributes[name] = attribute

    def _duplicate(self, first: Attribute, second: Attribute) -> None:
        """Report a second argument of the same name, which does not indicate unbalanced braces."""
        report_duplicate_argument(first, second, self.diags)
        self._errors += 1

    def _item(self, attributes: dict[str, Attribute], blocks: list[Block]) -> None:
        """Parse an item that has none of the common shapes."""
        at = self.at
        if self.kinds[at] != IDENTIFIER:
            self._bad_item(at)
            self._skip_lines(at)
            return
        following = self.kinds[at + 1]
        if following == ASSIGN:
            name = self.texts[at]
            self.at = at + 2
            expr = self._argument_value(at)
            self._add_attribute(attributes, name, self._attribute(at, expr))
            return
        if following in (STRING, ESCAPED_STRING, OPEN_QUOTE, OPEN_BRACE, IDENTIFIER):
            block = self._block()
            if block is not None:
                blocks.append(block)
            return
        if following == NEWLINE and self.kinds[at + 2] == OPEN_BRACE:
            self._brace_on_next_line(at)
            blocks.append(self._block_from(at, at + 2, [], []))
            return
        if following in _OTHER_SIGNS:
            name, sign = self.texts[at], self.texts[at + 1]
            self.fail(
                at + 1,
                "Equals sign required",
                f"An argument is set with an equals sign, not with {sign}. Write {name} = and the "
                "value. A block has neither: its type is followed by its labels and an opening "
                "brace.",
            )
            self._skip_lines(at)
            # The argument is there, though its value cannot be trusted: it is not missing as well.
            fault = SyntaxFault(self.source, self.starts[at + 1], self.end(self.at - 1))
            self._add_attribute(attributes, name, self._attribute(at, fault))
            return
        else:
            self.fail(
                at + 1 if following == INVALID else at,
                "Incomplete argument or block",
                "A name must be followed by an equals sign and a value, for an argument, or by "
                "labels and an opening brace, for a block.",
            )
        self._skip_lines(at)

    def _skip_lines(self, first: int) -> None:
        """Skip an item with an error, and the following lines that cannot begin an item: they are
        most likely the rest of it.
        """
        self.skip_item(first, False, CLOSE_BRACE)
        while self.kinds[self.at] == NEWLINE:
            following = self.at + 1
            while self.kinds[following] == NEWLINE:
                following += 1
            if self.kinds[following] in _ITEM_STARTS:
                break
            self.at = following
            self.skip_item(following, False, CLOSE_BRACE)

    def _brace_on_next_line(self, at: int) -> None:
        self.fail(
            at,
            "Opening brace on the next line",
            "The opening brace of a block must be on the same line as its type and labels.",
        )

    def _attribute(self, name: int, expr: Expression) -> Attribute:
        start, end = self.starts[name], self.end(name)
        return Attribute(self.texts[name], expr, self.source, start, max(expr.end, end), start, end)

    def _bad_item(self, at: int) -> None:
        if self.kinds[at] in (STRING, ESCAPED_STRING, OPEN_QUOTE):
            self.fail(
                at,
                "Quoted argument name",
                "The names of arguments and the types of blocks are written without quotes.",
            )
            return
        hint = " Names cannot contain dots." if self.kinds[at] == PATH else ""
        self.fail(
            at,
            "Argument or block required",
            f"An argument, as in name = value, or a block is expected here.{hint}",
        )

    def _argument_value(self, name: int) -> Expression:
        """Parse the value of an argument, beginning with the next token, up to the line end."""
        begin = self.at
        depth = self.depth
        try:
            expr = self.expression()
            if self.kinds[self.at] > NEWLINE:
                raise self._bad_argument_line(name)
            return expr
        except (Abandon, TooDeep):
            self.depth = depth
            self._skip_lines(begin)
        start = self.starts[begin]
        return SyntaxFault(self.source, start, max(start, self.end(self.at - 1)))

    def _bad_argument_line(self, name: int) -> Abandon:
        kind = self.kinds[self.at]
        if kind == COMMA:
            detail = "Arguments are separated by new lines, not by commas."
        elif kind == CLOSE_BRACE:
            detail = (
                "The value of an argument must be followed by a new line, and the closing brace "
                "of the block belongs on the next line."
            )
        else:
            detail = (
                "The value of the argument is complete, so a new line must follow. "
                + _OTHER_OPERATORS.get(
                    self.texts[self.at], "Write each argument on a line of its own."
                )
            )
        return self.fail(self.at, "Missing new line after an argument", detail, name)

    # -- blocks -------------------------------------------------------------------------------

    def _headed_block(self) -> Block:
        """Parse a block whose header is a single token."""
        header = self.at
        begin, text = self.starts[header], self.texts[header]
        words: list[str] = _WORD.findall(text)
        labels: list[str] = []
        spans: list[tuple[int, int]] = []
        type_size = def_size = len(words[0])
        for word in words[1:]:
            start = text.index(word, def_size)
            def_size = start + len(word)
            labels.append(word[1:-1] if word[0] == '"' else word)
            spans.append((begin + start, begin + def_size))
        self.at = header + 1
        body = self._block_body(header)
        if self.kinds[self.at] > NEWLINE:
            self._bad_block_end(header)
        return Block(
            words[0],
            labels,
            body,
            self.source,
            begin,
            body.end,
            begin,
            begin + type_size,
            spans,
            begin,
            begin + def_size,
            begin + len(text) - 1,
        )

    def _block(self) -> Block | None:
        """Production: type {label} "{" body "}"."""
        first = self.at
        labels: list[str] = []
        spans: list[tuple[int, int]] = []
        self.at = first + 1
        while True:
            at = self.at
            kind = self.kinds[at]
            if kind == OPEN_BRACE:
                break
            # HCL: labels are quoted strings or bare names.
            if kind == IDENTIFIER:
                labels.append(self.texts[at])
                self.at = at + 1
            elif kind in (STRING, ESCAPED_STRING, OPEN_QUOTE):
                labels.append(self.label())
            else:
                self._bad_header(first)
                if kind == NEWLINE and self.kinds[at + 1] == OPEN_BRACE:
                    self.at = at + 1
                    break
                self._skip_lines(first)
                return None
            spans.append((self.starts[at], self.end(self.at - 1)))
        return self._block_from(first, self.at, labels, spans)

    def _block_from(
        self, first: int, opening: int, labels: list[str], spans: list[tuple[int, int]]
    ) -> Block:
        """Parse a block from its opening brace on."""
        self.at = opening + 1
        # HCL: a block on one line has at most one argument and no blocks.
        if self.kinds[self.at] in (NEWLINE, END, CLOSE_BRACE):
            body = self._block_body(opening)
        else:
            body = self._one_line_body(opening, first)
        begin = self.starts[first]
        if self.kinds[self.at] > NEWLINE:
            self._bad_block_end(first)
        return Block(
            self.texts[first],
            labels,
            body,
            self.source,
            begin,
            body.end,
            begin,
            self.end(first),
            spans,
            begin,
            spans[-1][1] if spans else self.end(first),
            self.starts[opening],
        )

    def _bad_header(self, first: int) -> None:
        at = self.at
        kind = self.kinds[at]
        if kind == ASSIGN:
            detail = (
                "An equals sign belongs to an argument, which has a single name before it. A "
                "block has its opening brace here."
            )
        elif kind == NEWLINE or kind == END:
            detail = (
                "The opening brace of a block must be on the same line as its type and labels. For "
                "an argument, write an equals sign after its name."
            )
        else:
            detail = "A block header consists of the type, quoted labels, and the opening brace."
        self.fail(at, "Invalid block header", detail, first)

    def _bad_block_end(self, first: int) -> None:
        self.fail(
            self.at,
            "Missing new line after a block",
            "The closing brace of a block must be followed by a new line.",
            first,
        )
        self._skip_lines(self.at)

    def _block_body(self, opening: int) -> NativeBody:
        """Parse the body of a block, including its closing brace."""
        depth = self.depth
        attributes: dict[str, Attribute] = {}
        blocks: list[Block] = []
        try:
            self.enter(opening)
        except TooDeep:
            self.depth = depth
            return self._skipped_body(opening)
        self._items(attributes, blocks)
        self.depth = depth
        closing = self.at
        if self.kinds[closing] == END:
            self._unclosed_block(opening)
        else:
            self.at = closing + 1
        start = self.end(opening) - 1
        return NativeBody(attributes, blocks, self.source, start, self.end(closing))

    def _unclosed_block(self, opening: int) -> None:
        """Report, at the opening brace, that the text ends before the closing one."""
        if self.at == self.muted or self._has_failed:
            return
        self.muted = self.at
        start = self.end(opening) - 1
        self.diags.error(
            "Unclosed block",
            "The file ends before the closing brace of this block. A brace is missing here, or in "
            "something inside the block.",
            self.source.range(start, start + 1),
        )

    def _skipped_body(self, opening: int) -> NativeBody:
        """Skip a block that is nested too deeply."""
        nested = 1
        at = opening + 1
        while self.kinds[at] != END:
            kind = self.kinds[at]
            if kind == OPEN_BRACE or kind == BLOCK_HEADER:
                nested += 1
            elif kind == CLOSE_BRACE:
                nested -= 1
                if nested == 0:
                    at += 1
                    break
            at += 1
        self.at = at
        self.muted = at
        start = self.end(opening) - 1
        return NativeBody({}, [], self.source, start, self.end(at - 1))

    def _one_line_body(self, opening: int, first: int) -> NativeBody:
        """Production: name "=" expression "}", all on the line of the opening brace."""
        at = self.at
        attributes: dict[str, Attribute] = {}
        try:
            if self.kinds[at] != IDENTIFIER:
                raise self.fail(
                    at,
                    "Argument required",
                    "An argument is expected here. Blocks and further arguments go on lines of "
                    "their own.",
                )
            if self.kinds[at + 1] != ASSIGN:
                raise self._bad_one_line_item(at)
            self.at = at + 2
            # Until its value is parsed, a placeholder prevents an error about a missing argument.
            fault = SyntaxFault(self.source, self.starts[at + 2], self.starts[at + 2])
            attributes[self.texts[at]] = self._attribute(at, fault)
            expr = self.expression()
            attributes[self.texts[at]] = self._attribute(at, expr)
            if self.kinds[self.at] != CLOSE_BRACE:
                raise self._bad_one_line_end(opening)
        except Abandon:
            self._leave_one_line_body(opening)
        else:
            self.at += 1
        start = self.starts[opening]
        return NativeBody(attributes, [], self.source, start, self.end(self.at - 1))

    def _bad_one_line_item(self, at: int) -> Abandon:
        if self.kinds[at + 1] in (STRING, ESCAPED_STRING, OPEN_QUOTE, OPEN_BRACE, IDENTIFIER):
            detail = (
                "A single-line block can contain one argument and no blocks. Put nested blocks "
                "on lines of their own."
            )
            return self.fail(at, "Argument required", detail, until=at + 1)
        detail = "The name of an argument must be followed by an equals sign and a value."
        return self.fail(at, "Argument required", detail)

    def _bad_one_line_end(self, opening: int) -> Abandon:
        kind = self.kinds[self.at]
        if kind == END:
            self._unclosed_block(opening)
            return Abandon()
        if kind == COMMA:
            detail = (
                "A single-line block can contain only one argument. Put the others on lines of "
                "their own."
            )
        elif kind == NEWLINE:
            detail = (
                "An argument on the same line as the opening brace makes this a single-line "
                "block, so the closing brace belongs on that line too. Otherwise put the "
                "argument on a line of its own."
            )
        else:
            detail = (
                "The argument is complete, so the closing brace of the block must follow. To set "
                "several arguments, put each on a line of its own."
            )
        return self.fail(self.at, "Invalid single-line block", detail, opening)

    def _leave_one_line_body(self, opening: int) -> None:
        """Skip the closing brace that most likely belongs to an invalid single-line block."""
        kinds = self.kinds
        nested = 0
        at = self.at
        while kinds[at] != END:
            kind = kinds[at]
            if kind == OPEN_BRACE or kind == BLOCK_HEADER:
                nested += 1
            elif kind == CLOSE_BRACE:
                if nested == 0:
                    at += 1
                    break
                nested -= 1
            at += 1
        self.at = at
        self.muted = at
