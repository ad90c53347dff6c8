"""What types have in common."""

import pytest

from nigari.cty import BOOL, DYNAMIC, NUMBER, STRING, CapsuleType, ListType, MapType, SetType, Type
from nigari.cty import ObjectType as Obj
from nigari.cty import TupleType as Tup
from nigari.cty.unify import compare_types, sort_types, unify

THING = CapsuleType("thing", dict)


@pytest.mark.parametrize(
    ("types", "common"),
    [
        ([STRING, NUMBER, BOOL], STRING),
        ([NUMBER, BOOL], None),
        ([STRING, DYNAMIC], DYNAMIC),
        ([ListType(STRING), ListType(NUMBER)], ListType(STRING)),
        ([ListType(STRING), SetType(STRING)], ListType(STRING)),
        ([ListType(STRING), Tup((NUMBER, STRING))], ListType(STRING)),
        ([ListType(STRING), Tup(())], ListType(STRING)),
        ([ListType(STRING), DYNAMIC], DYNAMIC),
        ([Tup((NUMBER, STRING)), Tup((STRING, STRING))], Tup((STRING, STRING))),
        ([Tup((NUMBER,)), Tup((STRING, NUMBER))], ListType(STRING)),
        ([Tup((NUMBER,)), Tup((BOOL,))], None),
        ([MapType(STRING), Obj({"a": NUMBER})], MapType(STRING)),
        ([Obj({"a": NUMBER}), Obj({"a": STRING})], Obj({"a": STRING})),
        ([Obj({"a": NUMBER}), Obj({"b": STRING})], MapType(STRING)),
        ([Obj({"a": NUMBER}), Obj({"b": BOOL})], None),
        ([Obj({"a": NUMBER}), Obj({})], MapType(NUMBER)),
        ([Obj({"a": NUMBER}), DYNAMIC], DYNAMIC),
        ([Obj({}), Tup(())], None),
        ([Obj({}), Tup(()), DYNAMIC], None),
        ([STRING, ListType(STRING)], None),
        ([STRING, ListType(STRING), DYNAMIC], DYNAMIC),
        ([MapType(STRING), ListType(STRING)], None),
        ([THING, THING], THING),
        ([THING, STRING], None),
        ([THING, STRING, DYNAMIC], DYNAMIC),
        ([Obj({"a": STRING}, frozenset("a"))], Obj({"a": STRING})),
        ([], None),
    ],
)
def test_unify(types: list[Type], common: Type | None) -> None:
    assert unify(types) == common


@pytest.mark.parametrize(
    ("types", "common"),
    [
        ([STRING, DYNAMIC], STRING),
        ([NUMBER, BOOL], None),
        ([ListType(DYNAMIC), ListType(STRING)], ListType(STRING)),
        ([MapType(STRING), Obj({"a": ListType(STRING)})], None),
    ],
)
def test_unify_unsafe(types: list[Type], common: Type | None) -> None:
    assert unify(types, unsafe=True) == common


def test_order_of_preference() -> None:
    types: list[Type] = [NUMBER, DYNAMIC, STRING, BOOL]
    assert [types[i] for i in sort_types(types)] == [STRING, NUMBER, BOOL, DYNAMIC]
    assert compare_types(ListType(STRING), SetType(STRING)) == -1
    assert compare_types(Obj({"a": STRING}), Obj({"a": NUMBER})) == -1
    assert compare_types(Tup((STRING, NUMBER)), Tup((NUMBER, STRING))) == 0
