"""Types of the language.

Types are immutable and compare by structure. Each records whether it contains `DYNAMIC` and how
deeply it nests. Every value carries its type, so the limit on type nesting also bounds the depth of
values, and recursive code over values needs no guard of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

from nigari.cty.errors import CtyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


KIND_DYNAMIC: Final = 0
KIND_STRING: Final = 1
KIND_NUMBER: Final = 2
KIND_BOOL: Final = 3
KIND_LIST: Final = 4
KIND_SET: Final = 5
KIND_MAP: Final = 6
KIND_TUPLE: Final = 7
KIND_OBJECT: Final = 8
KIND_CAPSULE: Final = 9

MAX_DEPTH: Final = 2100
"""Maximum nesting of types, and thereby of values: HCL's 2,000 levels and a small margin."""

USUAL_DEPTH: Final = 60
_FRAMES_PER_LEVEL: Final = 12


class Type:
    """Base of all types. `kind` is one of the `KIND_` numbers, for quick dispatch."""

    __slots__ = ("_hash", "depth", "has_dynamic", "has_optional", "kind")

    kind: int
    has_dynamic: bool
    has_optional: bool
    depth: int
    _hash: int

    def __init__(
        self, kind: int, has_dynamic: bool, has_optional: bool, depth: int, hash_: int
    ) -> None:
        if depth > USUAL_DEPTH:
            allow_depth(depth)
        self.kind = kind
        self.has_dynamic = has_dynamic
        self.has_optional = has_optional
        self.depth = depth
        self._hash = hash_

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        """Write the whole type as a type constraint."""
        return "any" if self.kind == KIND_DYNAMIC else self.friendly_name()

    @property
    def is_primitive(self) -> bool:
        """True for string, number and bool."""
        return KIND_STRING <= self.kind <= KIND_BOOL

    @property
    def is_collection(self) -> bool:
        """True for list, set and map."""
        return KIND_LIST <= self.kind <= KIND_MAP

    @property
    def is_structural(self) -> bool:
        """True for object and tuple."""
        return self.kind == KIND_TUPLE or self.kind == KIND_OBJECT

    def friendly_name(self) -> str:
        """Return the name that messages use, such as "list of string"."""
        return _PRIMITIVE_NAMES[self.kind]

    def with_article(self) -> str:
        """Return the friendly name with its article: "a list of string", "an object"."""
        name = self.friendly_name()
        return f"an {name}" if name[:1] in "aeiou" else f"a {name}"


def allow_depth(depth: int) -> None:
    """Reject nesting beyond the limit, and raise Python's recursion limit for deep values.

    Python's default of 1,000 frames is too low for 2,000 levels at a few frames each. It is raised
    only once a value requires it, and never lowered.
    """
    if depth > MAX_DEPTH:
        raise CtyError(f"values can be nested at most {MAX_DEPTH} levels deep")
    wanted = 1000 + MAX_DEPTH * _FRAMES_PER_LEVEL
    if sys.getrecursionlimit() < wanted:
        sys.setrecursionlimit(wanted)


def check_type(given: object) -> None:
    """Raise `TypeError` for anything that is not a type of the language, such as a Python type."""
    if not isinstance(given, Type):
        raise TypeError(f"a type such as cty.STRING is required, not {given!r}") from None


def check_types(given: Iterable[object]) -> None:
    """Check several types; see `check_type`."""
    for each in given:
        check_type(each)


class PrimitiveType(Type):
    """String, number, bool, and the placeholder for an undetermined type."""

    __slots__ = ()

    def __init__(self, kind: int) -> None:
        super().__init__(kind, kind == KIND_DYNAMIC, False, 1, hash(("cty", kind)))

    def __reduce__(self) -> tuple[object, ...]:
        return (primitive, (self.kind,))


class CollectionType(Type):
    """A list, set or map: any number of elements, all of one type."""

    __slots__ = ("element",)
    __match_args__: Final = ("element",)

    element: Type

    def __init__(self, kind: int, element: Type) -> None:
        try:
            super().__init__(
                kind,
                element.has_dynamic,
                element.has_optional,
                element.depth + 1,
                hash((kind, element)),
            )
        except AttributeError:
            check_type(element)
            raise
        self.element = element

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, CollectionType)
            and self.kind == other.kind
            and self._hash == other._hash
            and self.element == other.element
        )

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.element,))

    def __repr__(self) -> str:
        return f"{_COLLECTION_NAMES[self.kind]}({self.element!r})"

    def friendly_name(self) -> str:
        noun = _COLLECTION_NAMES[self.kind]
        if self.element.kind == KIND_DYNAMIC:
            return f"{noun} of anything"
        return f"{noun} of {self.element.friendly_name()}"


class ListType(CollectionType):
    __slots__ = ()

    def __init__(self, element: Type) -> None:
        super().__init__(KIND_LIST, element)


class SetType(CollectionType):
    __slots__ = ()

    def __init__(self, element: Type) -> None:
        super().__init__(KIND_SET, element)


class MapType(CollectionType):
    __slots__ = ()

    def __init__(self, element: Type) -> None:
        super().__init__(KIND_MAP, element)


class TupleType(Type):
    """A sequence with a separate type for each element."""

    __slots__ = ("elements",)
    __match_args__: Final = ("elements",)

    elements: tuple[Type, ...]

    def __init__(self, elements: Iterable[Type]) -> None:
        elements = tuple(elements)
        has_dynamic = has_optional = False
        depth = 0
        try:
            for element in elements:
                has_dynamic = has_dynamic or element.has_dynamic
                has_optional = has_optional or element.has_optional
                depth = max(depth, element.depth)
        except AttributeError:
            check_types(elements)
            raise
        hash_ = hash((KIND_TUPLE, elements))
        super().__init__(KIND_TUPLE, has_dynamic, has_optional, depth + 1, hash_)
        self.elements = elements

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, TupleType)
            and self._hash == other._hash
            and self.elements == other.elements
        )

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return (TupleType, (self.elements,))

    def __repr__(self) -> str:
        return f"tuple([{', '.join([repr(each) for each in self.elements])}])"

    def friendly_name(self) -> str:
        return "tuple"


