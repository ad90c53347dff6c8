"""The run that applies a plan: the value of a resource is what its operation returned.

Every value is known by the time it is asked for, since the execution graph says what comes before
what. Before its operation has run, an instance is what it was before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from nigari.addrs.absolute import Abs, AbsResourceInstance, instance_of
from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.addrs.resource import ACTION, EPHEMERAL, MANAGED
from nigari.config.blocks.resource import Resource
from nigari.cty.values import Value, unknown
from nigari.eval.core.expansion import Expansion
from nigari.eval.core.instances import Frame, ResourceNode
from nigari.eval.core.module_tree import InstanceData
from nigari.eval.core.worklist import DONE, Effect, Need, Node
from nigari.eval.nodes.module_call import expand
from nigari.lang.marks import EPHEMERAL as EPHEMERAL_MARK
from nigari.plan.model.changes import Action, Plan, PlanMode
from nigari.plan.nodes.prior_values import PriorResource, prior_values
from nigari.plan.nodes.resources import collected
from nigari.running.action_node import ActionNode
from nigari.running.declared_modules import bare_frame
from nigari.running.deferrals import Deferral, Deferrals, DeferredKind
from nigari.running.provider_instances import ProviderInstances
from nigari.running.provider_pool import ProviderPool
from nigari.running.provider_run import ProviderRun, RunSettings


class ApplyRun(ProviderRun):
    """The run that applies a plan."""

    is_applying = True

    def __init__(self, run_settings: RunSettings, pool: ProviderPool, plan: Plan) -> None:
        super().__init__(run_settings, pool, plan.refreshed_state, _left_for_later(plan))
        self.plan = plan
        self.is_destroying: bool = plan.mode is PlanMode.DESTROY
        self.results: dict[AbsResourceInstance, Value] = {}
        self._asking: set[asyncio.Task[None]] = set()
        for change in plan.changes:
            # An unchanged object has no operation, so its value is final from the
            # start.
            if not change.deposed and change.action is Action.NO_OP:
                self.results[change.address] = change.after
        self.begin()

    def resource_node(self, frame: Frame, resource: Resource) -> ResourceNode:
        mode = resource.addr.mode
        if mode is ACTION:
            return ActionNode(frame, resource, self)
        is_ending = self.is_destroying and mode is not EPHEMERAL
        # OpenTofu: while everything is destroyed, and in a refresh-only apply, references
        # see the objects as they are and not as the configuration would make them.
        if is_ending or (self.plan.mode is PlanMode.REFRESH_ONLY and mode is MANAGED):
            return PriorResource(frame, resource, self.prior, self.schema_of)
        return AppliedResource(frame, resource, self)

    def providers_of_functions(self) -> ProviderInstances:
        """Return separate provider instances: those of operations close with the last operation."""
        return ProviderInstances(self.pool, self.prior.remembered, self.diags)

    def opened(self, frame: Frame) -> None:
        """Do nothing: operations request what they need."""

    # -- values -------------------------------------------------------------------------------

    async def value(self, find: Callable[[], Value | list[Need]], about: str = "") -> Value:
        """A value, after everything that must be worked out first."""
        value = await self._carry_out(ValueRequest(find, about))
        assert value is not None
        return value

    async def finish(self, step: Callable[[], Sequence[Need]], about: str = "") -> None:
        """Go on with something that is done in steps until nothing is left of it."""
        await self._carry_out(ValueRequest(step, about))

    async def evaluate(self, nodes: Sequence[Node]) -> None:
        """Evaluate nodes."""
        await self.finish(lambda: [node for node in nodes if node.state != DONE])

    async def _carry_out(self, request: ValueRequest) -> Value | None:
        """Evaluate the request of an operation, calling providers as needed.

        Several operations may do so concurrently, and wait for the same nodes.
        """
        self.work.want((request,))
        self._advance()
        while request.state != DONE:
            if self._asking:
                await asyncio.wait(self._asking, return_when=asyncio.FIRST_COMPLETED)
                continue
            # Nothing is under way, so what is left waits for itself.
            has_cycle = self.work.break_a_cycle()
            assert has_cycle, "nothing is left to wait for"
            self._advance()
        if request.error is not None:
            raise request.error
        return request.value

    def _advance(self) -> None:
        """Step the nodes that are ready, and start their effects."""
        self.work.pump()
        effects, self.work.new_effects = self.work.new_effects, []
        for effect in effects:
            task = asyncio.create_task(self._answer(effect))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)

    async def _answer(self, effect: Effect) -> None:
        try:
            await self.perform(effect)
        except asyncio.CancelledError:
            self.work.abandon(effect)
            raise
        self.work.answer(effect)
        self._advance()

    def stop_asking(self) -> None:
        """Cancel pending provider calls."""
        for task in self._asking:
            task.cancel()

    # -- modules ------------------------------------------------------------------------------

    async def frame(self, module: ModuleAddr) -> Frame | None:
        """The module instance at an address."""
        frame = self.root
        for name, key in module.steps:
            call = frame.calls.get(name)
            if call is None:
                return None
            if call.state != DONE:
                await self.evaluate((call,))
            child = call.frames.get(key)
            if child is None:
                return None
            frame = child
        return frame

    def bare_frame(self, module: ModuleAddr) -> Frame | None:
        """Return a present or former module instance, for uses that need no values of others."""
        return bare_frame(self, self.root.instance, module)

    async def all_frames(self, is_settled: Callable[[ModuleAddr], bool]) -> list[Frame]:
        """Return the instances of all modules whose instances are known, callers first."""
        found = [self.root]
        for frame in found:
            path = frame.instance.variant
            calls = [node for name, node in frame.calls.items() if is_settled(path.child(name))]
            await self.evaluate(calls)
            for call in calls:
                found.extend(call.frames.values())
        return found


def _left_for_later(plan: Plan) -> Deferrals | None:
    """Return the plan's deferrals, which stay deferred during the apply."""
    if not plan.deferred:
        return None
    return Deferrals({each.address: each.settled for each in plan.deferred})


