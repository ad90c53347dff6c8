"""Records behave as frozen data classes with slots do."""

import copy
import pickle
from functools import cached_property

import pytest

from nigari.record import ReadOnly, record, replace


@record
class Point:
    """A place."""

    x: int
    y: int = 0
    names: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return self.x + self.y


@record
class Other:
    x: int
    y: int = 0
    names: tuple[str, ...] = ()


@record
class Single:
    only: list[int]


@record
class Remembering:
    __slots__ = ("__dict__",)

    x: int

    @cached_property
    def double(self) -> int:
        return self.x * 2


@record
class OwnMethods:
    x: int
    y: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnMethods) and other.x == self.x

    def __hash__(self) -> int:
        return hash(self.x)

    def __repr__(self) -> str:
        return f"<{self.x}>"


def test_fields_are_given_by_position_by_name_or_by_default() -> None:
    assert Point(1, 2, ("a",)) == Point(names=("a",), x=1, y=2)
    assert (Point(1).y, Point(1).names, Point(1, 2).total) == (0, (), 3)


@pytest.mark.parametrize(
    ("given", "named"), [((), {}), ((1, 2, (), 4), {}), ((1,), {"z": 3}), ((1,), {"x": 3})]
)
def test_wrong_arguments_fail(given: tuple[int, ...], named: dict[str, int]) -> None:
    with pytest.raises(TypeError, match="argument"):
        Point(*given, **named)  # type: ignore[arg-type]


def test_the_first_object_is_made_as_all_others_are() -> None:
    @record
    class Fresh:
        x: int
        y: int = 5

    with pytest.raises(TypeError, match="argument"):
        Fresh(1, x=2)  # type: ignore[misc]
    assert [Fresh(y=1, x=2).y, Fresh(1).y, Fresh(1, 2).y] == [1, 5, 2]

    @record
    class Early:
        x: int
        y: int = 5

    for _ in range(30):
        assert [Early(1).y, Early(1, 2).y, Early(x=1).y] == [5, 2, 5]
        with pytest.raises(TypeError, match="argument"):
            Early(1, 2, 3)  # type: ignore[call-arg]


def test_equality_and_hash_are_by_fields_within_one_type() -> None:
    assert Point(1, 2) == Point(1, 2)
    assert Point(1, 2) != Point(2, 1)
    alike: object = Other(1, 2)
    assert Point(1, 2) != alike
    assert hash(Point(1, 2)) == hash(Point(1, 2))
    assert len({Point(1), Point(1), Point(2)}) == 2
    assert Single([1]) == Single([1])
    with pytest.raises(TypeError, match="unhashable"):
        hash(Single([1]))


def test_methods_that_are_written_stay() -> None:
    assert OwnMethods(1, 2) == OwnMethods(1, 3)
    assert len({OwnMethods(1, 2), OwnMethods(1, 3)}) == 1
    assert repr(OwnMethods(1, 2)) == "<1>"


def test_printed_form() -> None:
    assert repr(Point(1, names=("a",))) == "Point(x=1, y=0, names=('a',))"


def test_there_are_slots_and_nothing_else() -> None:
    assert not hasattr(Point(1), "__dict__")
    with pytest.raises(AttributeError):
        Point(1).z = 1  # type: ignore[attr-defined]


def test_cached_properties_need_a_dictionary() -> None:
    thing = Remembering(4)
    assert (thing.double, thing.double) == (8, 8)
    assert thing == Remembering(4)


def test_classes_are_still_themselves() -> None:
    assert (Point.__name__, Point.__module__, Point.__doc__) == ("Point", __name__, "A place.")
    assert isinstance(Point(1), Point)


def test_match() -> None:
    match Point(1, 2):
        case Point(x, 2):
            assert x == 1
        case _:
            pytest.fail("no match")


def test_copies() -> None:
    assert copy.copy(Point(1, 2)) == Point(1, 2)
    assert pickle.loads(pickle.dumps(Point(1, 2))) == Point(1, 2)
    assert replace(Point(1, 2), y=3) == Point(1, 3)
    with pytest.raises(TypeError, match="argument"):
        replace(Point(1, 2), z=3)


def test_a_mapping_that_does_not_change() -> None:
    given = {"a": 1}
    mapping = ReadOnly(given)
    given["b"] = 2
    assert mapping == {"a": 1} == dict(mapping)
    assert (len(mapping), list(mapping), repr(mapping)) == (1, ["a"], "{'a': 1}")
    assert pickle.loads(pickle.dumps(mapping)) == copy.deepcopy(mapping) == mapping
    with pytest.raises(TypeError):
        mapping["a"] = 2  # type: ignore[index]
