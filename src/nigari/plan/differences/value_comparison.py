"""Compares two values: which parts are new, go, change or stay.

Lists are matched so that as little as possible seems to change. Values without a declared type are
compared by how they look.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.cty.types import (
    DYNAMIC,
    KIND_DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    KIND_OBJECT,
    KIND_SET,
    KIND_TUPLE,
    CollectionType,
    ObjectType,
    TupleType,
    Type,
)
from nigari.plan.differences.datum import Datum, Numeral
from nigari.plan.differences.difference import (
    ANY,
    Difference,
    DifferenceScope,
    ElementDifferences,
    Exchange,
    Fate,
    Members,
    Pending,
    Secret,
    Simple,
    joined,
)
from nigari.plan.differences.pairing import pairs


def present(part: Datum | None) -> Datum | None:
    """A part for which null is as good as absent."""
    return None if part is None or part.is_null else part


def default_fate(before: Datum | None, after: Datum | None) -> Fate:
    """The fate of a value with parts, as far as it follows without them."""
    was, is_ = present(before) is not None, present(after) is not None
    if was is is_:
        return Fate.SAME
    return Fate.NEW if is_ else Fate.GONE


def simple_fate(before: Datum | None, after: Datum | None) -> Fate:
    """The fate of a value without parts; an absent one is not there, a null one is."""
    if before is None or after is None:
        if before is after:
            return Fate.SAME
        return Fate.NEW if before is None else Fate.GONE
    return Fate.SAME if before.plain == after.plain else Fate.CHANGED


def compare(
    before: Datum | None, after: Datum | None, declared: Type, scope: DifferenceScope = ANY
) -> Difference:
    """The difference of a value of a declared type."""
    was, is_ = before is not None and before.is_secret, after is not None and after.is_secret
    if was or is_:
        inner = compare(revealed(before), revealed(after), declared, scope)
        return secret(inner, was, is_, before, after)
    forces = scope.forced.has_this
    if after is not None and after.is_unknown:
        if before is None or before.is_null:
            return Pending(Fate.NEW if before is None else Fate.CHANGED, forces, None)
        return Pending(Fate.CHANGED, forces, compare(before, None, declared))
    kind = declared.kind
    if kind == KIND_DYNAMIC:
        return _undeclared(before, after, scope)
    if isinstance(declared, ObjectType) and kind == KIND_OBJECT:
        return _object(before, after, declared, scope)
    if isinstance(declared, TupleType) and kind == KIND_TUPLE:
        return _tuple(before, after, declared, scope)
    if isinstance(declared, CollectionType):
        if kind == KIND_MAP:
            return _map(before, after, declared.element, scope)
        if kind == KIND_SET:
            return _set(before, after, declared.element, scope)
        if kind == KIND_LIST:
            return _list(before, after, declared.element, scope)
    return Simple(simple_fate(before, after), forces, before, after)


def revealed(part: Datum | None) -> Datum | None:
    """The same part, not secret as a whole."""
    return None if part is None else part.in_the_open()


def secret(
    inner: Difference, was: bool, is_: bool, before: Datum | None, after: Datum | None
) -> Secret:
    """Something secret; that it becomes so, or is no longer, is a change."""
    fate = inner.fate
    if fate is Fate.SAME and was is not is_ and (present(before) or present(after)):
        fate = Fate.CHANGED
    return Secret(fate, inner.forces, inner, was, is_)


def _object(
    before: Datum | None, after: Datum | None, declared: ObjectType, scope: DifferenceScope
) -> Members:
    fate = default_fate(before, after)
    old, new = members(before), members(after)
    parts: dict[str, Difference] = {}
    for name, type_ in sorted(declared.attributes.items()):
        here = scope.child(name)
        one = present(old.get(name))
        other = here.after(one, present(new.get(name)))
        part = compare(one, other, type_, here)
        if part.fate is not Fate.SAME or one is not None or other is not None:
            parts[name] = part
            fate = joined(fate, part.fate)
    return Members(fate, scope.forced.has_this, parts, is_map=False)


def _map(
    before: Datum | None, after: Datum | None, element: Type, scope: DifferenceScope
) -> Members:
    fate = default_fate(before, after)
    old, new = members(before), members(after)
    parts: dict[str, Difference] = {}
    for key in sorted({*old, *new}):
        here = scope.child(key)
        one = old.get(key)
        parts[key] = compare(one, here.after(one, new.get(key)), element, here)
        fate = joined(fate, parts[key].fate)
    return Members(fate, scope.forced.has_this, parts, is_map=True)


def _tuple(
    before: Datum | None, after: Datum | None, declared: TupleType, scope: DifferenceScope
) -> ElementDifferences:
    fate = default_fate(before, after)
    old, new = elements(before), elements(after)
    parts: list[Difference] = []
    for at, type_ in enumerate(declared.elements):
        here = scope.child(at)
        one = old[at] if at < len(old) else None
        other = here.after(one, new[at] if at < len(new) else None)
        parts.append(compare(one, other, type_, here))
        fate = joined(fate, parts[-1].fate)
    return ElementDifferences(fate, scope.forced.has_this, parts, is_set=False)


def _list(
    before: Datum | None, after: Datum | None, element: Type, scope: DifferenceScope
) -> ElementDifferences:
    fate = default_fate(before, after)
    old, new = elements(before), elements(after)
    parts: list[Difference] = []
    is_of_objects = element.kind == KIND_OBJECT

    def are_alike(one: int, other: int) -> bool:
        if is_of_objects or _are_objects(element, old[one], new[other]):
            return True
        return _share_a_line(old[one].plain, new[other].plain)

    plain_old, plain_new = [each.plain for each in old], [each.plain for each in new]
    for at, to in pairs(plain_old, plain_new, are_alike):
        one = None if at is None else old[at]
        other = None if to is None else new[to]
        place = at if at is not None else to
        assert place is not None
        parts.append(compare(one, other, element, scope.of_element(place)))
        fate = joined(fate, parts[-1].fate)
    return ElementDifferences(fate, scope.forced.has_this, parts, is_set=False)


def _are_objects(element: Type, one: Datum, other: Datum) -> bool:
    is_open = element.kind == KIND_DYNAMIC
    return is_open and isinstance(one.parts, dict) and isinstance(other.parts, dict)


def _share_a_line(one: object, other: object) -> bool:
    """Return whether two texts have a line in common, if one has several lines."""
    if not isinstance(one, str) or not isinstance(other, str):
        return False
    if "\n" not in one and "\n" not in other:
        return False
    return not set(one.split("\n")).isdisjoint(other.split("\n"))


def _set(
    before: Datum | None, after: Datum | None, element: Type, scope: DifferenceScope
) -> ElementDifferences:
    fate = default_fate(before, after)
    parts: list[Difference] = []
    for at, one, other in set_pairs(elements(before), elements(after)):
        parts.append(compare(one, other, element, scope.of_element(at)))
        fate = joined(fate, parts[-1].fate)
    return ElementDifferences(fate, scope.forced.has_this, parts, is_set=True)


def set_pairs(
    before: Sequence[Datum], after: Sequence[Datum]
) -> list[tuple[int, Datum | None, Datum | None]]:
    """Those of before, each with its equal if it has one, then those that are new."""
    waiting: dict[object, list[int]] = {}
    for at in range(len(after) - 1, -1, -1):
        if not after[at].is_unknown:
            waiting.setdefault((after[at].plain, after[at].is_secret), []).append(at)
    found: list[tuple[int, Datum | None, Datum | None]] = []
    taken: set[int] = set()
    for at, one in enumerate(before):
        equals = waiting.get((one.plain, one.is_secret))
        if equals:
            place = equals.pop()
            taken.add(place)
            found.append((at, one, after[place]))
        else:
            found.append((at, one, None))
    found += [(at, None, after[at]) for at in range(len(after)) if at not in taken]
    return found


# -- values without a declared type -----------------------------------------------------------


def _undeclared(before: Datum | None, after: Datum | None, scope: DifferenceScope) -> Difference:
    forces = scope.forced.has_this
    if before is not None and after is not None and _kind(before) != _kind(after):
        gone, new = _undeclared(before, None, ANY), _undeclared(None, after, ANY)
        return Exchange(forces, gone, new)
    shown = before if before is not None else after
    if shown is None or shown.parts is None:
        return Simple(simple_fate(before, after), forces, before, after)
    if isinstance(shown.parts, dict):
        found = _map(before, after, DYNAMIC, scope)
        return Members(found.fate, forces, found.parts, is_map=False)
    return _list(before, after, DYNAMIC, scope)


def _kind(shown: Datum) -> object:
    if shown.parts is not None:
        return dict if isinstance(shown.parts, dict) else tuple
    if isinstance(shown.plain, bool):
        return bool
    return Numeral if isinstance(shown.plain, Numeral) else type(shown.plain)


def members(part: Datum | None) -> dict[str, Datum]:
    """The parts with names of something that may not be there."""
    return {} if part is None else part.members


def elements(part: Datum | None) -> tuple[Datum, ...]:
    """The parts in a row of something that may not be there."""
    return () if part is None else part.elements
