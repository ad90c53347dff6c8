"""Conversion of a value to the exact type of a block.

Missing parts are filled in, others are converted, and a `CtyError` leads to a part that cannot be.
Used for values from programs (providers, state, tests); `decode` handles configuration bodies.
"""

from collections.abc import Iterable

from nigari import cty
from nigari.hcl.quoting import quoted
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting
from nigari.schema.placeholders import empty_nested


def coerce(block: Block, value: cty.Value) -> cty.Value:
    """Convert a value to the block's implied type; marks are retained."""
    value, marks = value.unmark()
    if value.is_null:
        return cty.null(block.implied_type).with_marks(marks)
    if not value.is_known:
        return cty.unknown(block.implied_type).with_marks(marks)
    if not isinstance(value.type, cty.ObjectType):
        raise cty.CtyError("an object is required")
    # configschema (CoerceValue): unlike a conversion, which drops them, unexpected attributes are
    # errors.
    for name in sorted(value.type.attributes):
        if name not in block.attributes and name not in block.blocks:
            raise cty.CtyError(f"unexpected attribute {quoted(name)}")
    result: dict[str, cty.Value] = {}
    for name in sorted(block.attributes):
        result[name] = _attribute(name, block.attributes[name], value)
    for name in sorted(block.blocks.keys() - block.attributes.keys()):
        result[name] = _nested(name, block.blocks[name], value)
    return cty.object_value(result).with_marks(marks)


def without_null_blocks(block: Block, value: cty.Value) -> cty.Value:
    """Replace null by an empty collection for nested blocks.

    Old provider SDKs do not distinguish the two. Null stays for blocks of open type and for maps.
    """
    if not block.blocks or value.is_null or not value.is_known:
        return value
    parts = dict(value.mapping())
    for name, nested in block.blocks.items():
        # Elements of open type are tuples and objects, which may legitimately be null.
        if nested.nesting is not Nesting.MAP and not nested.block.implied_type.has_dynamic:
            parts[name] = _without_null(nested, parts[name])
    return cty.object_value(parts)


def _without_null(nested: NestedBlock, given: cty.Value) -> cty.Value:
    if given.is_null:
        return empty_nested(nested)
    if not nested.block.blocks or not given.is_known:
        return given
    if nested.nesting in (Nesting.SINGLE, Nesting.GROUP):
        return without_null_blocks(nested.block, given)
    elements = [without_null_blocks(nested.block, element) for element in given.sequence()]
    inner = nested.block.implied_type
    if nested.nesting is Nesting.SET:
        return cty.set_value(inner, elements)
    return cty.list_value(inner, elements)


def _attribute(name: str, attribute: Attribute, value: cty.Value) -> cty.Value:
    assert isinstance(value.type, cty.ObjectType)
    if name in value.type.attributes:
        given = value.attribute(name)
    elif attribute.required:
        raise cty.CtyError(f"attribute {quoted(name)} is required")
    # An absent attribute equals null, as in a configuration.
    else:
        given = cty.null(attribute.implied_type)
    try:
        return cty.convert(given, attribute.spec_type)
    except cty.CtyError as error:
        raise error.under(cty.GetAttr(name)) from None


def _nested(name: str, nested: NestedBlock, value: cty.Value) -> cty.Value:
    assert isinstance(value.type, cty.ObjectType)
    # An absent block of each nesting has its own representation, never a missing attribute.
    if name not in value.type.attributes:
        return empty_nested(nested)
    try:
        given, marks = value.attribute(name).unmark()
        if nested.nesting in (Nesting.SINGLE, Nesting.GROUP):
            return coerce(nested.block, given).with_marks(marks)
        return _collection(nested, given).with_marks(marks)
    except cty.CtyError as error:
        raise error.under(cty.GetAttr(name)) from None


def _collection(nested: NestedBlock, given: cty.Value) -> cty.Value:
    inner = nested.block.implied_type
    whole: cty.Type = {
        Nesting.LIST: cty.ListType(inner),
        Nesting.SET: cty.SetType(inner),
        Nesting.MAP: cty.MapType(inner),
    }[nested.nesting]
    if given.is_null:
        return cty.null(whole)
    if not given.is_known:
        return cty.unknown(whole)
    if not (given.type.is_collection or given.type.is_structural):
        raise cty.CtyError(f"a {nested.nesting.value} is required")
    if nested.nesting is Nesting.MAP:
        return _map(nested, given)
    if not given.length_int():
        return (
            cty.set_value(inner, ()) if nested.nesting is Nesting.SET else cty.list_value(inner, ())
        )
    elements = _elements(nested.block, given.items())
    if nested.nesting is Nesting.SET:
        return cty.set_value(inner, elements)
    # Elements of different types have no common list type: only a tuple can hold them.
    if inner.has_dynamic and len({element.type for element in elements}) > 1:
        return cty.tuple_value(elements)
    return cty.list_value(elements[0].type, elements)


def _map(nested: NestedBlock, given: cty.Value) -> cty.Value:
    if not given.length_int():
        return cty.map_value(nested.block.implied_type, {})
    if given.type.kind not in (cty.KIND_MAP, cty.KIND_OBJECT):
        raise cty.CtyError("a map is required")
    items = given.items()
    elements = _elements(nested.block, items)
    by_key = {key.as_string(): v for (key, _), v in zip(items, elements, strict=True)}
    # Elements of different types have no common map type: only an object can hold them.
    if nested.block.implied_type.has_dynamic and (
        given.type.kind == cty.KIND_OBJECT or len({v.type for v in elements}) > 1
    ):
        return cty.object_value(by_key)
    return cty.map_value(elements[0].type, by_key)


def _elements(block: Block, items: Iterable[tuple[cty.Value, cty.Value]]) -> list[cty.Value]:
    elements: list[cty.Value] = []
    for key, element in items:
        try:
            elements.append(coerce(block, element))
        except cty.CtyError as error:
            raise error.under(cty.Index(key)) from None
    return elements
