"""Tuple and object constructors, and `for` expressions.

Deliberately unknown here: lists, sets and maps. No syntax creates them; conversions do.
"""

from __future__ import annotations

from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import BOOL, DYNAMIC, KIND_LIST, KIND_OBJECT, STRING
from nigari.cty.unknown import Unknown
from nigari.cty.values import (
    DYNAMIC_UNKNOWN,
    NO_MARKS,
    Mark,
    Value,
    object_value,
    string,
    tuple_value,
)
from nigari.diagnostics import Diagnostics
from nigari.hcl.evaluation import sentence, unknown_from
from nigari.hcl.expressions import CostlyExpression, Expression, Reference
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.traversal import Traversal, TraverseRoot


class TupleConstructor(Expression):
    """`[a, b]`"""

    __slots__ = ("elements",)

    elements: list[Expression]

    def __init__(self, source: Source, start: int, end: int, elements: list[Expression]) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.elements = elements

    def start_span(self) -> tuple[int, int]:
        return self.start, self.start + 1

    def children(self) -> list[Expression]:
        return self.elements

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        return tuple_value([element.value(scope, diags) for element in self.elements])

    def static_list(self) -> list[Expression] | None:
        return self.elements


class DottedKey(Expression):
    """A dotted name as a key of an object constructor.

    It can be read as a traversal, but has no value: HCL rejects it, as it could be a reference or a
    name.
    """

    __slots__ = ("reference",)

    reference: Reference

    def __init__(self, source: Source, start: int, end: int, reference: Reference) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.reference = reference

    def children(self) -> list[Expression]:
        return [self.reference]

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        diags.error(
            "Ambiguous object key",
            "A key with dots could be a reference or a name. Put a reference in parentheses, or "
            "put quotes around a name that contains dots.",
            self.range,
        )
        return DYNAMIC_UNKNOWN

    def static_traversal(self) -> Traversal | None:
        return self.reference.traversal


class KeyName(Expression):
    """A bare name as a key of an object constructor, as nearly all keys are."""

    __slots__ = ("name",)

    name: str

    def __init__(self, source: Source, start: int, end: int, name: str) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.name = name

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        return string(self.name)

    def static_traversal(self) -> Traversal | None:
        return Traversal(self.source, [TraverseRoot(self.name, self.start, self.end)])


class ObjectConstructor(Expression):
    """`{ a = b }`: keys and values, in source order."""

    __slots__ = ("items",)

    items: list[tuple[Expression, Expression]]

    def __init__(
        self, source: Source, start: int, end: int, items: list[tuple[Expression, Expression]]
    ) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.items = items

    def start_span(self) -> tuple[int, int]:
        return self.start, self.start + 1

    def children(self) -> list[Expression]:
        ordered: list[Expression] = []
        for key, value in self.items:
            ordered.append(key)
            ordered.append(value)
        return ordered

    def static_map(self) -> list[tuple[Expression, Expression]] | None:
        return self.items

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        attributes: dict[str, Value] = {}
        marks: frozenset[Mark] = NO_MARKS
        causes: list[Value] = []
        is_known = True
        for key_expression, expression in self.items:
            # ObjectConsKeyExpr: a bare name is a key, never a reference.
            if isinstance(key_expression, KeyName):
                attributes[key_expression.name] = expression.value(scope, diags)
                continue
            errors = diags.error_count
            key = key_expression.value(scope, diags)
            failed = diags.error_count > errors
            # ObjectConsExpr.Value: values are evaluated even under an invalid key,
            # for the sake of their errors.
            value = expression.value(scope, diags)
            name = None if failed else self._key(key_expression, key, scope, diags)
            if name is None:
                is_known = False
                causes.append(key)
                continue
            # The keys of an object are visible in its type, so marks of a key become
            # those of the object.
            marks |= key.marks
            attributes[name] = value
        if not is_known:
            # With an unknown key, the attributes and so the type of the object are
            # unknown.
            return unknown_from(DYNAMIC, *causes)
        return object_value(attributes).with_marks(marks)

    def _key(
        self, expression: Expression, key: Value, scope: Scope, diags: Diagnostics
    ) -> str | None:
        if key.is_null:
            detail = "The key of an object attribute is null. It must be a string."
            expression.report(diags, scope, "Null key", detail, self)
            return None
        try:
            name = convert(key.unmark()[0], STRING)
        except CtyError as error:
            detail = (
                f"This value cannot be used as the key of an object attribute: {sentence(error)}"
            )
            expression.report(diags, scope, "Invalid key", detail, self)
            return None
        return name.as_string() if name.is_known else None


