"""Application of a plan: executes its graph and returns the new state.

An `Application` puts together the run, the operations and the executor, and in the end evaluates
checks and outputs. Interruptions and failures leave a state with everything that was done. What an
operation does is in `operations`; where the state is stored is not known here.
"""

from __future__ import annotations

import asyncio

from nigari.addrs.absolute import resource_of
from nigari.addrs.module import ModuleAddr
from nigari.apply.apply_run import ApplyRun
from nigari.apply.context import ApplyContext
from nigari.apply.executor import CircularGraph, Executor
from nigari.apply.listener import ApplyListener
from nigari.apply.operations import Operations
from nigari.apply.provisioners.provisioner import Machine
from nigari.apply.state_writer import Keep
from nigari.cty.paths import infinite_as_null
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.diagnostics.advice import advice
from nigari.eval.core.instances import Frame
from nigari.eval.core.worklist import DONE
from nigari.eval.nodes.output import OutputNode, infinite_output
from nigari.lang.marks import SENSITIVE
from nigari.plan.model.changes import Plan, PlanMode
from nigari.plan.model.check_results import (
    VALUES,
    Noted,
    declared_checks,
    updated_results,
    value_at,
    without_results,
)
from nigari.plan.model.execution_graph import ExecutionGraph, OperationKind
from nigari.plan.nodes.module_conditions import condition_nodes, module_conditions
from nigari.plan.order.block_graph import BlockGraph, expansion_block, output_block, work_out
from nigari.plan.order.block_references import Block
from nigari.plan.order.block_settings import BlockSettings
from nigari.plan.order.variants import with_callers
from nigari.running.deferrals import DeferredKind
from nigari.running.provider_pool import ProviderPool
from nigari.running.provider_run import RunSettings
from nigari.state.model import CheckResult, OutputState, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_MAKING: Final = frozenset(
    (
        OperationKind.OPEN,
        OperationKind.CREATE,
        OperationKind.UPDATE,
        OperationKind.READ,
        OperationKind.CHECK,
    )
)
"""Without which an instance is not what was planned."""