class ValueRequest(Node):
    """A value that an operation requests. No other node depends on it.

    The operation reports the errors.
    """

    __slots__ = ("_about", "_find", "error", "value")

    def __init__(self, find: Callable[[], Value | Sequence[Need]], about: str) -> None:
        super().__init__()
        self._find = find
        self._about = about
        self.value: Value | None = None
        self.error: Exception | None = None

    @property
    def label(self) -> str:
        return "an operation"

    @property
    def about(self) -> str:
        return self._about

    def fail(self) -> None:
        """Do nothing: no node depends on it, so it is never part of a cycle."""

    def step(self) -> Sequence[Need]:
        try:
            found = self._find()
        except Exception as error:  # noqa: BLE001 - raised again where the operation is
            self.error = error
            return ()
        if not isinstance(found, Value):
            return found
        self.value = found
        return ()


class AppliedResource(ResourceNode):
    """A resource of one module instance while applying."""

    __slots__ = ("data", "deferral", "run")

    def __init__(self, frame: Frame, resource: Resource, run: ApplyRun) -> None:
        super().__init__(frame, resource)
        self.run: ApplyRun = run
        self.data: dict[InstanceKey, InstanceData] | None = None
        self.deferral: Deferral | None = None

    def expand(self) -> Sequence[Need]:
        """Find the instances again, as they were found while planning."""
        if self.data is None:
            expansion = expand(self.frame, self.resource.repetition)
            if isinstance(expansion, list):
                return expansion
            self.data = dict(expansion.instances)
            self._leave_for_later(expansion)
        return ()

    def _leave_for_later(self, expansion: Expansion) -> None:
        deferrals, resource = self.run.deferrals, self.resource
        if deferrals is None:
            return
        found = deferrals.expanded(
            DeferredKind.RESOURCE,
            self.frame,
            str(resource.addr),
            resource.repetition,
            expansion,
            resource.range,
        )
        if found is not None:
            self.deferral, certain = found
            self.data = dict(certain)

    def step(self) -> Sequence[Need]:
        needs = self.expand()
        if needs:
            return needs
        schema = self.run.schema_of(self.frame, self.resource)
        if schema is None or self.data is None:
            return ()
        if self.deferral is not None:
            self.value = self.deferral.value()
            return ()
        address = Abs(self.frame.instance.addr, self.resource.addr)
        state = self.run.prior.resources.get(address)
        before = {} if state is None else prior_values(state, schema)
        nothing = unknown(schema.block.implied_type)
        if self.resource.addr.mode is EPHEMERAL:
            # OpenTofu marks everything of an ephemeral resource, so that no part of
            # it can get into the state.
            nothing = nothing.mark(EPHEMERAL_MARK)
        values: dict[InstanceKey, Value] = {}
        for key in self.data:
            result = self.run.results.get(instance_of(address, key))
            values[key] = before.get(key, nothing) if result is None else result
        self.value: Value = collected(self.resource.repetition, values)
        return ()
