"""Objects of the prior state as values: upgraded to the provider's schema or taken over from
another type, and refreshed.

An object that is gone is none. What has changed since it was stored is drift, which the caller
notes.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.addrs.provider import AbsProviderInstance
from nigari.addrs.resource import MANAGED
from nigari.cty.errors import CtyError
from nigari.cty.json import value_from_json
from nigari.cty.marks import mark_with_paths, unmark_deep_with_paths
from nigari.cty.values import Value, unknown
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import Body
from nigari.lang.marks import SENSITIVE
from nigari.plan.objects.provider_deferral import ProviderDefers
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.record import record
from nigari.running.provider_objects import is_sound, with_schema_marks
from nigari.schema.coerce import without_null_blocks
from nigari.schema.marked_paths import without_collection_marks
from nigari.schema.provider import Schema
from nigari.state.formats.other_providers import is_behind_barrier
from nigari.state.model import InstanceState, ObjectStatus, State, StoredObject
from nigari.state.objects import UnreadableObject, decode, encode
from nigari.state.sensitive_paths import parse_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

_SECRET = frozenset((SENSITIVE,))


PriorModules: TypeAlias = Mapping[tuple[ModuleAddr, str], Set[InstanceKey]]
"""The keys of the instances of each call, by the module instance that it is in and its name."""


@record
class PriorObject:
    """An object that exists before anything is done."""

    value: Value
    stored: StoredObject
    private: bytes
    identity: Value | None

    @property
    def is_tainted(self) -> bool:
        return self.stored.status is ObjectStatus.TAINTED


def _as_stored(attributes: str) -> bytes:
    """Encode stored attributes; bytes of the file that are not UTF-8 stay what they were."""
    return attributes.encode("utf-8", "surrogateescape")


async def upgraded(
    provider: api.Provider,
    schema: Schema,
    address: AbsResourceInstance,
    stored: StoredObject,
    diags: Diagnostics,
) -> PriorObject | None:
    """A stored object under the provider's present schema; None after reporting why not.

    The provider is called even if the schema version has not changed, as it may correct objects
    within a version.
    """
    if stored.schema_version > schema.version:
        _report_newer(address, stored, schema, diags)
        return None
    identity = stored_identity(stored, schema)
    request = api.UpgradeRequest(
        address.item.resource.type,
        stored.schema_version,
        b"" if stored.flat_attributes is not None else _as_stored(stored.attributes),
        tuple((stored.flat_attributes or {}).items()),
    )
    answer = await provider.upgrade(request)
    diags.extend(located(answer.diagnostics, address=str(address)))
    value = answer.state
    if api.has_errors(answer.diagnostics) or not is_sound(
        value, schema, address, "upgraded", diags
    ):
        return None
    if stored.sensitive_attributes != "[]":
        value = marked_as_stored(value, stored)
    if not _is_stored(value, stored, schema):
        stored = _renewed(value, schema, stored, stored.private, identity)
    return PriorObject(value, stored, stored.private, identity)


def _is_stored(value: Value, stored: StoredObject, schema: Schema) -> bool:
    """Return whether a stored object has exactly this value."""
    try:
        return decode(stored, schema) == value
    except UnreadableObject:
        return False


def _report_newer(
    address: AbsResourceInstance, stored: StoredObject, schema: Schema, diags: Diagnostics
) -> None:
    if is_behind_barrier(stored):
        _report_barred(address, diags)
        return
    diags.error(
        "Object of a newer provider version",
        f"{address} was stored with version {stored.schema_version} of its schema, and the provider "
        f"that is selected has version {schema.version}. Use the version of the provider that "
        "stored it, or a newer one.",
        address=str(address),
    )


def _report_barred(address: AbsResourceInstance, diags: Diagnostics) -> None:
    diags.error(
        "Unknown provider of an object",
        f"The state does not say which provider configuration manages {address}. It was another one "
        "than that of its resource, as after a move, and OpenTofu, which cannot store that, has "
        'written the state since. Restore a backup of the state, or take the object out with "nigari '
        'state rm" and import it again.',
        address=str(address),
    )


async def taken_over(
    provider: api.Provider,
    schema: Schema,
    address: AbsResourceInstance,
    source: tuple[AbsResourceInstance, AbsProviderInstance],
    stored: StoredObject,
    diags: Diagnostics,
) -> PriorObject | None:
    """A stored object of another type as one of this type; None after reporting why not."""
    previous, its_provider = source
    request = api.MoveRequest(
        source_provider=its_provider.item.provider.text,
        source_type_name=previous.item.resource.type,
        source_version=stored.schema_version,
        target_type_name=address.item.resource.type,
        json=b"" if stored.flat_attributes is not None else stored.attributes.encode(),
        flatmap=tuple((stored.flat_attributes or {}).items()),
        private=stored.private,
    )
    answer = await provider.move_state(request)
    diags.extend(located(answer.diagnostics, address=str(address)))
    if api.has_errors(answer.diagnostics) or not is_sound(
        answer.state, schema, address, "took over", diags
    ):
        return None
    # OpenTofu: what was sensitive stays so, where the new type has such attributes.
    value = marked_as_stored(answer.state, stored)
    return PriorObject(value, _renewed(value, schema, stored, answer.private), answer.private, None)


def _renewed(
    value: Value,
    schema: Schema,
    stored: StoredObject,
    private: bytes,
    identity: Value | None = None,
) -> StoredObject:
    """The object under the present schema, with everything else that is known of it."""
    return encode(
        value,
        schema,
        stored.status,
        private,
        stored.dependencies,
        stored.create_before_destroy,
        stored.skip_destroy,
        identity,
        stored.triggers,
    )


def stored_identity(stored: StoredObject, schema: Schema) -> Value | None:
    """The identity of a stored object; None if the provider has none for it."""
    if stored.identity is None or schema.identity is None:
        return None
    try:
        return value_from_json(stored.identity, schema.identity.implied_type)
    except CtyError:
        # It was stored under another schema, and the provider gives a new one with the object.
        return None


async def read(
    provider: api.Provider,
    schema: Schema,
    address: AbsResourceInstance,
    prior: PriorObject,
    meta: Value | None,
    diags: Diagnostics,
    body: Body | None = None,
    may_defer: bool = False,
) -> PriorObject | None:
    """The object as it is now; None where it is gone, or where reading it failed.

    What the provider says about it is located in `body`, if it is still declared. One that leaves
    it for a later plan, where it may, raises `ProviderDefers`.
    """
    plain, _ = prior.value.unmark_deep()
    request = api.ReadRequest(
        address.item.resource.type, plain, prior.private, meta, prior.identity, may_defer
    )
    answer = await provider.read(request)
    if answer.deferred is not None and may_defer:
        raise ProviderDefers(answer.deferred)
    diags.extend(located(answer.diagnostics, schema.block, body, str(address)))
    if api.has_errors(answer.diagnostics) or answer.state.is_null:
        return None
    if not is_sound(answer.state, schema, address, "read", diags):
        return None
    found = without_null_blocks(schema.block, answer.state)
    identity = answer.identity if answer.identity is not None else prior.identity
    if found == plain and answer.private == prior.private and identity == prior.identity:
        return prior
    value = marked_as_stored(found, prior.stored)
    stored = encode(
        value,
        schema,
        prior.stored.status,
        answer.private,
        prior.stored.dependencies,
        prior.stored.create_before_destroy,
        prior.stored.skip_destroy,
        identity,
        prior.stored.triggers,
    )
    return PriorObject(value, stored, answer.private, identity)


def as_secret_as(config: Value, found: PriorObject, schema: Schema) -> PriorObject:
    """An object with the secrets of its configuration, which alone knows them at first."""
    marks = [
        (path, _SECRET) for path, each in unmark_deep_with_paths(config)[1] if SENSITIVE in each
    ]
    lasting = without_collection_marks(schema.block, marks)
    if not lasting:
        return found
    value = mark_with_paths(found.value, lasting)
    stored = _renewed(value, schema, found.stored, found.private, found.identity)
    return PriorObject(value, stored, found.private, found.identity)


def current_value(state: InstanceState | None, schema: Schema) -> Value:
    """The current object of an instance as it was stored; unknown if there is none to read."""
    if state is not None and state.current is not None:
        try:
            return with_schema_marks(decode(state.current, schema), schema)
        except UnreadableObject:
            pass
    return unknown(schema.block.implied_type)


def marked_as_stored(value: Value, stored: StoredObject) -> Value:
    """Mark what the state says is sensitive."""
    paths = parse_paths(stored.sensitive_attributes)
    return mark_with_paths(value, [(path, _SECRET) for path in paths])


def prior_modules(prior: State) -> PriorModules:
    """The keys of the module instances that have objects, by the call that they are instances of."""
    found: dict[tuple[ModuleAddr, str], set[InstanceKey]] = {}
    for address in prior.resources:
        module = address.module
        while module.parent is not None and address.item.mode is MANAGED:
            found.setdefault((module.parent, module.name), set()).add(module.key)
            module = module.parent
    return found
