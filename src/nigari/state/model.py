"""State model: resources with their instances and objects, root outputs, check results.

A `State` is immutable; `nigari.state.draft` creates new ones. Deliberately unknown here: storage,
and the meaning of attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from operator import itemgetter
from types import MappingProxyType

from nigari.addrs.absolute import Abs, AbsResource, AbsResourceInstance, instance_of, resource_of
from nigari.addrs.keys import InstanceKey, key_order
from nigari.addrs.provider import (
    AbsProviderConfig,
    AbsProviderInstance,
    Provider,
    provider_for,
)
from nigari.addrs.resource import MANAGED
from nigari.cty import Value
from nigari.record import record, replace
from nigari.state.json_text import compact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar, Final


TRIGGERS: Final = "nigari_triggers"
"""Member of an object in a state file with its `triggers`; OpenTofu drops it when it writes the state."""

PROVIDER_MEMORIES: Final = "nigari_provider_instances"
"""Member of a state file with the recorded provider instances; the prefix keeps the name unique."""


class ObjectStatus(Enum):
    """Health of an object; the value is that in the file."""

    READY = ""
    TAINTED = "tainted"


class StoredObject:
    """One remote object of a resource instance, as stored in the state.

    Written by hand because a state may have very many of them. Immutable after construction, except
    for `written`, which caches its text in a file.
    """

    __slots__ = (
        "attributes",
        "create_before_destroy",
        "dependencies",
        "flat_attributes",
        "identity",
        "identity_schema_version",
        "private",
        "schema_version",
        "sensitive_attributes",
        "skip_destroy",
        "status",
        "triggers",
        "written",
    )

    attributes: str
    """JSON text, to be decoded with the resource type's schema."""
    flat_attributes: Mapping[str, str] | None
    """Attributes in the form of states before version 4, until a provider upgrades them."""
    sensitive_attributes: str
    """JSON text: paths of values that are sensitive in addition to the schema's."""
    private: bytes
    """Opaque data that the provider receives again."""
    dependencies: tuple[AbsResource, ...]
    """Resources, in modules without keys, that this object depends on and that must outlive it."""
    identity: str | None
    """JSON text: the provider's identity of the object, if it has one."""
    triggers: tuple[str, ...]
    """Digests of the values in `replace_triggered_by` that the object was made with."""

    def __init__(
        self,
        attributes: str,
        schema_version: int = 0,
        status: ObjectStatus = ObjectStatus.READY,
        sensitive_attributes: str = "[]",
        private: bytes = b"",
        dependencies: tuple[AbsResource, ...] = (),
        create_before_destroy: bool = False,
        skip_destroy: bool = False,
        identity: str | None = None,
        identity_schema_version: int | None = None,
        flat_attributes: Mapping[str, str] | None = None,
        triggers: tuple[str, ...] = (),
    ) -> None:
        self.attributes = attributes
        self.schema_version: int = schema_version
        self.status: ObjectStatus = status
        self.sensitive_attributes = sensitive_attributes
        self.private = private
        self.dependencies = dependencies
        self.create_before_destroy: bool = create_before_destroy
        self.skip_destroy: bool = skip_destroy
        self.identity = identity
        self.identity_schema_version: int | None = identity_schema_version
        self.flat_attributes = flat_attributes
        self.triggers = triggers
        self.written: tuple[bool, InstanceKey, str, str, bytes] | None = None

    def with_status(self, status: ObjectStatus) -> StoredObject:
        return StoredObject(
            attributes=self.attributes,
            schema_version=self.schema_version,
            status=status,
            sensitive_attributes=self.sensitive_attributes,
            private=self.private,
            dependencies=self.dependencies,
            create_before_destroy=self.create_before_destroy,
            skip_destroy=self.skip_destroy,
            identity=self.identity,
            identity_schema_version=self.identity_schema_version,
            flat_attributes=self.flat_attributes,
            triggers=self.triggers,
        )

    def with_schema_version(self, version: int) -> StoredObject:
        changed = self.with_status(self.status)
        changed.schema_version = version
        return changed

    def with_triggers(self, triggers: tuple[str, ...]) -> StoredObject:
        changed = self.with_status(self.status)
        changed.triggers = triggers
        return changed

    def with_dependencies(self, dependencies: tuple[AbsResource, ...]) -> StoredObject:
        return self.with_lifecycle(dependencies, self.create_before_destroy, self.skip_destroy)

    @property
    def lifecycle(self) -> tuple[tuple[AbsResource, ...], bool, bool]:
        """Settings from the configuration: see `with_lifecycle`."""
        return self.dependencies, self.create_before_destroy, self.skip_destroy

    @property
    def unshown(self) -> tuple[object, ...]:
        """Data besides the attributes that a refresh may change, and that plans do not show."""
        identity = None if self.identity is None else compact(self.identity)
        return *self.lifecycle, self.private, identity, self.identity_schema_version

    def with_lifecycle(
        self,
        dependencies: tuple[AbsResource, ...],
        create_before_destroy: bool,
        skip_destroy: bool,
    ) -> StoredObject:
        """Replace the settings that the configuration determines."""
        changed = self.with_status(self.status)
        changed.dependencies = dependencies
        changed.create_before_destroy = create_before_destroy
        changed.skip_destroy = skip_destroy
        return changed

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, StoredObject)
            and self.schema_version == other.schema_version
            and self.status is other.status
            and self.private == other.private
            and self.dependencies == other.dependencies
            and self.create_before_destroy == other.create_before_destroy
            and self.skip_destroy == other.skip_destroy
            and self.triggers == other.triggers
            and self.identity_schema_version == other.identity_schema_version
            and self.flat_attributes == other.flat_attributes
            and _same_json(self.sensitive_attributes, other.sensitive_attributes)
            and _same_json(self.identity or "", other.identity or "")
            and _same_json(self.attributes, other.attributes)
        )

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # texts that differ in layout are equal

    def __repr__(self) -> str:
        return f"<StoredObject version {self.schema_version} {self.status.name.lower()}>"


