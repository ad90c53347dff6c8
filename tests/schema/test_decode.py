import pytest

from nigari import cty
from nigari.diagnostics import Diagnostics
from nigari.hcl.dynamic_blocks import expand
from nigari.hcl.parser import parse_body
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.schema.block import Attribute, Block, NestedAttributes, NestedBlock, Nesting
from nigari.schema.decode import decode, decoder_spec

INNER = Block({"name": Attribute(cty.STRING, optional=True)})
LOOSE = Block({"any": Attribute(cty.DYNAMIC, optional=True)})
BLOCK = Block(
    {
        "name": Attribute(cty.STRING, required=True),
        "size": Attribute(cty.NUMBER, optional=True),
        "nested": Attribute(
            nested=NestedAttributes({"a": Attribute(cty.STRING, optional=True)}, Nesting.LIST),
            optional=True,
        ),
    },
    {
        "single": NestedBlock(INNER, Nesting.SINGLE),
        "group": NestedBlock(INNER, Nesting.GROUP),
        "list": NestedBlock(INNER, Nesting.LIST, 0, 2),
        "set": NestedBlock(INNER, Nesting.SET),
        "map": NestedBlock(INNER, Nesting.MAP),
        "loose": NestedBlock(LOOSE, Nesting.LIST),
    },
)


def decoded(text: str) -> tuple[cty.Value, Diagnostics]:
    diags = Diagnostics()
    body = parse_body(Source.from_bytes("t.tf", text.encode()), diags)
    return decode(BLOCK, body, Scope(), diags), diags


def test_a_body_with_everything() -> None:
    value, diags = decoded(
        """
        name = 5
        size = "7"
        nested = [{}, { a = "x" }]
        single { name = "s" }
        group { name = "g" }
        list { name = "l1" }
        list { name = "l2" }
        set { name = "same" }
        set { name = "same" }
        map "k" { name = "m" }
        loose { any = 1 }
        loose { any = "two" }
        """
    )
    assert not list(diags)
    assert value.to_python() == {
        "name": "5",
        "size": 7,
        "nested": [{"a": None}, {"a": "x"}],
        "single": {"name": "s"},
        "group": {"name": "g"},
        "list": [{"name": "l1"}, {"name": "l2"}],
        "set": [{"name": "same"}],
        "map": {"k": {"name": "m"}},
        "loose": [{"any": 1}, {"any": "two"}],
    }


def test_a_body_with_as_little_as_possible_has_the_implied_type() -> None:
    value, diags = decoded('name = "n"')
    assert not list(diags)
    assert value.to_python() == {
        "name": "n",
        "size": None,
        "nested": None,
        "single": None,
        "group": {"name": None},
        "list": [],
        "set": [],
        "map": {},
        "loose": [],
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        'name = "a"\nother = 1',
        'name = "a"\nsize = "x"',
        'name = "a"\nsingle {}\nsingle {}',
        'name = "a"\nlist {}\nlist {}\nlist {}',
        'name = "a"\nmap {}',
        'name = "a"\nunknown {}',
    ],
)
def test_what_does_not_fit_is_one_error(text: str) -> None:
    _, diags = decoded(text)
    assert diags.error_count == 1


def test_the_specification_is_made_once() -> None:
    assert decoder_spec(BLOCK) is decoder_spec(BLOCK)


OBJECT = {"a": Attribute(cty.ObjectType({"b": cty.STRING}), optional=True)}
"""What schemas have whose attributes cannot be written as blocks."""


@pytest.mark.parametrize(
    ("nesting", "more", "is_whole"),
    [
        (Nesting.LIST, {}, False),
        (Nesting.LIST, OBJECT, True),
        (Nesting.MAP, OBJECT, True),
        (Nesting.SINGLE, OBJECT, False),
        (Nesting.GROUP, OBJECT, False),
    ],
)
def test_blocks_from_a_secret(nesting: Nesting, more: dict[str, Attribute], is_whole: bool) -> None:
    block = Block(more, {"row": NestedBlock(INNER, nesting)})
    labels = '  labels = ["k"]\n' if nesting is Nesting.MAP else ""
    text = f'dynamic "row" {{\n  for_each = secret\n{labels}  content {{ name = "x" }}\n}}\n'
    diags = Diagnostics()
    scope = Scope({"secret": cty.list_value(cty.STRING, [cty.string("s")]).mark("sensitive")})
    body = expand(parse_body(Source("t.tf", text), diags), scope)
    value = decode(block, body, scope, diags).attribute("row")
    assert not list(diags)
    assert not value.is_marked
    row = value if nesting in (Nesting.SINGLE, Nesting.GROUP) else next(iter(value.items()))[1]
    assert row.is_marked is is_whole
    assert row.unmark()[0].attribute("name").is_marked
