"""The finished plan: what an evaluated configuration records, as data.

Changes, drift, outputs and check results are collected here; single changes are decided by the
nodes of the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.resource import DATA
from nigari.config.blocks.output import Output
from nigari.cty.paths import infinite_as_null
from nigari.cty.types import DYNAMIC
from nigari.cty.values import Value, null
from nigari.diagnostics import Diagnostics
from nigari.eval.core.worklist import DONE
from nigari.eval.nodes.output import OutputNode, infinite_output
from nigari.plan.deferred.deferred_changes import deferred_changes
from nigari.plan.model.changes import (
    Action,
    Change,
    Drift,
    OutputChange,
    Plan,
    PlanMode,
    Reason,
)
from nigari.plan.model.check_results import (
    DeclaredCheck,
    check_results,
    declared_checks,
    open_results,
    with_read_checks,
)
from nigari.plan.model.plan_options import PlanOptions
from nigari.plan.nodes.plan_run import PlanRun
from nigari.plan.order.selection import Selection
from nigari.running.unknown_values import is_reported
from nigari.state.model import CheckResult, OutputState, State


def finished_plan(run: PlanRun, state: State, options: PlanOptions, diags: Diagnostics) -> Plan:
    """Return the plan that follows from an evaluated configuration and the stored state."""
    changes = sorted(run.record.changes.values(), key=lambda each: each.address.sort_key())
    if options.mode is not PlanMode.DESTROY:
        _warn_of_forgetting(changes, diags)
    for memory in run.providers.memories():
        run.record.refreshed.remember(memory)
    _undo_deferred_moves(run)
    refreshed = run.record.refreshed.finish()
    return Plan(
        mode=options.mode,
        changes=tuple(changes),
        outputs=_outputs(run, state, options, diags),
        drift=_drift(run, options),
        previous_state=state,
        refreshed_state=refreshed,
        checks=_checks(run, options, diags),
        targeted=run.selection is not None,
        ephemeral=tuple(
            sorted(run.record.ephemeral_instances, key=lambda each: each.address.sort_key())
        ),
        modules={
            frame.instance.addr: tuple(
                name for name, node in frame.outputs.items() if not node.value.is_null
            )
            for frame in run.frames()
            if frame.parent is not None
            and any(node.state == DONE for node in frame.outputs.values())
        },
        deferred=deferred_changes(run),
        ended_data=tuple(_ended_data(run, refreshed)),
        invocations=run.record.invocations,
    )


def _undo_deferred_moves(run: PlanRun) -> None:
    """Leave objects where they were if their new addresses are deferred."""
    refreshed = run.record.refreshed
    for target, moved in run.moved.items() if run.deferrals is not None else ():
        state, is_free = refreshed.instance(target), refreshed.instance(moved.source) is None
        if run.declared.deferral_of(target) is None or state is None or not is_free:
            continue
        refreshed.remove_instance(target)
        refreshed.set_instance(moved.source, state)


def _drift(run: PlanRun, options: PlanOptions) -> tuple[Drift, ...]:
    """Return changes made outside; a destroy does not report them."""
    if options.mode is PlanMode.DESTROY:
        return ()
    return tuple(sorted(run.record.drift, key=lambda each: each.address.sort_key()))


def _checks(run: PlanRun, options: PlanOptions, diags: Diagnostics) -> tuple[CheckResult, ...]:
    declared = declared_checks(run.root.instance)
    if options.mode is PlanMode.DESTROY:
        return open_results(declared, options.is_targeted)
    selected = run.selection

    is_deferred = run.declared.deferred_blocks()
    entered = {frame.instance.variant for frame in run.frames()}

    def is_expanded(each: DeclaredCheck) -> bool:
        if diags.has_errors or is_deferred(each.module, each.item):
            return False
        if selected is None or (each.module, each.item) in selected.blocks:
            return True
        # It is known that there are none where nothing but the data would be read.
        return (each.module, each.data) in selected.blocks and each.module not in entered

    found = check_results(run.record.conditions, declared, is_expanded)
    return found if selected is None else with_read_checks(found, _read_checks(run, selected))


def _outputs(
    run: PlanRun, state: State, options: PlanOptions, diags: Diagnostics
) -> dict[str, OutputChange]:
    nothing = null(DYNAMIC)
    found: dict[str, OutputChange] = {}
    prior = state.outputs
    if options.mode is PlanMode.DESTROY and options.is_targeted:
        return found
    if options.mode is not PlanMode.DESTROY:
        for name, node in run.root.outputs.items():
            if not isinstance(node, OutputNode) or node.output.ephemeral or node.state != DONE:
                continue
            if is_reported(node.value):
                continue
            if infinite_as_null(node.value.unmark_deep()[0])[1]:
                diags.append(infinite_output(node.output))
                continue
            found[name] = output_change(node.output, prior.get(name), node.value)
    for name, before in prior.items():
        if name not in run.root.outputs or options.mode is PlanMode.DESTROY:
            found[name] = OutputChange(name, Action.DELETE, before.value, nothing, before.sensitive)
    return dict(sorted(found.items()))


def _warn_of_forgetting(changes: Iterable[Change], diags: Diagnostics) -> None:
    for change in changes:
        if change.action is Action.FORGET and change.reason is not Reason.PART_OF:
            deposed = f" (deposed object {change.deposed})" if change.deposed else ""
            diags.warning(
                "Object will be forgotten",
                "Once this plan is applied, the object is no longer in the state, although it "
                "still exists. To manage it again, it has to be imported.",
                address=f"{change.address}{deposed}",
            )


def _ended_data(run: PlanRun, refreshed: State) -> Iterator[AbsResourceInstance]:
    """Return the data sources that a destroy forgets once the providers that depend on them are done."""
    if run.is_destroying:
        for address, _ in refreshed.instances():
            is_data = address.item.resource.mode is DATA
            if is_data and (run.selection is None or run.selection.names(address)):
                yield address


def _read_checks(run: PlanRun, selected: Selection) -> Iterator[tuple[str, str]]:
    """Return the blocks and addresses of checks that are not selected although their data is."""
    for frame in run.frames():
        for name, check in frame.module.checks.items():
            at, path = frame.instance.addr, frame.instance.variant
            if check.data is not None and (path, str(check.data.addr)) in selected.blocks:
                block, address = (f"{each}.check.{name}".lstrip(".") for each in (at.unkeyed, at))
                yield block, address


def output_change(output: Output, prior: OutputState | None, after: Value) -> OutputChange:
    """Compare an output value with the stored one."""
    before = null(DYNAMIC) if prior is None else prior.value
    plain, _ = after.unmark_deep()
    was_sensitive = prior is not None and prior.sensitive
    deprecated = "" if prior is None else prior.deprecated
    action = Action.CREATE if prior is None else Action.UPDATE
    if output.deprecated == deprecated:
        is_same = plain.is_wholly_known and plain == before and output.sensitive == was_sensitive
        if (plain.is_null and before.is_null) or (prior is not None and is_same):
            action = Action.NO_OP
    return OutputChange(output.name, action, before, after, was_sensitive or output.sensitive)
