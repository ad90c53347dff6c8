"""Annotations: what is read from a value, what is written, and where a mistake is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, TypedDict

import pytest

from nigari import cty
from nigari.cty import Value
from nigari.cty.annotations import Named, shape_of

of = Value.of


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Size(Enum):
    SMALL = 1


@dataclass
class Port:
    number: int
    name: Annotated[str, Named("label")] = "http"


@dataclass
class Tree:
    name: str
    children: list["Tree"] = field(default_factory=list)


class Pair(NamedTuple):
    left: int
    right: str = "r"


class Loose(TypedDict):
    a: int
    b: NotRequired[str]


Meters = NewType("Meters", int)


@dataclass
class Checked:
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low must not be above high.")


@pytest.mark.parametrize(
    ("hint", "given", "found"),
    [
        (str, 5, "5"),
        (int, "5", 5),
        (float, 5, 5.0),
        (bool, "true", True),
        (Decimal, "0.1", Decimal("0.1")),
        (Path, "a/b", Path("a/b")),
        (datetime, "2026-05-17T08:30:00Z", datetime(2026, 5, 17, 8, 30, tzinfo=UTC)),
        (date | None, "2026-05-17", date(2026, 5, 17)),
        (list[time], ["08:30:00"], [time(8, 30)]),
        (int | None, None, None),
        (object, [1, "a"], [1, "a"]),
        (list[str], [1, "a"], ["1", "a"]),
        (list[object], [1, "a"], [1, "a"]),
        (Sequence[int], ["1"], [1]),
        (tuple[int, ...], [1, 2], (1, 2)),
        (tuple[int, str], [1, 2], (1, "2")),
        (set[str], ["a", "a"], {"a"}),
        (frozenset[int], [1], frozenset({1})),
        (dict[str, int], {"a": "1"}, {"a": 1}),
        (Mapping[str, object], {"a": [1]}, {"a": [1]}),
        (Color, "blue", Color.BLUE),
        (Size, "1", Size.SMALL),
        (Literal["a", 1], 1, 1),
        (Literal["a", None], None, None),
        (int | str, "5", "5"),
        (str | int, 5, 5),
        (list[int | str], [1, "a"], [1, "a"]),
        (str | list[str], ["a"], ["a"]),
        (dict[str, str] | list[int], {"a": 1}, {"a": "1"}),
        (Port | int, {"number": 80}, Port(80)),
        (Port, {"number": "80", "label": "x"}, Port(80, "x")),
        (list[Port], [{"number": 80}], [Port(80)]),
        (dict[str, Port | None], {"a": None}, {"a": None}),
        (Tree, {"name": "a", "children": [{"name": "b"}]}, Tree("a", [Tree("b")])),
        (Pair, {"left": 1}, Pair(1)),
        (dict, {"a": 1}, {"a": 1}),
        (Any, [1, None], [1, None]),
        (Loose, {"a": "1"}, {"a": 1}),
        (list[Loose], [{"a": 1, "b": "x"}], [{"a": 1, "b": "x"}]),
        (Meters, "5", 5),
    ],
)
def test_read(hint: object, given: object, found: object) -> None:
    assert shape_of(hint).read(of(given)) == found
    assert shape_of(hint).read(shape_of(hint).write(found)) == found


@pytest.mark.parametrize(
    ("hint", "given", "message"),
    [
        (int, 1.5, "a whole number is required"),
        (str, None, "it must not be null"),
        (Color, "green", 'it must be "red" or "blue", not "green"'),
        (Literal[1], 2, "it must be 1, not 2"),
        (date, "today", 'a date is required, such as "2026-05-17"'),
        (list[int], [1, "x"], "[1]: a number is required, and this string does not represent one"),
        (list[Color], ["red", "x"], '[1]: it must be "red" or "blue", not "x"'),
        (dict[str, list[int]], {"a": [0.5]}, '["a"][0]: a whole number is required'),
        (Port, {"number": 1, "x": 2}, ".x: there is no such attribute here, only number, label"),
        (list[Tree], [{"name": "a", "children": [{}]}], "[0].children[0]: the required attribute"),
        (Checked, {"low": 2, "high": 1}, "low must not be above high"),
        (dict[str, Checked], {"a": {"low": 2, "high": 1}}, '["a"]: low must not be above high'),
        (list[object], "a", "a list is required, and this is a string"),
    ],
)
def test_what_is_wrong(hint: object, given: object, message: str) -> None:
    with pytest.raises(cty.CtyError) as raised:
        shape_of(hint).read(of(given))
    path = cty.path_text(raised.value.path)
    found = f"{path}: {raised.value.message}" if path else raised.value.message
    assert found.startswith(message)


def test_what_cannot_be_plain_data() -> None:
    with pytest.raises(cty.CtyError, match="unknown"):
        shape_of(str).read(cty.unknown(cty.STRING))
    with pytest.raises(cty.CtyError, match="sensitive"):
        shape_of(list[str]).read(of([of("x").mark("sensitive")]))
    secret = of("x").mark("sensitive")
    assert shape_of(Value).read(secret) is secret


@pytest.mark.parametrize("hint", [complex, dict[int, str], list[bytes]])
def test_what_no_value_can_be(hint: object) -> None:
    with pytest.raises(TypeError):
        shape_of(hint)
