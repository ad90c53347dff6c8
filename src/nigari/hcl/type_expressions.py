"""Type expressions: `list(string)`, `object({ a = optional(number, 1) })`.

Reads a type constraint, with the defaults of its optional attributes, from an expression of either
syntax, applies such defaults to a value, and prints a type as source. Deliberately unknown here:
the constrained object, and the time of its conversion.
"""

from __future__ import annotations

from collections.abc import Callable

from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.refinements import definitely_not_null, refine_not_null
from nigari.cty.types import (
    BOOL,
    DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    KIND_OBJECT,
    KIND_SET,
    KIND_TUPLE,
    NUMBER,
    STRING,
    USUAL_DEPTH,
    CollectionType,
    ListType,
    MapType,
    ObjectType,
    SetType,
    TupleType,
    Type,
    allow_depth,
)
from nigari.cty.unify import unify
from nigari.cty.values import (
    Value,
    list_value,
    map_value,
    object_value,
    set_value,
    tuple_value,
)
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.calls import FunctionCall
from nigari.hcl.expressions import Expression, SyntaxFault
from nigari.hcl.quoting import quoted
from nigari.hcl.scope import Scope
from nigari.hcl.static import expr_as_keyword, static_call
from nigari.hcl.suggestion import did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


_PRIMITIVES = {"string": STRING, "number": NUMBER, "bool": BOOL}
_COLLECTIONS = {"list": KIND_LIST, "set": KIND_SET, "map": KIND_MAP}
_WANTS = {
    "list": "one argument, the type of its elements: list(string)",
    "set": "one argument, the type of its elements: set(string)",
    "map": "one argument, the type of its elements: map(string)",
    "object": "one argument, the types of its attributes in braces: object({ name = string })",
    "tuple": "one argument, the types of its elements in brackets: tuple([string, number])",
}
TYPE_NAMES = (*_PRIMITIVES, "any", *_WANTS, "optional")

Part: TypeAlias = str | int | None
"""An attribute name, the index of a tuple's element, or None for every element of a collection."""


class Defaults:
    """Defaults of optional attributes, which replace missing and null ones."""

    __slots__ = ("parts", "type", "values")

    type: Type
    """The type constraint of these defaults."""
    values: dict[str, Value]
    """Defaults of an object's own attributes."""
    parts: dict[Part, Defaults]
    """Defaults within attributes or elements."""

    def __init__(self, type: Type, values: dict[str, Value], parts: dict[Part, Defaults]) -> None:
        self.type = type
        self.values = values
        self.parts = parts

    def apply(self, value: Value) -> Value:
        """Fill optional attributes of a value with their defaults.

        Null and unknown values stay. As in OpenTofu, this precedes conversion: the value need not
        have the type of the constraint before or after it.
        """
        if not value.is_known or value.is_null:
            return value
        bare, marks = value.unmark()
        kind = bare.type.kind
        if kind in (KIND_OBJECT, KIND_MAP):
            return self._apply_to_keyed(bare).with_marks(marks)
        if kind in (KIND_LIST, KIND_SET, KIND_TUPLE):
            return self._apply_to_sequence(bare).with_marks(marks)
        return value

    def _apply_to_keyed(self, value: Value) -> Value:
        # The value may still be a map, whose elements all have the same defaults.
        own = self.type.kind == KIND_OBJECT
        filled: dict[str, Value] = {}
        for key, item in value.items():
            name = key.as_string()
            inner = self.parts.get(name if own else None)
            filled[name] = item if inner is None else inner.apply(item)
        for name, default in self.values.items():
            given = filled.get(name)
            # typeexpr.Defaults: a null attribute gets the default as well; without
            # optional it would stay null.
            if given is None or given.is_null:
                inner = self.parts.get(name)
                filled[name] = default if inner is None else inner.apply(default)
            # A given value that is unknown may be null, and then the default replaces
            # it.
            elif given.type is not DYNAMIC and definitely_not_null(default):
                filled[name] = refine_not_null(given)
        if value.type.kind == KIND_OBJECT:
            return object_value(filled)
        element, items = _unified(value, list(filled.values()))
        if element is None:
            return object_value(filled)
        return map_value(element, dict(zip(filled, items, strict=True)))

    def _apply_to_sequence(self, value: Value) -> Value:
        own = self.type.kind == KIND_TUPLE
        filled = []
        for position, item in enumerate(value.elements()):
            inner = self.parts.get(position if own else None)
            filled.append(item if inner is None else inner.apply(item))
        kind = value.type.kind
        if kind == KIND_TUPLE:
            return tuple_value(filled)
        element, items = _unified(value, filled)
        if element is None:
            return tuple_value(filled)
        return list_value(element, items) if kind == KIND_LIST else set_value(element, items)

    def __repr__(self) -> str:
        return f"Defaults({type_text(self.type)}, {self.values!r}, {self.parts!r})"


