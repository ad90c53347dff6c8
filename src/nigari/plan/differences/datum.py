"""A value as it is compared and shown: plain data, and what of it is secret or not known.

Two values that look the same are the same here, whatever their types: a list and a tuple with the
same elements do not differ to a reader.
"""

from __future__ import annotations

import json
from collections.abc import Hashable

from nigari.cty import numbers
from nigari.cty.json_text import clean_text
from nigari.cty.types import KIND_NUMBER
from nigari.cty.values import Value
from nigari.lang.marks import SENSITIVE
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeAlias

Parts: TypeAlias = "dict[str, Datum] | tuple[Datum, ...]"

_MAPPING: Final = "{"
_SEQUENCE: Final = "["


@record
class Numeral:
    """A number, as it is written."""

    text: str


class Datum:
    """One value, or a part of one."""

    __slots__ = ("is_secret", "is_unknown", "parts", "plain")

    def __init__(
        self,
        plain: Hashable,
        parts: Parts | None = None,
        is_secret: bool = False,
        is_unknown: bool = False,
    ) -> None:
        self.plain: Hashable = plain
        """Convert a value for comparing; `None` for null and for unknown values."""
        self.parts: Parts | None = parts
        self.is_secret: bool = is_secret
        self.is_unknown: bool = is_unknown

    @property
    def is_null(self) -> bool:
        return self.plain is None and not self.is_unknown

    @property
    def members(self) -> dict[str, Datum]:
        """The parts with names; none where it has no such parts."""
        return self.parts if isinstance(self.parts, dict) else {}

    @property
    def elements(self) -> tuple[Datum, ...]:
        """The parts without names; none where it has no such parts."""
        return self.parts if isinstance(self.parts, tuple) else ()

    def in_the_open(self) -> Datum:
        """The same, not secret as a whole; its parts may still be."""
        return Datum(self.plain, self.parts, False, self.is_unknown)


UNKNOWN: Final = Datum(None, is_unknown=True)


def datum(value: Value) -> Datum:
    """A value, ready to be compared."""
    is_secret = SENSITIVE in value.marks
    if not value.is_known:
        return Datum(None, None, is_secret, True)
    data = value.data
    if isinstance(data, str):
        # OpenTofu compares and shows the JSON of a plan, where bytes that are no text are U+FFFD.
        return Datum(clean_text(data), None, is_secret)
    if data is None or isinstance(data, bool):
        return Datum(data, None, is_secret)
    if isinstance(data, dict):
        members = {clean_text(str(key)): datum(data[key]) for key in sorted(data)}
        return _mapping(members, is_secret)
    if isinstance(data, tuple):
        return _sequence(tuple(datum(each) for each in data), is_secret)
    if value.type.kind == KIND_NUMBER:
        return Datum(Numeral(numbers.to_text(value.unmark()[0].as_number())), None, is_secret)
    return Datum(f"({value.type.friendly_name()})", None, is_secret)


def json_datum(text: str) -> Datum | None:
    """Parse a string of JSON; `None` unless it is an object or an array."""
    if text[:1] not in ("{", "["):
        return None
    try:
        found = json.loads(
            text, parse_int=Numeral, parse_float=Numeral, parse_constant=_refuse_constant
        )
        return _from_json(found)
    except (ValueError, RecursionError):
        # Too deep to be shown in parts is as good as no JSON.
        return None


def data_datum(data: object, unknown: object, secret: object) -> Datum:
    """Convert JSON data, with its unknown and sensitive parts in the shape of the data."""
    if unknown is True:
        return Datum(None, None, secret is True, True)
    if isinstance(data, dict):
        names = sorted({*data, *(unknown if isinstance(unknown, dict) else ())})
        members = {
            name: data_datum(data.get(name), _part(unknown, name), _part(secret, name))
            for name in names
        }
        return _mapping(members, secret is True)
    if isinstance(data, list):
        elements = [
            data_datum(each, _part(unknown, index), _part(secret, index))
            for index, each in enumerate(data)
        ]
        return _sequence(tuple(elements), secret is True)
    if isinstance(data, int | float) and not isinstance(data, bool):
        return Datum(Numeral(json.dumps(data)), None, secret is True)
    assert data is None or isinstance(data, str | bool)
    return Datum(data, None, secret is True)


def _part(shape: object, key: str | int) -> object:
    """The shape of a part; that of the whole, where it is the same everywhere."""
    if isinstance(shape, dict):
        return shape.get(str(key), False)
    if isinstance(shape, list):
        return shape[key] if isinstance(key, int) and key < len(shape) else False
    return shape


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not in JSON")


def _from_json(data: object) -> Datum:
    if isinstance(data, dict):
        return _mapping({key: _from_json(data[key]) for key in sorted(data)}, False)
    if isinstance(data, list):
        return _sequence(tuple(_from_json(each) for each in data), False)
    assert data is None or isinstance(data, str | bool | Numeral)
    return Datum(data)


def _mapping(members: dict[str, Datum], is_secret: bool) -> Datum:
    # What is not known has no part in how things look, as it has none in the JSON of a plan.
    known = ((key, each.plain) for key, each in members.items() if not each.is_unknown)
    return Datum((_MAPPING, *known), members, is_secret)


def _sequence(elements: tuple[Datum, ...], is_secret: bool) -> Datum:
    return Datum((_SEQUENCE, *(each.plain for each in elements)), elements, is_secret)