class ObjectType(Type):
    """Named attributes with a separate type each; some may be optional.

    As in go-cty, optional attributes only matter when a value is converted to the type. No value
    has a type with optional attributes: `without_optional` returns the type of the result.
    """

    __slots__ = ("attributes", "optional")
    __match_args__: Final = ("attributes", "optional")

    attributes: dict[str, Type]
    optional: frozenset[str]

    def __init__(
        self, attributes: Mapping[str, Type], optional: frozenset[str] = frozenset()
    ) -> None:
        has_dynamic = False
        has_optional = bool(optional)
        depth = 0
        attributes = dict(attributes)
        try:
            for attribute in attributes.values():
                has_dynamic = has_dynamic or attribute.has_dynamic
                has_optional = has_optional or attribute.has_optional
                depth = max(depth, attribute.depth)
        except AttributeError:
            check_types(attributes.values())
            raise
        super().__init__(
            KIND_OBJECT,
            has_dynamic,
            has_optional,
            depth + 1,
            hash((KIND_OBJECT, frozenset(attributes.items()), optional)),
        )
        if optional and not optional.issubset(attributes):
            unknown = min(name for name in optional if name not in attributes)
            raise ValueError(f"optional attribute {unknown!r} is not an attribute of the type")
        self.attributes = attributes
        self.optional = optional

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, ObjectType)
            and self._hash == other._hash
            and self.attributes == other.attributes
            and self.optional == other.optional
        )

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return (ObjectType, (self.attributes, self.optional))

    def __repr__(self) -> str:
        parts = [
            f"{name} = optional({each!r})" if name in self.optional else f"{name} = {each!r}"
            for name, each in sorted(self.attributes.items())
        ]
        return f"object({{{', '.join(parts)}}})"

    def friendly_name(self) -> str:
        return "object"


class CapsuleType(Type):
    """An opaque Python object. Capsule types are compared by identity, or by name and Python type
    after unpickling.
    """

    __slots__ = ("name", "python_type")
    __match_args__: Final = ("name", "python_type")

    name: str
    python_type: type

    def __init__(self, name: str, python_type: type) -> None:
        super().__init__(KIND_CAPSULE, False, False, 1, hash((KIND_CAPSULE, name, python_type)))
        self.name = name
        self.python_type = python_type

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, CapsuleType)
            and self.name == other.name
            and self.python_type is other.python_type
        )

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return (CapsuleType, (self.name, self.python_type))

    def friendly_name(self) -> str:
        return self.name


DYNAMIC: Final = PrimitiveType(KIND_DYNAMIC)
STRING: Final = PrimitiveType(KIND_STRING)
NUMBER: Final = PrimitiveType(KIND_NUMBER)
BOOL: Final = PrimitiveType(KIND_BOOL)

_PRIMITIVES: Final = (DYNAMIC, STRING, NUMBER, BOOL)
_PRIMITIVE_NAMES: Final = ("dynamic", "string", "number", "bool")
_COLLECTION_NAMES: Final = {KIND_LIST: "list", KIND_SET: "set", KIND_MAP: "map"}


def primitive(kind: int) -> Type:
    """Return the one primitive type of that kind."""
    return _PRIMITIVES[kind]


def without_optional(type_: Type) -> Type:
    """Make every attribute required, at all depths."""
    if not type_.has_optional:
        return type_
    if isinstance(type_, ObjectType):
        return ObjectType({name: without_optional(t) for name, t in type_.attributes.items()})
    if isinstance(type_, TupleType):
        return TupleType(tuple([without_optional(t) for t in type_.elements]))
    assert isinstance(type_, CollectionType)
    return collection(type_.kind, without_optional(type_.element))


def collection(kind: int, element: Type) -> Type:
    """Build a list, set or map type; the kind is `KIND_LIST`, `KIND_SET` or `KIND_MAP`."""
    if kind == KIND_LIST:
        return ListType(element)
    if kind == KIND_SET:
        return SetType(element)
    return MapType(element)


# Building a type costs much more than finding it, and most values have one of a few types. A key
# consists of identities, which stay valid because the cached type references its parts.
_MOST_REMEMBERED: Final = 4096
_MOST_PARTS: Final = 64
_object_types: Final[dict[tuple[object, ...], ObjectType]] = {}
_tuple_types: Final[dict[tuple[int, ...], TupleType]] = {}


def object_type_of(attributes: dict[str, Type]) -> ObjectType:
    """Return the type of an object with these attributes, cached if possible."""
    if len(attributes) > _MOST_PARTS:
        return ObjectType(attributes)
    key = (*attributes, *map(id, attributes.values()))
    found = _object_types.get(key)
    if found is None:
        found = ObjectType(attributes)
        if len(_object_types) >= _MOST_REMEMBERED:
            _object_types.clear()
        _object_types[key] = found
    return found


def tuple_type_of(elements: list[Type]) -> TupleType:
    """Return the type of a tuple with these elements, cached if possible."""
    if len(elements) > _MOST_PARTS:
        return TupleType(tuple(elements))
    key = tuple(map(id, elements))
    found = _tuple_types.get(key)
    if found is None:
        found = TupleType(tuple(elements))
        if len(_tuple_types) >= _MOST_REMEMBERED:
            _tuple_types.clear()
        _tuple_types[key] = found
    return found
