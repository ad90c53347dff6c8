"""JSON parser for the tree of bodies and expressions in the JSON syntax.

One loop over the tokens with its own stack, so that depth costs no recursion. After a mistake the
parser reports it, assumes what was probably meant and continues; until the next comma or closing
bracket it reports no consequences of that mistake. Tokens, and mistakes within one, are handled by
`json_scanner`; the tree is interpreted by `json_expressions` and `json_body`.
"""

from __future__ import annotations

import re

from nigari.cty.types import USUAL_DEPTH, allow_depth
from nigari.diagnostics import Diagnostics
from nigari.hcl.json_expressions import (
    JsonArray,
    JsonExpression,
    JsonInvalid,
    JsonKeyword,
    JsonNumber,
    JsonObject,
    JsonString,
)
from nigari.hcl.json_scanner import (
    BROKEN_NUMBER,
    BROKEN_STRING,
    COMMA,
    COMMENT,
    EQUALS,
    KEYWORD,
    NAME,
    NUMBER,
    PUNCTUATION,
    QUOTED,
    STRAY,
    STRING,
    WORD,
    report_broken_string,
    report_comment,
    report_number,
    report_single_quotes,
    report_stray,
    report_word,
    scan,
)
from nigari.hcl.json_strings import decode_string
from nigari.hcl.source import Source

DEEPEST = 2_000
"""Maximum number of open brackets."""

# The states of the parser, by what it expects: the first item of a container or its end; an item
# after a comma; a colon; the value of a property; a comma or the end.
_FIRST, _ITEM, _COLON, _VALUE, _NEXT = range(5)


class _Open:
    """A container that is still open.

    In an object a name precedes its value, so there may be one more name than values.
    """

    __slots__ = ("is_object", "name_ends", "name_starts", "names", "start", "values")

    def __init__(self, is_object: bool, start: int) -> None:
        self.is_object = is_object
        self.start = start
        self.values: list[JsonExpression] = []
        self.names: list[str] = []
        self.name_starts: list[int] = []
        self.name_ends: list[int] = []

    def waits_for_value(self) -> bool:
        return len(self.names) > len(self.values)

    def add_name(self, name: str, start: int, end: int) -> None:
        """Record the name of the next property; it replaces a name without a value."""
        self.drop_name()
        self.names.append(name)
        self.name_starts.append(start)
        self.name_ends.append(end)

    def drop_name(self) -> None:
        if self.waits_for_value():
            self.names.pop()
            self.name_starts.pop()
            self.name_ends.pop()


def parse_json(source: Source, diags: Diagnostics) -> JsonExpression:
    """Parse the only value in the text; return `JsonInvalid` if there is none."""
    return _Parser(source, diags).run()


