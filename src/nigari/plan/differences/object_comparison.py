"""Compares two objects of a resource, as the schema of its type describes them.

The result is a tree of differences, which views show. Values without a schema
are compared in `value_comparison`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.cty.go_text import go_quote
from nigari.plan.differences.datum import UNKNOWN, Datum
from nigari.plan.differences.difference import (
    ANY,
    BlockDifference,
    BlockGroup,
    Difference,
    DifferenceScope,
    ElementDifferences,
    Fate,
    Members,
    Pending,
    SecretBody,
    WriteOnly,
    joined,
)
from nigari.plan.differences.value_comparison import (
    compare,
    default_fate,
    elements,
    members,
    present,
    revealed,
    secret,
    set_pairs,
)
from nigari.schema.block import Attribute, Block, NestedAttributes, NestedBlock, Nesting


def compare_block(
    before: Datum | None, after: Datum | None, block: Block, scope: DifferenceScope = ANY
) -> Difference:
    """The difference of a block's content."""
    was, is_ = before is not None and before.is_secret, after is not None and after.is_secret
    if was or is_:
        inner = compare_block(revealed(before), revealed(after), block, scope)
        found = secret(inner, was, is_, before, after)
        return SecretBody(found.fate, found.forces, inner, was, is_)
    if after is not None and after.is_unknown:
        if present(before) is None:
            return Pending(Fate.NEW, scope.forced.has_this, None)
        later = Datum((), dict.fromkeys(block.attributes, UNKNOWN))
        return Pending(
            Fate.CHANGED, scope.forced.has_this, compare_block(before, later, block, ANY)
        )
    fate = default_fate(before, after)
    old, new = members(before), members(after)
    attributes: dict[str, Difference] = {}
    for name, attribute in in_order(block.attributes):
        here = scope.child(name)
        one = _said(old.get(name))
        other = here.after(one, _said(new.get(name)))
        part = compare_attribute(one, other, attribute, here, fate)
        is_absent = one is None and other is None and not attribute.write_only
        if part.fate is not Fate.SAME or not is_absent:
            attributes[name] = part
            fate = joined(fate, part.fate)
    groups: dict[str, BlockGroup] = {}
    for name, nested in sorted(block.blocks.items()):
        here = scope.child(name)
        one = old.get(name)
        group = _group(one, here.after(one, new.get(name)), nested, here)
        if group.blocks:
            groups[name] = group
            fate = joined(fate, group.fate)
    return BlockDifference(fate, scope.forced.has_this, attributes, groups)


def _said(part: Datum | None) -> Datum | None:
    """An attribute of a block; old providers cannot tell an empty text from none."""
    part = present(part)
    return None if part is not None and part.plain == "" else part


def _group(
    before: Datum | None, after: Datum | None, nested: NestedBlock, scope: DifferenceScope
) -> BlockGroup:
    forces = scope.forced.has_this
    was, is_ = before is not None and before.is_secret, after is not None and after.is_secret
    is_set = nested.nesting is Nesting.SET
    if nested.nesting in (Nesting.SINGLE, Nesting.GROUP):
        if present(before) is None and present(after) is None:
            return BlockGroup(Fate.SAME, forces, [], was, is_)
        only = compare_block(revealed(before), revealed(after), nested.block, scope)
        return BlockGroup(only.fate, forces, [("", only)], was, is_)
    fate = default_fate(before, after)
    blocks: list[tuple[str, Difference]] = []
    is_later = after is not None and after.is_unknown
    for label, at, one, other in _labelled(before, after, nested):
        here = scope.of_element(at) if is_set and isinstance(at, int) else scope.child(at)
        other = UNKNOWN if is_later else here.after(one, other)
        blocks.append((label, compare_block(one, other, nested.block, here)))
        fate = joined(fate, blocks[-1][1].fate)
    if is_later and not blocks:
        blocks.append(("", Pending(Fate.NEW, forces, None)))
        fate = Fate.CHANGED
    return BlockGroup(fate, forces, blocks, was, is_, is_set)


