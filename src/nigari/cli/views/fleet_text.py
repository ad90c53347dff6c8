"""Fleets as text: tables of units, and the summary of a plan."""

from __future__ import annotations

from collections.abc import Sequence

from nigari.cli.views.style import Style
from nigari.diagnostics.layout import display_width
from nigari.fleet.runs.plan_fleet import FleetPlan


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows as a table with aligned columns, without those in which nothing is but a heading."""
    kept = [
        index for index in range(len(rows[0])) if index == 0 or any(row[index] for row in rows[1:])
    ]
    widths = {index: max(display_width(row[index]) for row in rows) for index in kept}
    lines = []
    for row in rows:
        cells = [row[i] + " " * (widths[i] - display_width(row[i])) for i in kept]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


_LOSSES = {"delete": "- {} will be destroyed", "replace": "-/+ {} will be replaced"}


def plan_losses(plan: FleetPlan, style: Style) -> str:
    """The objects that are destroyed or replaced, by unit; empty where none is."""
    parts: list[str] = []
    for name in plan.changed:
        changes = plan.units[name].result.changes
        lines = (
            [] if changes is None else [each for each in changes.lines if each.action in _LOSSES]
        )
        if lines:
            parts.append(f"{style.bold(name)}:")
        for each in lines:
            why = f" ({each.why})" if each.why else ""
            parts.append(f"  {style.red(_LOSSES[each.action].format(each.address))}{why}")
    return "\n".join(parts)


def plan_summary(plan: FleetPlan, style: Style) -> str:
    """A line for each unit in which something is to be done, what that comes to, and every object
    that is destroyed or replaced.
    """
    changed = plan.changed
    losses = plan_losses(plan, style)
    parts = [losses] if losses else []
    if changed:
        rows: list[Sequence[str]] = [("UNIT", "ADD", "CHANGE", "DESTROY", "OTHER")]
        for name in changed:
            changes = plan.units[name].result.changes
            assert changes is not None
            others = [f"{changes.import_} to import"] if changes.import_ else []
            others += [f"{changes.forget} to forget"] if changes.forget else []
            others += [f"{changes.invoke} to invoke"] if changes.invoke else []
            plural = "" if changes.outputs == 1 else "s"
            others += [f"{changes.outputs} output{plural}"] if changes.outputs else []
            numbers = (str(each or "") for each in (changes.add, changes.change, changes.destroy))
            rows.append((name, *numbers, ", ".join(others)))
        parts.append(columns(rows))
    failed = sum(not each.result.is_done for each in plan.units.values())
    calm = len(plan.units) - len(changed) - failed
    if not changed and not failed:
        return style.bold(f"No changes in {_units(calm)}.")
    add, change, destroy = plan.totals
    total = f"Plan: {add} to add, {change} to change, {destroy} to destroy"
    said = [style.bold(f"{total} in {_units(len(changed))}.")] if changed else []
    said += [f"No changes in {_units(calm)}."] if calm else []
    said += [f"{_units(failed).capitalize()} could not be planned."] if failed else []
    parts.append(" ".join(said))
    return "\n\n".join(parts)


def _units(count: int) -> str:
    return "one unit" if count == 1 else f"{count} units"


def drift_text(plan: FleetPlan) -> str:
    """The objects that have drifted, unit by unit."""
    lines: list[str] = []
    for name in plan.drifted:
        changes = plan.units[name].result.changes
        assert changes is not None
        lines += ["", f"{name}:", *(f"  {address}" for address in changes.drift)]
    count = sum(each.result.is_done for each in plan.units.values())
    if not lines:
        return f"No drift in {_units(count)}."
    return "\n".join([*lines[1:], "", f"Drift in {len(plan.drifted)} of {count} units."])
