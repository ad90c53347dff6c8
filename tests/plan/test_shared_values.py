"""What does not depend on the instance of a repeated block is computed once for all instances."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

import pytest

from nigari.cty.values import Value, number, string, tuple_value
from nigari.diagnostics import Diagnostics
from nigari.eval.core import scope
from nigari.eval.core.compile import Compiled
from nigari.eval.core.shared_values import Names, SharedValues, shared_values
from nigari.hcl.calls import FunctionCall
from nigari.hcl.parser import parse_expression
from nigari.hcl.source import Source
from nigari.lang.files import MemoryFiles
from nigari.lang.functions.table import function_table, is_steady
from nigari.lang.references import references_in_expression
from tests.plan.sessions import applied, plan, planned


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# -- how often expressions are evaluated, and values made of others -------------------------------

_COSTS = {
    "/nigari/hcl/": ("value", "computed"),
    "/nigari/cty/values.py": ("object_value", "tuple_value"),
}

_COUNTED = """
resource "terraform_data" "r" {
  count = SIZE
  input = "x${count.index}"
}
resource "terraform_data" "k" {
  for_each = toset(terraform_data.r[*].input)
  input    = each.key
}
module "m" {
  count  = SIZE
  source = "./m"
  given  = count.index
}
"""

_REFERRING = {
    "splat": "terraform_data.r[*].input",
    "length of a splat": 'length(terraform_data.r[*].input) > 1 ? "a" : "b"',
    "index arithmetic": "element(terraform_data.r[*].input, count.index + 1)",
    "splat of values": "element(values(terraform_data.k)[*].input, count.index)",
    "in a template": '"${length(values(terraform_data.k))} of ${count.index}"',
    "in a loop in a template": '"%{for each in terraform_data.r}${each.input}%{endfor}"',
    "in a for": '[for n in [1, 2] : [n, join(",", [for k in terraform_data.k : k.input])]]',
    "in try": 'try([for each in terraform_data.r : each.input][count.index], "none")',
    "outputs of modules": "element(module.m[*].given, count.index + 1)",
    "count of modules": "length(module.m)",
}


@pytest.mark.parametrize("expression", _REFERRING.values(), ids=_REFERRING)
def test_an_instance_costs_the_same_however_many_there_are(expression: str) -> None:
    few, more, most = (_evaluations(expression, size) for size in (20, 40, 80))
    assert most - more == 2 * (more - few)


@pytest.mark.parametrize("place", ["precondition", "argument of a module"])
def test_so_it_is_elsewhere(place: str) -> None:
    few, more, most = (_evaluations(place, size) for size in (20, 40, 80))
    assert most - more == 2 * (more - few)


_PLACES = {
    "precondition": """
resource "terraform_data" "s" {
  count = SIZE
  lifecycle {
    precondition {
      condition     = length(terraform_data.r[*].input) > count.index
      error_message = "Never."
    }
  }
}
""",
    "argument of a module": """
