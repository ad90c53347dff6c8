"""A plan as Markdown, for comments on pull requests: numbers, warnings, folded details.

Bounded, because services refuse long comments: what does not fit is named, and nothing is cut in
the middle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from nigari.cli.views.change_text import change_text
from nigari.cli.views.plan_text import outputs_text, summary
from nigari.cli.views.presentation import Presentation
from nigari.explore.secrets import Secrets
from nigari.plan.model.changes import Change, Plan
from nigari.plan.show.deferred_summary import deferred_summary, waiting_line
from nigari.plan.show.grouped_changes import GroupedChange, short_changes
from nigari.workspace.plans.change_reasons import ChangeReasons

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


LIMIT: Final = 65_536
"""The most characters that the usual services take."""
_ROOM: Final = 400
"""Room for the note about omitted parts."""
_SIGNS: Final = {"create": "+", "update": "~", "delete": "-", "read": "<=", "forget": "."}


def plan_markdown(
    plan: Plan, limit: int = LIMIT, reasons: Callable[[Change], ChangeReasons] | None = None
) -> str:
    """The whole plan in at most so many characters, with the reasons of changes if there are."""
    changes = [change for change in plan.changes if change.is_visible]
    scrubbed = _secrets(plan).scrubbed
    if not (changes or plan.has_output_changes or plan.left or plan.invocations):
        return "**No changes.** The real objects match the configuration.\n"
    parts = [
        f"**{summary(plan)}**\n",
        *_deferred(plan, limit // 4),
        *_actions(plan, limit // 8),
        *_warning(changes),
        *(_table(short_changes(changes), limit // 2) if changes else ()),
    ]
    length = sum(map(len, parts))
    left_out: list[str] = []
    for change in changes:
        text = "" if left_out else _details(change, None if reasons is None else reasons(change))
        if left_out or length + len(text) > limit - _ROOM:
            left_out.append(str(change.address))
        else:
            parts.append(text)
            length += len(text)
    outputs = _outputs(plan)
    if length + len(outputs) > limit - _ROOM:
        outputs = "\nThe details of outputs are left out.\n"
    parts.append(outputs)
    if left_out:
        parts.append(_rest(left_out))
    return scrubbed("".join(parts))


def _secrets(plan: Plan) -> Secrets:
    """The secrets of a plan: a provider may have put one into an attribute that is not sensitive."""
    found = Secrets()
    for change in plan.changes:
        found.note(change.before)
        found.note(change.after)
    for action in plan.invocations:
        found.note(action.config)
    for output in plan.outputs.values():
        found.note(output.before)
        found.note(output.after)
    return found


def _outputs(plan: Plan) -> str:
    """The changes of output values, folded."""
    text = outputs_text(plan, Presentation())
    if not text:
        return ""
    fence = _fence(text)
    return (
        "\n<details><summary>Changes to outputs</summary>\n\n"
        f"{fence}diff\n{_as_diff(text)}\n{fence}\n\n</details>\n"
    )


def _fence(*texts: str) -> str:
    """A fence that occurs in none of the texts."""
    fence = "```"
    while any(fence in each for each in texts):
        fence += "`"
    return fence


def _deferred(plan: Plan, limit: int) -> Iterator[str]:
    """The deferred changes, as far as there is room for them."""
    if not plan.left:
        return
    yield f"\n{deferred_summary(plan)}\n\n"
    for index, each in enumerate(plan.left):
        line = f"- `{_cell(waiting_line(each))}`\n"
        limit -= len(line)
        if limit < 0:
            yield f"\n{len(plan.left) - index} more are left out.\n"
            return
        yield line


def _actions(plan: Plan, limit: int) -> Iterator[str]:
    """The actions that run, as far as there is room for them."""
    if plan.invocations:
        yield "\nActions:\n\n"
    for index, each in enumerate(plan.invocations):
        trigger = each.trigger
        why = "" if trigger is None else f": `{trigger.event.value}` of `{_cell(str(each.caller))}`"
        line = f"- `{_cell(str(each.address))}`{why}\n"
        limit -= len(line)
        if limit < 0:
            yield f"\n{len(plan.invocations) - index} more are left out.\n"
            return
        yield line


def _warning(changes: Sequence[Change]) -> Iterator[str]:
    lost = [change for change in changes if change.action.destroys]
    if not lost:
        return
    replaced = sum(change.action.is_replace for change in lost)
    deleted = len(lost) - replaced
    counts = [f"{deleted} destroyed"] if deleted else []
    counts += [f"{replaced} replaced"] if replaced else []
    yield f"\n> [!WARNING]\n> Objects will be lost: {', '.join(counts)}.\n"


def _table(lines: Sequence[GroupedChange], limit: int) -> Iterator[str]:
    """A line for each, as far as there is room for them."""
    yield "\n| | address | why |\n| --- | --- | --- |\n"
    for index, each in enumerate(lines):
        name = each.addresses[0] if each.count == 1 else f"{each.block} ({each.count})"
        sign = "-/+" if each.action.is_replace else _SIGNS.get(each.action.value, "")
        line = f"| `{sign or ' '}` | `{_cell(name)}` | {_cell(each.why)} |\n"
        limit -= len(line)
        if limit < 0:
            yield f"\n{len(lines) - index} more lines are left out.\n"
            return
        yield line


def _details(change: Change, reasons: ChangeReasons | None) -> str:
    text = change_text(change, Presentation())
    reason = "" if reasons is None else str(reasons).partition("\n")[2]
    fence = _fence(text, reason)
    why = f"\n{fence}text\n{reason}\n{fence}\n" if reason else ""
    name = str(change.address).replace("&", "&amp;").replace("<", "&lt;")
    action = "replace" if change.action.is_replace else change.action.value
    return (
        f"\n<details><summary>{action}: <code>{name}</code></summary>\n\n"
        f"{fence}diff\n{_as_diff(text)}\n{fence}\n{why}\n</details>\n"
    )


def _as_diff(text: str) -> str:
    """The text with the marks of changes where those who colour differences look for them."""
    lines = []
    for line in text.splitlines():
        mark = line.lstrip()[:1]
        indent = len(line) - len(line.lstrip())
        if mark in ("+", "-", "~") and indent:
            sign = "!" if mark == "~" else mark
            line = f"{sign}{line[1:indent]} {line[indent + 1 :]}"
        lines.append(line)
    return "\n".join(lines)


def _rest(left_out: Sequence[str]) -> str:
    first = left_out[0] if len(left_out[0]) < _ROOM // 2 else f"{left_out[0][: _ROOM // 2]}…"
    more = f" and {len(left_out) - 1} more" if len(left_out) > 1 else ""
    return f"\nThe details of {len(left_out)} changes are left out: `{_cell(first)}`{more}.\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("`", "'")
