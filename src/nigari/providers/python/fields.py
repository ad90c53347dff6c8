"""Attributes from the annotated fields of a dataclass, and values to and from its instances.

A field without a default is required, one with a default (or `| None`) is optional, `Computed[…]`
is a result. Markers in `Annotated[…]` say more. `str`, `bool`, `int`, `float`, `list`, `set`,
`dict` with string keys, nested dataclasses and `object` (anything) are understood.
"""

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar, get_args, get_origin

from nigari import cty
from nigari.schema.block import Attribute, Block, NestedAttributes, Nesting
from nigari.schema.provider import IdentitySchema

_T = TypeVar("_T")


class Marker:
    """Something that `Annotated` says about a field; compared by identity."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


COMPUTED: Final = Marker("COMPUTED")
"""The provider decides the value; the configuration cannot."""
REPLACE: Final = Marker("REPLACE")
"""A change of this attribute replaces the object."""
SENSITIVE: Final = Marker("SENSITIVE")
"""The value is never shown."""
KEEP: Final = Marker("KEEP")
"""A result that stays what it is when the object is updated, such as an identifier."""

IDENTITY: Final = Marker("IDENTITY")
"""A part of what identifies an object, for as long as it exists."""
WRITE_ONLY: Final = Marker("WRITE_ONLY")
"""The value is given to the provider when the object is changed, and stored nowhere."""


@dataclass(frozen=True, slots=True)
class Text:
    """A description for readers of the schema."""

    text: str


Computed = Annotated[_T, COMPUTED]


@dataclass(frozen=True, slots=True)
class Field:
    """One attribute of a resource type."""

    name: str
    attribute: Attribute
    encode: Callable[[object], cty.Value]
    decode: Callable[[cty.Value], object]
    default: cty.Value | None = None
    """Takes the place of null in the configuration."""
    replaces: bool = False
    keeps: bool = False
    identifies: bool = False


@dataclass(frozen=True, slots=True)
class _Kind:
    """How an annotated type is described, written and read."""

    type: cty.Type | None
    nested: NestedAttributes | None
    encode: Callable[[object], cty.Value]
    decode: Callable[[cty.Value], object]


class Fields:
    """All attributes of a dataclass."""

    def __init__(self, owner: type) -> None:
        if not dataclasses.is_dataclass(owner):
            raise TypeError(f"{owner.__qualname__} must be a dataclass")
        self._owner = owner
        self.fields = _fields_of(owner)
        self.block = Block(
            {field.name: field.attribute for field in self.fields},
            description=_documentation(owner),
        )

    @property
    def identity(self) -> IdentitySchema | None:
        """What identifies an object; only what the configuration may leave out may be left out."""
        parts = [field for field in self.fields if field.identifies]
        if not parts:
            return None
        return IdentitySchema(
            0,
            {field.name: field.attribute.implied_type for field in parts},
            frozenset(field.name for field in parts if not field.attribute.optional),
            frozenset(field.name for field in parts if field.attribute.optional),
            {
                field.name: field.attribute.description
                for field in parts
                if field.attribute.description
            },
        )

    def identity_of(self, value: cty.Value) -> cty.Value | None:
        """What identifies an object, if it is known by now."""
        names = [field.name for field in self.fields if field.identifies]
        if not names or value.is_null:
            return None
        identity = cty.object_value({name: value.attribute(name) for name in names})
        return identity if identity.is_wholly_known else None

    def parts(self, identity: cty.Value) -> dict[str, object]:
        """The parts of an identity that are given, by name."""
        found = {field.name: field for field in self.fields if field.identifies}
        return {
            name: found[name].decode(part)
            for name, part in identity.mapping().items()
            if not part.is_null
        }

    def to_value(self, instance: object) -> cty.Value:
        """An instance as a value of the block, without what is write-only."""
        return cty.object_value(
            {
                field.name: cty.null(field.attribute.implied_type)
                if field.attribute.write_only
                else field.encode(getattr(instance, field.name))
                for field in self.fields
            }
        )

    def with_write_only(self, planned: cty.Value, config: cty.Value) -> cty.Value:
        """A planned object with the write-only values of its configuration."""
        names = [field.name for field in self.fields if field.attribute.write_only]
        if not names:
            return planned
        return cty.object_value(
            {**planned.mapping(), **{name: config.attribute(name) for name in names}}
        )

    def to_instance(self, value: cty.Value) -> object:
        """An instance with what `value` says; what is unknown or null has the field's default."""
        given: dict[str, object] = {}
        for field in self.fields:
            part = value.attribute(field.name)
            if part.is_null or not part.is_wholly_known:
                given[field.name] = _fallback(self._owner, field)
            else:
                given[field.name] = field.decode(part)
        return self._owner(**given)


