"""Execution of one test file: its runs in order, each with its state, and the final clean-up.

Every tested module has a separate state, in memory only. Objects that cannot be destroyed in the
end are saved in a state file, so that the user can destroy them.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from typing import Final

from nigari.apply.listener import ApplyListener
from nigari.backends.disk import write_unused
from nigari.backends.snapshots import new_lineage
from nigari.config.blocks.provider_config import ProviderConfig
from nigari.config.test_files import TestFile, TestRun
from nigari.cty.values import Value, object_value
from nigari.diagnostics import Diagnostics
from nigari.diagnostics.unexpected import unexpected
from nigari.hcl.traversal import TraverseAttr
from nigari.record import record
from nigari.state.files import format_state, parse_state
from nigari.state.model import State, StateFile
from nigari.testing.execution import (
    Execution,
    Prepared,
    SuiteContext,
    destroy,
    plan_context,
    taken,
)
from nigari.testing.outcome import CleanUp, FileOutcome, Leftover, Status

RESCUED: Final = "errored_test.tfstate"
_PRIVATE: Final = 0o600
_MAIN: Final = ""
_RUN: Final = re.compile(r"\brun\.")


@record
class RunState:
    """A state, with the last run that changed it."""

    state: State
    index: int
    prepared: Prepared


class Stopping:
    """Interruptions: after the first one no run starts, after the second no clean-up either."""

    def __init__(self) -> None:
        self.times = 0

    @property
    def is_stopped(self) -> bool:
        """True if only the clean-up continues."""
        return self.times > 0

    @property
    def is_cut_off(self) -> bool:
        """True if nothing continues."""
        return self.times > 1


class TestFileRunner:
    """Executes the runs of one file."""

    __test__ = False

    def __init__(self, context: SuiteContext, file: TestFile, stopping: Stopping) -> None:
        self._context = context
        self._file = file
        self._stopping = stopping
        self._view = ApplyListener()
        self._states: dict[str, RunState] = {}
        self._outputs: dict[str, Value] = {}
        self._prepared: dict[str, Prepared] = {}
        self.outcome: FileOutcome = FileOutcome(file.name, [run.name for run in file.runs])
        self.current: dict[str, Execution] = {}
        """Indexes of active runs."""

    @property
    def left(self) -> tuple[list[Leftover], dict[str, list[Leftover]]]:
        """List the existing objects: of the main module, and of others by the run that created
        them.
        """
        runs, others = self.outcome.runs, dict(self._states)
        main = others.pop(_MAIN, None)
        return (
            [] if main is None else _leftovers(main.state),
            {runs[each.index].name: _leftovers(each.state) for each in others.values()},
        )

    async def run(self) -> None:
        """Execute all runs, then destroy their objects."""
        start = time.monotonic()
        outcome = self.outcome
        outcome.status = Status.PASS
        for batch in self._batches():
            if self._stopping.is_cut_off:
                break
            wanted = [index for index in batch if self._is_wanted(index)]
            await asyncio.gather(*(self._execute(index) for index in wanted))
            outcome.status = max([outcome.status, *(outcome.runs[at].status for at in wanted)])
        outcome.seconds = time.monotonic() - start

    def _is_wanted(self, index: int) -> bool:
        """Check whether to execute a run; otherwise mark it as skipped."""
        is_over = self._stopping.is_stopped or self.outcome.status is Status.ERROR
        if is_over or self._file.runs[index].is_skipped:
            self.outcome.runs[index].status = Status.SKIP
            return False
        return True

    def _batches(self) -> list[list[int]]:
        """Group the runs in order, so that those in a group can run concurrently: each with a
        separate state, and without each other's outputs.
        """
        batches: list[list[int]] = []
        states: set[str] = set()
        names: set[str] = set()
        uses_runs = any(_RUN.search(_text_of(each)) for each in self._file.providers.values())
        for index, run in enumerate(self._file.runs):
            fits = run.is_parallel and not uses_runs and _key(run) not in states
            if not fits or not names or names & _runs_named(run):
                batches.append([])
                states, names = set(), set()
            batches[-1].append(index)
            states.add(_key(run))
            if run.is_parallel:
                names.add(run.name)
        return batches

    def skip(self) -> None:
        """Skip all runs."""
        self.outcome.status = Status.PASS
        for run in self.outcome.runs:
            run.status = Status.SKIP

    async def _execute(self, index: int) -> None:
        run, reported = self._file.runs[index], self.outcome.runs[index]
        key = _key(run)
        kept = self._states.get(key)
        execution = Execution(self._context, self._file, run, reported, self._view)
        self.current[run.name] = execution
        start = time.monotonic()
        try:
            changed = await execution.execute(
                State() if kept is None else kept.state, self._outputs
            )
        except Exception as error:  # noqa: BLE001 - what was made must be destroyed all the same
            reported.diags.append(unexpected(f"The run {run.name}", error))
            reported.at_least(Status.ERROR)
            changed = None
        del self.current[run.name]
        self._note_uses(run)
        reported.seconds = time.monotonic() - start
        if changed is None or execution.prepared is None:
            return
        stored = _stored(changed, reported.diags)
        self._states[key] = RunState(stored, index, execution.prepared)
        self._prepared[run.name] = execution.prepared
        self._outputs[run.name] = object_value(
            {name: each.value for name, each in stored.outputs.items()}
        )

    def _note_uses(self, run: TestRun) -> None:
        """Record the outputs of earlier runs that a run uses."""
        coverage = self._context.coverage
        if coverage is None:
            return
        for name in _runs_named(run):
            prepared = self._prepared.get(name)
            if prepared is not None:
                coverage.note_outputs(prepared.static.root.module, run, name)

    # -- the end --------------------------------------------------------------------------------

    async def clean_up(self) -> None:
        """Destroy the remaining objects, the most recent state first."""
        for kept in sorted(self._states.values(), key=lambda each: -each.index):
            if self._stopping.is_cut_off:
                return
            if kept.state.is_empty:
                continue
            done = CleanUp(self.outcome.runs[kept.index])
            self.outcome.cleanups.append(done)
            left = await self._destroy(kept, done)
            done.left = _leftovers(left)
            if left.has_managed_objects:
                self._rescue(left, done)

    async def _destroy(self, kept: RunState, done: CleanUp) -> State:
        """Destroy the objects of a state, and return the remaining state."""
        context, diags = plan_context(self._context, kept.prepared), Diagnostics()
        left = kept.state
        try:
            destroyed = await destroy(context, kept.state, self._view, diags)
            if destroyed is not None:
                outcome, left = destroyed
                if outcome.plan.forgotten:
                    _report_forgotten(outcome.plan.forgotten, done)
            done.diags.extend(taken(diags, self._context.plugins))
        except Exception as error:  # noqa: BLE001 - what is left must be known all the same
            done.diags.append(unexpected("The clean-up", error))
            left = kept.state
        finally:
            await context.close()
        return left

    def _rescue(self, left: State, done: CleanUp) -> None:
        """Save the remaining state in a file."""
        data = format_state(StateFile(left, new_lineage(), 1), is_for_people=True)
        where = self._context.workspace.where
        try:
            path = write_unused(where.at(where.name, RESCUED), data, _PRIVATE)
            done.saved_at = os.path.basename(path)
        except OSError as error:
            done.unsaved = data
            done.diags.error(
                "State not saved",
                f"The state of what is left cannot be written to {RESCUED}: {error.strerror}. It "
                "is printed instead.",
            )


def _key(run: TestRun) -> str:
    """Return the name of a run's state."""
    return run.state_key or (_MAIN if run.module is None else run.module.source)


