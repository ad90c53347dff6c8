"""Values of plain Python data, and plain data of values: what `Value.of` and `Value.to_python` do.

Owns which Python object stands for which value. What stands for none is reported with the way to
it. Does not know annotations: `annotations` and `shapes` convert by what those ask for.
"""

from collections.abc import Iterable, Mapping, Sequence

from nigari.cty import numbers
from nigari.cty.errors import CtyError
from nigari.cty.numbers import Number
from nigari.cty.types import DYNAMIC, KIND_CAPSULE, KIND_OBJECT, NUMBER, STRING
from nigari.cty.values import (
    DYNAMIC_NULL,
    HAS_MARKS,
    HAS_UNKNOWN,
    Value,
    bare_text,
    boolean,
    normalize,
    number,
    object_value,
    set_value,
    short_text,
    tuple_value,
)


def plain_value(obj: object) -> Value:
    """The value that a Python object stands for; a `TypeError` says which part stands for none."""
    try:
        return _from_python(obj)
    except TypeError as error:
        way = _way_to_refused(obj)
        if not way:
            raise
        raise TypeError(f"{way}: {error}") from None


def plain_data(value: Value) -> object:
    """The Python data of a value; a `CtyError` names the part that is unknown or marked."""
    if value.flags:
        raise _not_plain(value)
    return _to_python(value)


def _from_python(obj: object) -> Value:
    if isinstance(obj, str):
        if type(obj) is not str:
            obj = bare_text(obj)
        return Value(STRING, obj if obj.isascii() else normalize(obj))
    if isinstance(obj, dict):
        attributes: dict[str, Value] = {}
        for key, item in obj.items():
            if not isinstance(key, str):
                raise TypeError(f"an attribute name is a str, not {type(key).__name__}")
            attributes[key] = _from_python(item)
        return object_value(attributes)
    if isinstance(obj, (list, tuple)):
        return tuple_value([_from_python(item) for item in obj])
    if obj is None:
        return DYNAMIC_NULL
    if isinstance(obj, Value):
        return obj
    if isinstance(obj, bool):
        return boolean(obj)
    if isinstance(obj, (int, float)):
        return number(obj)
    if isinstance(obj, Number):
        return Value(NUMBER, obj)
    if isinstance(obj, Mapping):
        return _from_python(dict(obj))
    if isinstance(obj, (set, frozenset)):
        elements = [_from_python(item) for item in obj]
        return set_value(elements[0].type if elements else DYNAMIC, elements)
    return _from_object(obj)


def _from_object(obj: object) -> Value:
    """The value of an object that is more than plain data."""
    from datetime import date, datetime, time
    from decimal import Decimal
    from enum import Enum
    from os import PathLike, fspath

    from nigari.cty.models import is_model, model_values

    if isinstance(obj, Decimal):
        return number(obj)
    if isinstance(obj, Enum):
        return _from_python(obj.value)
    if isinstance(obj, PathLike):
        return _from_python(fspath(obj))
    if isinstance(obj, date | datetime | time):
        return Value(STRING, obj.isoformat())
    if isinstance(obj, Sequence) and not isinstance(obj, (bytes, bytearray, memoryview)):
        return tuple_value([_from_python(item) for item in obj])
    if is_model(type(obj)):
        return _from_python(model_values(obj))
    raise TypeError(f"a Python {type(obj).__name__} cannot be converted to a value")


def _way_to_refused(obj: object) -> str:
    """The way to the part of plain data that cannot be converted, as it is written in Python."""
    way = ""
    while True:
        parts: Iterable[tuple[object, object]] = ()
        if isinstance(obj, Mapping):
            parts = obj.items()
        elif isinstance(obj, (list, tuple)):
            parts = enumerate(obj)
        for key, part in parts:
            try:
                _from_python(part)
            except TypeError:
                way, obj = f"{way}[{key!r}]", part
                break
        else:
            return way


def _not_plain(value: Value) -> CtyError:
    """Says which part of a value cannot be plain data: the first that is unknown, else marked."""
    is_unknown = bool(value.flags & HAS_UNKNOWN)
    flag = HAS_UNKNOWN if is_unknown else HAS_MARKS
    way = ""
    while value.is_known if is_unknown else not value.marks:
        type_ = value.type
        for key, part in value.items():
            if part.flags & flag:
                way += f".{key.data}" if type_.kind == KIND_OBJECT else f"[{short_text(key)}]"
                value = part
                break
    return CtyError(f"{way or 'the value'} is {'unknown' if is_unknown else 'marked'}")


def _to_python(value: Value) -> object:
    data = value.data
    if isinstance(data, Number):
        if numbers.is_whole(data) and not numbers.is_zero(data):
            return numbers.to_int(data)
        return numbers.to_float(data)  # there is a negative zero
    if value.type.kind == KIND_CAPSULE:
        return data
    if isinstance(data, dict):
        return {key: _to_python(data[key]) for key in sorted(data)}
    if isinstance(data, tuple):
        return [_to_python(element) for element in data]
    return data