def _unified(collection: Value, elements: list[Value]) -> tuple[Type | None, list[Value]]:
    """Convert the elements of a collection to one type again, after defaults changed some of them.

    The type is None if they have none in common.
    """
    given = collection.type
    assert isinstance(given, CollectionType)
    if not elements:
        return given.element, elements
    element = unify([item.type for item in elements], unsafe=True)
    if element is None:
        return None, elements
    try:
        converted = [convert(item, element) for item in elements]
    except CtyError:
        return None, elements
    # If the common type has open parts, the elements may still differ in those.
    exact = converted[0].type
    return (exact, converted) if all(i.type == exact for i in converted) else (None, elements)


class TypeConstraint:
    """A parsed type expression: a type, and the defaults of its optional attributes."""

    __slots__ = ("defaults", "type")

    type: Type
    """Object types in it record their optional attributes."""
    defaults: Defaults | None

    def __init__(self, type: Type, defaults: Defaults | None = None) -> None:
        self.type = type
        self.defaults = defaults

    def convert(self, value: Value) -> Value:
        """Apply the defaults and convert a value; raise `CtyError` if that fails."""
        if self.defaults is not None:
            value = self.defaults.apply(value)
        return convert(value, self.type)

    def __str__(self) -> str:
        return type_text(self.type)

    def __repr__(self) -> str:
        return f"<TypeConstraint {self}>"


ANY_TYPE = TypeConstraint(DYNAMIC)


NamedType = Callable[[FunctionCall, Diagnostics], TypeConstraint]
"""Finds the type of a call such as `symbols::lib::subnet()`, or reports that there is none."""


def parse_type_constraint(
    expression: Expression, diags: Diagnostics, named: NamedType | None = None
) -> TypeConstraint:
    """Read a type constraint, which may contain `any` and `optional` with defaults.

    `named` finds the types of calls whose names have a namespace; without it there are none.
    """
    return _Reader(diags, constraint=True, with_defaults=True, named=named).read(expression, 1)


def parse_type(expression: Expression, diags: Diagnostics, constraint: bool = False) -> Type:
    """Read an exact type, or a constraint whose optional attributes have no defaults."""
    return _Reader(diags, constraint, with_defaults=False).read(expression, 1).type


