"""Formatting: verbs, lists of texts, dates, CSV and JSON."""

import pytest

from nigari.cty.function import FunctionError
from nigari.cty.refinements import Refinement, refine
from nigari.cty.stdlib.csv_text import CSV_DECODE
from nigari.cty.stdlib.format import FORMAT, FORMAT_LIST
from nigari.cty.stdlib.json_text import JSON_DECODE, JSON_ENCODE
from nigari.cty.stdlib.timestamps import FORMAT_DATE, TIME_ADD
from nigari.cty.types import DYNAMIC, NUMBER, STRING, ListType, ObjectType
from nigari.cty.values import (
    DYNAMIC_NULL,
    DYNAMIC_UNKNOWN,
    TRUE,
    Value,
    list_value,
    number,
    object_value,
    string,
    tuple_value,
    unknown,
)

SOME_STRING = refine(unknown(STRING), Refinement(not_null=True))


def texts(*parts: str) -> Value:
    return list_value(STRING, [string(part) for part in parts])


@pytest.mark.parametrize(
    ("verbs", "argument", "wanted"),
    [
        ("%5.1f", "3.14159", "  3.1"),
        ("%+d|%[1]d", "5", "+5|5"),
        ("% d", "5", " 5"),
        ("%05d", "-42", "-0042"),
        ("%-5d|", "42", "42   |"),
        ("%5.3d", "5", "  005"),
        ("%.0d", "0", ""),
        ("%x %[1]X %#[1]x", "255", "ff FF 0xff"),
        ("%o %#[1]o", "8", "10 010"),
        ("%b", "5", "101"),
        ("%#X", "-255", "-0XFF"),
        ("%d", "1e30", "1" + "0" * 30),
        ("%e %[1]E", "123456.789", "1.234568e+05 1.234568E+05"),
        ("%f", "0.5", "0.500000"),
        ("%.0f", "0.5", "0"),
        ("%.f", "2.5", "2"),
        ("%06.2f", "-2.5", "-02.50"),
        ("%-08.3f", "1.5", "0001.500"),
        ("%g %[1]v", "1e21", "1e+21 1e+21"),
        ("%v", "123456789", "1.23456789e+08"),
        ("%v", "0.1", "0.1"),
        ("%.3v", "3.14159", "3.14159"),
        ("%.3g", "3.14159", "3.14"),
        ("%08.3g", "3.14159", "00003.14"),
        ("%g", "-0", "-0"),
        ("%5f|", "inf", " +Inf|"),
        ("%s", "0.1", "0.1"),
        ("%d%%", "5", "5%"),
    ],
)
def test_numbers(verbs: str, argument: str, wanted: str) -> None:
    assert FORMAT.call([string(verbs), number(argument)]) == string(wanted)


@pytest.mark.parametrize(
    ("verb", "argument", "wanted"),
    [
        ("%s", string("x"), "x"),
        ("%3s|", string("e\u0301"), "  \u00e9|"),
        ("%-3s|", string("x"), "x  |"),
        ("%03s", string("x"), "00x"),
        ("%.2s", string("abc"), "ab"),
        ("%.0s", string("abc"), "abc"),
        ("%q", string("a<b>"), '"a\\u003cb\\u003e"'),
        ("%5q", string("x"), '  "x"'),
        ("%t", string("true"), "true"),
        ("%d", string("12"), "12"),
        ("%v", TRUE, "true"),
        ("%5v", DYNAMIC_NULL, " null"),
        ("%v", tuple_value([number(1), string("a")]), '[1,"a"]'),
        ("%#v", string("a"), '"a"'),
    ],
)
def test_other_values(verb: str, argument: Value, wanted: str) -> None:
    assert FORMAT.call([string(verb), argument]) == string(wanted)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("%", []),
        ("%5", []),
        ("%y", [number(1)]),
        ("%d", []),
        ("%d", [number("0.5")]),
        ("%d", [string("x")]),
        ("%s", [DYNAMIC_NULL]),
        ("%s", [tuple_value([])]),
        ("%[0]d", [number(1)]),
        ("x", [number(1)]),
        ("%d", [number(1), number(2)]),
        ("%99999999999d", [number(1)]),
    ],
)
def test_format_errors(text: str, arguments: list[Value]) -> None:
    with pytest.raises(FunctionError):
        FORMAT.call([string(text), *arguments])


def test_format_of_unknown_values() -> None:
    known = refine(unknown(STRING), Refinement(not_null=True, prefix="ami-"))
    assert FORMAT.call([string("ami-%s"), unknown(STRING)]) == known
    assert FORMAT.call([string("%s"), DYNAMIC_UNKNOWN]) == SOME_STRING
    assert FORMAT.call([unknown(STRING), string("x")]) == SOME_STRING


