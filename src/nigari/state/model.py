"""The model of a state: resources with their instances and objects, root outputs, check results.

A `State` never changes; `nigari.state.draft` makes a new one from an old one. How a state is stored,
and what an object's attributes mean, is unknown here.
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


PROVIDER_MEMORIES: Final = "nigari_provider_instances"
"""The member of a state file with what is remembered of provider instances; its name cannot come to
mean anything else.
"""


class ObjectStatus(Enum):
    """Whether an object is sound; the value is what the file says."""

    READY = ""
    TAINTED = "tainted"


class StoredObject:
    """One real object behind a resource instance, as the state remembers it.

    Written by hand because a state may have very many of them. Nobody assigns to one after it was
    made, `written` apart, which only remembers how it looks in a file.
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
        "written",
    )

    attributes: str
    """JSON text; only the resource type's schema says what it means."""
    flat_attributes: Mapping[str, str] | None
    """Attributes in the form of states before version 4, until a provider upgrades them."""
    sensitive_attributes: str
    """JSON text: the paths of values that are sensitive beyond what the schema says."""
    private: bytes
    """What the provider wants to be told again."""
    dependencies: tuple[AbsResource, ...]
    """Resources, in modules without keys, that must outlive this object."""
    identity: str | None
    """JSON text: what a provider calls the object, if it can say so."""

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
        self.written: tuple[bool, InstanceKey, str, str, bytes] | None = None

    def with_status(self, status: ObjectStatus) -> StoredObject:
        """The same object with another status."""
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
        )

    def with_schema_version(self, version: int) -> StoredObject:
        """The same object with another version of its schema."""
        changed = self.with_status(self.status)
        changed.schema_version = version
        return changed

    def with_dependencies(self, dependencies: tuple[AbsResource, ...]) -> StoredObject:
        """The same object with other dependencies."""
        return self.with_lifecycle(dependencies, self.create_before_destroy, self.skip_destroy)

    @property
    def lifecycle(self) -> tuple[tuple[AbsResource, ...], bool, bool]:
        """What the configuration has said of it: see `with_lifecycle`."""
        return self.dependencies, self.create_before_destroy, self.skip_destroy

    @property
    def unshown(self) -> tuple[object, ...]:
        """What a refresh may change of it besides its attributes, which no plan shows."""
        identity = None if self.identity is None else compact(self.identity)
        return *self.lifecycle, self.private, identity, self.identity_schema_version

    def with_lifecycle(
        self,
        dependencies: tuple[AbsResource, ...],
        create_before_destroy: bool,
        skip_destroy: bool,
    ) -> StoredObject:
        """The same object with what the configuration now says of it."""
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
    """Objects that were replaced and not destroyed yet, by their eight-digit keys."""
    provider: AbsProviderInstance | None = None
    """The provider instance of the current object."""
    deposed_providers: Mapping[str, AbsProviderInstance] = MappingProxyType({})
    """The provider instances of the deposed objects, by their keys."""

    def objects(self) -> Iterator[tuple[str, StoredObject, AbsProviderInstance]]:
        """All objects with their providers, by deposed key; that of the current one is empty."""
        if self.current is not None and self.provider is not None:
            yield "", self.current, self.provider
        for key in sorted(self.deposed):
            yield key, self.deposed[key], self.deposed_providers[key]

    @property
    def is_empty(self) -> bool:
        """Whether there is no object at all."""
        return self.current is None and not self.deposed


@record
class ResourceState:
    """The instances of one resource."""

    address: AbsResource
    provider: AbsProviderConfig
    """The provider block that was recorded last, in a module without keys. Each object has a provider
    of its own, which is another one where objects came here from other resources.
    """
    instances: Mapping[InstanceKey, InstanceState] = MappingProxyType({})

    def manager_of(self, key: InstanceKey, deposed: str = "") -> AbsProviderInstance:
        """The provider instance of an object, with the keys of its module instance.

        Without such an object, it is the one that the resource has for a new instance.
        """
        instance = self.instances.get(key)
        found = None if instance is None else instance.provider
        if instance is not None and deposed:
            found = instance.deposed_providers.get(deposed)
        block = self.provider
        return found or provider_for(self.address.module, Abs(block.module, block.item.instance()))

    def managers(self) -> set[AbsProviderInstance]:
        """The provider instances of all objects."""
        return {provider for each in self.instances.values() for _, _, provider in each.objects()}

    def providers(self) -> set[Provider]:
        """The providers of all objects, and the one that was recorded last."""
        found = {each.item.provider for each in self.managers()}
        return {*found, self.provider.item.provider}

    def in_order(self) -> list[tuple[InstanceKey, InstanceState]]:
        """The instances by key."""
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
    """How the checks of one object went."""

    address: str
    status: str
    failure_messages: tuple[str, ...] = ()


