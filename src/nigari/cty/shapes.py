"""Shapes: converters between values and one kind of Python object.

A shape converts a value to its type before reading it, and reports a part that does not fit with
its path. `annotations` maps each annotation to its shape.
"""

import collections.abc
from pathlib import PurePath

from nigari.cty import numbers
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.models import ModelField, failure_text, make_model, model_values
from nigari.cty.paths import GetAttr, child_steps, index_step
from nigari.cty.types import (
    DYNAMIC,
    KIND_BOOL,
    KIND_DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    KIND_NUMBER,
    KIND_OBJECT,
    KIND_SET,
    KIND_TUPLE,
    NUMBER,
    STRING,
    ListType,
    MapType,
    ObjectType,
    SetType,
    TupleType,
    Type,
    without_optional,
)
from nigari.cty.values import (
    Value,
    list_value,
    map_value,
    null,
    object_value,
    plain_value,
    set_value,
    tuple_value,
)


class Shape:
    """The converter for one annotation. Values are converted to `type` before they are read."""

    __slots__ = ("takes_none", "type")

    type: Type
    takes_none: bool

    def __init__(self, type_: Type, takes_none: bool = False) -> None:
        self.type = type_
        self.takes_none = takes_none

    def read(self, value: Value) -> object:
        """Convert a value to a Python object; raise a `CtyError` with the path of a part that does
        not fit.
        """
        value = convert(value, self.type)
        if value.marks:
            raise CtyError("it is sensitive, and plain data cannot carry that mark")
        if not value.is_known:
            raise CtyError("it is unknown")
        if value.is_null:
            if self.takes_none:
                return None
            raise CtyError("it must not be null")
        return self.decode(value)

    def write(self, obj: object) -> Value:
        """Convert a Python object of this shape to a value; raise `CtyError` for any other object."""
        if obj is None and self.takes_none:
            return null(without_optional(self.type))
        return self.encode(obj)

    def decode(self, value: Value) -> object:
        """Convert a known, non-null value of the shape's type."""
        return value.to_python()

    def encode(self, obj: object) -> Value:
        """Convert an object other than None."""
        return convert(plain_value(obj), self.type)

    def accepts(self, obj: object) -> bool:
        """Check that an object has this shape without conversion."""
        if obj is None:
            return self.takes_none
        try:
            return fits(plain_value(obj), self.type)
        except TypeError:
            return False


class AsIs(Shape):
    """`Value`: nothing is converted; marks and unknowns stay."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(DYNAMIC, True)

    def read(self, value: Value) -> object:
        return value


class WholeNumber(Shape):
    """`int`."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(NUMBER)

    def decode(self, value: Value) -> object:
        found = numbers.whole(value.as_number())
        if found is None:
            raise CtyError("a whole number is required")
        return found


class AnyNumber(Shape):
    """`float` or `Decimal`."""

    __slots__ = ("_is_decimal",)

    def __init__(self, is_decimal: bool) -> None:
        super().__init__(NUMBER)
        self._is_decimal = is_decimal

    def decode(self, value: Value) -> object:
        if self._is_decimal:
            return value.as_decimal()
        return numbers.to_float(value.as_number())


class FilePath(Shape):
    """A class of `pathlib`."""

    __slots__ = ("_python_type",)

    def __init__(self, python_type: type[PurePath]) -> None:
        super().__init__(STRING)
        self._python_type = python_type

    def decode(self, value: Value) -> object:
        return self._python_type(value.as_string())


class Moment(Shape):
    """A class of `datetime`, represented by ISO 8601 text."""

    __slots__ = ("_python_type",)

    def __init__(self, python_type: type[object]) -> None:
        super().__init__(STRING)
        self._python_type = python_type

    def decode(self, value: Value) -> object:
        read = getattr(self._python_type, "fromisoformat")  # noqa: B009 - not in the type
        try:
            found: object = read(value.as_string())
        except ValueError:
            name = self._python_type.__name__
            raise CtyError(f"a {name} is required, such as {_MOMENTS[name]}") from None
        return found


_MOMENTS = {"datetime": '"2026-05-17T08:30:00Z"', "date": '"2026-05-17"', "time": '"08:30:00"'}


