"""Plan context: the configuration of a directory with the providers and functions of one plan.

It turns a directory into the inputs of `nigari.plan.engine`, and applies what came of them. It
leaves to the session where the state is stored, and to the command line how a plan is shown and
approved.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from nigari.addrs.module import ROOT_MODULE
from nigari.addrs.provider import Provider
from nigari.apply.listener import ApplyListener
from nigari.apply.provisioners.provisioner import Machine
from nigari.cty.function import Function
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.causes import CauseKind, UnknownCause
from nigari.eval.core.fixed_functions import FixedFunctions
from nigari.eval.core.inputs import Inputs
from nigari.eval.static.run import StaticRun
from nigari.event_loop import event_loop, is_running
from nigari.events import SILENCE, Listener
from nigari.lang.files import Files
from nigari.plan.engine import PlanInputs, PlanOutcome
from nigari.providers import api
from nigari.providers.builtin.terraform import TerraformProvider
from nigari.record import ReadOnly
from nigari.running.overrides import NO_OVERRIDES, ProviderOverrides
from nigari.running.provider_pool import ProviderPool, Starter
from nigari.running.provider_run import RunSettings
from nigari.schema.provider import ProviderSchema
from nigari.state.model import State
from nigari.workspace.configuration.builtin import has_store
from nigari.workspace.configuration.requirements import providers_fit
from nigari.workspace.context.working_directory import WorkingDirectory, home_directory
from nigari.workspace.plugins.providers import InstalledProviders
from nigari.workspace.states.remote_state import RemoteStates, remote_state_checker

TYPE_CHECKING = False
# Most plans are never applied.
if TYPE_CHECKING:
    import asyncio

    from nigari.apply.apply_run import ApplyRun
    from nigari.apply.engine import Application
    from nigari.apply.state_writer import Keep
    from nigari.backends.backend_address import StateIdentity
    from nigari.running.round_cache import RoundCache


class PlanContext:
    """The configuration, providers and functions of one plan, and of applying it."""

    def __init__(
        self,
        static: StaticRun,
        inputs: Inputs,
        files: Files,
        directory: WorkingDirectory,
        workspace: str = "default",
        timestamp: str = "",
        installed: InstalledProviders | None = None,
        start: Starter | None = None,
        overrides: ProviderOverrides = NO_OVERRIDES,
        planned: Mapping[StateIdentity, Mapping[str, Value]] = ReadOnly({}),
        round_cache: RoundCache | None = None,
    ) -> None:
        """`timestamp` is by default that of the rounds, or the current time. `start` starts plugins
        in place of `installed`. `planned` are the outputs that other states will have.
        """
        self.static: StaticRun = static
        self.workspace: str = workspace
        self._inputs = inputs
        self._files = files
        self._directory = directory
        self._round_cache = round_cache
        if not timestamp:
            timestamp = plan_timestamp() if round_cache is None else round_cache.timestamp
        self._timestamp = timestamp
        self._installed = InstalledProviders(directory) if installed is None else installed
        self._start_plugin = self._installed.start if start is None else start
        self._remote_states = RemoteStates(static, directory, planned)
        self._pool = ProviderPool(self._start, overrides)
        self._has_store = False

    async def _start(
        self, provider: Provider, schema: ProviderSchema | None, diags: Diagnostics
    ) -> api.Provider | None:
        if provider.is_builtin:
            return TerraformProvider(
                self._remote_states.read,
                remote_state_checker(self._directory.environ),
                self._has_store,
            )
        await event_loop()
        return await self._start_plugin(provider, schema, diags)

    def providers_fit(self, diags: Diagnostics) -> bool:
        """Check that the providers are declared, and installed in versions that are accepted."""
        return providers_fit(self.static, self._installed, diags)

    def report(self, found: Diagnostics, diags: Diagnostics) -> bool:
        """Report what planning found, after problems of the installed providers; False if either
        has errors.
        """
        problems = self._installed.problems
        is_sound = not problems.has_errors and not found.has_errors
        diags.extend(problems)
        diags.adopt(found)
        return is_sound

    def plan_inputs(self, state: State, listener: Listener = SILENCE) -> PlanInputs:
        """Return what a plan is made from."""
        self._has_store = has_store(self.static.root.instance, state)
        settings = self._run_settings(listener)
        return PlanInputs(self.static, settings, self._pool, state, self._timestamp)

    @asynccontextmanager
    async def applied(
        self,
        outcome: PlanOutcome,
        view: ApplyListener,
        keep: Keep,
        diags: Diagnostics,
        parallelism: int = 10,
        pause: float = 0.0,
    ) -> AsyncIterator[tuple[State, ApplyRun]]:
        """Apply a plan; the body of the block gets the new state, and nothing can interrupt it.

        Errors are reported; whatever was done before them is in the state. Meanwhile each state is
        handed to `keep`, with at least `pause` seconds between.
        """
        await event_loop()
        from nigari.apply.engine import Application
        from nigari.workspace.context.interruptions import on_interrupt

        await self._pool.close_all()
        self._remote_states.begin_applying()
        application = Application(
            plan=outcome.plan,
            graph=outcome.graph,
            run_settings=self._run_settings(view, is_applying=True),
            pool=self._pool,
            blocks=outcome.blocks,
            settings=outcome.settings,
            view=view,
            machine=Machine(self._directory.environ, self._directory.root),
            keep=keep,
            parallelism=parallelism,
            pause=pause,
        )
        stopping = _Stopping(application, self._pool, view)
        with on_interrupt(stopping.go_on):
            try:
                state = await application.run()
            finally:
                stopping.task = None
            # The plan has warned about everything deprecated.
            diags.extend(each for each in application.diags if each.deprecation is None)
            yield state, application.apply_run
            await self.close()

    async def close(self) -> None:
        """End the providers that still run; an interruption ends them without waiting."""
        if not is_running():
            # Without an event loop no process was started, so that nothing can take long.
            await self._pool.close_all()
            return
        import asyncio

        from nigari.workspace.context.interruptions import on_interrupt

        closing = asyncio.create_task(self._pool.close_all())
        with on_interrupt(closing.cancel):
            await asyncio.wait((closing,))
        if not closing.cancelled():
            closing.result()

    def _run_settings(self, listener: Listener, is_applying: bool = False) -> RunSettings:
        static = self.static
        return RunSettings(
            root=static.root.instance,
            inputs=self._inputs,
            functions=self._functions(is_applying),
            root_path=static.root_path,
            working_path=static.working_path,
            workspace=self.workspace,
            listener=listener,
            kept=self._round_cache,
        )

    def _functions(self, is_applying: bool) -> Mapping[str, Function]:
        from nigari.lang.functions.table import function_table

        table = function_table(
            self._files,
            ".",
            root=self._directory.absolute_root,
            home_directory=home_directory(self._directory.environ),
            plan_timestamp=self._timestamp,
            deferral=None if is_applying else _deferred_call,
        )
        if self._round_cache is None:
            return table
        fixed = FixedFunctions(table, self._round_cache.functions)
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
        import asyncio

        self._asking: asyncio.Task[None] | None = None
        self.task = asyncio.current_task()
        """The task to cancel; None once the application has ended."""

    def go_on(self) -> None:
        """React to an interruption."""
        self._times += 1
        self._listener.interrupted(self._times)
        self._application.stop()
        if self._times == 1:
            import asyncio

            self._asking = asyncio.create_task(self._pool.stop())
        elif self.task is not None:
            self.task.cancel()


def plan_timestamp() -> str:
    """Return the value of `plantimestamp` for a plan that is made now."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _deferred_call(name: str) -> UnknownCause:
    """Explain why a function whose result differs at every call is unknown while planning."""
    return UnknownCause(CauseKind.IMPURE_FUNCTION, ROOT_MODULE, f"{name}()")