def _fields_of(owner: type) -> tuple[Field, ...]:
    hints = typing.get_type_hints(owner, include_extras=True)
    return tuple(
        _field(owner, field, hints[field.name]) for field in dataclasses.fields(owner) if field.init
    )


def _field(owner: type, field: "dataclasses.Field[object]", hint: object) -> Field:
    markers = hint.__metadata__ if get_origin(hint) is Annotated else ()  # type: ignore[attr-defined]
    bare, is_optional = _peeled(hint)
    try:
        kind = _kind(bare)
    except TypeError as error:
        raise TypeError(f"{owner.__qualname__}.{field.name}: {error}") from None
    is_optional = is_optional or field.default is None
    if WRITE_ONLY in markers and field.default is not dataclasses.MISSING:
        is_optional = True
    computed, write_only = COMPUTED in markers, WRITE_ONLY in markers
    default = None if computed or write_only else _default(field, kind)
    attribute = Attribute(
        type=kind.type,
        nested=kind.nested,
        required=not computed and not is_optional and default is None,
        optional=not computed and (is_optional or default is not None),
        computed=computed or default is not None,
        sensitive=SENSITIVE in markers,
        write_only=write_only,
        description=" ".join(marker.text for marker in markers if isinstance(marker, Text)),
    )
    return Field(
        field.name,
        attribute,
        lambda given: cty.null(attribute.implied_type) if given is None else kind.encode(given),
        kind.decode,
        default,
        REPLACE in markers,
        KEEP in markers,
        IDENTITY in markers,
    )


def _default(field: "dataclasses.Field[object]", kind: _Kind) -> cty.Value | None:
    if field.default is not dataclasses.MISSING:
        return None if field.default is None else kind.encode(field.default)
    if field.default_factory is not dataclasses.MISSING:
        return kind.encode(field.default_factory())
    return None


def _fallback(owner: type, field: Field) -> object:
    """What stands in an instance for a value that is not there: the default, or nothing."""
    declared = owner.__dataclass_fields__[field.name]  # type: ignore[attr-defined]
    if declared.default is not dataclasses.MISSING:
        return declared.default
    if declared.default_factory is not dataclasses.MISSING:
        return declared.default_factory()
    return None


def _peeled(hint: object) -> tuple[object, bool]:
    """The type inside `Annotated` and `| None`, and whether None was allowed."""
    while get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if get_origin(hint) in (typing.Union, types.UnionType):
        rest = [arg for arg in get_args(hint) if arg is not type(None)]
        if len(rest) == 1 and len(rest) < len(get_args(hint)):
            return _peeled(rest[0])[0], True
    return hint, False