class OneOf(Shape):
    """A `Literal` or an enumeration: a few objects, each represented by a primitive value."""

    __slots__ = ("_choices",)

    def __init__(self, choices: list[tuple[Value, object]]) -> None:
        takes_none = any(value.is_null for value, _ in choices)
        self._choices = [(value, obj) for value, obj in choices if not value.is_null]
        types_found = {value.type for value, _ in self._choices}
        super().__init__(types_found.pop() if len(types_found) == 1 else DYNAMIC, takes_none)

    def decode(self, value: Value) -> object:
        for choice, obj in self._choices:
            if choice == value:
                return obj
        names = [repr_of(choice) for choice, _ in self._choices]
        allowed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
        raise CtyError(f"it must be {allowed}, not {repr_of(value)}")

    def encode(self, obj: object) -> Value:
        for choice, known in self._choices:
            if known == obj:
                return choice
        raise CtyError(f"{obj!r} is none of the allowed values")

    def accepts(self, obj: object) -> bool:
        return any(known == obj for _, known in self._choices)


class Elements(Shape):
    """A list, a tuple of any length, or a set."""

    __slots__ = ("_element", "_make", "_set")

    def __init__(
        self, element: Shape, make: "type[list[object]] | type[object]", is_set: bool
    ) -> None:
        # A typed list would convert its elements to one common type, so a list of anything stays
        # dynamic.
        of: Type = DYNAMIC
        if not element.type.has_dynamic:
            of = SetType(element.type) if is_set else ListType(element.type)
        super().__init__(of)
        self._element = element
        self._make = make
        self._set = is_set

    def decode(self, value: Value) -> object:
        if value.type.kind not in (KIND_LIST, KIND_SET, KIND_TUPLE):
            raise CtyError(f"a list is required, and this is {value.type.with_article()}")
        found: list[object] = []
        for step, part in child_steps(value):
            try:
                found.append(self._element.read(part))
            except CtyError as error:
                raise error.under(step) from None
        if self._make is tuple:
            return tuple(found)
        if self._make is set:
            return set(found)
        return frozenset(found) if self._make is frozenset else found

    def encode(self, obj: object) -> Value:
        if not isinstance(obj, collections.abc.Iterable) or isinstance(obj, str):
            raise CtyError(f"a list is required, not {type(obj).__name__}")
        parts = [self._element.write(part) for part in obj]
        element = without_optional(self._element.type)
        if self._set:
            if element.has_dynamic and parts:
                element = parts[0].type
            return set_value(element, parts)
        return tuple_value(parts) if element.has_dynamic else list_value(element, parts)

    def accepts(self, obj: object) -> bool:
        return (
            isinstance(obj, collections.abc.Iterable)
            and not isinstance(obj, str | collections.abc.Mapping)
            and all(self._element.accepts(part) for part in obj)
        )


class FixedTuple(Shape):
    """A tuple with a type for each element."""

    __slots__ = ("_parts",)

    def __init__(self, parts: list[Shape]) -> None:
        super().__init__(TupleType(tuple([each.type for each in parts])))
        self._parts = parts

    def decode(self, value: Value) -> object:
        found: list[object] = []
        for position, (part, shape) in enumerate(zip(value.elements(), self._parts, strict=True)):
            try:
                found.append(shape.read(part))
            except CtyError as error:
                raise error.under(index_step(position)) from None
        return tuple(found)

    def encode(self, obj: object) -> Value:
        if not isinstance(obj, tuple | list) or len(obj) != len(self._parts):
            raise CtyError(f"a tuple of {len(self._parts)} elements is required")
        return tuple_value([each.write(part) for each, part in zip(self._parts, obj, strict=True)])


class ByKey(Shape):
    """A dict with string keys."""

    __slots__ = ("_element",)

    def __init__(self, element: Shape) -> None:
        super().__init__(DYNAMIC if element.type.has_dynamic else MapType(element.type))
        self._element = element

    def decode(self, value: Value) -> object:
        if value.type.kind not in (KIND_MAP, KIND_OBJECT):
            raise CtyError(f"a map is required, and this is {value.type.with_article()}")
        found: dict[str, object] = {}
        for key, part in value.mapping().items():
            try:
                found[key] = self._element.read(part)
            except CtyError as error:
                raise error.under(index_step(key)) from None
        return found

    def encode(self, obj: object) -> Value:
        if not isinstance(obj, collections.abc.Mapping):
            raise CtyError(f"a dict is required, not {type(obj).__name__}")
        parts = {str(key): self._element.write(part) for key, part in obj.items()}
        element = without_optional(self._element.type)
        return object_value(parts) if element.has_dynamic else map_value(element, parts)

    def accepts(self, obj: object) -> bool:
        return isinstance(obj, collections.abc.Mapping) and all(
            self._element.accepts(part) for part in obj.values()
        )


