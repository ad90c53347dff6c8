"""Numbers: 512-bit binary floating point, as text and in arithmetic."""

import pickle
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari.cty import numbers
from nigari.cty.errors import CtyError
from nigari.cty.numbers import INFINITY, NEGATIVE_INFINITY, NEGATIVE_ZERO, Number
from tests.limits import costs_little

Payload = int | Number
THIRD = "0." + "3" * 154 + "5"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("0", "0"),
        ("007", "7"),
        ("+1", "1"),
        ("-12", "-12"),
        (".5", "0.5"),
        ("5.", "5"),
        ("1.50", "1.5"),
        ("0.1", "0.1"),
        ("1e3", "1000"),
        ("1E-3", "0.001"),
        ("12e-1", "1.2"),
        ("1p4", "16"),
        ("1p-1", "0.5"),
        ("-0", "-0"),
        ("-0.0e5", "-0"),
        ("inf", "+Inf"),
        ("-Inf", "-Inf"),
        ("1e400", "1" + "0" * 400),
        ("1e-400", "0." + "0" * 399 + "1"),
        ("1e1000000000", "+Inf"),
        ("-1e1000000000", "-Inf"),
        ("1e-1000000000", "0"),
        (str(2**512 - 1), str(2**512 - 1)),
        ("1234567890" * 4 + ".1234", "1234567890" * 4 + ".1234"),
    ],
)  # fmt: skip
def test_parse_and_print(text: str, printed: str) -> None:
    assert numbers.to_text(numbers.parse(text)) == printed


@pytest.mark.parametrize(
    "text",
    ["", " 1", "1 ", "0x10", "1_000", "e5", ".", "-", "1e", "1e+", "--1", "nan", "INF", "1e9x",
     "1e2147483648", "1e99999999999999999999", "\N{ARABIC-INDIC DIGIT ONE}"],
)  # fmt: skip
def test_not_a_number(text: str) -> None:
    with pytest.raises(CtyError):
        numbers.parse(text)


def _p(text: str) -> Payload:
    return numbers.parse(text)


@pytest.mark.parametrize(
    ("operation", "a", "b", "wanted"),
    [
        (numbers.add, "1", "2", "3"),
        (numbers.add, "0.1", "0.2", "0.3"),
        (numbers.add, "-0", "-0", "-0"),
        (numbers.add, "-0", "0", "0"),
        (numbers.add, "1", "1e-400", "1"),
        (numbers.add, "inf", "1", "+Inf"),
        (numbers.subtract, "1", "3", "-2"),
        (numbers.subtract, "1.5", "1.5", "0"),
        (numbers.subtract, "0", "0", "0"),
        (numbers.multiply, "0", "-1", "-0"),
        (numbers.multiply, "1.5", "2", "3"),
        (numbers.multiply, "inf", "-2", "-Inf"),
        (numbers.divide, "1", "3", THIRD),
        (numbers.divide, "6", "-3", "-2"),
        (numbers.divide, "1", "0", "+Inf"),
        (numbers.divide, "-1", "0", "-Inf"),
        (numbers.divide, "1", "inf", "0"),
        (numbers.divide, "0", "-5", "-0"),
        (numbers.modulo, "7", "3", "1"),
        (numbers.modulo, "-7", "3", "-1"),
        (numbers.modulo, "7", "-3", "1"),
        (numbers.modulo, "5.5", "0", "5.5"),
        (numbers.modulo, "-0", "5", "-0"),
        (numbers.modulo, "11", "5.1", "0.8" + "0" * 152 + "24"),
    ],
)
def test_arithmetic(
    operation: Callable[[Payload, Payload], Payload], a: str, b: str, wanted: str
) -> None:
    assert numbers.to_text(operation(_p(a), _p(b))) == wanted


@pytest.mark.parametrize(
    ("operation", "a", "b"),
    [
        (numbers.add, "inf", "-inf"),
        (numbers.subtract, "inf", "inf"),
        (numbers.multiply, "0", "inf"),
        (numbers.divide, "0", "0"),
        (numbers.divide, "inf", "inf"),
        (numbers.modulo, "0", "inf"),
    ],
)
def test_no_result(operation: Callable[[Payload, Payload], Payload], a: str, b: str) -> None:
    with pytest.raises(CtyError):
        operation(_p(a), _p(b))


@pytest.mark.parametrize(
    ("text", "floor", "ceil", "truncated"),
    [
        ("1.5", "1", "2", "1"),
        ("-1.5", "-2", "-1", "-1"),
        ("-0.5", "-1", "0", "0"),
        ("1e-900", "0", "1", "0"),
        ("7", "7", "7", "7"),
        ("-inf", "-Inf", "-Inf", "-Inf"),
    ],
)
def test_rounding_to_whole(text: str, floor: str, ceil: str, truncated: str) -> None:
    n = _p(text)
    assert numbers.to_text(numbers.floor(n)) == floor
    assert numbers.to_text(numbers.ceil(n)) == ceil
    assert numbers.to_text(numbers.truncate(n)) == truncated


