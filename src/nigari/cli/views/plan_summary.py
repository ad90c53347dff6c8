"""A plan in short, for people and for scripts: a line for each block, or the addresses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nigari.cli.views.change_text import symbol
from nigari.cli.views.plan_text import not_shown, summary
from nigari.cli.views.style import Style
from nigari.plan.model.changes import Change, Plan
from nigari.plan.show.deferred_summary import deferred_summary
from nigari.plan.show.grouped_changes import Filter, GroupedChange, counted, short_changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_MOST_KEYS: Final = 8
"""The most keys that a line lists; the others are counted."""
_MOST_GROUPS: Final = 10


def summary_text(plan: Plan, style: Style, shows: Filter) -> str:
    """One line for each block, with the numbers by type and module."""
    visible = [change for change in plan.changes if change.is_visible]
    shown = [change for change in visible if shows(change)]
    lines = ["", *(_line(each, style) for each in short_changes(shown))]
    if len(shown) > 1:
        lines += ["", *_groups(shown)]
    if len(shown) < len(visible):
        lines += ["", not_shown(len(visible) - len(shown))]
    outputs = sum(each.action.value != "no-op" for each in plan.outputs.values())
    if outputs:
        lines += ["", f"{outputs} output {'value changes' if outputs == 1 else 'values change'}."]
    is_empty = not (visible or outputs or plan.left or plan.invocations)
    lines += ["", "No changes." if is_empty else summary(plan)]
    if plan.left:
        lines.append(deferred_summary(plan))
    return "\n".join(lines) + "\n"


def addresses_text(plan: Plan, shows: Filter) -> str:
    """The action and the address, for scripts: one change on each line."""
    shown = [change for change in plan.changes if change.is_visible and shows(change)]
    return "".join(f"{change.action.value}\t{change.address}\n" for change in shown)


def _line(short: GroupedChange, style: Style) -> str:
    name = style.bold(short.block)
    if short.count == 1:
        name = style.bold(short.addresses[0])
    keys = ""
    if short.count > 1:
        named = ", ".join(short.keys[:_MOST_KEYS])
        more = len(short.keys) - _MOST_KEYS
        keys = f" ({short.count}): {named}{f' and {more} more' if more > 0 else ''}"
    reason = f"  {style.grey(short.why)}" if short.why else ""
    return f"{symbol(short.action, style)} {name}{keys}{reason}"


def _groups(shown: Sequence[Change]) -> Iterator[str]:
    types = counted(shown, lambda change: change.address.item.resource.type)
    modules = counted(shown, lambda change: str(change.address.module) or "root module")
    yield f"By type:   {_counted(types)}"
    if len(modules) > 1:
        yield f"By module: {_counted(modules)}"


def _counted(groups: Sequence[tuple[str, int]]) -> str:
    text = ", ".join(f"{name} {count}" for name, count in groups[:_MOST_GROUPS])
    more = len(groups) - _MOST_GROUPS
    return f"{text} and {more} more" if more > 0 else text
