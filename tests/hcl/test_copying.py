"""Everything pickles and copies, interpreted or compiled."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from nigari import cty, hcl
from nigari.cty.function import Parameter
from nigari.cty.stdlib.strings import UPPER
from nigari.hcl.body import AttributeSchema, BlockSchema, Body, BodySchema
from nigari.hcl.dynamic_blocks import expand
from nigari.hcl.override_body import OverrideBody
from nigari.hcl.scope import Scope

NATIVE = """\
a = [for k, v in var.x : upper(k) if v != null && !v.y[0].z[*].q]
b = { (c) = -1 + 2 * 3, d = "x${e}%{ if f }y%{ else }z%{ endif }" }
g = <<-EOT
  ${h.i["j"]}
EOT
k = l ? provider::m::n(o...) : { for p in q : p => p... }
r "s" t {
  u = (v)
  w {}
}
x = y[var.z].*.a
broken = [
"""
JSON = '{"a": {"b": ["${c}", 1, null, "\\\\n\\u00e9 ${d[0]}"]}}'

COPIES: list[Callable[[object], object]] = [
    copy.copy,
    copy.deepcopy,
    lambda each: pickle.loads(pickle.dumps(each)),
]


def shape(thing: object) -> object:
    """What a copy must have in common with its original."""
    if isinstance(thing, hcl.File):
        return shape(thing.body), list(thing.diagnostics)
    if isinstance(thing, Body):
        attributes = thing.just_attributes(hcl.parse("").diagnostics)
        return {
            name: (str(each.range), repr(each.expr), [str(v) for v in each.expr.variables()])
            for name, each in attributes.items()
        }
    return repr(thing)


def things() -> list[object]:
    native, json = hcl.parse(NATIVE, "a.tf"), hcl.parse(JSON, "a.tf.json")
    document = hcl.edit(NATIVE)
    expressions = [each.expr for each in native.body.just_attributes(native.diagnostics).values()]
    schema = BodySchema((AttributeSchema("a", True),), (BlockSchema("r", ("x",)),))
    content, rest = native.body.partial_content(schema, native.diagnostics)
    expanded = expand(native.body, Scope({"x": [1]}))
    overridden = OverrideBody(native.body, json.body)
    references = [each for expr in expressions for each in expr.variables()]
    return [
        native,
        json,
        native.source,
        native.diagnostics,
        *expressions,
        *references,
        *references[0].steps,
        content.attributes["a"],
        content.blocks,
        rest,
        expanded,
        overridden,
        document,
        *document.body.items,
        Parameter("a", cty.STRING, description="text"),
        cty.ObjectType({"a": cty.BOOL}, frozenset("a")),
        cty.refine(cty.unknown(cty.STRING), cty.Refinement(True, prefix="x")),
    ]


@pytest.mark.parametrize("copied", COPIES)
def test_a_copy_is_like_the_original(copied: Callable[[object], object]) -> None:
    for thing in things():
        again = copied(thing)
        assert type(again) is type(thing)
        assert shape(again) == shape(thing)


@pytest.mark.parametrize("copied", COPIES)
def test_a_copied_expression_has_the_same_value(copied: Callable[[object], object]) -> None:
    scope = Scope({"a": cty.Value.of({"b": [1, 2]})}, {"upper": UPPER})
    expr = hcl.expression('"${upper("x")}-${a.b[1] + 1}"')
    again = copied((expr, scope))
    assert isinstance(again, tuple)
    diags = hcl.parse("").diagnostics
    assert again[0].value(again[1], diags).to_python() == "X-3"
    assert not len(diags)


def test_what_is_not_in_order_is_written_back_after_copying() -> None:
    text = Path(__file__).read_text()  # not HCL at all
    assert str(copy.deepcopy(hcl.edit(text))) == text


def test_equal_references_are_equal() -> None:
    one, two, other = hcl.expression('[a.b[0], a.b["0"], a .b[0]]').variables()
    assert one == other
    assert hash(one) == hash(other)
    assert one != two
    assert one.steps[1] == other.steps[1]
    assert len({one, two, other}) == 2
