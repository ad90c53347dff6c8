"""Paths of parts that a schema declares sensitive, write-only or deprecated.

The paths lead into a given value, as a nested collection in the schema corresponds to as many parts
as the value has elements. Deliberately unknown here: the effect of a mark; callers apply it.
"""

from collections.abc import Callable, Iterable, Iterator

from nigari import cty
from nigari.schema.block import Attribute, Block, NestedAttributes, NestedBlock, Nesting

_IsPicked = Callable[[Attribute], bool]
_MayHold = Callable[[Block | NestedAttributes], bool]


def sensitive_paths(block: Block, value: cty.Value) -> list[cty.Path]:
    """List the paths of all sensitive parts of `value`, including null ones."""
    if not block.has_sensitive:
        return []
    found = _in_block(block, value, (), lambda a: a.sensitive, lambda b: b.has_sensitive)
    return [path for path, _ in found]


def set_write_only_paths(block: Block, value: cty.Value) -> list[cty.Path]:
    """List the paths of write-only attributes with a value, which stored values must not have."""
    if not block.has_write_only or not _has_parts(value):
        return []
    found = _in_block(block, value, (), lambda a: a.write_only, lambda b: b.has_write_only)
    return [path for path, part in found if not part.is_null]


def deprecated_paths(block: Block, value: cty.Value) -> Iterator[tuple[cty.Path, str, str]]:
    """Yield the paths of deprecated parts, each with its kind and the provider's message.

    The empty path stands for the whole value. Its kind is "block" here; the caller knows better.
    """
    if not block.has_deprecated:
        return
    yield from _deprecated_blocks(block, value, ())
    found = _in_block(block, value, (), lambda a: a.deprecated, lambda b: b.has_deprecated)
    for path, _ in found:
        attribute = attribute_at(block, path)
        if attribute is not None:
            yield path, "attribute", attribute.deprecation_message


def _deprecated_blocks(
    block: Block, value: cty.Value, path: cty.Path
) -> Iterator[tuple[cty.Path, str, str]]:
    if block.deprecated:
        yield path, "block", block.deprecation_message
    value, _ = value.unmark()
    if not _has_parts(value):
        return
    for name, nested in block.blocks.items():
        if nested.block.has_deprecated:
            here = (*path, cty.GetAttr(name))
            for place, element in _objects(nested.nesting, value.attribute(name), here):
                yield from _deprecated_blocks(nested.block, element, place)


def without_collection_marks(block: Block, marks: Iterable[cty.MarksAt]) -> list[cty.MarksAt]:
    """Drop the marks on whole lists and maps of blocks from a configuration's marks.

    Only blocks of unknown number have such marks. Once the number is known, each argument of the
    blocks carries them; a set adopts those of its elements.
    """
    return [(path, found) for path, found in marks if not _is_list_or_map(block, path)]


def _is_list_or_map(block: Block, path: cty.Path) -> bool:
    nested: NestedBlock | None = None
    for step in path:
        if isinstance(step, cty.GetAttr):
            nested = block.blocks.get(step.name)
            if nested is None:
                return False
            block = nested.block
    is_whole = bool(path) and isinstance(path[-1], cty.GetAttr)
    return is_whole and nested is not None and nested.nesting in (Nesting.LIST, Nesting.MAP)


def attribute_at(block: Block, path: cty.Path) -> Attribute | None:
    """Return the attribute that `path` leads to; None unless it is exactly one."""
    holder: Block | NestedAttributes = block
    found: Attribute | None = None
    for step in path:
        if not isinstance(step, cty.GetAttr):
            continue
        if found is not None:
            if found.nested is None:
                return None
            holder = found.nested
        found = holder.attributes.get(step.name)
        if found is None:
            if not isinstance(holder, Block) or step.name not in holder.blocks:
                return None
            holder = holder.blocks[step.name].block
    return found


def _in_block(
    block: Block, value: cty.Value, path: cty.Path, is_picked: _IsPicked, may_hold: _MayHold
) -> Iterator[tuple[cty.Path, cty.Value]]:
    value, _ = value.unmark()
    for name, attribute in block.attributes.items():
        here = (*path, cty.GetAttr(name))
        if is_picked(attribute):
            # A sensitive attribute is listed even if the whole object is null or unknown, as its
            # value may appear later.
            yield here, value.attribute(name) if _has_parts(value) else value
        if attribute.nested is not None and may_hold(attribute.nested) and _has_parts(value):
            inner = value.attribute(name)
            yield from _in_attributes(attribute.nested, inner, here, is_picked, may_hold)
    if not _has_parts(value):
        return
    for name, nested in block.blocks.items():
        if not may_hold(nested.block):
            continue
        here = (*path, cty.GetAttr(name))
        for place, element in _objects(nested.nesting, value.attribute(name), here):
            yield from _in_block(nested.block, element, place, is_picked, may_hold)


def _in_attributes(
    nested: NestedAttributes,
    value: cty.Value,
    path: cty.Path,
    is_picked: _IsPicked,
    may_hold: _MayHold,
) -> Iterator[tuple[cty.Path, cty.Value]]:
    for place, element in _objects(nested.nesting, value, path):
        element, _ = element.unmark()
        for name, attribute in nested.attributes.items():
            here = (*place, cty.GetAttr(name))
            if is_picked(attribute):
                yield here, element.attribute(name)
            elif attribute.nested is not None and may_hold(attribute.nested):
                if _has_parts(element):
                    inner = element.attribute(name)
                    yield from _in_attributes(attribute.nested, inner, here, is_picked, may_hold)


def _objects(
    nesting: Nesting, value: cty.Value, path: cty.Path
) -> Iterator[tuple[cty.Path, cty.Value]]:
    value, _ = value.unmark()
    if not _has_parts(value):
        return
    if nesting in (Nesting.SINGLE, Nesting.GROUP):
        yield path, value
        return
    for key, element in value.items():
        if _has_parts(element.unmark()[0]):
            yield (*path, cty.Index(key)), element


def _has_parts(value: cty.Value) -> bool:
    return value.is_known and not value.is_null