CHECK_KINDS: Final = ("resource", "output", "check", "var")
CHECK_STATUSES: Final = ("pass", "fail", "error", "unknown")


@record
class CheckResult:
    """How the checks of one block went, for all its instances."""

    kind: str
    """`resource`, `output`, `check` or `var`."""
    block: str
    status: str
    """`pass`, `fail`, `error` or `unknown`."""
    objects: tuple[CheckObject, ...] = ()


@record
class ProviderMemory:
    """What is remembered of one provider instance."""

    address: AbsProviderInstance
    """With the keys of the module instance that the block is in."""
    each_value: Value | None = None
    """What `each.value` was; null where it is withheld. None where there is no `for_each`."""
    each_withheld: str = "[]"
    """Compact JSON text: the paths in it that were secret."""
    arguments: str = "{}"
    """Compact JSON text: the arguments by name, those of nested blocks inside of them."""
    withheld: tuple[str, ...] = ()
    """The paths of arguments that were set and are secret."""
    sources: Mapping[str, str] = MappingProxyType({})
    """The variables and local values of the root module, or parts of them, that such arguments came
    from, by argument.
    """

    @property
    def says_something(self) -> bool:
        """Whether it differs from what there is without a block: the root module's default
        configuration exists without one, and is then empty.
        """
        address = self.address
        is_default = address.module.is_root and not address.item.config.alias
        return not is_default or self.arguments != "{}" or bool(self.withheld)


@record
class State:
    """Everything known of what exists."""

    resources: Mapping[AbsResource, ResourceState] = MappingProxyType({})
    outputs: Mapping[str, OutputState] = MappingProxyType({})
    checks: tuple[CheckResult, ...] = ()
    remembered: Mapping[AbsProviderInstance, ProviderMemory] = MappingProxyType({})
    """How provider instances with keys were configured, so that they can be once more."""

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a resource nor an output."""
        return not self.resources and not self.outputs

    @property
    def has_managed_objects(self) -> bool:
        """Whether anything exists that forgetting the state would leave behind."""
        return any(
            each.address.item.mode.value == "resource" and each.instances
            for each in self.resources.values()
        )

    def to_be_stored(self) -> State:
        """The state without what is remembered of provider instances that manage nothing."""
        if not self.remembered:
            return self
        needed: set[AbsProviderInstance] = set()
        for resource in self.resources.values():
            if resource.address.item.mode is MANAGED:
                needed.update(resource.managers())
        kept = {address: each for address, each in self.remembered.items() if address in needed}
        return self if len(kept) == len(self.remembered) else replace(self, remembered=kept)

    def in_order(self) -> list[ResourceState]:
        """The resources: those of the root module first, then by module, mode, type and name."""
        return sorted(self.resources.values(), key=lambda each: each.address.sort_key())

    def providers(self) -> list[Provider]:
        """The providers that manage what is in the state, in order."""
        return sorted({used for each in self.resources.values() for used in each.providers()})

    def instance(self, address: AbsResourceInstance) -> InstanceState | None:
        """The objects of one resource instance, if it has any."""
        resource = self.resources.get(resource_of(address))
        return None if resource is None else resource.instances.get(address.item.key)

    def instances(self) -> Iterator[tuple[AbsResourceInstance, InstanceState]]:
        """All resource instances, in order."""
        for resource in self.in_order():
            for key, instance in resource.in_order():
                yield instance_of(resource.address, key), instance


EMPTY_STATE: Final = State()


@record
class StateFile:
    """A state with what a snapshot of it is known by."""

    state: State
    lineage: str
    """The same for all snapshots that came from one another."""
    serial: int
    """Counts the snapshots of a lineage."""
    version: str = ""
    """The OpenTofu version whose rules the writer followed."""
