"""Planning and applying for a working directory: connects its configuration, providers and state.

How a plan is shown, and who agrees to it, is the command line's affair; where the state is kept, it
tells as something that snapshots are handed to.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping

from nigari.addrs.module import ROOT_MODULE
from nigari.addrs.provider import Provider
from nigari.addrs.resource import Resource
from nigari.apply.listener import ApplyListener
from nigari.apply.provisioners.provisioner import Machine
from nigari.backends.backend_address import StateIdentity
from nigari.cty.function import Function
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.causes import CauseKind, UnknownCause
from nigari.eval.core.fixed_functions import FixedFunctions
from nigari.eval.core.inputs import Inputs
from nigari.eval.nodes.resource import resource_schema
from nigari.eval.static.run import StaticRun
from nigari.events import SILENCE, Listener
from nigari.lang.files import Files
from nigari.plan.engine import Planner
from nigari.plan.model.changes import Plan
from nigari.plan.model.execution_graph import ExecutionGraph
from nigari.plan.model.plan_file import SavedPlan
from nigari.plan.nodes.import_lookup import ImportLookup
from nigari.plan.nodes.imports import ImportTarget
from nigari.plan.nodes.plan_run import PlanOptions
from nigari.plan.nodes.refreshed_state import found_state
from nigari.plan.order.block_graph import BlockGraph
from nigari.plan.order.operation_order import execution_graph
from nigari.plan.order.required_providers import providers_of
from nigari.providers import api
from nigari.providers.builtin.terraform import TerraformProvider
from nigari.record import ReadOnly
from nigari.running.overrides import NO_OVERRIDES, ProviderOverrides
from nigari.running.provider_pool import ProviderPool, Starter
from nigari.running.provider_run import RunSettings
from nigari.running.round_cache import RoundCache
from nigari.schema.provider import ProviderSchema, Schema
from nigari.state.model import State
from nigari.workspace.configuration.requirements import providers_fit
from nigari.workspace.context.interruptions import on_interrupt
from nigari.workspace.context.working_directory import WorkingDirectory, home_directory
from nigari.workspace.plugins.providers import InstalledProviders
from nigari.workspace.states.remote_state import RemoteStates, remote_state_checker

TYPE_CHECKING = False
# Most plans are only looked at.
if TYPE_CHECKING:
    from nigari.apply.engine import Application
    from nigari.apply.state_writer import Keep

Save = Callable[[State], Awaitable[None]]
"""Stores the state that an application has ended with."""


class Planning:
    """One plan in the making, and perhaps its application."""

    def __init__(
        self,
        static: StaticRun,
        inputs: Inputs,
        files: Files,
        state: State,
        where: WorkingDirectory,
        workspace: str = "default",
        listener: Listener = SILENCE,
        installed: InstalledProviders | None = None,
        start: Starter | None = None,
        overrides: ProviderOverrides = NO_OVERRIDES,
        planned: Mapping[StateIdentity, Mapping[str, Value]] = ReadOnly({}),
        kept: RoundCache | None = None,
    ) -> None:
        """Who plans several times knows which providers are `installed`, and may `start` them in
        a way of its own. `planned` are outputs that other states will have. What is `kept` is the
        same in all rounds of a run.
        """
        self.diags: Diagnostics = Diagnostics()
        self.timestamp: str = plan_timestamp() if kept is None else kept.timestamp
        self._kept = kept
        self._static = static
        self.inputs = inputs
        self._files = files
        self._where = where
        self._state = state
        self.workspace = workspace
        self._listener = listener
        self._installed = InstalledProviders(where) if installed is None else installed
        self._start_plugin = self._installed.start if start is None else start
        self._remote_states = RemoteStates(static, where, planned)
        self.pool: ProviderPool = ProviderPool(self._start, overrides)
        self.planner: Planner | None = None
        self._graph: ExecutionGraph | None = None
        """What the plan does; for one that was saved, as it was saved."""
        self.application: Application | None = None
        """The plan that was made, being carried out or done."""

    @property
    def static(self) -> StaticRun:
        """The configuration before anything is planned."""
        return self._static

    async def _start(
        self, provider: Provider, schema: ProviderSchema | None, diags: Diagnostics
    ) -> api.Provider | None:
        if provider.is_builtin:
            return TerraformProvider(
                self._remote_states.read, remote_state_checker(self._where.environ)
            )
        return await self._start_plugin(provider, schema, diags)

    def _providers_fit(self) -> bool:
        """Whether the providers are declared, and of the versions that the configuration wants."""
        return providers_fit(self._static, self._installed, self.diags)

    async def plan(self, options: PlanOptions) -> Plan | None:
        """The plan; None after reporting why there is none."""
        if not self._providers_fit():
            return None
        planner = self.planner = Planner(
            self._static, self.run_settings(self._listener), self.pool, self._state
        )
        plan = await planner.plan(options)
        self.diags.extend(self._installed.problems)
        self.diags.extend(planner.diags)
        return None if self.diags.has_errors else plan

    async def look_up(
        self, target: ImportTarget | None, parallelism: int
    ) -> list[ImportLookup] | None:
        """Objects that exist, as `Planner.look_up` finds them; None after reporting why not."""
        if not self._providers_fit():
            return None
        planner = self.planner = Planner(
            self._static, self.run_settings(self._listener), self.pool, self._state
        )
        found = await planner.look_up(target, parallelism)
        self.diags.extend(self._installed.problems)
        self.diags.extend(planner.diags)
        return None if self.diags.has_errors else found

    async def blocks(self) -> BlockGraph | None:
        """Which blocks need which others; None after reporting why that cannot be told."""
        if not self._providers_fit():
            return None
        root = self._static.root.instance
        await self.pool.load(providers_of(root, self._state), self.diags)
        self.diags.extend(self._installed.problems)
        run_settings = self.run_settings(self._listener)
        planner = Planner(self._static, run_settings, self.pool, self._state)
        return None if self.diags.has_errors else planner.graph

    async def restore(self, saved: SavedPlan) -> Plan | None:
        """A plan that was saved, ready to be applied here; None after reporting why it is not."""
        self.timestamp = saved.plan.timestamp
        self._graph = saved.graph
        planner = self.planner = Planner(
            self._static, self.run_settings(self._listener), self.pool, saved.plan.previous_state
        )
        plan = await planner.restore(saved)
        self.diags.extend(self._installed.problems)
        self.diags.extend(planner.diags)
        return None if self.diags.has_errors else plan

    def stored_schema(self, provider: Provider, resource: Resource) -> Schema | None:
        """The schema of what a state holds; None where its provider is not known here."""
        offered = self.pool.of(provider)
        return None if offered is None else resource_schema(offered, resource)

    def graph(self, plan: Plan) -> ExecutionGraph:
        """What the plan that was made here does, in which order."""
        if self._graph is None:
            assert self.planner is not None
            run = self.planner.plan_run
            is_renewed = run is not None and run.refreshes
            self._graph = execution_graph(plan, self.planner.graph, self.planner.moved, is_renewed)
        return self._graph

    def found_state(self, plan: Plan) -> State:
        """What a plan found, if nothing is to be done about it."""
        planner = self.planner
        assert planner is not None
        assert planner.settings is not None
        declared = self._static.root.module.outputs
        return found_state(plan, planner.graph, planner.settings, declared)

    async def apply(
        self,
        plan: Plan,
        view: ApplyListener,
        keep: Keep,
        save: Save,
        parallelism: int = 10,
        pause: float = 0.0,
    ) -> State:
        """Carry out a plan that was made here, and give the state as it is then.

        What goes wrong is reported; what was done before stays done, and is in the state. That is
        handed to `save` before anything is closed, and then nothing can interrupt it. Until then
        it is kept again and again, with a pause of at least so many seconds between.
        """
        from nigari.apply.engine import Application

        planner = self.planner
        assert planner is not None
        assert planner.settings is not None
        await self.pool.close_all()
        self._remote_states.begin_applying()
        application = self.application = Application(
            plan=plan,
            graph=self.graph(plan),
            run_settings=self.run_settings(view, is_applying=True),
            pool=self.pool,
            blocks=planner.graph,
            settings=planner.settings,
            view=view,
            machine=Machine(self._where.environ, self._where.root),
        )
        stopping = _Stopping(application, self.pool, view)
        with on_interrupt(stopping.go_on):
            try:
                state = await application.run(keep, parallelism, pause)
            finally:
                stopping.task = None
            await save(state)
            await self.close()
        # The plan has warned of whatever is deprecated.
        self.diags.extend(each for each in application.diags if each.deprecation is None)
        return state

    async def close(self) -> None:
        """End whatever still runs; who is interrupted meanwhile does not wait for answers."""
        closing = asyncio.create_task(self.pool.close_all())
        with on_interrupt(closing.cancel):
            await asyncio.wait((closing,))
        if not closing.cancelled():
            closing.result()

    def run_settings(self, listener: Listener, is_applying: bool = False) -> RunSettings:
        """What planning, or applying, is told about the world."""
        static = self._static
        return RunSettings(
            root=static.root.instance,
            inputs=self.inputs,
            functions=self.functions(is_applying),
            root_path=static.root_path,
            working_path=static.working_path,
            workspace=self.workspace,
            listener=listener,
            kept=self._kept,
        )

    def functions(self, is_applying: bool = False) -> Mapping[str, Function]:
        """What expressions can call."""
        from nigari.lang.functions.table import function_table

        table = function_table(
            self._files,
            ".",
            root=self._where.absolute_root,
            home_directory=home_directory(self._where.environ),
            plan_timestamp=self.timestamp,
            deferral=None if is_applying else _later,
        )
        if self._kept is None:
            return table
        fixed = FixedFunctions(table, self._kept.functions)
        if is_applying:
            fixed.fix_timestamp()
        return fixed


class _Stopping:
    """Ends an application when it is interrupted: gently, and the second time at once."""

    def __init__(self, application: Application, pool: ProviderPool, listener: Listener) -> None:
        self._application = application
        self._pool = pool
        self._listener = listener
        self._times = 0
        self._asking: asyncio.Task[None] | None = None
        self.task = asyncio.current_task()
        """What may be cut off; nothing once the application has come to its end."""

    def go_on(self) -> None:
        """It was interrupted, perhaps once more."""
        self._times += 1
        self._listener.interrupted(self._times)
        self._application.stop()
        if self._times == 1:
            self._asking = asyncio.create_task(self._pool.stop())
        elif self.task is not None:
            self.task.cancel()


def plan_timestamp() -> str:
    """What `plantimestamp` is in a plan that is made now."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _later(name: str) -> UnknownCause:
    """Why a function that gives another result at every call gives none while planning."""
    return UnknownCause(CauseKind.IMPURE_FUNCTION, ROOT_MODULE, f"{name}()")