# -- for expressions --------------------------------------------------------------------------


class For(CostlyExpression):
    """`[for k, v in c : x if y]` and `{for k, v in c : k => v... if y}`.

    `key_name` is empty if only the value has a name, `key` is None in a tuple, `is_grouped` is set
    by `...`. `open_end` is the end of the opening bracket or directive.
    """

    __slots__ = (
        "collection",
        "condition",
        "is_grouped",
        "key",
        "key_name",
        "open_end",
        "result",
        "value_name",
    )

    key_name: str
    value_name: str
    collection: Expression
    key: Expression | None
    result: Expression
    condition: Expression | None
    is_grouped: bool
    open_end: int

    def __init__(
        self,
        source: Source,
        start: int,
        end: int,
        key_name: str,
        value_name: str,
        collection: Expression,
        key: Expression | None,
        result: Expression,
        condition: Expression | None,
        is_grouped: bool,
        open_end: int,
    ) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.key_name = key_name
        self.value_name = value_name
        self.collection = collection
        self.key = key
        self.result = result
        self.condition = condition
        self.is_grouped = is_grouped
        self.open_end = open_end

    def start_span(self) -> tuple[int, int]:
        return self.start, self.open_end

    def children(self) -> list[Expression]:
        parts = [self.collection]
        if self.key is not None:
            parts.append(self.key)
        parts.append(self.result)
        if self.condition is not None:
            parts.append(self.condition)
        return parts

    def add_variables(self, found: list[Traversal], bound: frozenset[str]) -> None:
        self.collection.add_variables(found, bound)
        # The collection is evaluated outside of the loop, so the names are not bound in
        # it.
        inside = bound | {self.key_name, self.value_name}
        for child in self.children()[1:]:
            child.add_variables(found, inside)

    def computed(self, scope: Scope, diags: Diagnostics) -> Value:
        collection = self.collection.value(scope, diags)
        if collection.is_null:
            self._report_collection("A null value has no elements to iterate over.", scope, diags)
            return DYNAMIC_UNKNOWN
        # ForExpr.Value: the type of the result depends on the elements.
        if collection.type is DYNAMIC:
            return unknown_from(DYNAMIC, collection)
        collection, marks = collection.unmark()
        kind = collection.type.kind
        if not KIND_LIST <= kind <= KIND_OBJECT:
            detail = (
                f"This is {collection.type.with_article()}, which has no elements to iterate over."
            )
            self._report_collection(detail, scope, diags)
            return DYNAMIC_UNKNOWN
        if self.condition is not None:
            early = self._check_condition(scope, diags)
            if early is None:
                return DYNAMIC_UNKNOWN
            # Unknown elements still let the condition be checked, and its marks
            # count.
            if not collection.is_known:
                marks |= early.marks
        if not collection.is_known:
            return unknown_from(DYNAMIC, collection).with_marks(marks)
        # In brackets: a tuple. In braces: an object.
        if self.key is None:
            return self._tuple(collection, marks, scope, diags)
        return self._object(collection, marks, scope, diags)

    def _report_collection(self, detail: str, scope: Scope, diags: Diagnostics) -> None:
        self.collection.report(diags, scope, "Invalid collection in a for expression", detail, self)

    def _check_condition(self, scope: Scope, diags: Diagnostics) -> Value | None:
        """Evaluate the condition once with unknown names, so that an error in it is reported once
        instead of for every element.
        """
        assert self.condition is not None
        names = {self.value_name: DYNAMIC_UNKNOWN}
        if self.key_name:
            names[self.key_name] = DYNAMIC_UNKNOWN
        errors = diags.error_count
        value = self.condition.value(Scope(names, None, scope), diags)
        try:
            if value.is_null:
                raise CtyError("it is null")
            convert(value, BOOL)
        except CtyError as error:
            self.report_condition(error, scope, diags)
            return None
        return None if diags.error_count > errors else value

    def report_condition(self, error: CtyError, scope: Scope, diags: Diagnostics) -> None:
        assert self.condition is not None
        detail = f'The condition after "if" must be true or false: {sentence(error)}'
        self.condition.report(diags, scope, "Invalid condition in a for expression", detail, self)

    def _tuple(
        self, collection: Value, marks: frozenset[Mark], scope: Scope, diags: Diagnostics
    ) -> Value:
        run = _Run(self, scope, diags, marks)
        results: list[Value] = []
        names, inner = run.names, run.scope
        result = self.result
        value_name, key_name = self.value_name, self.key_name
        condition = self.condition
        for key, element in collection.items():
            names[value_name] = element
            if key_name:
                names[key_name] = key
            if condition is None or run.includes():
                results.append(result.value(inner, diags))
        if run.unknowns:
            return unknown_from(DYNAMIC, *run.unknowns).with_marks(run.marks)
        return tuple_value(results).with_marks(run.marks)

    def _object(
        self, collection: Value, marks: frozenset[Mark], scope: Scope, diags: Diagnostics
    ) -> Value:
        run = _Run(self, scope, diags, marks)
        attributes: dict[str, Value] = {}
        groups: dict[str, list[Value]] = {}
        for key, element in collection.items():
            run.names[self.value_name] = element
            if self.key_name:
                run.names[self.key_name] = key
            if self.condition is not None and not run.includes():
                continue
            name = run.key()
            if name is None:
                continue
            value = self.result.value(run.scope, diags)
            if self.is_grouped:
                # Grouping mode, "..." after the value: equal keys collect their
                # values.
                groups.setdefault(name, []).append(value)
            elif name in attributes:
                self._report_duplicate(name, run, diags)
            else:
                attributes[name] = value
        if run.unknowns:
            return unknown_from(DYNAMIC, *run.unknowns).with_marks(run.marks)
        for name, values in groups.items():
            # ForExpr.Value: grouped values may have different types, so they form a
            # tuple.
            attributes[name] = tuple_value(values)
        return object_value(attributes).with_marks(run.marks)

    def _report_duplicate(self, name: str, run: _Run, diags: Diagnostics) -> None:
        assert self.key is not None
        shown = "the same key" if run.marks else f'the key "{name}"'
        detail = (
            f"Two elements produce {shown}, and an object holds only one value per key. To "
            "collect all values of a key in a tuple, write ... after the value."
        )
        self.key.report(diags, run.scope, "Duplicate key in a for expression", detail, self)