def _same_json(one: str, other: str) -> bool:
    return one == other or compact(one) == compact(other)


@record
class InstanceState:
    """The objects of one resource instance."""

    current: StoredObject | None = None
    deposed: Mapping[str, StoredObject] = MappingProxyType({})
    """Replaced objects that are not destroyed yet, by their eight-digit keys."""
    provider: AbsProviderInstance | None = None
    """Provider instance of the current object."""
    deposed_providers: Mapping[str, AbsProviderInstance] = MappingProxyType({})
    """Provider instances of the deposed objects, by their keys."""

    def objects(self) -> Iterator[tuple[str, StoredObject, AbsProviderInstance]]:
        """Yield all objects with their providers, by deposed key; that of the current one is empty."""
        if self.current is not None and self.provider is not None:
            yield "", self.current, self.provider
        for key in sorted(self.deposed):
            yield key, self.deposed[key], self.deposed_providers[key]

    @property
    def is_empty(self) -> bool:
        """True if there is no object."""
        return self.current is None and not self.deposed


@record
class ResourceState:
    """The instances of one resource."""

    address: AbsResource
    provider: AbsProviderConfig
    """The most recently recorded provider block, in a module without keys. Each object has its own
    provider, which differs if the object was moved here from another resource.
    """
    instances: Mapping[InstanceKey, InstanceState] = MappingProxyType({})

    def manager_of(self, key: InstanceKey, deposed: str = "") -> AbsProviderInstance:
        """Return the provider instance of an object, with the keys of its module instance.

        If there is no such object, it is the one for a new instance of the resource.
        """
        instance = self.instances.get(key)
        found = None if instance is None else instance.provider
        if instance is not None and deposed:
            found = instance.deposed_providers.get(deposed)
        block = self.provider
        return found or provider_for(self.address.module, Abs(block.module, block.item.instance()))

    def managers(self) -> set[AbsProviderInstance]:
        return {provider for each in self.instances.values() for _, _, provider in each.objects()}

    def providers(self) -> set[Provider]:
        """Collect the providers of all objects, and the most recently recorded one."""
        found = {each.item.provider for each in self.managers()}
        return {*found, self.provider.item.provider}

    def in_order(self) -> list[tuple[InstanceKey, InstanceState]]:
        """List the instances by key."""
        instances = self.instances
        if len(instances) == 1:
            return list(instances.items())
        kinds = set(map(type, instances))
        if kinds == {int} or kinds == {str}:
            return sorted(instances.items(), key=itemgetter(0))
        return sorted(instances.items(), key=lambda item: key_order(item[0]))


