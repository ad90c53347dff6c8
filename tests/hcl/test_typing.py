"""What type checkers know: mypy reads this file, and it runs as well."""

from dataclasses import dataclass
from typing import assert_type

from nigari import hcl
from nigari.compat import hcl2
from nigari.hcl.native_body import NativeBody


@dataclass
class Settings:
    port: int


@hcl.function
def twice(text: str) -> str:
    return text * 2


def test_plain_data_needs_no_casts() -> None:
    first: int = hcl.loads("a = [1]")["a"][0]
    value: str = hcl.evaluate("twice(b)", {"b": "x"}, {"twice": twice})
    stand_in: int = hcl2.loads("a = [1]")["a"][0]
    assert (first, value, stand_in) == (1, "xx", 1)


def test_what_is_known_has_its_type() -> None:
    file = hcl.parse("a = 1\n")
    assert_type(file.body, NativeBody)
    assert_type(hcl.parse_any("").body, hcl.Body)
    assert_type(hcl.loads_as(Settings, "port = 1"), Settings)
    assert_type(twice("x"), str)
    assert file.body.attributes["a"].range.start.line == 1
