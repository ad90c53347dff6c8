import pytest

from nigari import cty
from nigari.schema.block import Attribute, Block, NestedAttributes, NestedBlock, Nesting
from nigari.schema.coerce import coerce, without_null_blocks

INNER = Block({"name": Attribute(cty.STRING, optional=True)})
INNER_TYPE = INNER.implied_type
FLAT = Block(
    {
        "name": Attribute(cty.STRING, required=True),
        "size": Attribute(cty.NUMBER, optional=True),
        "id": Attribute(cty.STRING, computed=True),
    }
)


def _inner(name: str) -> cty.Value:
    return cty.object_value({"name": cty.string(name)})


def _nested(nesting: Nesting, block: Block = INNER) -> Block:
    return Block({}, {"inner": NestedBlock(block, nesting)})


def test_what_is_missing_is_filled_in_and_what_can_be_is_converted() -> None:
    given = cty.object_value({"name": cty.number(5), "size": cty.string("7")})
    assert coerce(FLAT, given) == cty.object_value(
        {"name": cty.string("5"), "size": cty.number(7), "id": cty.null(cty.STRING)}
    )


def test_null_and_unknown_stay_what_they_are() -> None:
    assert coerce(FLAT, cty.null(cty.DYNAMIC)) == cty.null(FLAT.implied_type)
    assert coerce(FLAT, cty.DYNAMIC_UNKNOWN) == cty.unknown(FLAT.implied_type)


def test_marks_are_kept() -> None:
    given = cty.object_value({"name": cty.string("a").mark("secret")}).mark("whole")
    result = coerce(FLAT, given)
    assert result.marks == {"whole"}
    assert result.unmark()[0].attribute("name").marks == {"secret"}


COLLECTIONS = [
    (Nesting.LIST, cty.tuple_value([_inner("a")]), cty.list_value(INNER_TYPE, [_inner("a")])),
    (Nesting.SET, cty.tuple_value([_inner("a")]), cty.set_value(INNER_TYPE, [_inner("a")])),
    (
        Nesting.MAP,
        cty.object_value({"k": _inner("a")}),
        cty.map_value(INNER_TYPE, {"k": _inner("a")}),
    ),
    (Nesting.SINGLE, _inner("a"), _inner("a")),
    (Nesting.LIST, cty.EMPTY_TUPLE, cty.list_value(INNER_TYPE, ())),
    (Nesting.LIST, cty.null(cty.DYNAMIC), cty.null(cty.ListType(INNER_TYPE))),
    (Nesting.SET, cty.DYNAMIC_UNKNOWN, cty.unknown(cty.SetType(INNER_TYPE))),
    (Nesting.SINGLE, cty.null(cty.DYNAMIC), cty.null(INNER_TYPE)),
]


@pytest.mark.parametrize(("nesting", "given", "expected"), COLLECTIONS)
def test_nested_blocks(nesting: Nesting, given: cty.Value, expected: cty.Value) -> None:
    result = coerce(_nested(nesting), cty.object_value({"inner": given}))
    assert result.attribute("inner") == expected


def test_elements_of_differing_types_make_a_tuple_or_an_object() -> None:
    loose = Block({"any": Attribute(cty.DYNAMIC, optional=True)})
    text = cty.object_value({"any": cty.string("a")})
    number = cty.object_value({"any": cty.number(1)})
    given = cty.object_value({"inner": cty.tuple_value([text, number])})
    assert coerce(_nested(Nesting.LIST, loose), given) == given
    given = cty.object_value({"inner": cty.object_value({"a": text, "b": number})})
    assert coerce(_nested(Nesting.MAP, loose), given) == given


def test_nested_attributes_may_leave_out_what_is_optional() -> None:
    nested = NestedAttributes(
        {
            "name": Attribute(cty.STRING, required=True),
            "size": Attribute(cty.NUMBER, optional=True),
        },
        Nesting.LIST,
    )
    block = Block({"parts": Attribute(nested=nested, optional=True)})
    given = cty.object_value({"parts": cty.tuple_value([_inner("a")])})
    part = cty.object_value({"name": cty.string("a"), "size": cty.null(cty.NUMBER)})
    assert coerce(block, given).attribute("parts") == cty.list_value(part.type, [part])


REFUSED = [
    (FLAT, cty.string("x"), "", "object is required"),
    (FLAT, cty.EMPTY_OBJECT, "", '"name" is required'),
    (FLAT, cty.object_value({"other": cty.TRUE}), "", 'unexpected attribute "other"'),
    (FLAT, cty.object_value({"name": cty.EMPTY_TUPLE}), ".name", "string"),
    (_nested(Nesting.LIST), cty.object_value({"inner": cty.TRUE}), ".inner", "list"),
    (_nested(Nesting.MAP), cty.object_value({"inner": cty.EMPTY_TUPLE}), ".inner", ""),
    (
        _nested(Nesting.LIST),
        cty.object_value({"inner": cty.tuple_value([_inner("a"), cty.TRUE])}),
        ".inner[1]",
        "object",
    ),
]


@pytest.mark.parametrize(("block", "given", "path", "part"), REFUSED)
def test_what_does_not_fit_is_refused_at_its_path(
    block: Block, given: cty.Value, path: str, part: str
) -> None:
    if not part:
        assert coerce(block, given).attribute("inner") == cty.map_value(INNER_TYPE, {})
        return
    with pytest.raises(cty.CtyError) as caught:
        coerce(block, given)
    assert cty.path_text(caught.value.path) == path
    assert part in caught.value.message


LOOSE = Block({"any": Attribute(cty.DYNAMIC, optional=True)})


@pytest.mark.parametrize(
    ("nesting", "empty"),
    [
        (Nesting.LIST, cty.list_value(LOOSE.implied_type, ())),
        (Nesting.SET, cty.set_value(LOOSE.implied_type, ())),
        (Nesting.MAP, cty.map_value(LOOSE.implied_type, {})),
    ],
)
def test_empty_collections_of_an_open_type_keep_their_kind(
    nesting: Nesting, empty: cty.Value
) -> None:
    given = cty.object_value({"inner": cty.EMPTY_TUPLE})
    assert coerce(_nested(nesting, LOOSE), given).attribute("inner") == empty


@pytest.mark.parametrize(
    ("nesting", "block", "wanted"),
    [
        (Nesting.LIST, INNER, cty.list_value(INNER_TYPE, ())),
        (Nesting.SET, INNER, cty.set_value(INNER_TYPE, ())),
        (Nesting.GROUP, INNER, cty.object_value({"name": cty.null(cty.STRING)})),
        (Nesting.SINGLE, INNER, cty.null(INNER_TYPE)),
        (Nesting.MAP, INNER, cty.null(cty.MapType(INNER_TYPE))),
        (Nesting.LIST, LOOSE, cty.null(cty.DYNAMIC)),
    ],
)
def test_null_blocks(nesting: Nesting, block: Block, wanted: cty.Value) -> None:
    outer = _nested(nesting, block)
    inside = _nested(Nesting.LIST, outer)
    absent = cty.object_value({"inner": cty.null(outer.implied_type.attributes["inner"])})
    found = without_null_blocks(outer, absent)
    assert found.attribute("inner") == wanted
    if not block.implied_type.has_dynamic:
        deep = cty.object_value({"inner": cty.list_value(outer.implied_type, [absent])})
        assert without_null_blocks(inside, deep).attribute("inner").sequence() == (found,)
