"""The classes of the tree, interpreted or compiled."""

import ast
from itertools import product
from pathlib import Path
from typing import Final

import pytest

import nigari.hcl.decode_language
import nigari.hcl.json_body
import nigari.hcl.override_body
import nigari.hcl.parser  # noqa: F401 - all kinds of expressions
from nigari.hcl.body import Body
from nigari.hcl.decode import Spec
from nigari.hcl.expressions import Expression

SOURCE: Final = Path(__file__).resolve().parents[2] / "src" / "nigari"


def family(base: type) -> list[type]:
    found = [base]
    for each in found:
        found.extend(each.__subclasses__())
    return found


@pytest.mark.parametrize("base", [Body, Expression, Spec])
def test_siblings_are_told_apart(base: type) -> None:
    classes = family(base)
    assert len(classes) > 3
    for one, other in product(classes, classes):
        assert issubclass(one, other) == (other in one.__mro__), (one, other)


def test_classes_of_other_packages_are_there_when_they_are_checked() -> None:
    """Compiled, an annotation is checked, so that the class must be imported when it is."""
    compiled = ("nigari.cty", "nigari.hcl", "nigari.regexp")
    found = [
        f"{path.parent.name}/{path.name}: {each.module}"
        for package in ("cty", "hcl", "regexp")
        for path in (SOURCE / package).rglob("*.py")
        if path.name != "__init__.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for each in node.body
        if isinstance(each, ast.ImportFrom) and each.module is not None
        if each.module.startswith("nigari.") and not each.module.startswith(compiled)
    ]
    assert not found