class _Reader:
    """Reads type expressions of one strictness."""

    __slots__ = ("constraint", "diags", "named", "with_defaults")

    def __init__(
        self,
        diags: Diagnostics,
        constraint: bool,
        with_defaults: bool,
        named: NamedType | None = None,
    ) -> None:
        self.diags = diags
        self.constraint = constraint
        self.with_defaults = with_defaults
        self.named = named

    def read(self, expression: Expression, depth: int) -> TypeConstraint:
        """Read the type of an expression at some depth of a larger one."""
        if depth > USUAL_DEPTH:
            try:
                allow_depth(depth)
            except CtyError:
                self._error("This type is nested too deeply.", expression.range)
                return ANY_TYPE
        name = expr_as_keyword(expression)
        # Keywords first: a bare name is a primitive type, or a constructor without its
        # argument.
        if name is not None:
            return self._named(name, expression)
        call = static_call(expression)
        if isinstance(expression, SyntaxFault):
            return ANY_TYPE
        if call is None:
            self._error(
                "A type is a name such as string, number, bool or any, or a type constructor "
                "such as list(string)." + _quotes_hint(expression),
                expression.range,
            )
            return ANY_TYPE
        if self.named is not None and "::" in call.name:
            return self._of_namespace(call, self.named)
        if not self._has_arguments(call):
            return ANY_TYPE
        if call.name in _COLLECTIONS:
            return self._collection(call, depth)
        if call.name == "object":
            return self._object(call, depth)
        return self._tuple(call, depth)

    def _named(self, name: str, expression: Expression) -> TypeConstraint:
        primitive = _PRIMITIVES.get(name)
        if primitive is not None:
            return TypeConstraint(primitive)
        if name == "any":
            if not self.constraint:
                self._error(
                    '"any" is not a type by itself. An exact type is required here.',
                    expression.range,
                )
        elif name in _WANTS:
            self._error(f"The type {name} needs {_WANTS[name]}.", expression.range)
        else:
            hint = did_you_mean(name, TYPE_NAMES)
            self._error(f"There is no type named {quoted(name)}.{hint}", expression.range)
        return ANY_TYPE

    def _of_namespace(self, call: FunctionCall, named: NamedType) -> TypeConstraint:
        if call.arguments:
            arguments = call.source.range(call.open_start, call.end)
            self._error(f"The type {call.name} takes no arguments.", arguments)
        return named(call, self.diags)

    def _has_arguments(self, call: FunctionCall) -> bool:
        """Check that the call is of a type constructor with its single argument."""
        arguments = call.source.range(call.open_start, call.end)
        if call.name in _PRIMITIVES or call.name == "any":
            self._error(f"The type {call.name} takes no arguments.", arguments)
        elif call.name == "optional":
            self._error(
                "Only an attribute of an object type can be optional.",
                call.source.range(call.start, call.name_end),
            )
        elif call.name not in _WANTS:
            hint = did_you_mean(call.name, TYPE_NAMES)
            self._error(f"There is no type named {quoted(call.name)}.{hint}", call.range)
        elif len(call.arguments) != 1:
            extra = call.arguments[1:]
            where = call.source.range(extra[0].start, extra[-1].end) if extra else arguments
            self._error(f"The type {call.name} needs {_WANTS[call.name]}.", where, arguments)
        else:
            return True
        return False

    def _collection(self, call: FunctionCall, depth: int) -> TypeConstraint:
        element = self.read(call.arguments[0], depth + 1)
        kind = _COLLECTIONS[call.name]
        type_: Type
        if kind == KIND_LIST:
            type_ = ListType(element.type)
        elif kind == KIND_SET:
            type_ = SetType(element.type)
        else:
            type_ = MapType(element.type)
        if element.defaults is None:
            return TypeConstraint(type_)
        return TypeConstraint(type_, Defaults(type_, {}, {None: element.defaults}))

    def _tuple(self, call: FunctionCall, depth: int) -> TypeConstraint:
        elements = call.arguments[0].static_list()
        if elements is None:
            self._error(f"The type tuple needs {_WANTS['tuple']}.", call.arguments[0].range)
            return ANY_TYPE
        types: list[Type] = []
        parts: dict[Part, Defaults] = {}
        for position, expression in enumerate(elements):
            element = self.read(expression, depth + 1)
            types.append(element.type)
            if element.defaults is not None:
                parts[position] = element.defaults
        type_ = TupleType(tuple(types))
        return TypeConstraint(type_, Defaults(type_, {}, parts) if parts else None)

    def _object(self, call: FunctionCall, depth: int) -> TypeConstraint:
        pairs = call.arguments[0].static_map()
        if pairs is None:
            self._error(f"The type object needs {_WANTS['object']}.", call.arguments[0].range)
            return ANY_TYPE
        types: dict[str, Type] = {}
        optional: set[str] = set()
        values: dict[str, Value] = {}
        parts: dict[Part, Defaults] = {}
        for key, expression in pairs:
            name = self._attribute_name(key, types, call)
            if name is None:
                continue
            type_expression, default = self._modifier(name, expression, optional)
            if type_expression is None:
                continue
            attribute = self.read(type_expression, depth + 1)
            types[name] = attribute.type
            if attribute.defaults is not None:
                parts[name] = attribute.defaults
            if default is not None:
                self._default(name, default, attribute.type, optional, values)
        type_ = ObjectType(types, frozenset(optional))
        return TypeConstraint(type_, Defaults(type_, values, parts) if values or parts else None)

    def _attribute_name(
        self, key: Expression, types: dict[str, Type], call: FunctionCall
    ) -> str | None:
        name = expr_as_keyword(key)
        if name is None:
            self._error(
                "The name of an attribute is written without quotes.", key.range, call.range
            )
        elif name in types:
            self._error(
                f"The object type already has an attribute {quoted(name)}.", key.range, call.range
            )
            return None
        return name

    def _modifier(
        self, name: str, expression: Expression, optional: set[str]
    ) -> tuple[Expression | None, Expression | None]:
        """Split an attribute's `optional(...)` into the expressions of its type and default."""
        call = static_call(expression)
        if call is None or call.name != "optional":
            return expression, None
        where = call.source.range(call.open_start, call.end)
        count = len(call.arguments)
        if count == 0:
            self._error(
                "optional needs the type of the attribute: optional(string).", where, call.range
            )
            return None, None
        if not self.constraint:
            self._error(
                "An exact type has no optional attributes.",
                call.source.range(call.start, call.name_end),
                call.range,
            )
        elif count == 1:
            optional.add(name)
        elif not self.with_defaults:
            self._error("Here, optional takes only the type of the attribute.", where, call.range)
        elif count == 2:
            return call.arguments[0], call.arguments[1]
        else:
            self._error(
                "optional takes the type of the attribute and its default value, and nothing more.",
                where,
                call.range,
            )
        return call.arguments[0], None

    def _default(
        self,
        name: str,
        expression: Expression,
        type_: Type,
        optional: set[str],
        values: dict[str, Value],
    ) -> None:
        errors = self.diags.error_count
        value = expression.value(Scope(), self.diags)
        if self.diags.error_count > errors:
            return
        optional.add(name)
        try:
            values[name] = convert(value, type_)
        except CtyError as error:
            self.diags.error(
                "Invalid default value",
                f"The default value of the attribute {quoted(name)} does not match its type: "
                f"{error}.",
                expression.range,
            )

    def _error(self, detail: str, subject: Range, context: Range | None = None) -> None:
        self.diags.error("Invalid type expression", detail, subject, context)


