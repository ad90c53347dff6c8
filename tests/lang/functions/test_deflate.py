"""Compressed data must be that of OpenTofu, byte for byte. The answers are those of its console."""

import hashlib
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari.cty.values import string
from nigari.lang.files import MemoryFiles
from nigari.lang.functions.deflate import deflated
from nigari.lang.functions.table import function_table

FUNCTIONS = function_table(MemoryFiles({}), ".")
SCRIPT = (
    "#!/bin/sh\nset -e\napt-get update\napt-get install -y nginx\n"
    "systemctl enable nginx\nsystemctl start nginx\n"
)


def noise(count: int, letters: str) -> str:
    """The same letters every time, in no order."""
    state = 1
    chosen = []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2**31
        chosen.append(letters[(state >> 16) % len(letters)])
    return "".join(chosen)


def compressed(text: str) -> str:
    return FUNCTIONS["base64gzip"].call([string(text)]).as_string()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param("", "H4sIAAAAAAAA/wAAAP//AQAA//8AAAAAAAAAAA==", id="nothing"),
        pytest.param("a", "H4sIAAAAAAAA/0oEAAAA//8BAAD//0O+t+gBAAAA", id="one byte"),
        pytest.param(
            "hello " * 5,
            "H4sIAAAAAAAA/8pIzcnJV8BFAgAAAP//AQAA//++y4q9HgAAAA==",
            id="a repetition",
        ),
        pytest.param(
            SCRIPT,
            "H4sIAAAAAAAA/2TIsQqFMAwF0L1fkcebS78p1VALMRTvFezfuwgOjuf8f6X2KNgSjJIt6WBuRjnHqnzZA1R3"
            "yVOi9bgSJmj7QhcLrW6fBvXgszcAAAD//wEAAP//O///EWYAAAA=",
            id="codes of its own",
        ),
    ],
)
def test_small(text: str, wanted: str) -> None:
    assert compressed(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param(
            "".join(f"line {i} of {i * i}\n" for i in range(5_000)),
            "96ad621e7154c871b4a8de1a7da1c27f6bf22464389bc1fe772fe821d2f82aa8",
            id="more than the window",
        ),
        pytest.param(
            noise(40_000, "abc"),
            "d25bd313c05952d85ced5d68c66ebc69fe4c1356b7baf8540e79711f2bbf696c",
            id="short repetitions",
        ),
        pytest.param(
            noise(70_000, "".join(map(chr, range(33, 127)))),
            "8833d50f9ddf866dd5b73c2965dd70f56e3c06d89a2412c40e13b6b090cc59da",
            id="hardly any",
        ),
    ],
)
def test_large(text: str, wanted: str) -> None:
    assert hashlib.sha256(compressed(text).encode()).hexdigest() == wanted


@given(st.binary(max_size=2000) | st.text("ab", max_size=2000).map(str.encode))
def test_it_can_be_read_again(data: bytes) -> None:
    assert zlib.decompress(deflated(data), -zlib.MAX_WBITS) == data
