"""`ignore_changes`: parts of a configuration that stay as they were.

For these parts the prior value stands in for the configured one, before a provider is asked. Which
parts they are is written in the configuration as traversals; single elements of maps can be among
them.
"""

from __future__ import annotations

from collections.abc import Iterable

from nigari.cty.errors import Step
from nigari.cty.paths import GetAttr, Index, Path, transform
from nigari.cty.types import KIND_MAP, KIND_NUMBER, KIND_OBJECT, KIND_STRING
from nigari.cty.values import Value, map_value, null, object_value
from nigari.hcl.traversal import Traversal, TraverseAttr, TraverseIndex
from nigari.schema.block import Block
from nigari.schema.marked_paths import attribute_at


def ignore_all(block: Block, prior: Value, config: Value) -> Value:
    """The prior object as a configuration: without what only the provider can have set."""
    if prior.is_null:
        return config

    def configured(path: Path, value: Value) -> Value:
        attribute = attribute_at(block, path) if path else None
        if attribute is None or attribute.optional or not attribute.computed:
            return value
        return null(value.type)

    return transform(prior, configured)


def ignore(traversals: Iterable[Traversal], prior: Value, config: Value) -> Value:
    """The configuration with these parts as they were in the prior object."""
    if prior.is_null:
        return config
    for traversal in traversals:
        config = _replaced(config, prior, _path_of(traversal))
    return config


def _path_of(traversal: Traversal) -> Path:
    steps: list[GetAttr | Index] = []
    for step in traversal.steps:
        if isinstance(step, TraverseAttr):
            steps.append(GetAttr(step.name))
        elif isinstance(step, TraverseIndex):
            steps.append(Index(step.key))
    return tuple(steps)


def _replaced(config: Value, prior: Value, path: Path) -> Value:
    """`config` with the part at the path taken from `prior`; as it is where there is no such."""
    if not path:
        return prior.with_marks(config.marks) if not prior.contains_marked else prior
    if not config.is_known or not prior.is_known:
        return config
    step, rest = path[0], path[1:]
    key = step.name if isinstance(step, GetAttr) else _plain(step)
    if config.type.kind == KIND_MAP or prior.type.kind == KIND_MAP:
        return _in_map(config, prior, key, rest)
    if config.is_null or prior.is_null:
        return config
    if config.type.kind == KIND_OBJECT and isinstance(key, str):
        one, other = config.mapping(), prior.unmark()[0].mapping()
        if key not in one or key not in other:
            return config
        return object_value({**one, key: _replaced(one[key], other[key], rest)}).with_marks(
            config.marks
        )
    if isinstance(config.data, tuple) and isinstance(key, int):
        elements, before = list(config.sequence()), prior.unmark()[0].sequence()
        if key >= len(elements) or key >= len(before):
            return config
        elements[key] = _replaced(elements[key], before[key], rest)
        return Value(config.type, tuple(elements), config.marks, config.flags | before[key].flags)
    return config


def _in_map(config: Value, prior: Value, key: str | int | None, rest: Path) -> Value:
    """One element of a map: it may be there only before, or only now."""
    if not isinstance(key, str) or config.type.kind != KIND_MAP:
        return config
    one = {} if config.is_null else config.mapping()
    other = {} if prior.is_null else prior.unmark()[0].mapping()
    if rest:
        if key not in one or key not in other:
            return config
        changed = {**one, key: _replaced(one[key], other[key], rest)}
    elif key in other:
        changed = {**one, key: other[key]}
    elif key in one:
        changed = {each: value for each, value in one.items() if each != key}
    else:
        return config
    if not changed and prior.is_null:
        return null(config.type).with_marks(config.marks)
    element = next(iter({**one, **other}.values())).type
    return map_value(element, changed).with_marks(config.marks)


def _plain(step: Step) -> str | int | None:
    if not isinstance(step, Index):
        return None
    key = step.key
    if key.type.kind == KIND_STRING:
        return key.as_string()
    if key.type.kind == KIND_NUMBER:
        position = key.as_number()
        return position if isinstance(position, int) else None
    return None
