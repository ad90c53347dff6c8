"""Marks: adding, taking off, finding them by path, putting them back."""

from nigari import cty
from nigari.cty import STRING, GetAttr, Value

of = Value.of


def test_marks_add_up() -> None:
    value = of("a").mark("m").mark("n", "m")
    assert value.marks == {"m", "n"}
    assert value.has_mark("m")
    assert value.mark("m") is value
    assert value.unmark() == (of("a"), frozenset({"m", "n"}))
    plain = of("a")
    assert plain.unmark() == (plain, frozenset())


def test_own_marks_only() -> None:
    value = of([of("a").mark("inner")]).mark("outer")
    plain, marks = value.unmark()
    assert marks == {"outer"}
    assert plain.contains_marked
    assert value.unmark_deep() == (of(["a"]), frozenset({"inner", "outer"}))


def test_paths_of_marks() -> None:
    value = of({"a": [of("x").mark("m")], "b": of({"c": of(1).mark("n")}).mark("o")})
    plain, found = cty.unmark_deep_with_paths(value)
    assert [(cty.path_text(path), set(marks)) for path, marks in found] == [
        (".a[0]", {"m"}),
        (".b", {"o"}),
        (".b.c", {"n"}),
    ]
    assert not plain.contains_marked
    assert cty.mark_with_paths(plain, found) == value


def test_paths_that_lead_nowhere_are_passed_over() -> None:
    value = of({"a": 1})
    nowhere: list[cty.MarksAt] = [
        ((GetAttr("z"),), frozenset({"m"})),
        ((GetAttr("a"), GetAttr("b")), frozenset({"m"})),
    ]
    assert cty.mark_with_paths(value, nowhere) == value


def test_marks_of_maps_nulls_and_unknowns() -> None:
    value = cty.map_value(
        STRING, {"a": cty.null(STRING).mark("m"), "b": cty.unknown(STRING).mark("n")}
    )
    plain, found = cty.unmark_deep_with_paths(value)
    assert cty.mark_with_paths(plain, found) == value
    assert [marks for _, marks in found] == [{"m"}, {"n"}]


def test_marks_put_into_a_set_mark_the_set() -> None:
    some = cty.set_value(STRING, [of("a"), of("b")])
    marked = cty.mark_with_paths(some, [((cty.Index(of("a")),), frozenset({"m"}))])
    assert marked == some.mark("m")
