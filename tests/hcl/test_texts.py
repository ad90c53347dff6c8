"""What the functions of the package take for a text."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nigari import hcl


@pytest.mark.parametrize(
    "use", [hcl.parse, hcl.parse_any, hcl.loads, hcl.evaluate, hcl.format, hcl.edit, hcl.expression]
)
def test_a_path_is_not_a_text(use: Callable[[object], object]) -> None:
    with pytest.raises(TypeError, match="the text of a file is required, not a path"):
        use(Path("main.tf"))
    with pytest.raises(TypeError, match="the text of a file is required, not int"):
        use(5)


def test_texts_may_be_bytes() -> None:
    assert hcl.format("ä=1\n".encode()) == "ä = 1\n"
    assert str(hcl.edit("ä = 1\n".encode())) == "ä = 1\n"
    assert str(hcl.expression(b"a.b").variables()[0]) == "a.b"


def test_errors_of_a_file_can_be_raised() -> None:
    hcl.parse("a = 1\n").raise_for_errors()
    with pytest.raises(hcl.HclError, match="1: a ="):
        hcl.parse("a = \n").raise_for_errors()