class _Parser:
    __slots__ = (
        "_comma",
        "_comment_seen",
        "_diags",
        "_muted",
        "_open",
        "_root",
        "_source",
        "_state",
        "_stopped",
        "_unbalanced",
    )

    def __init__(self, source: Source, diags: Diagnostics) -> None:
        self._source = source
        self._diags = diags
        self._open: list[_Open] = []
        self._root: JsonExpression | None = None
        self._state = _VALUE
        self._comma = 0
        self._muted = False
        self._comment_seen = False
        self._unbalanced = False
        self._stopped = False

    def run(self) -> JsonExpression:
        """Loop over the tokens; the common tokens of valid text are handled here for speed."""
        source = self._source
        top: _Open | None = None
        state = self._state
        for match in scan(source):
            kind = match.lastindex
            if kind == COMMA and state == _NEXT:
                self._comma = match.start()
                self._muted = False
                state = _ITEM
            elif top is None:
                self._state = state
                self._uncommon(match, kind)
                state = self._state
                top = self._open[-1] if self._open else None
            elif kind == NAME and state <= _ITEM and top.is_object:
                raw = match[1]
                start = match.start()
                # Nearly all names are their own text.
                top.names.append(decode_string(raw) if "\\" in raw or not raw.isascii() else raw)
                top.name_starts.append(start)
                top.name_ends.append(start + len(raw) + 2)
                state = _VALUE
            elif kind == STRING and state == _VALUE:
                start, end = match.span()
                self._accept(JsonString(source, start, end))
                state = _NEXT
            else:
                self._state = state
                self._uncommon(match, kind)
                state = self._state
                top = self._open[-1] if self._open else None
            if self._stopped:
                break
        self._state = state
        return self._end()

    def _uncommon(self, match: re.Match[str], kind: int | None) -> None:
        start, end = match.span()
        if kind == COMMENT:
            self._comment(start, end)
        elif self._root is not None:
            self._extra(start, end)
        elif kind == PUNCTUATION:
            self._punctuation(match[0], start)
        elif kind == STRING:
            self._string(start, end)
        elif kind == NUMBER:
            self._plain(JsonNumber(self._source, start, end))
        elif kind == KEYWORD:
            self._plain(JsonKeyword(self._source, start, end))
        elif kind == COMMA:
            self._misplaced_comma(start)
        elif kind == NAME:
            self._misplaced_name(match)
        elif kind == EQUALS:
            self._equals(start, end)
        else:
            self._broken(kind, start, end)

    # -- what may come ------------------------------------------------------------------------

    def _punctuation(self, text: str, start: int) -> None:
        if text == ":":
            self._colon(start)
        elif text == "{" or text == "[":
            self._opening(text == "{", start)
        else:
            self._closing(text == "}", start)

    def _misplaced_name(self, match: re.Match[str]) -> None:
        """Handle a string followed by a colon where no property can begin."""
        top = self._open[-1] if self._open else None
        start, end = match.start(), match.end(1) + 1
        if top is None:
            self._report_bare_property(start, end)
        elif not top.is_object:
            self._report_name_in_array(match.start(2))
        else:
            if self._state == _NEXT:
                self._report_missing_comma(start)
            elif self._state == _COLON:
                self._missing_value(start)
            else:
                self._report_extra_colon(match.start(2))
            top.add_name(decode_string(match[1]), start, end)
        self._state = _VALUE

    def _string(self, start: int, end: int) -> None:
        if self._state != _VALUE and self._name_expected(start):
            name = decode_string(self._source.text[start + 1 : end - 1])
            self._open[-1].add_name(name, start, end)
            self._state = _COLON
        else:
            self._value(JsonString(self._source, start, end))

    def _plain(self, node: JsonExpression) -> None:
        """Handle a number or a keyword."""
        if self._state != _VALUE and self._name_expected(node.start):
            self._unquoted_name(node.start, node.end)
        else:
            self._value(node)

    def _name_expected(self, start: int) -> bool:
        """Check that an object expects a property name, and report a missing comma before it."""
        if not self._open or not self._open[-1].is_object:
            return False
        if self._state == _NEXT:
            self._report_missing_comma(start)
            self._state = _ITEM
        return self._state <= _ITEM

    def _value(self, node: JsonExpression) -> None:
        """Handle a value of any kind."""
        if not self._open:
            self._root = node
            return
        if self._state >= _COLON:
            self._ready_for_value(node.start)
        self._accept(node)

    def _accept(self, node: JsonExpression) -> None:
        """Add a value to the innermost container; a value without a name is dropped."""
        top = self._open[-1]
        if not top.is_object or len(top.names) > len(top.values):
            top.values.append(node)
        self._state = _NEXT

    def _ready_for_value(self, start: int) -> None:
        """Report a missing colon or comma before a value that begins here."""
        if self._state == _COLON:
            self._report_missing_colon(start)
        elif self._state == _NEXT:
            self._report_missing_comma(start)

    def _opening(self, is_object: bool, start: int) -> None:
        depth = len(self._open)
        if depth >= DEEPEST:
            self._report_too_deep(start)
            self._stopped = True
            return
        if depth == USUAL_DEPTH:
            # The parser does not recurse, but evaluation of the tree does.
            allow_depth(depth)
        if self._open:
            self._ready_for_value(start)
            if self._open[-1].is_object and self._state <= _ITEM:
                self._report_missing_name(start)
        self._open.append(_Open(is_object, start))
        self._state = _FIRST

    def _closing(self, is_object: bool, start: int) -> None:
        if not self._open:
            self._report_stray_closing(start)
            return
        self._before_closing(start)
        top = self._open[-1]
        if top.is_object != is_object:
            self._report_mismatch(top, start)
            self._unbalanced = True
        self._muted = False
        self._close(start + 1, True)

    def _before_closing(self, start: int) -> None:
        if self._state == _ITEM:
            self._report_trailing_comma()
        elif self._state == _VALUE or self._state == _COLON:
            self._missing_value(start)

    def _close(self, end: int, closed: bool) -> None:
        top = self._open.pop()
        node: JsonExpression
        if top.is_object:
            top.drop_name()
            spans = top.name_starts, top.name_ends
            node = JsonObject(self._source, top.start, end, top.names, spans, top.values, closed)
        else:
            node = JsonArray(self._source, top.start, end, top.values, closed)
        self._state = _VALUE
        self._value(node)

    def _misplaced_comma(self, start: int) -> None:
        if not self._open:
            self._report_stray_closing(start)
            return
        if self._state <= _ITEM:
            self._report_extra_comma(start)
        else:
            self._missing_value(start)
        self._comma = start
        self._state = _ITEM

    def _colon(self, start: int) -> None:
        top = self._open[-1] if self._open else None
        if top is None:
            self._report_bare_property(start, start + 1)
        elif not top.is_object:
            self._report_name_in_array(start)
        elif self._state <= _ITEM:
            self._report_missing_name(start)
        elif self._state != _COLON:
            self._report_extra_colon(start)
        self._state = _VALUE

    def _equals(self, start: int, end: int) -> None:
        if self._state == _COLON:
            self._report_equals(start, end)
            self._state = _VALUE
        else:
            self._report_token(STRAY, start, end)

    def _missing_value(self, start: int) -> None:
        """Handle a property without a value: a placeholder retains the name."""
        self._report_missing_value(start)
        self._state = _VALUE
        self._value(JsonInvalid(self._source, start, start))

    # -- what JSON does not have ----------------------------------------------------------------

    def _comment(self, start: int, end: int) -> None:
        if not self._comment_seen:
            self._comment_seen = True
            report_comment(self._source, start, end, self._diags)

    def _extra(self, start: int, end: int) -> None:
        self._stopped = True
        if not self._unbalanced and not self._muted:
            self._report_extra(start, end)

    def _broken(self, kind: int | None, start: int, end: int) -> None:
        """Handle a token that is invalid in itself."""
        if not self._open and kind != BROKEN_STRING and kind != BROKEN_NUMBER:
            self._report_not_json(start, end)
        elif kind == STRAY and self._state != _VALUE:
            self._report_token(kind, start, end)
        elif kind in (WORD, BROKEN_NUMBER) and self._name_expected(start):
            self._unquoted_name(start, end)
        elif self._report_token(kind, start, end):
            self._string(start, end)
        elif self._name_expected(start):
            self._state = _COLON
        else:
            self._value(JsonInvalid(self._source, start, end))

    def _unquoted_name(self, start: int, end: int) -> None:
        name = self._source.text[start:end]
        self._report_unquoted_name(name, start, end)
        self._open[-1].add_name(name, start, end)
        self._state = _COLON

    def _report_token(self, kind: int | None, start: int, end: int) -> bool:
        """Report a token that is invalid in itself; return whether it is still usable as a string."""
        diags = Diagnostics() if self._muted else self._diags
        source = self._source
        if kind == BROKEN_STRING:
            closed = report_broken_string(source, start, end, diags)
            self._muted = self._muted or not closed
            return closed
        if kind == QUOTED:
            report_single_quotes(source, start, end, diags)
            return end - start > 1 and source.text[end - 1] == "'"
        if kind == WORD:
            report_word(source, start, end, diags)
        elif kind == BROKEN_NUMBER:
            report_number(source, start, end, diags)
        else:
            report_stray(source, start, end, diags)
        self._muted = True
        return False

    def _end(self) -> JsonExpression:
        end = len(self._source.text)
        if self._root is None and not self._open:
            if not self._stopped:
                self._report_empty(end)
            return JsonInvalid(self._source, 0, end)
        if self._open and not self._stopped and not self._unbalanced:
            self._report_unclosed()
        while self._open:
            if self._state == _VALUE or self._state == _COLON:
                self._state = _NEXT
            self._close(end, False)
        assert self._root is not None
        return self._root

    # -- what is said ---------------------------------------------------------------------------

    def _error(self, summary: str, detail: str, start: int, end: int) -> None:
        if not self._muted:
            self._diags.error(summary, detail, self._source.range(start, end))
        self._muted = True

    def _report_missing_comma(self, start: int) -> None:
        what = "properties of an object" if self._open[-1].is_object else "elements of an array"
        self._error(
            "Missing comma",
            f"The {what} must be separated by commas. Add a comma before this.",
            start,
            start + 1,
        )

    def _report_trailing_comma(self) -> None:
        kind = "object" if self._open[-1].is_object else "array"
        self._error(
            f"Trailing comma in JSON {kind}",
            f"Nothing follows this comma before the end of the {kind}, which JSON does not "
            "allow. Remove the comma.",
            self._comma,
            self._comma + 1,
        )

    def _report_extra_comma(self, start: int) -> None:
        self._error(
            "Extra comma",
            "There is no value before this comma. Remove the comma, or add the missing value.",
            start,
            start + 1,
        )

    def _report_missing_colon(self, start: int) -> None:
        self._error(
            "Missing colon",
            "A colon is required between a property name and its value.",
            start,
            start + 1,
        )

    def _report_equals(self, start: int, end: int) -> None:
        self._error(
            "Equals sign instead of a colon",
            "In JSON, a colon separates a property name from its value. The equals sign belongs "
            "to the native syntax.",
            start,
            end,
        )

    def _report_extra_colon(self, start: int) -> None:
        self._error(
            "Unexpected colon",
            "A colon can only follow a property name, and this is not one. A comma may be "
            "missing before it.",
            start,
            start + 1,
        )

    def _report_missing_value(self, start: int) -> None:
        top = self._open[-1]
        of = f' "{top.names[-1]}"' if top.waits_for_value() else ""
        self._error(
            "Missing value",
            f"The property{of} has no value. Write a colon and a value after its name, or null "
            "for no value.",
            start,
            start + 1,
        )

    def _report_missing_name(self, start: int) -> None:
        self._error(
            "Missing property name",
            "An object contains properties: a name in double quotes, a colon and a value. Values "
            "without names belong in an array, in brackets.",
            start,
            start + 1,
        )

    def _report_unquoted_name(self, name: str, start: int, end: int) -> None:
        self._error(
            "Property name without quotes",
            f'A property name must be a string in double quotes: "{name}".',
            start,
            end,
        )
        # The name is as good as quoted: what follows it is checked as usual.
        self._muted = False

    def _report_name_in_array(self, start: int) -> None:
        self._error(
            "Colon in JSON array",
            "An array, in brackets, contains values without names. For named properties, use an "
            "object, in braces.",
            start,
            start + 1,
        )

    def _report_mismatch(self, top: _Open, start: int) -> None:
        kind, closing = ("object", "brace }") if top.is_object else ("array", "bracket ]")
        opened = self._source.range(top.start, top.start + 1)
        self._error(
            "Mismatched brackets",
            f"The {kind} opened at {opened} must be closed with a {closing} first.",
            start,
            start + 1,
        )

    def _report_unclosed(self) -> None:
        top = self._open[-1]
        kind, closing = ("object", "brace }") if top.is_object else ("array", "bracket ]")
        more = len(self._open) - 1
        others = f" {more} more around it are not closed either." if more else ""
        self._error(
            f"Unclosed JSON {kind}",
            f"The file ends before the closing {closing} of this {kind}.{others}",
            top.start,
            top.start + 1,
        )

    def _report_stray_closing(self, start: int) -> None:
        self._error(
            "Missing value",
            "A JSON file must begin with an opening brace or bracket.",
            start,
            start + 1,
        )
        self._stopped = True

    def _report_bare_property(self, start: int, end: int) -> None:
        self._error(
            "Property outside an object",
            "A JSON file contains a single object: put braces around all of its properties.",
            start,
            end,
        )
        self._stopped = True

    def _report_not_json(self, start: int, end: int) -> None:
        self._error(
            "Not JSON",
            "This file has a .json name, so it must begin with an opening brace. Native syntax "
            "belongs in a file without .json in its name.",
            start,
            end,
        )
        self._stopped = True

    def _report_empty(self, end: int) -> None:
        self._error(
            "Empty JSON file",
            "This file contains no JSON value. For an empty configuration, write {}.",
            end,
            end,
        )

    def _report_extra(self, start: int, end: int) -> None:
        self._error(
            "Text after the end of the JSON value",
            "A JSON file contains a single value, which ended before this. There may be one "
            "closing bracket too many above.",
            start,
            end,
        )

    def _report_too_deep(self, start: int) -> None:
        self._error(
            "Too many nested brackets",
            f"Objects and arrays can be nested at most {DEEPEST:,} levels deep. The rest of the "
            "file was not read.",
            start,
            start + 1,
        )