def test_format_list() -> None:
    verbs = string("%s=%d")
    assert FORMAT_LIST.call([string("x")]) == texts("x")
    got = FORMAT_LIST.call([verbs, texts("a", "b"), tuple_value([number(1), number(2)])])
    assert got == texts("a=1", "b=2")
    assert FORMAT_LIST.call([verbs, texts("a", "b"), number(7)]) == texts("a=7", "b=7")
    assert FORMAT_LIST.call([verbs, string("a"), number(7)]) == texts("a=7")
    assert FORMAT_LIST.call([verbs, texts(), number(7)]) == texts()
    partly = tuple_value([string("a"), unknown(STRING)])
    assert FORMAT_LIST.call([verbs, partly, number(7)]) == list_value(
        STRING, [string("a=7"), SOME_STRING]
    )
    assert not FORMAT_LIST.call([verbs, unknown(ListType(STRING)), number(7)]).is_known
    with pytest.raises(FunctionError):
        FORMAT_LIST.call([verbs, texts("a", "b"), tuple_value([number(1)])])


@pytest.mark.parametrize(
    ("format_", "wanted"),
    [
        ("YYYY-MM-DD'T'hh:mm:ssZ", "2006-01-02T15:04:05-07:00"),
        ("EEEE, D MMM YY", "Monday, 2 Jan 06"),
        ("H 'o''clock' AA aa", "3 o'clock PM pm"),
        ("ZZZ ZZZZ ZZZZZ", "-0700 -0700 -07:00"),
        ("''", "'"),
        ("", ""),
    ],
)
def test_format_date(format_: str, wanted: str) -> None:
    moment = string("2006-01-02T15:04:05-07:00")
    assert FORMAT_DATE.call([string(format_), moment]) == string(wanted)


@pytest.mark.parametrize("format_", ["Y", "MMMMM", "E", "q", "'x", "'", "'''"])
def test_format_date_errors(format_: str) -> None:
    with pytest.raises(FunctionError):
        FORMAT_DATE.call([string(format_), string("2006-01-02T15:04:05Z")])


@pytest.mark.parametrize(
    "timestamp",
    ["", "2017-01-02", "2017-02-30T00:00:00Z", "2017-01-02t00:00:00Z", "2017-01-02T24:00:00Z",
     "2017-01-02T00:00:00", "2017-01-02T00:00:00,5Z", "2017-01-02T00:00:00+24:00"],
)  # fmt: skip
def test_no_timestamps(timestamp: str) -> None:
    with pytest.raises(FunctionError):
        FORMAT_DATE.call([string("YYYY"), string(timestamp)])


@pytest.mark.parametrize(
    ("timestamp", "duration", "wanted"),
    [
        ("2017-11-22T00:00:00Z", "1h30m", "2017-11-22T01:30:00Z"),
        ("2017-11-22T00:00:00+01:00", "-10m", "2017-11-21T23:50:00+01:00"),
        ("2017-11-22T00:00:00.9Z", "200ms", "2017-11-22T00:00:01Z"),
        ("2016-02-28T23:59:59Z", "1s", "2016-02-29T00:00:00Z"),
        ("9999-12-31T23:59:59Z", "1h", "10000-01-01T00:59:59Z"),
        ("0000-01-01T00:00:00Z", "1.5h", "0000-01-01T01:30:00Z"),
        ("2017-11-22T00:00:00Z", "0", "2017-11-22T00:00:00Z"),
    ],
)
def test_time_add(timestamp: str, duration: str, wanted: str) -> None:
    assert TIME_ADD.call([string(timestamp), string(duration)]) == string(wanted)


@pytest.mark.parametrize("duration", ["", "-", "1", "1x", "1h-2s", ".s", "9999999h"])
def test_no_durations(duration: str) -> None:
    with pytest.raises(FunctionError):
        TIME_ADD.call([string("2017-11-22T00:00:00Z"), string(duration)])


def test_csv_decode() -> None:
    row = ObjectType({"a": STRING, "b": STRING})
    got = CSV_DECODE.call([string('a,b\n1,"x""y\r\nz"\n\n2,\r\n')])
    assert got == list_value(
        row,
        [
            object_value({"a": string("1"), "b": string('x"y\nz')}),
            object_value({"a": string("2"), "b": string("")}),
        ],
    )
    assert CSV_DECODE.call([string("a,b")]) == list_value(row, [])
    assert CSV_DECODE.call([unknown(STRING)]) == DYNAMIC_UNKNOWN


@pytest.mark.parametrize(
    "text", ["", "a,a\n1,2", "a,b\n1", "a\n1,2", 'a\nx"y', 'a\n"x"y', 'a\n"x', "\n\n"]
)
def test_csv_errors(text: str) -> None:
    with pytest.raises(FunctionError):
        CSV_DECODE.call([string(text)])


def test_json() -> None:
    value = object_value({"a": tuple_value([number("1.5"), TRUE, DYNAMIC_NULL])})
    text = string('{"a":[1.5,true,null]}')
    assert JSON_ENCODE.call([value]) == text
    assert JSON_DECODE.call([text]) == value
    with pytest.raises(FunctionError):
        JSON_DECODE.call([string("nope")])


def test_json_of_unknown_values() -> None:
    partly = tuple_value([unknown(STRING)])
    opened = refine(unknown(STRING), Refinement(not_null=True, prefix="["))
    assert JSON_ENCODE.call([partly]) == opened
    assert JSON_DECODE.return_type_for([opened]) == DYNAMIC
    number_text = refine(unknown(STRING), Refinement(prefix=" 1"))
    assert JSON_DECODE.return_type_for([number_text]) == NUMBER
    with pytest.raises(FunctionError):
        JSON_DECODE.call([refine(unknown(STRING), Refinement(prefix="x"))])
