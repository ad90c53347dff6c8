"""JSON values as expressions.

A string is a template of the native syntax, an object is an object constructor whose names are
templates too, an array is a tuple. When an expression is read without evaluation, a string holds a
native expression. Deliberately unknown here: the JSON syntax, and which values are bodies.
"""

from __future__ import annotations

from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import DYNAMIC, NUMBER, STRING
from nigari.cty.values import (
    DYNAMIC_UNKNOWN,
    FALSE,
    TRUE,
    Mark,
    Value,
    null,
    number,
    object_value,
    string,
    tuple_value,
)
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.evaluation import as_sentence, sentence, unknown_from
from nigari.hcl.expressions import Expression
from nigari.hcl.json_strings import StringSource, decode_string
from nigari.hcl.parser import parse_expression, parse_template
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.traversal import Traversal


class JsonExpression(Expression):
    __slots__ = ()

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.start = start
        self.end = end

    @property
    def is_json(self) -> bool:
        return True


class JsonInvalid(JsonExpression):
    """Placeholder for an unparsable value, which has been reported."""

    __slots__ = ()

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        return DYNAMIC_UNKNOWN


class JsonNumber(JsonExpression):
    """A number, exact to the precision of the language."""

    __slots__ = ()

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        try:
            return number(self.source.text[self.start : self.end])
        except CtyError:
            diags.error(
                "Number out of range",
                "The exponent of this number is out of the supported range.",
                self.range,
            )
            return unknown_from(NUMBER)


class JsonKeyword(JsonExpression):
    """`true`, `false` or `null`."""

    __slots__ = ()

    @property
    def is_null(self) -> bool:
        return self.source.text[self.start] == "n"

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        first = self.source.text[self.start]
        if first == "n":
            return null(DYNAMIC)
        return TRUE if first == "t" else FALSE


class JsonString(JsonExpression):
    """A string; `start` and `end` include its quotes."""

    __slots__ = ("_faults", "_template")

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.start = start
        self.end = end
        self._template: Expression | None = None
        self._faults: Diagnostics | None = None

    @property
    def text(self) -> str:
        """The literal text of the string."""
        return decode_string(self.source.text[self.start + 1 : self.end - 1])

    @property
    def is_plain(self) -> bool:
        """True if the string has the same meaning as a template and literally."""
        text = self.text
        return "${" not in text and "%{" not in text

    def native_source(self) -> Source:
        """Return the string's text for a parser of the native syntax, with positions in this file."""
        return StringSource(self.source, self.start + 1, self.end - 1)

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        """Evaluate the template; in a scope without names and functions, HCL takes the text
        literally.
        """
        text = self.text
        if "${" not in text and "%{" not in text:
            return string(text)
        # JSON syntax of HCL: with a nil EvalContext, strings are literal; static
        # positions rely on it.
        if not scope.allows_variables and not scope.allows_functions:
            return string(text)
        template = self._parsed()
        if self._faults is not None and self._faults.has_errors:
            diags.extend(self._faults)
            return DYNAMIC_UNKNOWN
        return template.value(scope, diags)

    def _parsed(self) -> Expression:
        template = self._template
        if template is None:
            self._faults = Diagnostics()
            template = parse_template(self.native_source(), self._faults)
            self._template = template
        return template

    def add_variables(self, found: list[Traversal], bound: frozenset[str]) -> None:
        if self.is_plain:
            return
        template = self._parsed()
        if self._faults is None or not self._faults.has_errors:
            template.add_variables(found, bound)

    def children(self) -> list[Expression]:
        return [] if self.is_plain else [self._parsed()]

    def _native_expression(self) -> Expression | None:
        faults = Diagnostics()
        expression = parse_expression(self.native_source(), faults)
        return None if faults.has_errors else expression

    def static_traversal(self) -> Traversal | None:
        expression = self._native_expression()
        traversal = None if expression is None else expression.static_traversal()
        # ParseTraversalAbs accepts less than an expression: no legacy indexes, and only
        # literal keys.
        return None if traversal is None or traversal.odd_index() is not None else traversal


class JsonArray(JsonExpression):
    """An array; `closed` is false if its closing bracket is missing."""

    __slots__ = ("closed", "elements")

    elements: list[JsonExpression]
    closed: bool

    def __init__(
        self, source: Source, start: int, end: int, elements: list[JsonExpression], closed: bool
    ) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.elements = elements
        self.closed = closed

    def start_span(self) -> tuple[int, int]:
        return self.start, self.start + 1

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        return tuple_value([element.value(scope, diags) for element in self.elements])

    def children(self) -> list[Expression]:
        return list(self.elements)

    def static_list(self) -> list[Expression] | None:
        return list(self.elements)