@pytest.mark.parametrize(
    ("f", "printed"),
    [
        (0.1, "0.1"),
        (2.0**0.5, "1.4142135623730951"),
        (1e21, "1000000000000000000000"),
        (2.0**60, "1152921504606847000"),
        (-0.0, "-0"),
        (float("inf"), "+Inf"),
        (5e-324, "0." + "0" * 323 + "4940656458412465"),
    ],
)
def test_floats_print_with_their_own_precision(f: float, printed: str) -> None:
    assert numbers.to_text(numbers.from_float(f)) == printed


def test_a_sum_takes_the_larger_precision() -> None:
    root = numbers.from_float(2.0**0.5)
    assert numbers.to_text(numbers.add(root, 0)).startswith("1.41421356237309514547462185")
    assert numbers.to_text(numbers.add(root, root)) == "2.8284271247461903"


def test_whole_numbers_within_512_bits_are_ints() -> None:
    assert type(_p("1e3")) is int
    assert type(numbers.divide(6, 3)) is int
    assert type(numbers.add(_p("0.5"), _p("0.5"))) is int
    assert type(numbers.multiply(2**511, 2)) is Number
    assert type(numbers.subtract(numbers.multiply(2**511, 2), 1)) is int


def test_equality_and_hash() -> None:
    assert NEGATIVE_ZERO == 0
    assert hash(NEGATIVE_ZERO) == hash(0)
    assert numbers.from_float(2.0**60) == 2**60
    assert hash(numbers.from_float(2.0**60)) == hash(2**60)
    assert numbers.from_float(0.1) == _p("0.1")
    assert hash(numbers.from_float(0.1)) == hash(_p("0.1"))
    assert _p("0.1") != _p("-0.1")
    assert INFINITY != NEGATIVE_INFINITY
    assert _p("1e400") == numbers.multiply(_p("1e399"), 10)


def test_comparison_is_exact_where_equality_is_by_print() -> None:
    assert numbers.compare(numbers.from_float(0.1), _p("0.1")) == 1
    assert numbers.compare(_p("1e400"), INFINITY) == -1
    assert numbers.compare(NEGATIVE_ZERO, 0) == 0
    assert numbers.compare(_p("-0.5"), _p("-0.25")) == -1


@pytest.mark.parametrize(
    ("text", "general"),
    [
        ("0", "0"),
        ("-0", "-0"),
        ("12345678901", "1.23456789e+10"),
        ("0.5", "0.5"),
        ("1e-7", "1e-07"),
    ],
)
def test_general_text(text: str, general: str) -> None:
    assert numbers.to_general_text(_p(text), 10) == general


def test_whole() -> None:
    assert numbers.whole(_p("1e30")) == 10**30
    assert numbers.whole(_p("1p600")) == 2**600
    assert numbers.whole(_p("0.5")) is None
    assert numbers.whole(INFINITY) is None
    assert numbers.whole(2**63, 63) is None


def test_hostile_texts_take_no_time() -> None:
    with costs_little():
        for text in (
            "1e1000000000",
            "1e-1000000000",
            "1e400000000",
            "9" * 100_000,
            "0." + "7" * 100_000,
        ):
            n = numbers.parse(text)
            hash(n)
            numbers.compare(n, 1)
            numbers.add(n, 1)
    with pytest.raises(CtyError):
        numbers.to_text(_p("1e400000000"))


def test_pickle() -> None:
    for text in ("1.5", "-0", "inf", "1e400"):
        n = _p(text)
        assert pickle.loads(pickle.dumps(n)) == n


payloads = st.one_of(
    st.integers(-1000, 1000),
    st.integers(-(2**600), 2**600).map(numbers.from_int),
    st.floats(allow_nan=False, allow_infinity=False).map(numbers.from_float),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=6)
    .map(lambda d: numbers.parse(format(d, "f"))),
)  # fmt: skip


def _exact(n: Payload) -> Fraction:
    negative, mantissa, exponent = numbers.parts(n)
    return (-1 if negative else 1) * mantissa * Fraction(2) ** exponent


@given(payloads, payloads)
def test_results_are_within_half_a_unit_of_the_last_place(a: Payload, b: Payload) -> None:
    for operation, exact in (
        (numbers.add, _exact(a) + _exact(b)),
        (numbers.subtract, _exact(a) - _exact(b)),
        (numbers.multiply, _exact(a) * _exact(b)),
    ):
        bits = max(53 if isinstance(n, Number) else 512 for n in (a, b))
        assert abs(_exact(operation(a, b)) - exact) <= abs(exact) / 2**bits


@given(payloads, payloads)
def test_comparison_agrees_with_exact_values(a: Payload, b: Payload) -> None:
    exact_a, exact_b = _exact(a), _exact(b)
    assert numbers.compare(a, b) == (exact_a > exact_b) - (exact_a < exact_b)
    if a == b:
        assert hash(a) == hash(b)


@given(payloads)
def test_text_reads_back_as_an_equal_number(n: Payload) -> None:
    again = numbers.parse(numbers.to_text(n))
    assert numbers.to_text(again) == numbers.to_text(n)


@given(payloads)
def test_conversion_to_float_is_the_nearest(n: Payload) -> None:
    exact = _exact(n)
    try:
        nearest = float(exact)
    except OverflowError:
        nearest = float("inf") if exact > 0 else float("-inf")
    assert numbers.to_float(n) == nearest
