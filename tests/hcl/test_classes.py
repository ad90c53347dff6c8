"""The classes of the tree, interpreted or compiled."""

from itertools import product

import pytest

import nigari.hcl.decode_language
import nigari.hcl.json_body
import nigari.hcl.override_body
import nigari.hcl.parser  # noqa: F401 - all kinds of expressions
from nigari.hcl.body import Body
from nigari.hcl.decode import Spec
from nigari.hcl.expressions import Expression


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
