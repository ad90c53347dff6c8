"""A plan for people: what will be done, object by object, and how much that is.

Symbols and the lines in `nigari.markers` are an interface that scripts look for; the rest is in our
own words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from nigari.cli.views.action_text import invoked_text, triggered_text
from nigari.cli.views.change_text import change_text, drift_text, symbol
from nigari.cli.views.difference_text import difference_text
from nigari.cli.views.presentation import Presentation
from nigari.cli.views.style import Style
from nigari.cty.go_text import go_quote
from nigari.cty.types import DYNAMIC
from nigari.hcl.scanner import is_identifier
from nigari.lang.marks import SENSITIVE
from nigari.markers import (
    ACTIONS,
    CHANGED_OUTSIDE,
    CHANGED_OUTSIDE_END,
    NO_CHANGES,
    NO_DRIFT,
    ONLY_OUTPUTS,
    OUTPUTS,
    PLAN,
)
from nigari.plan.differences.datum import datum
from nigari.plan.differences.difference import EVERYWHERE, Difference, Fate, Paths
from nigari.plan.differences.value_comparison import compare, present
from nigari.plan.model.changes import Action, Change, OutputChange, Plan, PlanMode
from nigari.plan.show.deferred_summary import by_cause, cause_line, deferred_summary, waiting_line
from nigari.plan.show.grouped_changes import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.plan.show.relevant_attributes import RelevantAttribute


_MEANINGS: Final = {
    Action.CREATE: "create",
    Action.UPDATE: "update in-place (current -> planned)",
    Action.DELETE: "destroy",
    Action.DELETE_THEN_CREATE: "destroy and then create replacement",
    Action.CREATE_THEN_DELETE: "create replacement and then destroy",
    Action.READ: "read (data resources)",
    Action.FORGET_THEN_CREATE: "forget and then create replacement",
    Action.FORGET: "forget",
}
_RULE: Final = "─"


def plan_text(
    plan: Plan,
    presentation: Presentation | None = None,
    width: int = 78,
    relevant: Iterable[RelevantAttribute] = (),
    shows: Filter | None = None,
) -> str:
    """The whole plan, with an empty line before and a line end at the end.

    Changes outside are shown as far as they are relevant to the plan. A filter leaves
    out changes, and says how many.
    """
    presentation = presentation or Presentation()
    style = presentation.style
    parts = list(_drift(plan, presentation, relevant))
    changes = [change for change in plan.changes if change.is_visible]
    # Output values alone are nothing that a plan which has failed could still do.
    outputs = outputs_text(plan, presentation) if changes or not plan.is_incomplete else ""
    does_something = bool(changes or outputs or plan.left or plan.invocations)
    if parts and not does_something and plan.mode is PlanMode.REFRESH_ONLY:
        return "".join(parts)
    if parts:
        parts.append(rule(width, style))
    if does_something:
        parts += _symbols(changes, style)
        parts += _actions(plan, changes, presentation, shows)
        parts += invoked_text(plan.invoked, presentation)
        parts += _totals(plan, changes, style)
        parts += _changed_outputs(plan, changes, outputs)
    else:
        parts += _no_changes(plan, style)
    return "".join(parts)


def _symbols(changes: Sequence[Change], style: Style) -> Iterator[str]:
    """The legend of the symbols before the changes."""
    used = {change.action for change in changes}
    if used <= {Action.NO_OP}:
        return
    yield "\nThe plan uses these symbols:\n"
    for action, text in _MEANINGS.items():
        if action in used:
            yield f"{symbol(action, style)} {text}\n"


def _actions(
    plan: Plan, changes: Sequence[Change], presentation: Presentation, shows: Filter | None
) -> Iterator[str]:
    """The changes, one after the other."""
    if not changes:
        return
    heading = ACTIONS
    if plan.is_incomplete:
        heading = "These actions were planned before the errors below:"
    yield f"\n{heading}\n"
    shown = changes if shows is None else [change for change in changes if shows(change)]
    actions = plan.triggered
    for change in shown:
        triggered = () if change.deposed else actions.get(change.address, ())
        around = "".join(triggered_text(triggered, presentation))
        yield f"\n{change_text(change, presentation)}{around}\n"
    if len(shown) < len(changes):
        yield f"\n{not_shown(len(changes) - len(shown))}\n"


def _totals(plan: Plan, changes: Sequence[Change], style: Style) -> Iterator[str]:
    """The counts of this plan and of the deferred changes, with what they wait for."""
    if changes or plan.left or plan.invocations:
        yield from _deferred(plan, style)
        yield f"\n{style.bold(summary(plan))}\n"
    if plan.left:
        yield f"{style.bold('Deferred:')}{deferred_summary(plan).removeprefix('Deferred:')}\n"


def _changed_outputs(plan: Plan, changes: Sequence[Change], outputs: str) -> Iterator[str]:
    """The output values that change, and whether they are all that does."""
    if not outputs:
        return
    yield f"\n{OUTPUTS}\n{outputs}\n"
    is_all = not plan.is_incomplete and not plan.left
    if is_all and not plan.invocations and all(each.action is Action.NO_OP for each in changes):
        yield f"\n{ONLY_OUTPUTS}\n"


def _deferred(plan: Plan, style: Style) -> Iterator[str]:
    """The deferred changes, by what they wait for."""
    if plan.left:
        yield "\nDeferred to later rounds:\n"
    for cause, waiting in by_cause(plan).items():
        yield f"\n  {style.bold(cause_line(cause))}\n"
        for each in waiting:
            yield f"    {waiting_line(each)}\n"


def summary(plan: Plan) -> str:
    """The line with the numbers."""
    added, altered, destroyed = plan.counts
    imported = f"{plan.imported} to import, " if plan.imported else ""
    line = PLAN.format(add=added, change=altered, destroy=destroyed)
    line = line.replace("Plan: ", f"Plan: {imported}", 1)
    if plan.forgotten:
        line = f"{line[:-1]}, {plan.forgotten} to forget."
    return f"{line} Actions: {len(plan.invocations)} to invoke." if plan.invocations else line


def not_shown(count: int) -> str:
    """That a filter has left out changes."""
    if count == 1:
        return "One more change is not shown, because of -only."
    return f"{count} more changes are not shown, because of -only."


def rule(width: int, style: Style) -> str:
    """A line across the screen."""
    return f"\n{style.grey(_RULE * width)}\n"


def _no_changes(plan: Plan, style: Style) -> Iterator[str]:
    """That nothing is to be done."""
    if plan.is_incomplete:
        failed = style.bold(style.red("Planning failed."))
        yield f"\n{failed} {style.bold('See the errors below.')}\n"
        return
    if plan.mode is PlanMode.DESTROY:
        lead = style.bold(style.green("No changes."))
        yield f"\n{lead} {style.bold('There is nothing to destroy.')}\n"
        yield "\nNothing has been created here yet, or everything is already destroyed.\n"
    elif plan.mode is PlanMode.REFRESH_ONLY:
        yield f"\n{style.bold(style.green(NO_DRIFT))}\n"
        yield "\nThe state was compared with the real objects, and there are no differences.\n"
    else:
        # OpenTofu 1.13: the line says it all.
        yield f"\n{style.bold(style.green(NO_CHANGES))}\n"


# -- drift ------------------------------------------------------------------------------------


def _drift(
    plan: Plan, presentation: Presentation, relevant: Iterable[RelevantAttribute]
) -> Iterator[str]:
    """The changes outside that are relevant to the plan."""
    is_all = plan.mode is PlanMode.REFRESH_ONLY
    if not is_all and plan.is_empty:
        return
    places = _places(relevant)
    shown: list[str] = []
    for drift in plan.drift:
        paths = EVERYWHERE if is_all else places.get(str(drift.address))
        text = None if paths is None else drift_text(drift, paths, presentation)
        if text is not None:
            shown.append(text)
    if not shown:
        return
    style = presentation.style
    note = style.bold(style.cyan(CHANGED_OUTSIDE))
    yield (
        f"\n{note}\n\nThese changes were made since the last apply and may have affected this "
        "plan:\n"
    )
    for text in shown:
        yield f"\n{text}\n"
    if is_all:
        yield (
            "\n\nApplying this plan only saves these values to the state; nothing else is "
            "changed.\n"
        )
    else:
        yield (
            f"\n\n{CHANGED_OUTSIDE_END},\nor ignore these changes with ignore_changes, the plan "
            "below may undo them.\n"
        )


def _places(relevant: Iterable[RelevantAttribute]) -> dict[str, Paths]:
    steps: dict[str, list[tuple[object, ...]]] = {}
    for each in relevant:
        steps.setdefault(each.address, []).append(each.steps)
    return {address: Paths(tuple(found), covers_below=True) for address, found in steps.items()}


# -- outputs ----------------------------------------------------------------------------------


def outputs_text(plan: Plan, presentation: Presentation) -> str:
    """The changes of the root's output values."""
    found = {each.name: output_difference(each) for each in plan.outputs.values()}
    return "\n".join(_output_lines(found, presentation))


def _output_lines(found: Mapping[str, Difference], presentation: Presentation) -> Iterator[str]:
    names = {name: name if is_identifier(name) else go_quote(name) for name in sorted(found)}
    width = max((len(name) for name in names.values()), default=0)
    for name, shown in names.items():
        if found[name].fate is not Fate.SAME:
            text = difference_text(found[name], 0, presentation)
            yield f"{presentation.mark(found[name].fate)}{shown:<{width}} = {text}"


def output_difference(change: OutputChange) -> Difference:
    """The change of an output value."""
    before, after = change.before, change.after
    if change.sensitive:
        # A state does not say which parts of an output are sensitive, so all of it is.
        before, after = (each.unmark_deep()[0].mark(SENSITIVE) for each in (before, after))
    return compare(present(datum(before)), present(datum(after)), DYNAMIC)
