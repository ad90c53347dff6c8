"""What someone reads who calls the library with the wrong kind of thing."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import nigari
from nigari import cty, hcl

ANY: Any = object()
"""Something that no parameter takes; type checkers would refuse most of these calls."""


@dataclass
class Service:
    port: int


def wrong(given: object) -> Any:  # noqa: ANN401 - what a caller without a type checker passes
    return given


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: hcl.loads(wrong(3)), "the text of a file is required, not int"),
        (lambda: hcl.loads(wrong(Path("a.hcl"))), "not a path"),
        (lambda: hcl.load(wrong(None)), "a path or an open file is required, not NoneType"),
        (lambda: hcl.evaluate("a", wrong(["a"])), "variables are given by name, in a dict"),
        (lambda: hcl.evaluate("a()", functions=wrong([len])), "functions are given by name"),
        (
            lambda: hcl.evaluate("a", {"a": 1, "b": [ANY]}),
            r"the variable b: \[0\]: a Python object",
        ),
        (lambda: hcl.loads_as(wrong(Service(1)), "port = 1"), "the class to decode into"),
        (lambda: hcl.loads_as(wrong("port = 1"), wrong(Service)), "the class to decode into"),
        (lambda: hcl.dumps(wrong([1])), "a dict or a dataclass, not list"),
        (lambda: hcl.dumps({wrong(1): 2}), "the name of an argument or block is a str, not int"),
        (lambda: hcl.dumps({"a": {"b": [ANY]}}), "the argument a: a Python object"),
        (lambda: hcl.dumps({"a": {1: 2}}), "the argument a: an attribute name is a str, not int"),
        (lambda: hcl.raw(wrong(3)), "the text of an expression is a str, not int"),
        (lambda: hcl.block("a", wrong([1])), "the body of a block is a dict, not list"),
        (
            lambda: cty.list_value(cty.STRING, wrong(["a"])),
            "an element is a Value, not a Python str",
        ),
        (
            lambda: cty.set_value(cty.STRING, wrong(["a"])),
            "an element is a Value, not a Python str",
        ),
        (lambda: cty.map_value(cty.STRING, wrong({"a": "b"})), "an element is a Value"),
        (lambda: cty.tuple_value(wrong([1])), "an element is a Value, not a Python int"),
        (lambda: cty.object_value(wrong({"a": 1})), "an element is a Value, not a Python int"),
        (lambda: cty.object_value(wrong({1: cty.TRUE})), "the names of attributes are of type str"),
        (lambda: cty.ListType(wrong(str)), "a type such as cty.STRING is required, not <class"),
        (lambda: cty.TupleType(wrong([str])), "a type such as cty.STRING is required"),
        (lambda: cty.ObjectType(wrong({"a": int})), "a type such as cty.STRING is required"),
        (lambda: cty.convert(wrong("1"), cty.NUMBER), "a Value is required, not a Python str"),
        (lambda: cty.convert(cty.string("1"), wrong(int)), "a type such as cty.STRING is required"),
        (
            lambda: nigari.load(".", variables=wrong(["a"])),
            "variables are given by name, in a dict",
        ),
        (lambda: nigari.load(".", variables={"a": ANY}), "the variable a: a Python object"),
        (
            lambda: nigari.load(".", var_files="a.tfvars"),
            "var_files is a list of paths, not one path",
        ),
    ],
)
def test_wrong_types(call: Callable[[], object], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        call()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_cannot_be_written(number: float) -> None:
    with pytest.raises(ValueError, match="HCL has no such number"):
        hcl.dumps({"a": [number]})


def test_wrong_variables_are_errors_of_a_configuration(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('variable "n" {\n  type = number\n}\n')
    with pytest.raises(nigari.SessionError, match="does not match its type"):
        nigari.load(tmp_path, variables={"n": "x"}).raise_for_errors()
    nigari.load(tmp_path, variables={"n": "1"}).raise_for_errors()
    nigari.load(tmp_path).raise_for_errors()
