"""The faults that judge the tests: those that are listed fit, and those that are drawn can be made."""

from __future__ import annotations

import ast

import pytest

from scripts.mutants import ROOT, Mutant, listed
from scripts.small_faults import small_faults


@pytest.mark.parametrize("mutant", listed(), ids=lambda each: each.name)
def test_listed_faults_fit(mutant: Mutant) -> None:
    source = (ROOT / mutant.path).read_text()
    assert mutant.applied(source) != source


def test_names_differ() -> None:
    names = [each.name for each in listed()]
    assert len(names) == len(set(names))


_MODULE = """\
LIMIT = 1

class C:
    def f(self, x: int = 1) -> bool:
        "It is 1."
        assert x > 0
        if x > 2 and not self.y:
            note(x, is_new=True)
            return all(x for _ in ())
        self.z = 1 + x
        é = "ü"; return é is None
"""


def test_small_faults() -> None:
    found = {each.told(_MODULE): each for each in small_faults(_MODULE)}
    assert sorted(found) == [
        "1  ->  (2)",
        "1 + x  ->  (1 - x)",
        "2  ->  (3)",
        "True  ->  (False)",
        "all(x for _ in ())  ->  (any((x for _ in ())))",
        "not self.y  ->  (self.y)",
        "note(x, is_new=True)  ->  (note(x))",
        "note(x, is_new=True)  ->  pass",
        "return all(x for _ in ())  ->  return None",
        "self.z = 1 + x  ->  pass",
        "x > 2  ->  (x >= 2)",
        "x > 2 and not self.y  ->  (not (x > 2 and (not self.y)))",
        "x > 2 and not self.y  ->  (x > 2 or not self.y)",
        "é is None  ->  (é is not None)",
    ]
    for each in found.values():
        assert each.function == "C.f"
        changed = each.applied(_MODULE)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(_MODULE))
        assert changed.count("\n") == _MODULE.count("\n")
