"""Paths into values, walking and rebuilding them."""

import pickle

import pytest

from nigari import cty
from nigari.cty import NUMBER, STRING, GetAttr, Index, Value, index_step

of = Value.of
VALUE = of({"b": ["x", {"c": 1}], "a": cty.map_value(STRING, {"k": of("v")})})


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        ((GetAttr("a"), index_step(0)), ".a[0]"),
        ((index_step('q"\\'),), '["q\\"\\\\"]'),
        ((Index(cty.unknown(NUMBER)),), "[…]"),
        ((Index(of("secret").mark("m")),), "[…]"),
        ((Index(of({"a": 1})),), "[…]"),
    ],
)
def test_text(path: cty.Path, text: str) -> None:
    assert cty.path_text(path) == text
    assert pickle.loads(pickle.dumps(path)) == path
    assert hash(pickle.loads(pickle.dumps(path))) == hash(path)


def test_walk_goes_outside_in_and_by_name() -> None:
    paths = [cty.path_text(path) for path, _ in cty.walk(VALUE)]
    assert paths == ["", ".a", '.a["k"]', ".b", ".b[0]", ".b[1]", ".b[1].c"]
    for path, part in cty.walk(VALUE):
        assert cty.apply_path(VALUE, path) is part


def test_walk_into_a_set_is_by_element() -> None:
    some = cty.set_value(STRING, [of("a")])
    assert [path for path, _ in cty.walk(some)] == [(), (Index(of("a")),)]
    for path, part in cty.walk(some):
        assert cty.apply_path(some, path) == part
    assert cty.apply_path(some.mark("m"), (Index(of("a")),)) == of("a").mark("m")
    assert cty.apply_path(cty.unknown(some.type), (Index(of("a")),)) == cty.unknown(STRING)
    with pytest.raises(cty.CtyError):
        cty.apply_path(some, (Index(of("b")),))


@pytest.mark.parametrize(
    ("path", "broken"),
    [
        ((GetAttr("z"),), ".z"),
        ((GetAttr("b"), index_step(7), GetAttr("c")), ".b[7]"),
        ((GetAttr("a"), index_step("none")), '.a["none"]'),
        ((GetAttr("b"), index_step(0), GetAttr("c")), ".b[0].c"),
    ],
)
def test_apply_says_where_a_path_breaks_off(path: cty.Path, broken: str) -> None:
    with pytest.raises(cty.CtyError) as caught:
        cty.apply_path(VALUE, path)
    assert cty.path_text(caught.value.path) == broken


def test_transform_works_inside_out() -> None:
    seen: list[str] = []

    def double(path: cty.Path, part: Value) -> Value:
        seen.append(cty.path_text(path))
        if part.type == NUMBER:
            return of(part.to_python()).mark("m")
        return part

    changed = cty.transform(VALUE, double)
    assert seen == ['.a["k"]', ".a", ".b[0]", ".b[1].c", ".b[1]", ".b", ""]
    assert changed == of(
        {"b": ["x", {"c": of(1).mark("m")}], "a": cty.map_value(STRING, {"k": of("v")})}
    )
    assert cty.transform(VALUE, lambda _, part: part) is VALUE


def test_transform_changes_types() -> None:
    changed = cty.transform(of([1, [2]]), lambda _, part: of("n") if part.type == NUMBER else part)
    assert changed == of(["n", ["n"]])


def test_unknown_as_null() -> None:
    value = of({"a": cty.unknown(STRING), "b": [cty.unknown(NUMBER).mark("m"), 1]})
    assert cty.unknown_as_null(value) == of(
        {"a": cty.null(STRING), "b": [cty.null(NUMBER).mark("m"), 1]}
    )
    assert cty.unknown_as_null(VALUE) is VALUE
