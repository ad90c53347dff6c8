"""What a later plan may fill in of an earlier one."""

from __future__ import annotations

import pytest

from nigari import cty
from nigari.fleet.work.plan_equivalence import fills_in

_UNKNOWN = cty.unknown(cty.STRING)


def _object(**members: object) -> cty.Value:
    return cty.Value.of(members)


def _set(*elements: cty.Value) -> cty.Value:
    return cty.convert(cty.Value.of(list(elements)), cty.SetType(cty.STRING))


ROWS = [
    ("the same", _object(a="x"), _object(a="x"), True),
    ("another value", _object(a="x"), _object(a="y"), False),
    ("a value for what was unknown", _object(a=_UNKNOWN, b=1), _object(a="x", b=1), True),
    ("null for what was unknown", _object(a=_UNKNOWN), _object(a=None), True),
    ("still unknown", _object(a=_UNKNOWN), _object(a=_UNKNOWN), True),
    ("something else beside it", _object(a=_UNKNOWN, b=1), _object(a="x", b=2), False),
    ("unknown what was known", _object(a="x"), _object(a=_UNKNOWN), False),
    ("nothing at all", _object(a=_UNKNOWN), cty.null(cty.DYNAMIC), False),
    ("deep inside", _object(a=[_object(b=_UNKNOWN)]), _object(a=[_object(b="x")]), True),
    ("one more element", _object(a=[_UNKNOWN]), _object(a=["x", "y"]), False),
    ("all of it unknown", cty.unknown(cty.DYNAMIC), _object(a="x"), True),
    (
        "a set with one filled in",
        _set(cty.string("x"), _UNKNOWN),
        _set(*map(cty.string, "xy")),
        True,
    ),
    (
        "a set whose elements turn out equal",
        _set(cty.string("x"), _UNKNOWN),
        _set(cty.string("x")),
        True,
    ),
    ("a set without what was known", _set(cty.string("x"), _UNKNOWN), _set(cty.string("y")), False),
]


@pytest.mark.parametrize(
    ("earlier", "later", "wanted"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_fills_in(earlier: cty.Value, later: cty.Value, wanted: bool) -> None:
    assert fills_in(earlier, later) is wanted
