"""All of `nigari.cty`, as a user's program has it: type checkers read this file, and it runs as well."""

from decimal import Decimal
from typing import assert_type

from nigari import cty


class Secret(cty.Mark):
    pass


def names_of(type_: cty.Type) -> str:
    match type_:
        case cty.ObjectType():
            return ",".join(sorted(type_.attributes))
        case cty.TupleType():
            return ",".join(each.friendly_name() for each in type_.elements)
        case cty.ListType() | cty.SetType() | cty.MapType():
            assert isinstance(type_, cty.CollectionType)
            return type_.element.friendly_name()
        case cty.CapsuleType():
            return type_.name
        case _:
            return type_.friendly_name()


def test_types_are_told_apart() -> None:
    kinds: dict[int, cty.Type] = {
        cty.KIND_BOOL: cty.BOOL,
        cty.KIND_NUMBER: cty.NUMBER,
        cty.KIND_STRING: cty.STRING,
        cty.KIND_DYNAMIC: cty.DYNAMIC,
        cty.KIND_LIST: cty.collection(cty.KIND_LIST, cty.STRING),
        cty.KIND_SET: cty.collection(cty.KIND_SET, cty.STRING),
        cty.KIND_MAP: cty.collection(cty.KIND_MAP, cty.STRING),
        cty.KIND_OBJECT: cty.EMPTY_OBJECT.type,
        cty.KIND_TUPLE: cty.EMPTY_TUPLE.type,
        cty.KIND_CAPSULE: cty.CapsuleType("handle", object),
    }
    assert all(kind == type_.kind for kind, type_ in kinds.items())
    assert names_of(cty.ListType(cty.BOOL)) == "bool"
    assert names_of(cty.without_optional(cty.object_value({"a": cty.TRUE}).type)) == "a"
    unified = cty.unify([cty.STRING, cty.NUMBER])
    assert_type(unified, cty.Type | None)
    assert unified is cty.STRING
    assert cty.type_from_json(cty.type_to_json(cty.STRING)) == cty.STRING
    errors: list[cty.CtyError] = cty.conformance_errors(cty.STRING, cty.BOOL)
    assert len(errors) == 1
    assert cty.conversion_exists(cty.NUMBER, cty.STRING, unsafe=False)


def test_values_are_made_and_taken_apart() -> None:
    value = cty.object_value(
        {
            "text": cty.string(cty.normalize("é")),
            "numbers": cty.list_value(cty.NUMBER, [cty.number(1), cty.number(Decimal("0.5"))]),
            "set": cty.set_value(cty.BOOL, [cty.TRUE, cty.FALSE, cty.boolean(True)]),
            "map": cty.map_value(cty.STRING, {"a": cty.string("b")}),
            "tuple": cty.tuple_value([cty.null(cty.STRING), cty.DYNAMIC_NULL]),
        }
    )
    assert_type(value.attribute("text").as_string(), str)
    assert_type(value.attribute("numbers").elements()[0].as_decimal(), Decimal)
    exact: int | cty.Number = value.attribute("numbers").elements()[1].as_number()
    assert isinstance(exact, cty.Number)
    assert cty.Value.of({"text": "é"}).attribute("text") == value.attribute("text")
    text: str = cty.value_to_json(value)
    assert cty.value_from_json(text, value.type) == value
    assert_type(cty.implied_value_from_json(text), cty.Value)
    assert cty.json.value_to_json(cty.TRUE) == "true"
    assert cty.msgpack.unmarshal(cty.msgpack.marshal(cty.TRUE, cty.BOOL), cty.BOOL) == cty.TRUE
    assert cty.convert(cty.number(5), cty.STRING).as_string() == "5"
    capsule = cty.CapsuleType("handle", object)
    assert cty.capsule_value(capsule, value).type is capsule


def test_parts_are_found_by_their_paths() -> None:
    value = cty.Value.of({"a": [1, 2]})
    steps: list[cty.Step] = [cty.GetAttr("a"), cty.index_step(1)]
    path: cty.Path = tuple(steps)
    assert isinstance(steps[1], cty.Index)
    assert cty.path_text(path) == ".a[1]"
    assert cty.apply_path(value, path) == cty.number(2)
    assert [cty.path_text(where) for where, _part in cty.walk(value)][1] == ".a"
    assert_type(cty.transform(value, lambda where, part: part), cty.Value)


def test_unknown_values_and_marks() -> None:
    unknown = cty.unknown(cty.STRING, cty.Unknown(prefix="a"))
    refined = cty.refine(cty.refine_not_null(unknown), cty.Refinement(prefix="ab"))
    assert cty.definitely_not_null(refined)
    assert cty.unknown_as_null(refined).is_null
    assert not cty.DYNAMIC_UNKNOWN.is_known
    secret = cty.TRUE.mark(Secret())
    plain, marks = secret.unmark()
    assert plain.marks == cty.NO_MARKS
    found: tuple[cty.Value, list[cty.MarksAt]] = cty.unmark_deep_with_paths(secret)
    assert cty.mark_with_paths(*found) == secret
    assert_type(marks, frozenset[object])