class RecordField:
    """A model field as an attribute of an object."""

    __slots__ = ("field", "shape", "written")

    field: ModelField
    written: str
    shape: Shape

    def __init__(self, field: ModelField, written: str, shape: Shape) -> None:
        self.field = field
        self.written = written
        self.shape = shape


class Record(Shape):
    """A model: an object with an attribute for each field."""

    __slots__ = ("_cls", "_fields")

    def __init__(self, cls: type[object], fields: list[RecordField]) -> None:
        optional = [f.written for f in fields if f.field.has_default or f.shape.takes_none]
        super().__init__(ObjectType({f.written: f.shape.type for f in fields}, frozenset(optional)))
        self._cls = cls
        self._fields = fields

    def read(self, value: Value) -> object:
        if value.type.kind in (KIND_OBJECT, KIND_MAP) and isinstance(value.data, dict):
            known = [each.written for each in self._fields]
            for key in value.data:
                if key not in known:
                    raise CtyError(
                        f"there is no such attribute here, only {', '.join(known) or 'none'}",
                        (GetAttr(key),),
                    )
        return super().read(value)

    def decode(self, value: Value) -> object:
        given: dict[str, object] = {}
        for each in self._fields:
            part = value.attribute(each.written)
            if part.is_null and each.field.has_default:
                continue
            try:
                given[each.field.keyword] = each.shape.read(part)
            except CtyError as error:
                raise error.under(GetAttr(each.written)) from None
        try:
            return make_model(self._cls, given)
        except CtyError:
            raise
        except Exception as refusal:  # other people's constructors may raise anything
            raise CtyError(failure_text(refusal)) from refusal

    def encode(self, obj: object) -> Value:
        if not isinstance(obj, self._cls):
            raise CtyError(f"a {self._cls.__name__} is required, not {type(obj).__name__}")
        parts = obj if isinstance(obj, dict) else model_values(obj)
        return object_value(
            {
                each.written: each.shape.write(parts[each.field.name])
                for each in self._fields
                if each.field.name in parts
            }
        )

    def accepts(self, obj: object) -> bool:
        return isinstance(obj, self._cls)


class Either(Shape):
    """A union: the first member that a value already is, otherwise the first that it converts to."""

    __slots__ = ("_members",)

    def __init__(self, members: list[Shape], takes_none: bool) -> None:
        super().__init__(DYNAMIC, takes_none or any(each.takes_none for each in members))
        self._members = members

    def decode(self, value: Value) -> object:
        first: CtyError | None = None
        for must_fit in (True, False):
            for member in self._members:
                if must_fit and not fits(value, member.type):
                    continue
                try:
                    return member.read(value)
                except CtyError as error:
                    # The member of the right kind has the most helpful error.
                    first = first or error
        raise first or CtyError("there is nothing that it could be")

    def encode(self, obj: object) -> Value:
        for member in self._members:
            if member.accepts(obj):
                return member.write(obj)
        raise CtyError(f"a {type(obj).__name__} is none of the types that are allowed")


def fits(value: Value, type_: Type) -> bool:
    """Check that a value is of the kind that a type requires, without converting primitive values."""
    kind = type_.kind
    if kind == KIND_DYNAMIC:
        return True
    if value.is_null or type_.is_primitive:
        return value.is_null or value.type == type_
    if isinstance(type_, ListType | SetType):
        return value.type.kind in (KIND_LIST, KIND_SET, KIND_TUPLE) and all(
            fits(part, type_.element) for part in value.elements()
        )
    if isinstance(type_, TupleType):
        return (
            value.type.kind in (KIND_LIST, KIND_TUPLE)
            and value.length_int() == len(type_.elements)
            and all(map(fits, value.elements(), type_.elements))
        )
    if value.type.kind not in (KIND_MAP, KIND_OBJECT):
        return False
    parts = value.mapping()
    if isinstance(type_, MapType):
        return all(fits(part, type_.element) for part in parts.values())
    assert isinstance(type_, ObjectType)
    return parts.keys() <= type_.attributes.keys() and all(
        fits(parts[name], each) if name in parts else name in type_.optional
        for name, each in type_.attributes.items()
    )


def repr_of(value: Value) -> str:
    """Write a primitive value as a literal of the language."""
    if value.type == STRING:
        return f'"{value.as_string()}"'
    if value.type.kind == KIND_BOOL:
        return "true" if value.as_bool() else "false"
    if value.type.kind == KIND_NUMBER:
        return numbers.to_text(value.as_number())
    return value.type.with_article()
