"""Conversion between Python annotations and types of the language, and between their values.

shape_of(list[int]).read(value)        a Python list of int, or a `CtyError` with a path
shape_of(list[int]).write([1, 2])      the value

Supported are `str`, `bool`, `int`, `float`, `Decimal`, `Path`, `None`, enumerations, `Literal`,
`datetime`, `date` and `time` as ISO 8601 texts, lists, tuples, sets and dicts with string keys,
their abstract counterparts (`Sequence`, `Mapping`), unions, models (see `models`), `TypedDict`,
`NewType`, `object` for any plain data, and `Value` for a value unchanged, with its marks and
unknowns. Deliberately unknown here: the source of a value.
"""

import collections.abc
import datetime
import enum
import types
import typing
from decimal import Decimal
from pathlib import PurePath
from typing import Annotated, Literal, Union, get_args, get_origin

from nigari.cty.models import ModelField, checks_itself, is_model, model_fields
from nigari.cty.shapes import (
    AnyNumber,
    AsIs,
    ByKey,
    Either,
    Elements,
    FilePath,
    FixedTuple,
    Moment,
    OneOf,
    Record,
    RecordField,
    Shape,
    WholeNumber,
)
from nigari.cty.types import BOOL, DYNAMIC, STRING
from nigari.cty.values import Value

_LISTS = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
_SETS = (set, frozenset, collections.abc.Set)
_MAPS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


class Named:
    """Annotation for a field whose name in data differs from its Python name."""

    __slots__ = ("name",)

    name: str

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Named({self.name!r})"


class Again(Shape):
    """A model that contains itself. Its shape is resolved when a value is read, as it is incomplete
    before that.
    """

    __slots__ = ("_cls",)

    def __init__(self, cls: type[object]) -> None:
        super().__init__(DYNAMIC)
        self._cls = cls

    def read(self, value: Value) -> object:
        return shape_of(self._cls).read(value)

    def encode(self, obj: object) -> Value:
        return shape_of(self._cls).encode(obj)

    def accepts(self, obj: object) -> bool:
        return isinstance(obj, self._cls)


def unwrapped(hint: object) -> tuple[object, list[object], bool]:
    """Split `Annotated` and `| None` into the bare type, its annotations, and whether None is
    allowed.

    A union of several types other than None stays a union.
    """
    notes: list[object] = []
    takes_none = False
    while True:
        if get_origin(hint) is Annotated:
            hint, *more = get_args(hint)
            notes.extend(more)
        elif _is_union(hint):
            members = get_args(hint)
            others = [each for each in members if each is not type(None)]
            takes_none = takes_none or len(others) < len(members)
            if len(others) != 1:
                return hint, notes, takes_none
            hint = others[0]
        else:
            return hint, notes, takes_none


def shape_of(hint: object) -> Shape:
    """Return the shape of an annotation; raise `TypeError` if no value can have it."""
    return _Reader().shape(hint)


class _Reader:
    """Reads annotations; remembers the models being read, so that one may contain itself."""

    __slots__ = ("_open",)

    def __init__(self) -> None:
        self._open: list[object] = []

    def shape(self, hint: object) -> Shape:
        bare, _, takes_none = unwrapped(hint)
        found = self._bare(bare, takes_none)
        found.takes_none = found.takes_none or takes_none
        return found

    def _bare(self, hint: object, takes_none: bool) -> Shape:
        if hint is None or hint is type(None):
            return Shape(DYNAMIC, True)
        if _is_union(hint):
            members = [each for each in get_args(hint) if each is not type(None)]
            return Either([self.shape(each) for each in members], takes_none)
        if get_origin(hint) is Literal:
            return OneOf([(Value.of(each), each) for each in get_args(hint)])
        if hint is typing.Any:
            return Shape(DYNAMIC, True)
        if typing.is_typeddict(hint):
            return self._typed_dict(hint)
        if isinstance(hint, typing.NewType):
            return self.shape(hint.__supertype__)
        if isinstance(hint, type) and get_origin(hint) is None:
            return self._class(hint)
        return self._generic(hint)

    def _class(self, cls: type[object]) -> Shape:
        if cls is object:
            return Shape(DYNAMIC, True)
        if cls is Value:
            return AsIs()
        if issubclass(cls, enum.Enum):
            return OneOf([(Value.of(each.value), each) for each in cls])
        if cls is str:
            return Shape(STRING)
        if cls is bool:
            return Shape(BOOL)
        if cls is int:
            return WholeNumber()
        if cls is float or cls is Decimal:
            return AnyNumber(cls is Decimal)
        if issubclass(cls, PurePath):
            return FilePath(cls)
        if cls in (datetime.datetime, datetime.date, datetime.time):
            return Moment(cls)
        if is_model(cls):
            return self._model(cls)
        if cls in _LISTS or cls is tuple or cls in _SETS:
            return Elements(Shape(DYNAMIC, True), cls, cls in _SETS)
        if cls in _MAPS:
            return ByKey(Shape(DYNAMIC, True))
        raise _unsupported(cls)

    def _generic(self, hint: object) -> Shape:
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is tuple and arguments[1:] != (...,):
            return FixedTuple([self.shape(each) for each in arguments])
        if origin in _LISTS or origin is tuple:
            make: type[object] = tuple if origin is tuple else list
            return Elements(self.shape(arguments[0]), make, False)
        if origin in _SETS:
            frozen = origin is frozenset
            return Elements(self.shape(arguments[0]), frozenset if frozen else set, True)
        if origin in _MAPS and arguments[0] is str:
            return ByKey(self.shape(arguments[1]))
        raise _unsupported(hint)

    def _model(self, cls: type[object]) -> Shape:
        if cls in self._open:
            return Again(cls)
        self._open.append(cls)
        fields: list[RecordField] = []
        for each in model_fields(cls):
            written = each.written
            for note in unwrapped(each.hint)[1]:
                if isinstance(note, Named):
                    written = note.name
            fields.append(RecordField(each, written, self._field(cls, each)))
        self._open.pop()
        return Record(cls, fields)

    def _typed_dict(self, hint: object) -> Shape:
        optional: frozenset[str] = getattr(hint, "__optional_keys__", frozenset())
        fields = [
            RecordField(ModelField(name, name, each, name in optional), name, self.shape(each))
            for name, each in typing.get_type_hints(hint).items()
        ]
        return Record(dict, fields)

    def _field(self, cls: type[object], field: ModelField) -> Shape:
        try:
            return self.shape(field.hint)
        except TypeError as error:
            if checks_itself(cls):
                return Shape(DYNAMIC, True)
            raise TypeError(f"{cls.__qualname__}.{field.name}: {error}") from None


def _is_union(hint: object) -> bool:
    return get_origin(hint) in (Union, types.UnionType)


def _unsupported(hint: object) -> TypeError:
    return TypeError(f"{hint} is not a type that a value can be converted to")