module "s" {
  count  = SIZE
  source = "./m"
  given  = element(terraform_data.r[*].input, count.index)
}
""",
}


def _evaluations(what: str, size: int) -> int:
    """What a plan costs in which so many instances refer to as many."""
    referring = _PLACES.get(
        what, f'resource "terraform_data" "s" {{\n  count = SIZE\n  input = {what}\n}}\n'
    )
    Path("m").mkdir(exist_ok=True)
    Path("m/main.tf").write_text('variable "given" {}\noutput "given" {\n  value = var.given\n}\n')
    Path("main.tf").write_text((_COUNTED + referring).replace("SIZE", str(size)))
    with _counting() as counted:
        plan()
    return counted[0]


@contextmanager
def _counting() -> Iterator[list[int]]:
    counted, known = [0], dict[CodeType, bool]()

    def listen(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        is_one = known.get(code)
        if is_one is None:
            path = Path(code.co_filename).as_posix()
            is_one = known[code] = any(
                part in path and code.co_name in names for part, names in _COSTS.items()
            )
        counted[0] += is_one and event == "call"

    sys.setprofile(listen)
    try:
        yield counted
    finally:
        sys.setprofile(None)


# -- what is shared, and what is not --------------------------------------------------------------

_SHARED = """
locals {
  names = ["a", "b", "a"]
  map   = { a = 1, b = 2 }
}
variable "secret" {
  default   = "s3cret"
  sensitive = true
}
resource "terraform_data" "r" {
  count = 3
  input = local.names[count.index]
}
module "m" {
  source   = "./m"
  for_each = local.map
  given    = [for n in local.names : upper(n) if n != each.key]
}
resource "terraform_data" "s" {
  count = 4
  input = EXPRESSION
}
output "o" {
  value     = terraform_data.s[*].input
  sensitive = true
}
"""

_SAME = [
    "terraform_data.r[*].input",
    "terraform_data.r[*].id",
    "[terraform_data.r[*].output, length(terraform_data.r)]",
    "[for n in local.names : [for m in local.names : m if m != n]]",
    "[for n in local.names : join(n, [for count in local.names : count])]",
    "[for n in range(2) : element(local.names, n + count.index)]",
    "[for n in range(count.index) : [for m in local.names : upper(m)]]",
    '[for n in range(count.index) : [for m in local.names : "${n}${m}"]]',
    "[[local.names], [local.names]][*][0][*]",
    '[[local.names], [[upper(join("", local.names))]]][*][count.index % 1][0]',
    "[{ a = [{ b = count.index }] }, { a = [{ b = 5 }] }][*].a[*].b",
    "[for each in local.names : [for n in [each] : upper(n)]]",
    "[for self in local.names : upper(self)]",
    "jsonencode([var.secret, upper(var.secret), count.index])",
    "[for n in [var.secret] : upper(n)]",
    'nonsensitive(join("", [var.secret, terraform_data.r[1].input]))',
    "try(local.map.c, upper(local.map.d), count.index)",
    "try(element(local.nothing, count.index), 1)",
    'can(regex("[", local.names[0]))',
    '"%{for n in local.names}${n}%{endfor}%{for n in local.names}${count.index}%{endfor}"',
    'module.m[count.index % 2 == 0 ? "a" : "b"].given',
    "[values(module.m)[*].given, keys(module.m)]",
    "[basename(abspath(path.module)), upper(terraform.workspace)]",
    "merge({ for n, v in local.map : n => v }, { (count.index) = sum(values(local.map)) })",
    "element(terraform_data.r, count.index).input",
    'core::upper(core::join("", local.names))',
    'fileexists("main.tf")',
    # These report something, each instance for itself.
    "upper(local.names[7])",
    "[for n in local.names : upper(n, n)]",
    "element(local.names, terraform_data.r[9].input)",
    "upper(local.missing)",
    "upper(terraform_data.s[0].input)",
    "upper(each.key)",
    "upper(nothing.at.all)",
    "[for n in null : n]",
    "{ for n in local.names : n => n }",
    "templatestring(local.names[0], {})",
]


@pytest.mark.parametrize("expression", _SAME)
def test_it_is_the_same_as_without(expression: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("m").mkdir()
    Path("m/main.tf").write_text('variable "given" {}\noutput "given" {\n  value = var.given\n}\n')
    Path("main.tf").write_text(_SHARED.replace("EXPRESSION", expression))
    shared = _outcome()
    monkeypatch.setattr(scope, "shared_values", _nothing)
    assert shared == _outcome()


def _nothing(*_: object) -> None:
    """Nothing is shared."""


def _outcome() -> tuple[object, ...]:
    """What a plan says of each instance, and everything that is reported."""
    made, told = planned()
    changes = [] if made is None else [(str(each.address), each.after) for each in made.changes]
    return changes, [(each.summary, each.detail, each.subject, each.address) for each in told]


@pytest.mark.parametrize(
    ("expression", "kinds"),
    [
        ("lower(uuid())", 3),
        ("[for n in [1] : uuid()][0]", 3),
        ('try(uuid(), "")', 3),
        ("core::lower(core::uuid())", 3),
        ('templatestring("$${uuid()}", {})', 3),
        ("[for n in [uuid()] : n][0]", 3),
        ('lower("A")', 1),
    ],
)
def test_what_differs_at_each_call_is_called_for_each(expression: str, kinds: int) -> None:
    Path("main.tf").write_text(
        'resource "terraform_data" "s" {\n  count = 3\n  input = EXPRESSION\n}\n'
        'output "o" {\n  value = terraform_data.s[*].output\n}\n'.replace("EXPRESSION", expression)
    )
    done = applied()
    assert done.counts == (3, 0, 0)
    assert len({each.as_string() for each in done.applied.outputs["o"].value.sequence()}) == kinds


_UNSTEADY = (
    "bcrypt file filebase64 filebase64sha256 filebase64sha512 fileexists filemd5 fileset filesha1 "
    "filesha256 filesha512 templatefile templatestring timestamp uuid"
)


def test_functions_that_may_give_another_result_are_not_shared() -> None:
    table = function_table(MemoryFiles({}), ".")
    assert {name for name in table if not is_steady(name)} == {
        f"{prefix}{name}" for name in _UNSTEADY.split() for prefix in ("", "core::")
    }
    assert not is_steady("provider::simple::noop")


def test_what_finds_other_values_shares_nothing() -> None:
    problems = Diagnostics()
    expression = parse_expression(Source("t.tf", "length(a.b[*].c) + count.index"), problems)
    found = references_in_expression(expression, problems)
    compiled = Compiled(expression, tuple(found))
    assert not problems
    one, other = tuple_value([string("x")]), tuple_value([string("x")])
    known: dict[int, SharedValues] = {}

    def ask(value: Value, text: str, index: int) -> dict[Hashable, Value | None] | None:
        names: Names = {"a": {"b": value, "t": string(text)}, "count": {"index": number(index)}}
        return shared_values(known, compiled, names)

    assert ask(one, "t", 0) is None
    shared = ask(one, "t", 1)
    assert shared is not None
    assert [type(each) for each in shared] == [FunctionCall]
    assert ask(one, "t", 2) is shared
    assert ask(other, "t", 3) is None
    again = ask(other, "t", 4)
    assert again is not None
    assert again is not shared
    assert ask(other, "u", 5) is None