class Property:
    """A name and a value in an object; the offsets of the name include its quotes."""

    __slots__ = ("name", "name_end", "name_start", "value")

    name: str
    name_start: int
    name_end: int
    value: JsonExpression

    def __init__(self, name: str, name_start: int, name_end: int, value: JsonExpression) -> None:
        self.name = name
        self.name_start = name_start
        self.name_end = name_end
        self.value = value

    def name_expression(self) -> JsonString:
        """Return the name as an expression: a template like any other string."""
        return JsonString(self.value.source, self.name_start, self.name_end)


class JsonObject(JsonExpression):
    """An object: every property in source order, including repeated names.

    The properties are stored as parallel lists, because most of them are never read one by one.
    `closed` is false if the closing brace is missing.
    """

    __slots__ = ("_name_ends", "_name_starts", "_names", "_values", "closed")

    closed: bool

    def __init__(
        self,
        source: Source,
        start: int,
        end: int,
        names: list[str],
        name_spans: tuple[list[int], list[int]],
        values: list[JsonExpression],
        closed: bool,
    ) -> None:
        self.source = source
        self.start = start
        self.end = end
        self._names = names
        self._name_starts, self._name_ends = name_spans
        self._values = values
        self.closed = closed

    @property
    def name_spans(self) -> tuple[list[int], list[int]]:
        """Offsets of the names' beginnings and of their ends."""
        return self._name_starts, self._name_ends

    @property
    def properties(self) -> list[Property]:
        return [
            Property(name, start, end, value)
            for name, start, end, value in zip(
                self._names, self._name_starts, self._name_ends, self._values, strict=True
            )
        ]

    def start_span(self) -> tuple[int, int]:
        return self.start, self.start + 1

    @property
    def close_range(self) -> Range:
        """Range of the closing brace, or of its expected position."""
        return self.source.range(self.end - 1 if self.closed else self.end, self.end)

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        attributes: dict[str, Value] = {}
        written: dict[str, Property] = {}
        marks: frozenset[Mark] = frozenset()
        unknown_name: Value | None = None
        for item in self.properties:
            name = self._name(item, scope, diags)
            value = item.value.value(scope, diags)
            if name is None:
                continue
            marks |= name.marks
            if not name.is_known:
                unknown_name = name
                continue
            text = name.as_string()
            # JSON syntax of HCL: duplicate names are an error, which other JSON
            # parsers accept.
            if text in attributes:
                self._report_duplicate(text, written[text], item, diags)
                continue
            attributes[text] = value
            written[text] = item
        if unknown_name is not None:
            # If a name is unknown, so is the type of the object.
            return unknown_from(DYNAMIC, unknown_name).with_marks(marks)
        result = object_value(attributes)
        return result.with_marks(marks) if marks else result

    def _name(self, item: Property, scope: Scope, diags: Diagnostics) -> Value | None:
        if "${" not in item.name and "%{" not in item.name:
            return string(item.name)
        expression = item.name_expression()
        name = expression.value(scope, diags)
        if name.is_null:
            self._report_name(expression, "it is null", scope, diags)
            return None
        try:
            return convert(name, STRING)
        except CtyError as error:
            self._report_name(expression, sentence(error), scope, diags)
            return None

    def _report_name(self, name: JsonString, reason: str, scope: Scope, diags: Diagnostics) -> None:
        name.report(
            diags,
            scope,
            "Invalid property name",
            f"This expression cannot be used as a property name: {as_sentence(reason)}",
        )

    def _report_duplicate(
        self, name: str, first: Property, second: Property, diags: Diagnostics
    ) -> None:
        source = self.source
        where = source.range(first.name_start, first.name_end)
        diags.error(
            "Duplicate property",
            f'The property "{name}" was already set at {where}. Remove one of the two.',
            source.range(second.name_start, second.name_end),
            source.range(second.name_start, second.value.end),
        )

    def children(self) -> list[Expression]:
        children: list[Expression] = []
        for item in self.properties:
            children.append(item.name_expression())
            children.append(item.value)
        return children

    def static_map(self) -> list[tuple[Expression, Expression]] | None:
        return [(item.name_expression(), item.value) for item in self.properties]
