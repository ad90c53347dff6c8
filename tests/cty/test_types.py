"""Types: names, equality, conformance, depth."""

import pickle

import pytest

from nigari import cty
from nigari.cty import BOOL, DYNAMIC, NUMBER, STRING, ListType, MapType, ObjectType, SetType, Type
from nigari.cty.types import MAX_DEPTH, object_type_of, primitive, tuple_type_of


@pytest.mark.parametrize(
    ("type_", "name", "written"),
    [
        (STRING, "string", "string"),
        (DYNAMIC, "dynamic", "any"),
        (ListType(STRING), "list of string", "list(string)"),
        (SetType(ListType(NUMBER)), "set of list of number", "set(list(number))"),
        (MapType(DYNAMIC), "map of anything", "map(any)"),
        (cty.TupleType((STRING, BOOL)), "tuple", "tuple([string, bool])"),
        (
            ObjectType({"b": NUMBER, "a": BOOL}, frozenset({"b"})),
            "object",
            "object({a = bool, b = optional(number)})",
        ),
        (cty.CapsuleType("thing", dict), "thing", "thing"),
    ],
)
def test_names(type_: Type, name: str, written: str) -> None:
    assert type_.friendly_name() == name
    assert repr(type_) == written


KINDS: list[Type] = [
    STRING,
    NUMBER,
    BOOL,
    DYNAMIC,
    ListType(STRING),
    SetType(STRING),
    MapType(STRING),
    ListType(NUMBER),
    cty.TupleType(()),
    cty.TupleType((STRING,)),
    ObjectType({}),
    ObjectType({"a": STRING}),
    ObjectType({"a": STRING}, frozenset("a")),
    ObjectType({"a": ListType(DYNAMIC)}),
    cty.CapsuleType("thing", dict),
    cty.CapsuleType("thing", list),
]


def test_types_are_equal_by_structure_only() -> None:
    for i, type_ in enumerate(KINDS):
        for j, other in enumerate(KINDS):
            again: Type = pickle.loads(pickle.dumps(other))
            assert (type_ == other) is (i == j)
            assert (type_ == again) is (i == j)
            assert (hash(type_) == hash(again)) is (i == j)


def test_primitives_are_single_objects() -> None:
    assert pickle.loads(pickle.dumps(STRING)) is STRING
    assert primitive(NUMBER.kind) is NUMBER


def test_types_of_values_are_shared() -> None:
    assert object_type_of({"a": STRING}) is object_type_of({"a": STRING})
    assert tuple_type_of([STRING, BOOL]) is tuple_type_of([STRING, BOOL])
    assert object_type_of({"a": STRING}) == ObjectType({"a": STRING})
    many: dict[str, Type] = {f"a{i}": STRING for i in range(100)}
    assert object_type_of(many) == ObjectType(many)
    assert tuple_type_of([BOOL] * 100) == cty.TupleType((BOOL,) * 100)


def test_what_is_open_and_optional_is_known_at_every_level() -> None:
    inner = ObjectType({"a": DYNAMIC, "b": STRING}, frozenset("b"))
    for type_ in (inner, ListType(inner), cty.TupleType((inner,)), ObjectType({"x": inner})):
        assert type_.has_dynamic
        assert type_.has_optional
        plain = cty.without_optional(type_)
        assert plain.has_dynamic
        assert not plain.has_optional
        assert cty.without_optional(plain) is plain


def test_optional_attributes_are_attributes() -> None:
    with pytest.raises(ValueError, match="'b'"):
        ObjectType({"a": STRING}, frozenset("b"))


@pytest.mark.parametrize(
    ("given", "wanted", "paths"),
    [
        (STRING, STRING, []),
        (STRING, DYNAMIC, []),
        (DYNAMIC, STRING, [""]),
        (ListType(STRING), ListType(DYNAMIC), []),
        (ListType(STRING), SetType(STRING), [""]),
        (ListType(STRING), ListType(NUMBER), ["[…]"]),
        (MapType(ListType(STRING)), MapType(ListType(BOOL)), ["[…][…]"]),
        (ObjectType({"a": STRING}), ObjectType({"a": NUMBER}), [".a"]),
        (ObjectType({"a": STRING}), ObjectType({"b": NUMBER}), ["", ""]),
        (cty.TupleType((STRING,)), cty.TupleType((STRING, STRING)), [""]),
        (cty.TupleType((STRING, BOOL)), cty.TupleType((STRING, NUMBER)), ["[1]"]),
    ],
)
def test_conformance(given: Type, wanted: Type, paths: list[str]) -> None:
    errors = cty.conformance_errors(given, wanted)
    assert [cty.path_text(error.path) for error in errors] == paths


def test_types_nest_only_so_deeply() -> None:
    type_: Type = STRING
    for _ in range(MAX_DEPTH - 1):
        type_ = ListType(type_)
    with pytest.raises(cty.CtyError, match="levels deep"):
        ListType(type_)
    assert type_.friendly_name().endswith("list of string")
    again: Type = STRING
    for _ in range(MAX_DEPTH - 1):
        again = ListType(again)
    assert again == type_
