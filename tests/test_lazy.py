"""What is there when it is first used is then what it would have been at once."""

import re
import subprocess
import sys

import pytest

from nigari.lazy import lazy_pattern


def test_names_are_listed_before_they_are_used() -> None:
    command = "import sys; from nigari import cty, diagnostics, hcl; print("
    command += "[name for each in (cty, diagnostics, hcl) for name in each.__all__ if name not in dir(each)],"
    command += "'nigari.hcl.writer' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[] False\n"


def test_a_lazy_pattern_does_what_a_compiled_one_does() -> None:
    lazy, compiled = lazy_pattern(r"(a)(B)?", re.IGNORECASE), re.compile(r"(a)(B)?", re.IGNORECASE)
    text = "xABay"
    assert lazy.findall(text) == compiled.findall(text)
    assert [each.span() for each in lazy.finditer(text, 1)] == [(1, 3), (3, 4)]
    assert lazy.fullmatch("ab") is not None
    assert lazy.match(text) is None
    assert lazy.match(text, 1) is not None
    assert lazy.search(text) is not None
    assert lazy.split(text) == compiled.split(text)
    assert lazy.sub(".", text) == "x..y"
    assert lazy.subn(".", text) == ("x..y", 2)
    assert (lazy.pattern, lazy.flags, lazy.groups) == (compiled.pattern, compiled.flags, 2)


def test_a_lazy_pattern_may_be_of_bytes() -> None:
    assert lazy_pattern(rb"b+").findall(b"abbab") == [b"bb", b"b"]


def test_a_lazy_pattern_is_compiled_when_it_is_used() -> None:
    wrong = lazy_pattern("(")
    with pytest.raises(re.error, match="missing"):
        wrong.match("")
