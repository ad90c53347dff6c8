"""Encoding of dataclass objects as the content of a body: the inverse of `decode_dataclass`.

hcl.dumps(encode_dataclass(settings))

Labels belong to the block around a body, so the object's own are omitted; `encode_block` includes
them. None is omitted if the absent item reads back as None.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nigari.cty.models import checks_itself, plain_field
from nigari.cty.types import DYNAMIC, USUAL_DEPTH
from nigari.cty.values import allow_data_depth
from nigari.hcl.body import Attribute
from nigari.hcl.data_text import BlockData, Raw
from nigari.hcl.dataclass_fields import (
    ARGUMENT,
    BLOCK,
    BLOCKS_BY_LABEL,
    LABEL,
    REMAIN,
    DecodedField,
    fields_of,
    label_names,
)
from nigari.hcl.expressions import Expression


def encode_dataclass(obj: object) -> dict[str, object]:
    """Encode the arguments and blocks from which `decode_dataclass` recreates the object."""
    return _encoded(obj, 1)


def encode_block(obj: object) -> BlockData:
    """Encode an object as a block, with its labels."""
    return _encoded_block(obj, 1)


def _encoded(obj: object, depth: int) -> dict[str, object]:
    if depth > USUAL_DEPTH:
        allow_data_depth(depth)
    found: dict[str, object] = {}
    for field in fields_of(type(obj)):
        given = getattr(obj, field.field.name)
        if field.kind in (LABEL, REMAIN):
            if field.kind == REMAIN and given is not None:
                raise ValueError(
                    f"{field.field.name} holds the rest of a body, which cannot be encoded"
                )
            continue
        if given is None and not field.field.has_default:
            continue
        if field.kind == ARGUMENT:
            if _is_left_to_the_class(obj, field):
                given = plain_field(obj, field.field.name)
            found[field.written] = _argument(given)
        elif given is not None:
            blocks = _blocks(field, given, depth + 1)
            if blocks:
                found[field.written] = blocks
    return found


def _encoded_block(obj: object, depth: int) -> BlockData:
    labels = [
        str(_plain_label(getattr(obj, each.field.name)))
        for each in fields_of(type(obj))
        if each.kind == LABEL
    ]
    return BlockData(labels, _encoded(obj, depth))


def _is_left_to_the_class(obj: object, field: DecodedField) -> bool:
    """Check for a field whose conversion from data only its class knows."""
    shape = field.shape
    return checks_itself(type(obj)) and shape is not None and shape.type is DYNAMIC


def _argument(given: object) -> object:
    if isinstance(given, Attribute):
        given = given.expr
    if isinstance(given, Expression):
        return Raw(given.source.text[given.start : given.end])
    return given


def _plain_label(label: object) -> object:
    return getattr(label, "value", label)


def _blocks(field: DecodedField, given: object, depth: int) -> list[BlockData]:
    if field.kind == BLOCK:
        return [_encoded_block(given, depth)]
    if field.kind == BLOCKS_BY_LABEL:
        assert isinstance(given, Mapping)
        assert field.nested is not None
        if label_names(field.nested):
            return [_encoded_block(each, depth) for each in given.values()]
        return [BlockData([str(key)], _encoded(each, depth)) for key, each in given.items()]
    assert isinstance(given, Iterable)
    return [_encoded_block(each, depth) for each in given]