def _runs_named(run: TestRun) -> set[str]:
    """List the runs whose outputs a run uses."""
    return {
        step.name
        for expr in run.variables.values()
        for traversal in expr.variables()
        if traversal.root_name == "run"
        for step in traversal.steps[1:2]
        if isinstance(step, TraverseAttr)
    }


def _text_of(config: ProviderConfig) -> str:
    block = config.block
    return block.source.text[block.start : block.end]


def _stored(state: State, diags: Diagnostics) -> State:
    """Encode and decode a state, as storage between two runs would."""
    data = format_state(StateFile(state, "test", 1), is_for_people=False)
    file = parse_state(data, diags)
    return state if file is None else file.state


def _leftovers(state: State) -> list[Leftover]:
    found: list[Leftover] = []
    for address, instance in state.instances():
        if address.item.resource.mode.name != "MANAGED":
            continue
        if instance.current is not None:
            found.append(Leftover(str(address)))
        found += [Leftover(str(address), key) for key in sorted(instance.deposed)]
    return sorted(found, key=lambda each: (each.address, each.deposed))


def _report_forgotten(count: int, done: CleanUp) -> None:
    done.diags.error(
        "Objects are left behind",
        f"Objects that were forgotten instead of destroyed: {count}. They are declared with "
        "destroy = false, and what was forgotten still exists.",
    )