def _quotes_hint(expression: Expression) -> str:
    text = expression.source.text[expression.start : expression.end]
    return " Types are written without quotes." if text.startswith('"') else ""


def type_text(type_: Type) -> str:
    """Write a type as a type expression on one line."""
    if type_.depth > USUAL_DEPTH:
        allow_depth(type_.depth)
    return _text(type_)


def _text(type_: Type) -> str:
    if isinstance(type_, CollectionType):
        name = {KIND_LIST: "list", KIND_SET: "set", KIND_MAP: "map"}[type_.kind]
        return f"{name}({_text(type_.element)})"
    if isinstance(type_, TupleType):
        return f"tuple([{','.join([_text(element) for element in type_.elements])}])"
    if isinstance(type_, ObjectType):
        return "object({" + ",".join([_attribute_text(type_, n) for n in _names(type_)]) + "})"
    return "any" if type_ is DYNAMIC else type_.friendly_name()


def _names(type_: ObjectType) -> list[str]:
    return sorted(type_.attributes)


def _attribute_text(type_: ObjectType, name: str) -> str:
    text = _text(type_.attributes[name])
    if name in type_.optional:
        text = f"optional({text})"
    return f"{name if _is_name(name) else quoted(name)}={text}"


def _is_name(text: str) -> bool:
    return text.replace("-", "_").isidentifier() and not text.startswith("-")
