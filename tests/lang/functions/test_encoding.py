import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari.cty.values import string
from nigari.lang.files import MemoryFiles
from nigari.lang.functions.table import function_table
from tests.lang.functions.evaluation import failure_of, python_of

FUNCTIONS = function_table(MemoryFiles({}), ".")


@pytest.mark.parametrize(
    ("there", "back"),
    [
        ("base64encode", "base64decode"),
        ("base64gzip", "base64gunzip"),
        ("urlencode", "urldecode"),
        ("jsonencode", "jsondecode"),
        ("yamlencode", "yamldecode"),
    ],
)
@given(text=st.text())
def test_there_and_back(there: str, back: str, text: str) -> None:
    given_value = string(text)
    assert FUNCTIONS[back].call([FUNCTIONS[there].call([given_value])]) == given_value


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16", "UTF-16LE", "UTF-16BE", "GB18030"])
@given(
    text=st.text(st.characters(exclude_categories=["Cs", "Co", "Cn"], exclude_characters="\ufeff"))
)
def test_unicode_encodings(encoding: str, text: str) -> None:
    name, given_value = string(encoding), string(text)
    encoded = FUNCTIONS["textencodebase64"].call([given_value, name])
    assert "�" in text or FUNCTIONS["textdecodebase64"].call([encoded, name]) == given_value


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('base64decode("YQ==\\n")', "a"),
        ('base64gzip("hello")', "H4sIAAAAAAAA/8pIzcnJBwAAAP//AQAA//+GphA2BQAAAA=="),
        ('urlencode("a b&é~*")', "a+b%26%C3%A9~%2A"),
        ('textencodebase64("é", "latin1")', "6Q=="),
        ('textencodebase64("^[", "IBM1047")', "X60="),
        ('textencodebase64("a", " utf-8 ")', "YQ=="),
        ('textdecodebase64("//5hAA==", "UTF-16")', "a"),
        ('uuidv5("dns", "tada")', "faa898db-9b9d-5b75-86a9-149e7bb8e3b8"),
        (
            'uuidv5("{6BA7B810-9DAD-11D1-80B4-00C04FD430C8}", "tada")',
            python_of('uuidv5("dns", "tada")'),
        ),
        ('base64sha256("test")', "n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="),
        ('substr(bcrypt("a", 4), 0, 7)', "$2a$04$"),
    ],
)
def test_call(text: str, wanted: object) -> None:
    assert python_of(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        'base64decode("YQ")',
        'base64decode("YQ=")',
        'base64decode("Y Q==")',
        'base64decode("/w==")',
        'base64decode("_w==")',
        'base64gunzip("YQ==")',
        'urldecode("%4")',
        'urldecode("%zz")',
        'textencodebase64("€", "ISO-8859-1")',
        'textencodebase64("\\u0081", "ISO-8859-2")',
        'textencodebase64("a", "nope")',
        'textdecodebase64("YQ==", "UTF-16LE")',
        'uuidv5("nope", "a")',
        'bcrypt("a", 32)',
        f'bcrypt("{"a" * 73}", 4)',
        'rsadecrypt("!", "x")',
        'rsadecrypt("YQ==", "x")',
    ],
)
def test_failing_call(text: str) -> None:
    assert failure_of(text)


def test_secrets_are_not_quoted() -> None:
    assert "hunter2" not in failure_of('base64decode(sensitive("hunter2"))')
    assert "hunter2" not in failure_of('tonumber(sensitive("hunter2"))')
    assert "hunter2" not in failure_of('file(sensitive("hunter2"))')
    assert "hunter2" not in failure_of('lookup({}, sensitive("hunter2"))')
