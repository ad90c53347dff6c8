"""Proposed objects: the configured arguments, completed with prior values.

A provider plans from the proposed object. The rules are OpenTofu's (`ProposedNew` in
`internal/plans/objchange`), because providers were written against them: configured arguments win,
and computed attributes keep their prior values. Nested objects are paired with prior ones to find
those values. Values carry no marks here.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.cty.errors import CtyError
from nigari.cty.operations import apply_path
from nigari.cty.paths import Path, child_steps, replace_parts, transform, walk
from nigari.cty.types import KIND_OBJECT, KIND_SET, KIND_TUPLE, ObjectType, Type
from nigari.cty.values import (
    Value,
    list_value,
    map_value,
    null,
    object_value,
    set_value,
    tuple_value,
    unknown,
)
from nigari.schema.block import Attribute, Block, NestedAttributes, NestedBlock, Nesting
from nigari.schema.marked_paths import attribute_at
from nigari.schema.placeholders import empty_block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

Holder: TypeAlias = Block | NestedAttributes
"""The schema of a nested object."""


def proposed_new(block: Block, prior: Value, config: Value) -> Value:
    """Complete the configured object with values of the prior one."""
    if prior.is_null:
        if config.is_null:
            return prior
        # ProposedNew: a new object has no prior values, but blocks that are always present, such as
        # groups, still apply their defaults.
        prior = empty_block(block)
    return _object(block, prior, config)


def planned_unknown(block: Block, config: Value) -> Value:
    """Complete the configured object with unknown values (`PlannedDataResourceObject`)."""
    return _object(block, unknown(block.implied_type), config)


def open_computed_blocks(block: Block, config: Value) -> Value:
    """Make computed blocks null where none is configured, so that the provider may add some.

    Protocol 6.11: elsewhere, an absence of blocks is an empty collection.
    """
    if not block.has_computed_blocks or config.is_null or not config.is_known:
        return config
    values = dict(config.mapping())
    for name, nested in block.blocks.items():
        given = values[name]
        if given.is_null or not given.is_known:
            continue
        if nested.nesting in (Nesting.SINGLE, Nesting.GROUP):
            values[name] = open_computed_blocks(nested.block, given)
        elif given.length_int():
            values[name] = _with_parts(nested.block, given)
        elif nested.computed:
            values[name] = null(given.type)
    return object_value(values)


def _with_parts(block: Block, collection: Value) -> Value:
    parts = [open_computed_blocks(block, each) for _, each in child_steps(collection)]
    return replace_parts(collection, parts)


def _object(block: Block, prior: Value, config: Value) -> Value:
    if config.is_null or not config.is_known:
        return prior
    values = _attributes(block.attributes, prior, config)
    for name, nested in block.blocks.items():
        values[name] = _nested_block(nested, _part(prior, name), config.attribute(name))
    return object_value(values)


def _part(value: Value, name: str) -> Value:
    """Return an attribute of a prior value, which may be null or unknown as a whole."""
    if value.is_known and not value.is_null:
        return value.attribute(name)
    type_ = value.type
    part: Type = type_.attributes[name] if isinstance(type_, ObjectType) else type_
    return null(part) if value.is_null else unknown(part)


def _attributes(
    attributes: Mapping[str, Attribute], prior: Value, config: Value
) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for name, attribute in attributes.items():
        given = config.attribute(name)
        # ProposedNew: an omitted computed attribute keeps its prior value, even if the prior
        # configuration set it. The provider decides whether to change it.
        if attribute.computed and given.is_null:
            before = _part(prior, name)
            values[name] = given if _was_configured(attribute, before) else before
        # A configured nested object may still omit computed attributes of its own.
        elif attribute.nested is not None and given.is_known:
            values[name] = _nested(attribute.nested, _part(prior, name), given)
        else:
            values[name] = given
    return values


def _was_configured(attribute: Attribute, before: Value) -> bool:
    """Return whether a prior value has parts that only a configuration can have set.

    If the configuration no longer has them, they are removed.
    """
    if not attribute.optional or attribute.nested is None:
        return False
    inside = Block(attribute.nested.attributes)
    for path, value in walk(before):
        if value.is_null:
            continue
        found = attribute_at(inside, path)
        if found is not None and not found.computed:
            return True
    return False


def _nested_block(nested: NestedBlock, prior: Value, config: Value) -> Value:
    # A dynamic block with an unknown for_each: nothing can be paired yet.
    if not config.is_known:
        return config
    # Unlike a single block, a group always exists.
    if nested.nesting is Nesting.SINGLE and config.is_null:
        return config
    if nested.nesting in (Nesting.SINGLE, Nesting.GROUP):
        return _either(nested.block, prior, config)
    return _collection(nested.block, nested.nesting, prior, config)


def _nested(nested: NestedAttributes, prior: Value, config: Value) -> Value:
    if nested.nesting in (Nesting.SINGLE, Nesting.GROUP):
        return _either(nested, prior, config)
    return _collection(nested, nested.nesting, prior, config)


def _either(holder: Holder, prior: Value, config: Value) -> Value:
    if isinstance(holder, Block):
        return proposed_new(holder, prior, config)
    if config.is_null or not config.is_known:
        return config
    return object_value(_attributes(holder.attributes, prior, config))


def _collection(holder: Holder, nesting: Nesting, prior: Value, config: Value) -> Value:
    if config.is_null or config.length_int() == 0:
        return config
    if nesting is Nesting.SET:
        return _set(holder, prior, config)
    if nesting is Nesting.MAP:
        return _map(holder, prior, config)
    return _list(holder, prior, config)


def _list(holder: Holder, prior: Value, config: Value) -> Value:
    # Lists pair by position. After an insertion, elements therefore keep computed values of their
    # predecessors until the provider corrects them.
    elements: list[Value] = []
    before = prior.sequence() if prior.is_known and not prior.is_null else ()
    for position, given in enumerate(config.sequence()):
        if not prior.is_known:
            elements.append(_either(holder, unknown(given.type), given))
        elif position < len(before):
            elements.append(_either(holder, before[position], given))
        else:
            elements.append(given)
    if config.type.kind == KIND_TUPLE:
        return tuple_value(elements)
    return list_value(elements[0].type, elements)


def _map(holder: Holder, prior: Value, config: Value) -> Value:
    before = prior.mapping() if prior.is_known and not prior.is_null else {}
    elements = {
        key: _either(holder, before[key], given) if key in before else given
        for key, given in config.mapping().items()
    }
    if config.type.kind == KIND_OBJECT:
        return object_value(elements)
    return map_value(next(iter(elements.values())).type, elements)


def _set(holder: Holder, prior: Value, config: Value) -> Value:
    # Set elements have no keys. Each configured one is paired with the first unused prior element
    # that it could have produced, so no prior element is used twice.
    left = list(prior.sequence()) if prior.is_known and not prior.is_null else []
    elements: list[Value] = []
    for given in config.sequence():
        match = next((each for each in left if _could_be(holder, each, given)), None)
        if match is None:
            match = null(given.type)
        else:
            left.remove(match)
        elements.append(_either(holder, match, given))
    return set_value(elements[0].type, elements)


def _could_be(holder: Holder, prior: Value, config: Value) -> bool:
    """Return whether a prior element may come from a configured one, which it then completes."""
    if unrefined(config) == unrefined(prior):
        return True
    inside = holder if isinstance(holder, Block) else Block(holder.attributes)
    pending: list[tuple[Path, Value]] = list(walk(prior))
    settled: set[Path] = set()
    for path, before in pending:
        if any(path[: len(done)] == done for done in settled):
            continue
        try:
            given = apply_path(config, path)
        except CtyError:
            return False
        if unrefined(before) == unrefined(given):
            settled.add(path)
            continue
        # Elements of sets have no names by which to recognise them.
        if given.type.kind == KIND_SET:
            return False
        attribute = attribute_at(inside, path)
        if attribute is None or attribute.nested is not None:
            continue
        # setElementComputedAsNull: a difference is explained only if the configuration omits an
        # attribute that the provider computed.
        if not attribute.computed or not given.is_null:
            return False
        settled.add(path)
    return True


def unrefined(value: Value) -> Value:
    """Remove the refinements of unknown parts."""
    if value.is_wholly_known:
        return value
    return transform(value, lambda _, part: part if part.is_known else unknown(part.type))
