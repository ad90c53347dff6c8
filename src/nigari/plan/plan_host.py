"""The host of planning: a resource is what it is planned to be.

It collects what nodes find out: changes, drift, what the prior objects are now, how conditions
went. It decides nothing about single objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from nigari.addrs.absolute import AbsResource, AbsResourceInstance
from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.addrs.provider import AbsProviderInstance
from nigari.addrs.resource import DATA, EPHEMERAL
from nigari.addrs.targets import Target
from nigari.config.resource import Resource
from nigari.cty.function import Function
from nigari.cty.values import Value, null
from nigari.eval.inputs import Inputs
from nigari.eval.instances import Frame, ModuleInstance, ResourceNode
from nigari.eval.once import Effect, Node
from nigari.plan.block_graph import resource_block
from nigari.plan.changes import Change, Drift, PlanMode
from nigari.plan.conditions import Conditions, Noted
from nigari.plan.data import DataResource
from nigari.plan.host import Host
from nigari.plan.imports import ImportsNode
from nigari.plan.instances import AskProvider, PlannedResource, RepeatedResource
from nigari.plan.managed import ManagedResource
from nigari.plan.module_conditions import condition_nodes, module_conditions
from nigari.plan.orphans import DestroyObject, frame_at
from nigari.plan.prior import PriorObject
from nigari.plan.prior_values import PriorResource
from nigari.plan.provider_instances import ConfigureProvider, ProviderInstances
from nigari.plan.provider_pool import ProviderPool
from nigari.plan.settings import Settings
from nigari.record import record
from nigari.schema.provider import Schema
from nigari.state.model import State, StateDraft
from nigari.state.moves import Moved
from nigari.state.objects import encode


@record
class PlanOptions:
    """What the user wants of a plan."""

    mode: PlanMode = PlanMode.NORMAL
    refreshes: bool = True
    replaced: tuple[AbsResourceInstance, ...] = ()
    targets: tuple[Target, ...] = ()
    excluded: tuple[Target, ...] = ()
    parallelism: int = 10


@record
class Surroundings:
    """What planning and applying are told about the world."""

    root: ModuleInstance
    inputs: Inputs
    functions: Mapping[str, Function]
    root_path: str
    working_path: str
    workspace: str = "default"


class PlanHost(Host):
    """The run that plans."""

    def __init__(
        self,
        surroundings: Surroundings,
        pool: ProviderPool,
        prior: State,
        settings: Settings,
        options: PlanOptions,
        moved: Mapping[AbsResourceInstance, Moved],
        selected: frozenset[tuple[ModuleAddr, str]] | None = None,
    ) -> None:
        super().__init__(
            surroundings.root,
            surroundings.inputs,
            surroundings.functions,
            surroundings.root_path,
            surroundings.working_path,
            surroundings.workspace,
        )
        self.pool = pool
        self.providers = ProviderInstances(pool)
        self.prior = prior
        self.refreshes = options.refreshes
        self.is_refresh_only = options.mode is PlanMode.REFRESH_ONLY
        self.changes: dict[tuple[AbsResourceInstance, str], Change] = {}
        self.drift: list[Drift] = []
        self.refreshed = StateDraft(prior)
        self.conditions: list[Noted] = []
        self.settings = settings
        self.imports: ImportsNode
        self._is_destroy = options.mode is PlanMode.DESTROY
        self._replaced = frozenset(options.replaced)
        self._moved = moved
        self._selected = selected
        self._targets = options.targets

    # -- what nodes ask for -------------------------------------------------------------------

    def begin(self) -> Frame:
        root = super().begin()
        if not self._is_destroy:
            self.work.want((self.imports,))
        return root

    def resource_node(self, frame: Frame, resource: Resource) -> ResourceNode:
        if self._is_destroy or not self._is_selected(frame, resource):
            return PriorResource(frame, resource, self.prior, self.pool, self.providers)
        mode = resource.addr.mode
        if mode is DATA:
            return DataResource(frame, resource, self)
        if mode is EPHEMERAL:
            self.diags.error(
                "Ephemeral resources are not supported yet",
                f"{resource.addr} cannot be opened by this version of the program.",
                resource.range,
            )
            return PriorResource(frame, resource, self.prior, self.pool, self.providers)
        return ManagedResource(frame, resource, self)

    def _is_selected(self, frame: Frame, resource: Resource) -> bool:
        if self._selected is None:
            return True
        return (frame.instance.addr.unkeyed, str(resource.addr)) in self._selected

    def opened(self, frame: Frame) -> None:
        if frame.parent is None:
            self.imports = ImportsNode(frame)
        if self._is_destroy:
            self.work.want(frame.calls.values())
        elif self._selected is None:
            self.work.want(_everything(frame, self))
        else:
            self.work.want(self._selected_nodes(frame))

    def _selected_nodes(self, frame: Frame) -> Iterator[Node]:
        yield from frame.calls.values()
        for resource in frame.resources.values():
            if isinstance(resource, PlannedResource):
                yield resource
        if frame.parent is None and self._selected is not None:
            for name, output in frame.outputs.items():
                if (ROOT_MODULE, f"output.{name}") in self._selected:
                    yield output

    def is_wanted(self, address: AbsResourceInstance) -> bool:
        """Whether the configuration has an instance."""
        frame = frame_at(self.root, address.module)
        node = None if frame is None else frame.resources.get(address.item.resource)
        return isinstance(node, RepeatedResource) and address.item.key in node.instances

    def is_covered(self, address: AbsResource) -> bool:
        """Whether a resource of the prior state is among those that are looked at."""
        return self._selected is None or resource_block(address) in self._selected

    def is_targeted(self, address: AbsResourceInstance) -> bool:
        """Whether an instance is among those that the user singled out."""
        return not self._targets or any(target.covers(address) for target in self._targets)

    def forced_replacement(self, address: AbsResourceInstance) -> bool:
        return address in self._replaced

    def previous_address(self, address: AbsResourceInstance) -> AbsResourceInstance | None:
        moved = self._moved.get(address)
        return None if moved is None else moved.source

    # -- what nodes tell ----------------------------------------------------------------------

    def note(self, change: Change, resource: Resource | None) -> None:
        self.changes[change.address, change.deposed] = change

    def note_refreshed(
        self,
        address: AbsResourceInstance,
        before: PriorObject,
        now: PriorObject | None,
        schema: Schema,
        provider: AbsProviderInstance,
    ) -> None:
        if now is before:
            return
        stored = None if now is None else now.stored
        self.refreshed.set_current(address, stored, provider)
        value = null(schema.block.implied_type) if now is None else now.value
        if before.value.unmark_deep()[0] != value.unmark_deep()[0]:
            self.drift.append(Drift(address, before.value, value, schema, provider))

    def note_imported(
        self, address: AbsResourceInstance, found: PriorObject, provider: AbsProviderInstance
    ) -> None:
        self.refreshed.set_current(address, found.stored, provider)

    def note_data(
        self,
        address: AbsResourceInstance,
        value: Value,
        schema: Schema,
        provider: AbsProviderInstance,
    ) -> None:
        self.refreshed.set_current(address, encode(value, schema), provider)

    def note_conditions(self, kind: str, block: str, address: str, found: Conditions) -> None:
        self.conditions.append((kind, block, address, found))

    async def perform(self, effect: Effect) -> None:
        """Do what a node waits for."""
        assert isinstance(effect, AskProvider | ConfigureProvider | DestroyObject)
        await effect.node.perform()


def _everything(frame: Frame, host: PlanHost) -> Iterable[Node]:
    """Whatever there is to work out in a module instance."""
    yield from frame.calls.values()
    yield from frame.variables.values()
    yield from frame.locals.values()
    yield from frame.outputs.values()
    yield from frame.resources.values()
    found = module_conditions(frame)
    host.conditions += found
    yield from condition_nodes(frame, found)
