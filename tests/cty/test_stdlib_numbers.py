"""Number functions of the standard library."""

import pytest

from nigari.cty.function import Function, FunctionError
from nigari.cty.stdlib import arithmetic
from nigari.cty.values import number, string


@pytest.mark.parametrize(
    ("function", "args", "wanted"),
    [
        (arithmetic.MIN, ["3", "1", "2"], "1"),
        (arithmetic.MAX, ["-inf", "-5"], "-5"),
        (arithmetic.CEIL, ["1.2"], "2"),
        (arithmetic.FLOOR, ["-1.2"], "-2"),
        (arithmetic.INT, ["-1.9"], "-1"),
        (arithmetic.SIGNUM, ["-7"], "-1"),
        (arithmetic.LOG, ["50", "10"], "1.6989700043360185"),
        (arithmetic.LOG, ["8", "2"], "3"),
        (arithmetic.LOG, ["0", "10"], "-inf"),
        (arithmetic.POW, ["2", "0.5"], "1.4142135623730951"),
        (arithmetic.POW, ["10", "-3"], "0.001"),
        (arithmetic.POW, ["25.5", "-0.27754756423883364"], "0.40702229517056315"),
        (arithmetic.POW, ["10", "400"], "inf"),
        (arithmetic.POW, ["0", "-1"], "inf"),
        (arithmetic.POW, ["-2", "3"], "-8"),
    ],
)
def test_results(function: Function, args: list[str], wanted: str) -> None:
    assert function.call([number(arg) for arg in args]) == number(wanted)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (arithmetic.MIN, []),
        (arithmetic.SIGNUM, ["0.5"]),
        (arithmetic.SIGNUM, ["1e30"]),
        (arithmetic.LOG, ["-1", "10"]),
        (arithmetic.POW, ["-8", "0.3"]),
        (arithmetic.POW, ["1e400", "2"]),
        (arithmetic.DIVIDE, ["0", "0"]),
    ],
)
def test_no_result(function: Function, args: list[str]) -> None:
    with pytest.raises(FunctionError):
        function.call([number(arg) for arg in args])


def test_a_power_is_written_with_the_digits_of_a_float() -> None:
    got = arithmetic.POW.call([number(2), number(60)])
    assert repr(got) == "<number 1152921504606847000>"
    assert got == number(2**60)


@pytest.mark.parametrize(
    ("text", "base", "wanted"),
    [
        ("ff", 16, "255"),
        ("-FF", 16, "-255"),
        ("+10", 2, "2"),
        ("zZ", 62, "2231"),
        ("ffffffffffffffffff", 16, "4722366482869645213695"),
        ("f" * 200, 16, str(16**200 - 1)),
    ],
)
def test_parse_int(text: str, base: int, wanted: str) -> None:
    got = arithmetic.PARSE_INT.call([string(text), number(base)])
    assert repr(got) == f"<number {wanted}>"


@pytest.mark.parametrize(
    ("text", "base"), [("", 10), ("-", 10), ("12a", 10), ("2", 2), ("1_0", 10), ("1", 63), ("1", 1)]
)
def test_not_an_integer(text: str, base: int) -> None:
    with pytest.raises(FunctionError):
        arithmetic.PARSE_INT.call([string(text), number(base)])


def test_parse_int_wants_a_string() -> None:
    with pytest.raises(FunctionError) as caught:
        arithmetic.PARSE_INT.call([number(1), number(10)])
    assert caught.value.argument == 0
