"""The host of applying: a resource is what has been made of it.

Every value is known by the time it is asked for, since the execution graph says what comes before
what. Before its operation has run, an instance is what it was before.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.absolute import Abs, AbsResourceInstance, instance_of
from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.config.resource import Resource
from nigari.cty.values import Value, unknown
from nigari.eval.expansion import InstanceData
from nigari.eval.instances import Frame, ResourceNode
from nigari.eval.module_call import expand
from nigari.eval.once import DONE, Need, Node
from nigari.eval.resource import by_mode
from nigari.eval.static import report_cycle
from nigari.plan.changes import Action, Plan, PlanMode
from nigari.plan.host import Host
from nigari.plan.instances import collected
from nigari.plan.plan_host import Surroundings
from nigari.plan.prior_values import PriorResource, prior_values
from nigari.plan.provider_instances import ProviderInstances
from nigari.plan.provider_pool import ProviderPool
from nigari.schema.provider import Schema


class ApplyHost(Host):
    """The run that applies a plan."""

    is_applying = True

    def __init__(self, surroundings: Surroundings, pool: ProviderPool, plan: Plan) -> None:
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
        self.plan = plan
        self.results: dict[AbsResourceInstance, Value] = {}
        for change in plan.changes:
            if not change.deposed and change.action is Action.NO_OP:
                self.results[change.address] = change.after
        self.begin()

    def resource_node(self, frame: Frame, resource: Resource) -> ResourceNode:
        if self.plan.mode is PlanMode.DESTROY:
            prior = self.plan.refreshed_state
            return PriorResource(frame, resource, prior, self.pool, self.providers)
        return AppliedResource(frame, resource, self)

    def opened(self, frame: Frame) -> None:
        """Nothing is asked for before an operation needs it."""

    def evaluate(self, nodes: Sequence[Node]) -> None:
        """Work out nodes whose values are there."""
        self.work.want(nodes)
        self.work.pump()
        while not self.work.is_waiting_for_effects:
            cycle = self.work.find_cycle()
            if cycle is None:
                return
            report_cycle(cycle, self.diags)
            self.work.break_cycle(cycle)
            self.work.pump()

    def value(self, found: Value | list[Need]) -> Value | None:
        """A value, unless something must be worked out first, which is then done."""
        if isinstance(found, Value):
            return found
        self.evaluate([need for need in found if isinstance(need, Node)])
        return None

    def frame(self, module: ModuleAddr) -> Frame | None:
        """The module instance at an address."""
        frame = self.root
        for name, key in module.steps:
            call = frame.calls.get(name)
            if call is None:
                return None
            if call.state != DONE:
                self.evaluate((call,))
            child = call.frames.get(key)
            if child is None:
                return None
            frame = child
        return frame

    def all_frames(self) -> list[Frame]:
        """Every module instance, callers first."""
        found = [self.root]
        for frame in found:
            self.evaluate(list(frame.calls.values()))
            for call in frame.calls.values():
                found.extend(call.frames.values())
        return found

    def schema_of(self, frame: Frame, resource: Resource) -> Schema | None:
        """What the provider says a resource looks like."""
        found = self.providers.config_for(frame, resource)
        offered = self.pool.of(found.provider)
        return None if offered is None else by_mode(offered, resource).get(resource.addr.type)


class AppliedResource(ResourceNode):
    """A resource of one module instance while applying."""

    __slots__ = ("data", "host")

    def __init__(self, frame: Frame, resource: Resource, host: ApplyHost) -> None:
        super().__init__(frame, resource)
        self.host = host
        self.data: dict[InstanceKey, InstanceData] | None = None

    def expand(self) -> Sequence[Need]:
        """Find the instances again, as they were found while planning."""
        if self.data is None:
            expansion = expand(self.frame, self.resource.repetition)
            if isinstance(expansion, list):
                return expansion
            self.data = dict(expansion.instances)
        return ()

    def step(self) -> Sequence[Need]:
        needs = self.expand()
        if needs:
            return needs
        schema = self.host.schema_of(self.frame, self.resource)
        if schema is None or self.data is None:
            return ()
        address = Abs(self.frame.instance.addr, self.resource.addr)
        state = self.host.plan.refreshed_state.resources.get(address)
        before = {} if state is None else prior_values(state, schema)
        nothing = unknown(schema.block.implied_type)
        values: dict[InstanceKey, Value] = {}
        for key in self.data:
            result = self.host.results.get(instance_of(address, key))
            values[key] = before.get(key, nothing) if result is None else result
        self.value = collected(self.resource.repetition, values)
        return ()