class Application:
    """One plan being applied."""

    def __init__(
        self,
        plan: Plan,
        graph: ExecutionGraph,
        run_settings: RunSettings,
        pool: ProviderPool,
        blocks: BlockGraph,
        settings: BlockSettings,
        view: ApplyListener,
        machine: Machine,
        keep: Keep,
        parallelism: int,
        pause: float = 0.0,
    ) -> None:
        """While the state grows it is handed to `keep`, with at least `pause` seconds between."""
        self._plan = plan
        self._keep = keep
        self._blocks = blocks
        self._view = view
        self.apply_run: ApplyRun = ApplyRun(run_settings, pool, plan)
        """The run that evaluates the results."""
        self._context = ApplyContext(self.apply_run, plan, blocks, settings, view, machine)
        operations = Operations(self._context)
        self._executor = Executor(graph, operations, keep, parallelism, pause=pause)
        self._is_concerned: dict[Block, bool] = {}
        """Caches whether a block depends on something that differs from the plan."""
        self._was_cut_off = False

    @property
    def diags(self) -> Diagnostics:
        """Diagnostics of the apply."""
        return self.apply_run.diags

    async def run(self) -> State:
        """Apply the plan; return the new state, even after errors."""
        for change in self._plan.changes:
            if change.imported_as:
                self._view.imported(change)
        try:
            await self._executor.run()
        except CircularGraph as circle:
            self.diags.append(_circular(circle))
        except asyncio.CancelledError:
            self._cut_off()
        except BaseException:
            # A fault of this program: what was done must be known all the same.
            await self._keep(self._context.draft.finish(), True)
            raise
        if self._executor.is_stopped:
            self.diags.error(
                "Stopped early",
                "Operations that had not started were skipped. Everything that was done is in "
                "the state; the next apply continues from there.",
            )
        # OpenTofu warns after every apply with -target or -exclude, because it is easy to
        # forget that one was used.
        if self._plan.targeted and not self._plan.invoked:
            words = advice()
            self.diags.warning(
                "Apply may be incomplete",
                f"The plan was made with {words.option('-target')} or {words.option('-exclude')}, so some "
                "changes may remain, including changes to output values. Make a new plan to see them.",
            )
        try:
            await self._conclude()
        except asyncio.CancelledError:
            self._cut_off()
        except Exception as error:  # noqa: BLE001 - what was done must be known all the same
            from nigari.diagnostics.unexpected import unexpected

            self.diags.append(unexpected("Evaluating the output values", error))
        return self._context.draft.finish()

    def _cut_off(self) -> None:
        """Cancel running operations; the cancelled task continues, to store the state."""
        task = asyncio.current_task()
        assert task is not None
        task.uncancel()
        if not self._was_cut_off:
            self._was_cut_off = True
            self.diags.error(
                "Interrupted",
                "Operations in progress were interrupted, so their results are unknown. "
                "Everything that was finished is in the state.",
            )
        self.apply_run.stop_asking()

    async def _conclude(self) -> None:
        """Evaluate checks and output values, which depend on all operations."""
        draft = self._context.draft
        self._context.renew_dependencies()
        if self._plan.mode is PlanMode.DESTROY:
            self._context.keep_data(self._undestroyed())
        checks = await self._checks()
        draft.set_checks(checks)
        refused = _refused_outputs(checks) | self._unsettled_outputs() | self._waiting_outputs()
        draft.set_outputs(await self._outputs(refused))

    def _unsettled_outputs(self) -> set[str]:
        """The root's outputs that were to come of something that was not made as planned."""
        unsettled = self._unsettled()
        names = self._plan.outputs if unsettled else ()
        return {name for name in names if self._needs_any(output_block(name), unsettled)}

    def _waiting_outputs(self) -> set[str]:
        """The root's outputs that come of something which is left for a later round."""
        return {
            each.address.removeprefix("output.")
            for each in self._plan.deferred
            if each.kind in (DeferredKind.OUTPUT, DeferredKind.CHECK)
        }

    def _unsettled(self) -> set[Block]:
        """Return the blocks that differ from the plan: resources with objects that were not
        created, and values whose conditions failed or were not checked.
        """
        left_out = self._left_out()
        if not left_out:
            return set()
        addresses = [each.address for each in self._plan.changes]
        addresses += [each.address for each in self._plan.ephemeral]
        blocks = self._blocks
        found = {
            blocks.resource_block(resource_of(each)) for each in addresses if str(each) in left_out
        }
        for result in self._plan.checks:
            for each in result.objects if result.kind in VALUES else ():
                if each.address in left_out:
                    module, name = value_at(each.address)
                    found.add(blocks.block(module, name))
        return found

    def _left_out(self) -> set[str]:
        """The instances that were not made as planned."""
        operations = self._executor.left_out()
        return {each.address for each in operations if each.kind in _MAKING}

    def _undestroyed(self) -> set[str]:
        """The instances of which something was not destroyed as planned."""
        operations = self._executor.left_out()
        return {each.address for each in operations if each.kind is OperationKind.DELETE}

    def _needs_any(self, block: Block, unsettled: set[Block]) -> bool:
        """Return whether a block depends on an unsettled one, directly or through others."""
        known, needs = self._is_concerned, self._blocks.needs
        return bool(unsettled) and work_out(
            block,
            known,
            needs,
            lambda at: any(each in unsettled or known.get(each, False) for each in needs(at)),
        )

    def stop(self) -> None:
        """Start no further operations, and cancel provisioners."""
        self._executor.stop()
        for provisioner in list(self._context.provisioning):
            provisioner.cancel()

    async def _checks(self) -> tuple[CheckResult, ...]:
        """Return the outcomes of all conditions whose subjects are as planned by now.

        Conditions that the plan left out are left out here, too.
        """
        # Nothing is left that the conditions could be about.
        if self._plan.mode is PlanMode.DESTROY:
            return self._plan.checks
        noted = list(self._context.conditions)
        seen = {address for _, _, address, _ in noted} | self._left_out()
        planned = {
            each.block
            for each in self._plan.checks
            if each.objects and not (self._plan.targeted and each.kind == "check")
        }
        unsettled = self._unsettled()
        waiting = {each.address for each in self._plan.deferred if each.kind is DeferredKind.CHECK}
        modules = self._modules_with(planned)
        for frame in await self.apply_run.all_frames(
            lambda module: (
                module in modules and not self._needs_any(expansion_block(module), unsettled)
            )
        ):
            conditions = module_conditions(frame, self.apply_run.unread)
            found = [
                each
                for each in conditions
                if each[1] in planned and not self._is_open(frame, each, unsettled)
                if each[2] not in waiting and each[2] not in seen
            ]
            await self.apply_run.evaluate(list(condition_nodes(frame, found)))
            noted += found
        left_open = self._open_conditions(unsettled) | self._left_out()
        before = without_results(self._plan.checks, left_open)
        return updated_results(before, noted)

    def _modules_with(self, blocks: set[str]) -> frozenset[ModuleAddr]:
        """The variants in which, or in what they call, there are any of these blocks."""
        declared = declared_checks(self.apply_run.root.instance)
        return with_callers(each.module for each in declared if each.block in blocks)

    def _is_open(self, frame: Frame, noted: Noted, unsettled: set[Block]) -> bool:
        """Return whether conditions are about something that differs from the plan."""
        kind, _, address, _ = noted
        block = frame.instance.variant, f"{kind}.{address.rpartition('.')[2]}"
        return self._needs_any(block, unsettled)

    def _open_conditions(self, unsettled: set[Block]) -> set[str]:
        """The addresses of what has such conditions."""
        return {
            each.address
            for result in self._plan.checks
            for each in (result.objects if result.kind != "resource" else ())
            if self._needs_any(self._blocks.block(*value_at(each.address)), unsettled)
        }

    async def _outputs(self, refused: set[str]) -> dict[str, OutputState]:
        """The root's output values; one that cannot be worked out is what the plan knew it to be,
        or stays what it was.
        """
        before = self._plan.refreshed_state.outputs
        if self._plan.mode is PlanMode.DESTROY:
            # NodeDestroyableOutput: a full destroy removes all outputs.
            return dict(before) if self._plan.targeted else {}
        found: dict[str, OutputState] = {}
        nodes = self.apply_run.root.outputs
        left_out = set(nodes) - set(self._plan.outputs) if self._plan.targeted else set()
        found.update((name, before[name]) for name in left_out if name in before)
        await self.apply_run.evaluate(
            [node for name, node in nodes.items() if name not in left_out]
        )
        for name, node in nodes.items():
            if name in left_out:
                continue
            # OpenTofu: ephemeral outputs exist in called modules only and are never
            # stored.
            if not isinstance(node, OutputNode) or node.output.ephemeral:
                continue
            value, marks = node.value.unmark_deep()
            # JSON has no infinity, so the state cannot hold it.
            if infinite_as_null(value)[1]:
                self.diags.append(infinite_output(node.output))
                refused.add(name)
            # Where nothing but the state changes, a plan knows all that can be known.
            is_final = self._plan.mode is PlanMode.REFRESH_ONLY
            if is_final or node.state != DONE or not value.is_wholly_known or name in refused:
                planned = self._plan.outputs.get(name)
                if planned is None or not planned.after.is_wholly_known:
                    if name in before:
                        found[name] = before[name]
                    continue
                value, marks = planned.after.unmark_deep()
            is_secret = node.output.sensitive or SENSITIVE in marks
            # NodeApplyableOutput: a null output is removed from the state.
            if not value.is_null:
                found[name] = OutputState(value, is_secret, node.output.deprecated)
        return found


def _refused_outputs(checks: tuple[CheckResult, ...]) -> set[str]:
    """The root's outputs whose preconditions do not hold."""
    return {
        each.block.removeprefix("output.")
        for each in checks
        if each.kind == "output" and each.status in ("fail", "error")
    }


def _circular(circle: CircularGraph) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "Cycle of operations",
        f"These operations depend on each other, so they cannot be ordered: {circle}. Nothing "
        f"was changed. Apply part of it first, with {advice().option('-target')}, or change create_before_destroy.",
    )
