"""Evaluating a text in one call, with plain data and Python functions."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import pytest

from nigari import cty, hcl
from nigari.cty.callables import as_function


class Level(Enum):
    LOW = "low"
    HIGH = "high"


@dataclass
class Point:
    x: int
    y: int = 0


@hcl.function
def repeat(text: str, times: int = 2) -> str:
    """The text again and again."""
    return text * times


def total(*numbers: float) -> float:
    return sum(numbers)


def moved(point: Point, by: int) -> Point:
    return Point(point.x + by, point.y)


def fails(message: str) -> str:
    raise ValueError(message)


def breaks() -> str:
    raise KeyError("k")


def refuses(a: int, b: int) -> int:
    raise hcl.FunctionError("it must be even", 1)


def lies() -> int:
    return "x"  # type: ignore[return-value]


def describe(value: cty.Value) -> str:
    return repr(value)


FUNCTIONS: dict[str, hcl.PythonCallable] = {
    "repeat": repeat,
    "total": total,
    "moved": moved,
    "fails": fails,
    "breaks": breaks,
    "refuses": refuses,
    "lies": lies,
    "describe": describe,
    "len": len,
    "level": lambda level: level,
}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a + 1", 2),
        ("a\n+ 1", 2),
        ("data.list[1]", "x"),
        ("nothing == null", True),
        ('"${who}!"', "ada!"),
        ("[for x in data.list : x]", [1, "x"]),
        ("a = 1", {"a": 1}),
        ("a == 1", True),
        ("", {}),
        ("# nothing\n", {}),
        ('b "c" {\n  d = a + 1\n}\n', {"b": [{"c": {"d": 2}}]}),
        ("b {}\nb {}\n", {"b": [{}, {}]}),
        ('repeat("x")', "xx"),
        ('repeat("x", "3")', "xxx"),
        ("total()", 0),
        ("total(1, 2.5)", 3.5),
        ("total([1, 2]...)", 3),
        ("moved({ x = 1 }, 2)", {"x": 3, "y": 0}),
        ("len([1, 2])", 2),
        ("describe(null)", "<dynamic null>"),
        ("level(high)", "high"),
        ("path", "a/b"),
    ],
)
def test_plain_data_in_and_out(text: str, found: object) -> None:
    variables = {
        "a": 1,
        "who": cty.string("ada"),
        "data": {"list": [1, "x"]},
        "nothing": None,
        "high": Level.HIGH,
        "path": Path("a/b"),
    }
    assert hcl.evaluate(text, variables, FUNCTIONS) == found


@pytest.mark.parametrize(
    ("text", "detail", "where"),
    [
        ('1 + fails("no way.")', 'The call to "fails" failed: no way.', "<input>:1,5-11"),
        ("breaks()", "The call to \"breaks\" failed: KeyError: 'k'.", "<input>:1,1-8"),
        (
            "refuses(1, 2)",
            'Invalid value for the argument "b": it must be even.',
            "<input>:1,12-13",
        ),
        (
            'repeat("a", [])',
            'Invalid value for the argument "times": a number is required, not a tuple.',
            "<input>:1,13-14",
        ),
        (
            "repeat(null)",
            'Invalid value for the argument "text": it must not be null.',
            "<input>:1,8-12",
        ),
        ("lies()", None, "<input>:1,1-6"),
        ("a = {\n  b = missing\n}", None, "<input>:2,7-14"),
        ("a = (\n", None, "<input>:2,1-1"),
        ("secret", None, "<input>:1,1-7"),
    ],
)
def test_a_mistake_has_a_location(text: str, detail: str | None, where: str) -> None:
    with pytest.raises(hcl.HclError) as raised:
        hcl.evaluate(text, {"secret": cty.string("x").mark("sensitive")}, FUNCTIONS)
    (found,) = raised.value.diagnostics
    assert detail is None or found.detail == detail
    assert str(found.subject) == where
    assert found.summary in str(raised.value)


def test_an_argument_that_is_not_known_makes_the_result_unknown() -> None:
    scope = hcl.Scope({"a": cty.unknown(cty.STRING), "b": [cty.unknown(cty.STRING)]}, FUNCTIONS)
    diags = hcl.parse("").diagnostics
    assert hcl.expression("repeat(a)").value(scope, diags) == cty.unknown(cty.STRING)
    assert not hcl.expression("len(b)").value(scope, diags).is_known
    secret = hcl.Scope({"a": cty.string("hunter2").mark("sensitive")}, FUNCTIONS)
    assert hcl.expression("repeat(a)").value(secret, diags).marks == {"sensitive"}
    assert hcl.expression("fails(a)").value(secret, diags) is cty.DYNAMIC_UNKNOWN
    assert diags[0].detail == 'The call to "fails" failed: (sensitive value).'


def test_a_function_stays_a_python_function() -> None:
    assert repeat("a", 3) == "aaa"
    made = as_function(repeat)
    assert made is as_function(repeat)
    assert made.description == "The text again and again."
    assert [each.name for each in made.parameters] == ["text"]


def test_scopes_take_plain_data() -> None:
    scope = hcl.Scope({"a": {"b": [1]}, "c": None}, parent=hcl.Scope({"d": "x"}))
    assert scope.variable("a") == cty.Value.of({"b": [1]})
    assert scope.variable("c") == cty.DYNAMIC_NULL
    assert scope.variable("d") == cty.string("x")
    assert scope.variable("e") is None


def test_functions_that_are_not_described_well() -> None:
    def wants_keyword(*, a: int) -> int:
        return a

    def wants_bytes(a: bytes) -> int:
        return len(a)

    async def waits() -> int:
        return 1

    for each in (wants_keyword, wants_bytes, waits):
        with pytest.raises(TypeError, match=each.__name__):
            hcl.function(each)
