"""Making a plan: the configuration as it is meant, against the state as it is.

First everything that the configuration wants is worked out and compared with the prior state; then
whatever is left in the state is an orphan. The result is data.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.addrs.absolute import (
    Abs,
    AbsResource,
    AbsResourceInstance,
    instance_of,
    resource_of,
)
from nigari.addrs.module import ModuleAddr
from nigari.addrs.parse import parse_remove_endpoint
from nigari.addrs.provider import Provider
from nigari.addrs.resource import MANAGED
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.config.resource import Resource
from nigari.cty.types import DYNAMIC
from nigari.cty.values import Value, null
from nigari.diagnostics import Diagnostics
from nigari.eval.instances import Origin
from nigari.eval.once import DONE, Effect
from nigari.eval.output import OutputNode
from nigari.eval.resource import by_mode
from nigari.eval.static import StaticRun
from nigari.eval.validate import Opinion, ValidateRun
from nigari.hcl.scope import Scope
from nigari.lang.marks import SENSITIVE
from nigari.plan.block_graph import BlockGraph
from nigari.plan.changes import Action, OutputChange, Plan, PlanMode, Reason
from nigari.plan.check_results import check_results
from nigari.plan.crew import Crew
from nigari.plan.moved import moved_state
from nigari.plan.orphans import OrphanNode, frame_at, reason_for
from nigari.plan.plan_file import SavedPlan
from nigari.plan.plan_host import PlanHost, PlanOptions, Surroundings
from nigari.plan.provider_names import FoundBlock
from nigari.plan.provider_pool import ProviderPool
from nigari.plan.required import providers_of
from nigari.plan.selection import selected_blocks
from nigari.plan.settings import Settings
from nigari.schema.block import Block
from nigari.schema.provider import Schema
from nigari.state.model import InstanceState, State


class Planner:
    """Everything that a plan is made from."""

    def __init__(
        self, static: StaticRun, surroundings: Surroundings, pool: ProviderPool, state: State
    ) -> None:
        self._static = static
        self._surroundings = surroundings
        self._pool = pool
        self._state = state
        self.diags = Diagnostics()
        self.graph = BlockGraph(surroundings.root, self._schema_of)
        self.settings: Settings | None = None
        self.host: PlanHost | None = None

    async def plan(self, options: PlanOptions) -> Plan | None:
        """The plan; None where there is none, which is then reported."""
        needed = providers_of(self._surroundings.root, self._state)
        await self._pool.load(needed, self.diags)
        if self._has_failed():
            return None
        await self._validate(options)
        if self._has_failed():
            return None
        moved = moved_state(self._static, self._state, self.diags)
        if self._has_failed():
            return None
        self.settings = Settings(self._static, self.graph)
        selected = selected_blocks(self.graph, moved.state, options.targets, options.excluded)
        host = self.host = PlanHost(
            self._surroundings,
            self._pool,
            moved.state,
            self.settings,
            options,
            moved.moved,
            selected,
        )
        host.begin()
        crew = Crew(host.work, host.perform, options.parallelism, host.diags)
        await crew.run()
        if not host.diags.has_errors:
            host.work.want(list(self._orphans(host, options)))
            await crew.run()
        self.diags.extend(host.diags)
        return None if self._has_failed() else self._finished(host, options)

    async def restore(self, saved: SavedPlan) -> Plan | None:
        """A plan that was saved, with the schemas that it needs."""
        needed = providers_of(self._surroundings.root, saved.refreshed)
        await self._pool.load(needed, self.diags)
        if self._has_failed():
            return None
        self.settings = Settings(self._static, self.graph)
        return saved.plan(self._schema_for, self.diags)

    async def _validate(self, options: PlanOptions) -> None:
        """Look at everything once, whatever its values; providers are asked while planning."""
        check = ValidateRun(self._static, self._pool)

        async def perform(effect: Effect) -> None:
            assert isinstance(effect, Opinion)
            check.tell(effect, ())

        await Crew(check.work, perform, options.parallelism, check.diags).run()
        self.diags.extend(check.diags)

    def _has_failed(self) -> bool:
        return self.diags.has_errors

    def _finished(self, host: PlanHost, options: PlanOptions) -> Plan:
        changes = sorted(host.changes.values(), key=lambda each: each.address.sort_key())
        return Plan(
            options.mode,
            tuple(changes),
            self._outputs(host, options),
            tuple(sorted(host.drift, key=lambda each: each.address.sort_key())),
            self._state,
            host.refreshed.finish(),
            check_results(host.conditions),
            bool(options.targets or options.excluded),
        )

    # -- outputs ------------------------------------------------------------------------------

    def _outputs(self, host: PlanHost, options: PlanOptions) -> dict[str, OutputChange]:
        nothing = null(DYNAMIC)
        found: dict[str, OutputChange] = {}
        prior = self._state.outputs
        if options.mode is not PlanMode.DESTROY:
            for name, node in host.root.outputs.items():
                if not isinstance(node, OutputNode) or node.output.ephemeral or node.state != DONE:
                    continue
                before = prior[name].value if name in prior else nothing
                found[name] = output_change(
                    name, before, node.value, node.output.sensitive, name in prior
                )
        for name, state in prior.items():
            if name not in host.root.outputs or options.mode is PlanMode.DESTROY:
                found[name] = OutputChange(
                    name, Action.DELETE, state.value, nothing, state.sensitive
                )
        return dict(sorted(found.items()))

    # -- orphans ------------------------------------------------------------------------------

    def _orphans(self, host: PlanHost, options: PlanOptions) -> Iterator[OrphanNode]:
        forgotten = self._forgotten()
        is_destroy = options.mode is PlanMode.DESTROY
        for resource in host.prior.resources.values():
            if resource.address.item.mode is not MANAGED:
                if is_destroy or not self._is_declared(host, resource.address):
                    host.refreshed.remove_resource(resource.address)
                continue
            if not host.is_covered(resource.address):
                continue
            for key, instance in resource.instances.items():
                address = instance_of(resource.address, key)
                is_wanted = not is_destroy and host.is_wanted(address)
                if is_wanted and not instance.deposed:
                    continue
                if not host.is_targeted(address):
                    continue
                reason = Reason.NONE if is_destroy else reason_for(host.root, address)
                forgets = not is_destroy and is_under(address, forgotten)
                yield from self._objects(host, address, instance, reason, is_wanted, forgets)

    def _objects(
        self,
        host: PlanHost,
        address: AbsResourceInstance,
        instance: InstanceState,
        reason: Reason,
        is_wanted: bool,
        forgets: bool,
    ) -> Iterator[OrphanNode]:
        resource = host.prior.resources[resource_of(address)]
        provider = host.providers.for_address(host.root, resource.provider_of(address.item.key))
        if instance.current is not None and not is_wanted:
            yield OrphanNode(
                host,
                address,
                instance.current,
                provider,
                reason,
                forgets=forgets,
                protection=self._protection(host, address),
            )
        for key, deposed in instance.deposed.items():
            yield OrphanNode(host, address, deposed, provider, Reason.NONE, key)

    def _protection(self, host: PlanHost, address: AbsResourceInstance) -> Origin | None:
        """Where the configuration says that an object must not be destroyed."""
        frame = frame_at(host.root, address.module)
        resource = None if frame is None else frame.module.resources.get(address.item.resource)
        expr = None if resource is None else resource.lifecycle.prevent_destroy
        if frame is None or expr is None:
            return None
        return Origin(frame, frame.instance.compiled.expression(expr))

    def _is_declared(self, host: PlanHost, address: AbsResource) -> bool:
        frame = frame_at(host.root, address.module)
        return frame is not None and address.item in frame.module.resources

    def _forgotten(self) -> list[ModuleAddr | AbsResource]:
        """What `removed` blocks take out of the state without destroying it."""
        found: list[ModuleAddr | AbsResource] = []
        for frame in self._static.frames():
            for removed in frame.module.removed:
                if removed.destroy is not None:
                    value = removed.destroy.value(Scope(), self.diags)
                    if value.data is not False:
                        continue
                endpoint = parse_remove_endpoint(removed.source.shape, self.diags)
                if endpoint is not None:
                    found.append(_under(frame.instance.addr.unkeyed, endpoint.subject))
        return found

    # -- schemas ------------------------------------------------------------------------------

    def _schema_for(self, provider: Provider, addr: ResourceAddr) -> Schema | None:
        offered = self._pool.of(provider)
        if offered is None:
            return None
        known = offered.resources if addr.mode is MANAGED else offered.data_sources
        return known.get(addr.type)

    def _schema_of(self, found: FoundBlock, resource: Resource | None) -> Block | None:
        offered = self._pool.of(found.address.item.provider)
        if offered is None:
            return None
        if resource is None:
            return offered.provider.block
        schema = by_mode(offered, resource).get(resource.addr.type)
        return None if schema is None else schema.block


def output_change(
    name: str, before: Value, after: Value, sensitive: bool, existed: bool
) -> OutputChange:
    """What becomes of an output value."""
    plain, marks = after.unmark_deep()
    action = Action.UPDATE if existed else Action.CREATE
    if (existed and plain.is_wholly_known and plain == before.unmark_deep()[0]) or (
        plain.is_null and before.is_null
    ):
        action = Action.NO_OP
    return OutputChange(name, action, before, after, sensitive or SENSITIVE in marks)


def _under(module: ModuleAddr, subject: ModuleAddr | AbsResource) -> ModuleAddr | AbsResource:
    steps = subject.steps if isinstance(subject, ModuleAddr) else subject.module.steps
    for name, _ in steps:
        module = module.child(name)
    return module if isinstance(subject, ModuleAddr) else Abs(module, subject.item)


def is_under(address: AbsResourceInstance, places: list[ModuleAddr | AbsResource]) -> bool:
    """Whether an instance is in one of these modules, or of one of these resources."""
    module = address.module.unkeyed
    for place in places:
        if isinstance(place, ModuleAddr):
            if module.is_inside(place):
                return True
        elif place.module == module and place.item == address.item.resource:
            return True
    return False