class _Run:
    """One evaluation of a for expression: the names for the current element, and the result so far.
    `unknowns` holds the values that make the result unknown.
    """

    __slots__ = ("diags", "loop", "marks", "names", "scope", "unknowns")

    def __init__(self, loop: For, scope: Scope, diags: Diagnostics, marks: frozenset[Mark]) -> None:
        self.loop = loop
        self.diags = diags
        self.marks = marks
        self.names: dict[str, Value] = {}
        self.scope = Scope(self.names, None, scope)
        self.unknowns: list[Value] = []

    def includes(self) -> bool:
        """Check the condition for the current element."""
        condition = self.loop.condition
        assert condition is not None
        value = condition.value(self.scope, self.diags)
        # The usual case, without a conversion.
        if value.data is True and not value.marks:
            return True
        self.marks |= value.marks
        # ForExpr.Value: whether an element is included decides the length of the tuple,
        # so an unknown condition makes all of it unknown.
        if isinstance(value.data, Unknown) and self.loop.key is None:
            self.unknowns.append(value)
            return False
        try:
            if value.is_null:
                raise CtyError("it is null")
            # HCL: for an object, the condition's type is checked even if its value is unknown.
            included = convert(value, BOOL)
            if included.is_known:
                return included.as_bool()
            self.unknowns.append(value)
            return False
        except CtyError as error:
            if not self.unknowns:
                self.loop.report_condition(error, self.scope, self.diags)
            self.unknowns.append(DYNAMIC_UNKNOWN)
            return False

    def key(self) -> str | None:
        """Evaluate the key for the current element; None if it is unknown or invalid."""
        expression = self.loop.key
        assert expression is not None
        value = expression.value(self.scope, self.diags)
        self.marks |= value.marks
        data = value.data
        if isinstance(data, str):
            return data
        if isinstance(data, Unknown):
            self.unknowns.append(value)
            return None
        try:
            if data is None:
                raise CtyError("it is null")
            return convert(value.unmark()[0], STRING).as_string()
        except CtyError as error:
            if not self.unknowns:
                detail = f"The key of an object attribute must be a string: {sentence(error)}"
                expression.report(
                    self.diags, self.scope, "Invalid key in a for expression", detail, self.loop
                )
            self.unknowns.append(DYNAMIC_UNKNOWN)
            return None
