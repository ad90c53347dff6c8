"""Types and values for property tests."""

from functools import lru_cache

from hypothesis import strategies as st

from nigari import cty

NAMES = st.sampled_from(["a", "b", "c", "name", "é", "0"])
TEXTS = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(
    ["", "true", "1", "-5", "1.50", "<&>", "\u2028", "e\u0301", "null"]
)
NUMBERS = (
    st.integers(-100, 300)
    | st.integers(-(2**80), 2**80)
    # Beyond that a float prints rounded, as it does in other programs, and does not come back.
    | st.floats(-(2.0**53), 2.0**53, width=32)
    | st.sampled_from(["0.1", "1e400", "-1e-30", "9223372036854775808", "-0"])
)
MARKS = st.frozensets(st.sampled_from(["sensitive", "other"]), min_size=1)
PRIMITIVES = st.sampled_from([cty.STRING, cty.NUMBER, cty.BOOL])


def _compound(inner: st.SearchStrategy[cty.Type]) -> st.SearchStrategy[cty.Type]:
    attributes = st.dictionaries(NAMES, inner, max_size=3)
    return (
        inner.map(cty.ListType)
        | inner.map(cty.SetType)
        | inner.map(cty.MapType)
        | st.lists(inner, max_size=3).map(lambda types: cty.TupleType(tuple(types)))
        | attributes.map(cty.ObjectType)
    )


TYPES: st.SearchStrategy[cty.Type] = st.recursive(PRIMITIVES, _compound, max_leaves=5)
"""Types that values can have, without `DYNAMIC`."""

OPEN_TYPES: st.SearchStrategy[cty.Type] = st.recursive(
    PRIMITIVES | st.just(cty.DYNAMIC), _compound, max_leaves=5
)
"""Types that may leave parts open."""


def unknowns(type_: cty.Type) -> st.SearchStrategy[cty.Value]:
    """Unknown values of a type, some of them refined."""
    plain = cty.unknown(type_)
    found: list[cty.Value] = [plain, cty.refine_not_null(plain)]
    by: list[cty.Refinement] = []
    if type_ == cty.NUMBER:
        by = [cty.Refinement(lower=(0, True)), cty.Refinement(True, (-5, False), (300, True))]
    elif type_ == cty.STRING:
        by = [cty.Refinement(prefix="a-"), cty.Refinement(True, prefix="true")]
    elif type_.is_collection:
        by = [cty.Refinement(min_length=1), cty.Refinement(True, max_length=2)]
    return st.sampled_from([*found, *(cty.refine(plain, refinement) for refinement in by)])


def known(type_: cty.Type) -> st.SearchStrategy[cty.Value]:
    """Wholly known, unmarked values of a type; parts may be null."""
    return values(type_, unknown=False, marked=False)


@lru_cache(maxsize=1000)
def values(
    type_: cty.Type, *, unknown: bool = True, marked: bool = True
) -> st.SearchStrategy[cty.Value]:
    """Values of a type, with nulls, and with unknowns and marks where wanted."""
    found = _data(type_, unknown, marked)
    found = st.one_of(found, found, found, st.just(cty.null(type_)))
    if unknown:
        found = st.one_of(found, found, unknowns(type_))
    if marked:
        found = st.one_of(found, found, st.builds(cty.Value.with_marks, found, MARKS))
    return found


def _data(type_: cty.Type, unknown: bool, marked: bool) -> st.SearchStrategy[cty.Value]:
    def part(inner: cty.Type) -> st.SearchStrategy[cty.Value]:
        return values(inner, unknown=unknown, marked=marked)

    if type_ == cty.STRING:
        return TEXTS.map(cty.string)
    if type_ == cty.NUMBER:
        return NUMBERS.map(cty.number)
    if type_ == cty.BOOL:
        return st.booleans().map(cty.boolean)
    if isinstance(type_, cty.ObjectType):
        parts = {name: part(attribute) for name, attribute in type_.attributes.items()}
        return st.fixed_dictionaries(parts).map(cty.object_value)
    if isinstance(type_, cty.TupleType):
        return st.tuples(*map(part, type_.elements)).map(cty.tuple_value)
    assert isinstance(type_, cty.CollectionType)
    element = type_.element
    if isinstance(type_, cty.MapType):
        maps = st.dictionaries(NAMES, part(element), max_size=3)
        return maps.map(lambda found: cty.map_value(element, found))
    build = cty.set_value if isinstance(type_, cty.SetType) else cty.list_value
    return st.lists(part(element), max_size=3).map(lambda found: build(element, found))


def typed(
    types: st.SearchStrategy[cty.Type] = TYPES, *, unknown: bool = True, marked: bool = True
) -> st.SearchStrategy[cty.Value]:
    """Values of any of these types."""
    return types.flatmap(lambda type_: values(type_, unknown=unknown, marked=marked))


def all_marks(value: cty.Value) -> frozenset[cty.Mark]:
    """All marks anywhere in a value."""
    return value.unmark_deep()[1]


def could_become(found: cty.Value, actual: cty.Value) -> bool:
    """Whether a value that may be unknown leaves room for the actual one, marks aside.

    Sets are compared by what is known of their length: which elements are which cannot be told.
    """
    if not found.is_known:
        return found.type == cty.DYNAMIC or (found.type == actual.type and _within(found, actual))
    if found.type != actual.type or found.is_null != actual.is_null or not actual.is_known:
        return False
    if found.is_null or found.is_wholly_known:
        return found.unmark_deep()[0] == actual.unmark_deep()[0]
    if isinstance(found.type, cty.SetType):
        return 1 <= actual.length_int() <= found.length_int()
    parts, actual_parts = found.elements(), actual.elements()
    return len(parts) == len(actual_parts) and all(map(could_become, parts, actual_parts))


def _within(found: cty.Value, actual: cty.Value) -> bool:
    have = found.refinements
    if actual.is_null:
        return not have.not_null
    by = cty.Refinement(
        have.not_null,
        None if have.lower is None else (have.lower, have.lower_inclusive),
        None if have.upper is None else (have.upper, have.upper_inclusive),
        have.prefix,
        have.min_length,
        have.max_length,
    )
    try:
        cty.refine(actual, by)
    except cty.CtyError:
        return False
    return True
