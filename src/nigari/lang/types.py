"""Type constraints of variables and outputs, and diagnostics about values that do not match.

`nigari.hcl.type_expressions` owns type expressions in general; here are the forms that only this
language has.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.cty.paths import GetAttr, Path, index_step
from nigari.cty.types import (
    DYNAMIC,
    KIND_MAP,
    KIND_STRING,
    CollectionType,
    ListType,
    MapType,
    ObjectType,
    TupleType,
    Type,
)
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.collections import For, ObjectConstructor, TupleConstructor
from nigari.hcl.expressions import Expression
from nigari.hcl.scope import Scope
from nigari.hcl.suggestion import did_you_mean
from nigari.hcl.type_expressions import (
    ANY_TYPE,
    TYPE_NAMES,
    NamedType,
    TypeConstraint,
    parse_type_constraint,
)
from nigari.record import record


def parse_variable_type(
    expression: Expression, diags: Diagnostics, named: NamedType | None = None
) -> TypeConstraint:
    """Parse the `type` argument of a variable: a type constraint, or bare `list` or `map`.

    As in OpenTofu, the two bare words mean elements of any one type. `named` finds the types of
    symbol libraries.
    """
    text = expression.source.text
    native = not expression.is_json
    if native and text.startswith(('"', "<<"), expression.start):
        _report_quoted_type(expression, diags)
        return ANY_TYPE
    traversal = expression.static_traversal()
    if traversal is not None and len(traversal) == 1:
        if traversal.root_name == "list":
            return TypeConstraint(ListType(DYNAMIC))
        if traversal.root_name == "map":
            return TypeConstraint(MapType(DYNAMIC))
    return parse_type_constraint(expression, diags, named)


def names_symbols(text: str) -> bool:
    """Check the source of a type for names of symbol libraries.

    A text in a default may look like one; reading such a type later does no harm.
    """
    return "symbols::" in text


def _report_quoted_type(expression: Expression, diags: Diagnostics) -> None:
    written = expression.source.text[expression.start : expression.end].strip('"')
    advice = ""
    if written in ("list", "map"):
        advice = f" Write {written}(string)."
    elif written.isidentifier() and written not in TYPE_NAMES:
        hint = did_you_mean(written, TYPE_NAMES)
        advice = f' There is no type named "{written}".{hint}'
    elif written and "\n" not in written:
        advice = f" Write {written}."
    diags.error(
        "Quoted type expression",
        f"A type is an expression and is written without quotes.{advice}",
        expression.range,
    )


@record
class DroppedAttribute:
    """An attribute in an object constructor that the required type does not have."""

    path: Path
    name_range: Range
    object_range: Range
    wanted: ObjectType

    @property
    def name(self) -> str:
        """Name of the attribute."""
        step = self.path[-1]
        assert isinstance(step, GetAttr)
        return step.name


def dropped_attributes(expression: Expression, wanted: Type) -> list[DroppedAttribute]:
    """List the attributes that conversion to `wanted` will drop, as far as the expression is
    literal.

    An attribute in an object constructor is expected to be used; an object from elsewhere may
    legitimately have more attributes than required.
    """
    found: list[DroppedAttribute] = []
    pending: list[tuple[Expression, Type, Path]] = [(expression, wanted, ())]
    while pending:
        current, type_, path = pending.pop()
        inner = list(_inner(current, type_, path, found))
        pending.extend(reversed(inner))
    return found


def _inner(
    expression: Expression, type_: Type, path: Path, found: list[DroppedAttribute]
) -> Iterator[tuple[Expression, Type, Path]]:
    if isinstance(expression, ObjectConstructor):
        for key, value in expression.items:
            name = _constant_name(key)
            if name is None:
                continue
            if isinstance(type_, ObjectType):
                attribute = type_.attributes.get(name)
                step = (*path, GetAttr(name))
                if attribute is None:
                    found.append(DroppedAttribute(step, key.range, expression.range, type_))
                else:
                    yield value, attribute, step
            elif isinstance(type_, CollectionType) and type_.kind == KIND_MAP:
                yield value, type_.element, (*path, index_step(name))
    elif isinstance(expression, TupleConstructor):
        elements = expression.elements
        if isinstance(type_, TupleType):
            types: list[Type] = list(type_.elements)
        elif isinstance(type_, CollectionType) and type_.kind != KIND_MAP:
            types = [type_.element] * len(elements)
        else:
            types = []
        if len(types) == len(elements):
            for index, element in enumerate(elements):
                yield element, types[index], (*path, index_step(index))
    elif isinstance(expression, For) and isinstance(type_, CollectionType):
        if (expression.key is not None) is (type_.kind == KIND_MAP):
            yield expression.result, type_.element, path


def _constant_name(key: Expression) -> str | None:
    diags = Diagnostics()
    value: Value = key.value(Scope(), diags)
    if diags.has_errors or not value.is_known or value.is_null:
        return None
    return value.as_string() if value.type.kind == KIND_STRING else None
