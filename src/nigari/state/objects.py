"""Conversion between stored objects and values, by a schema.

Objects of an older schema version, or in flat form, are rejected: only a provider can upgrade them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nigari.addrs.absolute import AbsResource
from nigari.addrs.provider import Provider
from nigari.addrs.resource import Resource
from nigari.cty import CtyError, ObjectType, Path, Value, object_value
from nigari.cty import json as cty_json
from nigari.cty.marks import mark_with_paths, unmark_deep_with_paths
from nigari.lang.marks import SENSITIVE
from nigari.schema.block import Block
from nigari.schema.marked_paths import sensitive_paths
from nigari.schema.provider import Schema
from nigari.state.model import ObjectStatus, StoredObject
from nigari.state.sensitive_paths import parse_paths, paths_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


SchemaLookup: TypeAlias = Callable[[Provider, Resource], Schema | None]
"""Returns the schema of a resource type from a provider."""


class UnreadableObject(Exception):
    """Reason why a stored object's attributes do not match a schema."""


def decode(stored: StoredObject, schema: Schema) -> Value:
    """Decode the object's attributes, with the sensitive marks of the state.

    Raises `UnreadableObject`.
    """
    if stored.schema_version != schema.version or stored.flat_attributes is not None:
        raise UnreadableObject(
            f"it was stored with version {stored.schema_version} of its schema, and the provider"
            f" has version {schema.version}; the next plan or apply upgrades it"
        )
    try:
        value = cty_json.value_from_json(stored.attributes, schema.block.implied_type)
    except CtyError as error:
        raise UnreadableObject(f"it does not match its schema: {error.message}") from None
    paths = parse_paths(stored.sensitive_attributes)
    return _with_sensitive(value, paths) if paths else value


def decode_for_display(stored: StoredObject, schema: Schema) -> Value:
    """Decode the object's attributes, with the sensitive marks of the state and of the schema."""
    value = decode(stored, schema)
    unmarked, _ = value.unmark_deep()
    return _with_sensitive(value, sensitive_paths(schema.block, unmarked))


def encode(
    value: Value,
    schema: Schema,
    status: ObjectStatus = ObjectStatus.READY,
    private: bytes = b"",
    dependencies: Iterable[AbsResource] = (),
    create_before_destroy: bool = False,
    skip_destroy: bool = False,
    identity: Value | None = None,
    triggers: tuple[str, ...] = (),
) -> StoredObject:
    """Encode wholly known attributes for storage; marks other than sensitive are dropped."""
    unmarked, marks = unmark_deep_with_paths(value)
    paths = [path for path, found in marks if SENSITIVE in found]
    return StoredObject(
        attributes=_attributes_text(unmarked, schema.block),
        schema_version=schema.version,
        status=status,
        sensitive_attributes=paths_text(paths),
        private=private,
        dependencies=tuple(dependencies),
        create_before_destroy=create_before_destroy,
        skip_destroy=skip_destroy,
        identity=None if identity is None else cty_json.value_to_json(identity, identity.type),
        identity_schema_version=None
        if identity is None or schema.identity is None
        else schema.identity.version,
        triggers=triggers,
    )


def _attributes_text(value: Value, block: Block) -> str:
    stored, type_ = stored_part(value, block), block.implied_type
    if stored is not value:
        names = stored.mapping()
        type_ = ObjectType({name: type_.attributes[name] for name in names})
    return cty_json.value_to_json(stored, type_)


def stored_part(value: Value, block: Block) -> Value:
    """Leave out null blocks that OpenTofu's schema does not have; reading adds them again."""
    parts = value.mapping() if block.unstored_nulls and not value.is_null else {}
    left_out = {name for name in block.unstored_nulls if name in parts and parts[name].is_null}
    if not left_out:
        return value
    return object_value({name: part for name, part in parts.items() if name not in left_out})


def _with_sensitive(value: Value, paths: Iterable[Path]) -> Value:
    return mark_with_paths(value, [(path, frozenset((SENSITIVE,))) for path in paths])