def _kind(hint: object) -> _Kind:
    if hint is str:
        return _Kind(cty.STRING, None, _encode_string, cty.Value.as_string)
    if hint is bool:
        return _Kind(cty.BOOL, None, _encode_bool, cty.Value.as_bool)
    if hint is int:
        return _Kind(cty.NUMBER, None, _encode_number, _decode_int)
    if hint is float:
        return _Kind(cty.NUMBER, None, _encode_number, _decode_float)
    if hint is object or hint is typing.Any:
        return _Kind(cty.DYNAMIC, None, cty.Value.of, cty.Value.to_python)
    origin, args = get_origin(hint), get_args(hint)
    if origin is list:
        return _collection(Nesting.LIST, args[0])
    if origin in (set, frozenset):
        return _collection(Nesting.SET, args[0])
    if origin is dict and args[0] is str:
        return _mapping(args[1])
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        inner = Fields(hint)
        nested = NestedAttributes(inner.block.attributes, Nesting.SINGLE)
        return _Kind(None, nested, inner.to_value, inner.to_instance)
    raise TypeError(f"{hint!r} is not a supported attribute type")


def _collection(nesting: Nesting, element: object) -> _Kind:
    inner = _kind(_peeled(element)[0])
    type_, nested = _around(nesting, inner)
    element_type = _implied(inner)

    def encode(given: object) -> cty.Value:
        parts = [inner.encode(part) for part in given]  # type: ignore[attr-defined]
        if nesting is Nesting.SET:
            return cty.set_value(element_type, parts)
        if element_type.has_dynamic:
            return cty.tuple_value(parts)
        return cty.list_value(element_type, parts)

    def decode(value: cty.Value) -> object:
        parts = [inner.decode(part) for part in value.elements()]
        return set(parts) if nesting is Nesting.SET else parts

    return _Kind(type_, nested, encode, decode)


def _mapping(element: object) -> _Kind:
    inner = _kind(_peeled(element)[0])
    type_, nested = _around(Nesting.MAP, inner)
    element_type = _implied(inner)

    def encode(given: object) -> cty.Value:
        assert isinstance(given, Mapping)
        parts = {key: inner.encode(part) for key, part in given.items()}
        if element_type.has_dynamic:
            return cty.object_value(parts)
        return cty.map_value(element_type, parts)

    def decode(value: cty.Value) -> object:
        return {key: inner.decode(part) for key, part in value.mapping().items()}

    return _Kind(type_, nested, encode, decode)


def _around(nesting: Nesting, inner: _Kind) -> tuple[cty.Type | None, NestedAttributes | None]:
    """Nested attributes stay such inside one collection; deeper, only types can say it."""
    if inner.nested is not None and inner.nested.nesting is Nesting.SINGLE:
        return None, NestedAttributes(inner.nested.attributes, nesting)
    element = _implied(inner)
    if element.has_dynamic:
        return cty.DYNAMIC, None
    if nesting is Nesting.LIST:
        return cty.ListType(element), None
    return (cty.SetType(element) if nesting is Nesting.SET else cty.MapType(element)), None


def _implied(kind: _Kind) -> cty.Type:
    if kind.nested is not None:
        return kind.nested.implied_type
    return kind.type if kind.type is not None else cty.DYNAMIC


def _encode_string(given: object) -> cty.Value:
    if not isinstance(given, str):
        raise TypeError(f"a str is required, not {given!r}")
    return cty.string(given)


def _encode_bool(given: object) -> cty.Value:
    if not isinstance(given, bool):
        raise TypeError(f"a bool is required, not {given!r}")
    return cty.boolean(given)


def _encode_number(given: object) -> cty.Value:
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise TypeError(f"a number is required, not {given!r}")
    return cty.number(given)


def _decode_int(value: cty.Value) -> int:
    number = value.to_python()
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if not isinstance(number, int):
        raise ValueError(f"a whole number is required, not {number}")
    return number


def _decode_float(value: cty.Value) -> float:
    number = value.to_python()
    assert isinstance(number, int | float)
    return float(number)


def _documentation(owner: type) -> str:
    """The class's own docstring; a dataclass without one is given its signature, which is noise."""
    text = owner.__doc__ or ""
    return "" if text.startswith(f"{owner.__name__}(") else " ".join(text.split())