@record
class OutputState:
    """The value of a root output."""

    value: Value
    sensitive: bool = False
    deprecated: str = ""


@record
class CheckObject:
    """Results of one object's checks."""

    address: str
    status: str
    failure_messages: tuple[str, ...] = ()


CHECK_KINDS: Final = ("resource", "output", "check", "var")
CHECK_STATUSES: Final = ("pass", "fail", "error", "unknown")


@record
class CheckResult:
    """Results of one block's checks, for all its instances."""

    kind: str
    """`resource`, `output`, `check` or `var`."""
    block: str
    status: str
    """`pass`, `fail`, `error` or `unknown`."""
    objects: tuple[CheckObject, ...] = ()


@record
class ProviderMemory:
    """The recorded configuration of one provider instance."""

    address: AbsProviderInstance
    """Includes the keys of the block's module instance."""
    each_value: Value | None = None
    """Value of `each.value`; null if it is withheld. None without `for_each`."""
    each_withheld: str = "[]"
    """Compact JSON text: paths in it that were sensitive."""
    arguments: str = "{}"
    """Compact JSON text: arguments by name, with those of nested blocks inside."""
    withheld: tuple[str, ...] = ()
    """Paths of arguments that were set and are sensitive."""
    sources: Mapping[str, str] = MappingProxyType({})
    """Variables and local values of the root module, or parts of them, that provided such
    arguments, by argument.
    """

    @property
    def says_something(self) -> bool:
        """True unless it equals the default: the root module's default configuration exists without
        a block, and is then empty.
        """
        address = self.address
        is_default = address.module.is_root and not address.item.config.alias
        return not is_default or self.arguments != "{}" or bool(self.withheld)


@record
class State:
    """Every object, output and check result known to Nigari."""

    resources: Mapping[AbsResource, ResourceState] = MappingProxyType({})
    outputs: Mapping[str, OutputState] = MappingProxyType({})
    checks: tuple[CheckResult, ...] = ()
    remembered: Mapping[AbsProviderInstance, ProviderMemory] = MappingProxyType({})
    """Configurations of provider instances with keys, so that they can be configured again."""

    @property
    def is_empty(self) -> bool:
        """True if there is neither a resource nor an output."""
        return not self.resources and not self.outputs

    @property
    def has_managed_objects(self) -> bool:
        """True if forgetting the state would leave objects behind."""
        return any(
            each.address.item.mode.value == "resource" and each.instances
            for each in self.resources.values()
        )

    def to_be_stored(self) -> State:
        """Drop the recorded provider instances that manage no object."""
        if not self.remembered:
            return self
        needed: set[AbsProviderInstance] = set()
        for resource in self.resources.values():
            if resource.address.item.mode is MANAGED:
                needed.update(resource.managers())
        kept = {address: each for address, each in self.remembered.items() if address in needed}
        return self if len(kept) == len(self.remembered) else replace(self, remembered=kept)

    def in_order(self) -> list[ResourceState]:
        """List the resources: those of the root module first, then by module, mode, type and name."""
        return sorted(self.resources.values(), key=lambda each: each.address.sort_key())

    def providers(self) -> list[Provider]:
        """List the providers of all resources, in order."""
        return sorted({used for each in self.resources.values() for used in each.providers()})

    def instance(self, address: AbsResourceInstance) -> InstanceState | None:
        resource = self.resources.get(resource_of(address))
        return None if resource is None else resource.instances.get(address.item.key)

    def instances(self) -> Iterator[tuple[AbsResourceInstance, InstanceState]]:
        for resource in self.in_order():
            for key, instance in resource.in_order():
                yield instance_of(resource.address, key), instance


EMPTY_STATE: Final = State()


@record
class StateFile:
    """A state with the identification of its snapshot."""

    state: State
    lineage: str
    """The same for all snapshots that derive from one another."""
    serial: int
    """Number of the snapshot within its lineage."""
    version: str = ""
    """OpenTofu version whose rules the writer followed."""