def _labelled(
    before: Datum | None, after: Datum | None, nested: NestedBlock
) -> list[tuple[str, object, Datum | None, Datum | None]]:
    """The blocks of one kind, those of before with those of after."""
    if nested.nesting is Nesting.MAP:
        old, new = members(before), members(after)
        return [
            (f" {go_quote(key)}", key, old.get(key), new.get(key)) for key in sorted({*old, *new})
        ]
    pair = set_pairs if nested.nesting is Nesting.SET else list_pairs
    return [("", at, one, other) for at, one, other in pair(elements(before), elements(after))]


def compare_attribute(
    before: Datum | None,
    after: Datum | None,
    attribute: Attribute,
    scope: DifferenceScope,
    around: Fate,
) -> Difference:
    """The difference of an attribute, given the fate of its owner."""
    if attribute.write_only:
        forces = scope.forced.has_this
        return WriteOnly(Fate.CHANGED if forces and around is Fate.SAME else around, forces)
    if attribute.nested is not None:
        return _nested(before, after, attribute.nested, scope)
    return compare(before, after, attribute.implied_type, scope)


def _nested(
    before: Datum | None, after: Datum | None, nested: NestedAttributes, scope: DifferenceScope
) -> Difference:
    was, is_ = before is not None and before.is_secret, after is not None and after.is_secret
    if was or is_:
        inner = _nested(revealed(before), revealed(after), nested, scope)
        return secret(inner, was, is_, before, after)
    forces = scope.forced.has_this
    if after is not None and after.is_unknown:
        if present(before) is None:
            return Pending(Fate.NEW, forces, None)
        later = Datum((), dict.fromkeys(nested.attributes, UNKNOWN))
        is_one = nested.nesting in (Nesting.SINGLE, Nesting.GROUP)
        return Pending(
            Fate.CHANGED, forces, _nested(before, later if is_one else None, nested, ANY)
        )
    if nested.nesting in (Nesting.SINGLE, Nesting.GROUP):
        return _nested_object(before, after, nested, scope)
    return _nested_collection(before, after, nested, scope)


def _nested_object(
    before: Datum | None, after: Datum | None, nested: NestedAttributes, scope: DifferenceScope
) -> Members:
    fate = default_fate(before, after)
    old, new = members(before), members(after)
    parts: dict[str, Difference] = {}
    for name, attribute in in_order(nested.attributes):
        here = scope.child(name)
        one = present(old.get(name))
        other = here.after(one, present(new.get(name)))
        part = compare_attribute(one, other, attribute, here, fate)
        if part.fate is not Fate.SAME or one is not None or other is not None:
            parts[name] = part
            fate = joined(fate, part.fate)
    return Members(fate, scope.forced.has_this, parts, is_map=False, is_nested=True)


def in_order(attributes: Mapping[str, Attribute]) -> list[tuple[str, Attribute]]:
    """Attributes by name; those that are only written come last, for they follow the others."""
    return sorted(attributes.items(), key=lambda item: (item[1].write_only, item[0]))


def _nested_collection(
    before: Datum | None, after: Datum | None, nested: NestedAttributes, scope: DifferenceScope
) -> Difference:
    one_of = NestedAttributes(nested.attributes, Nesting.SINGLE)
    fate = default_fate(before, after)
    forces = scope.forced.has_this
    if nested.nesting is Nesting.MAP:
        old, new = members(before), members(after)
        named: dict[str, Difference] = {}
        for key in sorted({*old, *new}):
            here = scope.child(key)
            one = old.get(key)
            named[key] = _nested(one, here.after(one, new.get(key)), one_of, here)
            fate = joined(fate, named[key].fate)
        return Members(fate, forces, named, is_map=True, is_nested=True)
    is_set = nested.nesting is Nesting.SET
    pair = set_pairs if is_set else list_pairs
    parts: list[Difference] = []
    for at, was, is_ in pair(elements(before), elements(after)):
        here = scope.of_element(at) if is_set else scope.child(at)
        parts.append(_nested(was, here.after(was, is_), one_of, here))
        fate = joined(fate, parts[-1].fate)
    return ElementDifferences(fate, forces, parts, is_set, is_nested=True)


def list_pairs(
    before: Sequence[Datum], after: Sequence[Datum]
) -> list[tuple[int, Datum | None, Datum | None]]:
    """The elements of two lists place by place."""
    return [
        (
            at,
            before[at] if at < len(before) else None,
            after[at] if at < len(after) else None,
        )
        for at in range(max(len(before), len(after)))
    ]
