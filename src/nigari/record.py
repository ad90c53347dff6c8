"""Frozen data classes that cost little to define.

`@record` reads a class as `@dataclass(frozen=True, slots=True)` does: its annotations are the
fields, in order, with their defaults. What it makes is a class with slots, a constructor, equality,
hash and printed form by fields. The standard decorator compiles six functions for each class and
brings half of the standard library's introspection along, which is most of the time a short
command would take to start; here one function is compiled, once there are more than a few objects:
of many classes there never are.

That a record does not change is checked by the type checker, not while the program runs. Fields
are not inherited, and there are no default factories: a default is shared by all objects, so it
must be something that does not change. A class that keeps cached properties names `__dict__` as a
slot of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter

from nigari.typed import dataclass_transform

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeVar

    _T = TypeVar("_T")
    _K = TypeVar("_K")
    _V_co = TypeVar("_V_co", covariant=True)

_FEW: Final = 20
"""To compile a constructor takes as long as it takes to make so many objects without."""


@dataclass_transform(frozen_default=True)
def record(cls: type[_T]) -> type[_T]:
    """Make the class again, with slots for its fields and the methods that follow from them."""
    names = tuple(cls.__annotations__)
    members = {
        name: member
        for name, member in vars(cls).items()
        if name not in ("__dict__", "__weakref__")
    }
    defaults = {name: members.pop(name) for name in names if name in members}
    wanted = frozenset(names)

    few = _FEW

    def initialize(self: object, *given: object, **named: object) -> None:
        nonlocal few
        few -= 1
        by_position = dict(zip(names, given, strict=False))
        fields = {**defaults, **by_position, **named}
        is_sound = len(given) + len(named) == len(by_position.keys() | named.keys())
        if few and is_sound and fields.keys() == wanted:
            for name, value in fields.items():
                setattr(self, name, value)
            return
        constructor = _constructor(names, defaults)
        made.__init__ = constructor  # type: ignore[method-assign]
        constructor(self, *given, **named)

    generated = {"__init__": initialize, **_methods(names, cls.__qualname__)}
    members["__slots__"] = (*names, *members.get("__slots__", ()))
    members["__match_args__"] = names
    make: Callable[..., type[_T]] = type(cls)
    made = make(cls.__name__, cls.__bases__, {**generated, **members})
    return made


def _methods(names: tuple[str, ...], qualified_name: str) -> dict[str, object]:
    """Add the methods that follow from the fields: equality, hash and representation."""
    key = attrgetter(*names)

    def equals(self: object, other: object) -> object:
        return key(self) == key(other) if type(other) is type(self) else NotImplemented

    def hashed(self: object) -> int:
        return hash(key(self))

    def printed(self: object) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{qualified_name}({fields})"

    return {"__eq__": equals, "__hash__": hashed, "__repr__": printed}


def replace(given: _T, **changes: object) -> _T:
    """A record like the one given, with other values in some fields."""
    names: tuple[str, ...] = type(given).__match_args__  # type: ignore[attr-defined]
    return type(given)(**{name: getattr(given, name) for name in names} | changes)


def _constructor(names: tuple[str, ...], defaults: Mapping[str, object]) -> Callable[..., None]:
    parameters = ", ".join(f"{n}=_defaults[{n!r}]" if n in defaults else n for n in names)
    stores = "; ".join(f"self.{name} = {name}" for name in names)
    space: dict[str, Callable[..., None]] = {}
    exec(f"def __init__(self, {parameters}): {stores}", {"_defaults": defaults}, space)
    return space["__init__"]


class ReadOnly(Mapping["_K", "_V_co"]):
    """A mapping that does not change. Unlike a view of a dict it can be copied and pickled."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[_K, _V_co]) -> None:
        self._items = dict(items)

    def __getitem__(self, key: _K) -> _V_co:
        return self._items[key]

    def __iter__(self) -> Iterator[_K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return repr(self._items)
