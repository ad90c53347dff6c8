"""A plan for people: what will be done, object by object, and how much that is.

Symbols, the summary line and the line that says that nothing changes are an interface that scripts
look for; the rest is in our own words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from nigari.addrs.resource import DATA
from nigari.cli.views.value_diff import changed, hidden, never, part, whole
from nigari.cty.paths import GetAttr, Path
from nigari.cty.values import Value, null
from nigari.lang.marks import SENSITIVE
from nigari.plan.changes import Action, Change, Drift, OutputChange, Plan, PlanMode, Reason
from nigari.schema.block import Block, NestedBlock, Nesting

_SYMBOLS: Final = {
    Action.CREATE: "  +",
    Action.READ: " <=",
    Action.UPDATE: "  ~",
    Action.DELETE: "  -",
    Action.DELETE_THEN_CREATE: "-/+",
    Action.CREATE_THEN_DELETE: "+/-",
    Action.FORGET: "  .",
    Action.FORGET_THEN_CREATE: "./+",
    Action.NO_OP: "   ",
}
_MEANINGS: Final = {
    Action.CREATE: "create",
    Action.UPDATE: "update in-place",
    Action.DELETE: "destroy",
    Action.DELETE_THEN_CREATE: "destroy and then create replacement",
    Action.CREATE_THEN_DELETE: "create replacement and then destroy",
    Action.READ: "read (data resources)",
    Action.FORGET: "forget",
    Action.FORGET_THEN_CREATE: "forget and then create replacement",
}
_HEADINGS: Final = {
    Action.CREATE: "will be created",
    Action.UPDATE: "will be updated in-place",
    Action.DELETE: "will be destroyed",
    Action.READ: "will be read during apply",
    Action.FORGET: "will be forgotten, and goes on existing",
    Action.FORGET_THEN_CREATE: "will be forgotten and made anew",
    Action.NO_OP: "has moved",
}
_REASONS: Final = {
    Reason.NO_RESOURCE: "because {address} is not in the configuration",
    Reason.NO_MODULE: "because {module} is not in the configuration",
    Reason.WRONG_REPETITION: "because the resource is repeated in another way now",
    Reason.COUNT_INDEX: "because the key {key} is beyond count",
    Reason.EACH_KEY: "because the key {key} is not in for_each",
    Reason.DISABLED: "because enabled is false",
    Reason.CONFIG_UNKNOWN: "because its configuration is not known yet",
    Reason.DEPENDENCY_PENDING: "because something that it depends on changes",
    Reason.REQUESTED: "as you asked",
    Reason.TRIGGERED: "because replace_triggered_by names something that changes",
}
_ALWAYS_SHOWN: Final = frozenset(("id", "name", "tags"))


def plan_text(plan: Plan) -> str:
    """The whole plan."""
    parts: list[str] = []
    if plan.mode is PlanMode.REFRESH_ONLY and plan.drift:
        parts.append(_drift_text(plan.drift))
    visible = [change for change in plan.changes if change.is_visible]
    if visible:
        parts.append(_legend(visible))
        parts.append("These actions will be performed:\n")
        parts.extend(change_text(change) for change in visible)
        parts.append(summary(plan))
    if plan.has_output_changes:
        parts.append(outputs_text(plan))
    if plan.is_empty:
        return no_changes(plan)
    if not visible and plan.mode is not PlanMode.REFRESH_ONLY:
        parts.append(
            "Applying this plan saves the new output values; nothing that is managed changes."
        )
    return "\n".join(parts)


def no_changes(plan: Plan) -> str:
    """That nothing is to be done."""
    if plan.mode is PlanMode.DESTROY:
        return "No changes. There is nothing to destroy."
    if plan.mode is PlanMode.REFRESH_ONLY:
        return "No changes. What exists is what the state says."
    return "No changes. What exists is what the configuration describes."


def summary(plan: Plan) -> str:
    """The line with the numbers."""
    added, altered, destroyed = plan.counts
    imported = f"{plan.imported} to import, " if plan.imported else ""
    line = f"Plan: {imported}{added} to add, {altered} to change, {destroyed} to destroy"
    if plan.forgotten:
        line += f", {plan.forgotten} to forget"
    return f"{line}."


def _legend(changes: list[Change]) -> str:
    used = {change.action for change in changes}
    lines = ["The symbols below mean:"]
    lines += [f"{_SYMBOLS[action]} {text}" for action, text in _MEANINGS.items() if action in used]
    return "\n".join(lines) + "\n"


def change_text(change: Change) -> str:
    """One object."""
    addr = change.address.item.resource
    what = "data" if addr.mode is DATA else "resource"
    lines = list(_heading(change))
    symbol = _SYMBOLS[change.action]
    lines.append(f'{symbol} {what} "{addr.type}" "{addr.name}" {{')
    lines += object_lines(change)
    lines.append("    }\n")
    return "\n".join(lines)


def _heading(change: Change) -> Iterator[str]:
    name = f"{change.address}"
    if change.deposed:
        name += f" (deposed object {change.deposed})"
    if change.action in (Action.DELETE_THEN_CREATE, Action.CREATE_THEN_DELETE):
        if change.reason is Reason.TAINTED:
            yield f"  # {name} is tainted, so it must be replaced"
        elif change.reason is Reason.REQUESTED:
            yield f"  # {name} will be replaced, as requested"
        elif change.reason is Reason.TRIGGERED:
            yield f"  # {name} will be replaced due to changes in replace_triggered_by"
        else:
            yield f"  # {name} must be replaced"
    elif change.action is Action.NO_OP:
        if change.imported_as:
            yield f"  # {name} will be imported"
        else:
            yield f"  # {change.previous_address} has moved to {name}"
        return
    else:
        yield f"  # {name} {_HEADINGS[change.action]}"
        reason = _REASONS.get(change.reason)
        if reason is not None:
            key = change.address.item.key
            text = reason.format(
                address=change.address.item.resource,
                module=change.address.module,
                key=f'"{key}"' if isinstance(key, str) else key,
            )
            yield f"  # ({text})"
    if change.imported_as:
        yield f'  # (imported by the id "{change.imported_as}")'
    if change.is_moved:
        yield f"  # (moved from {change.previous_address})"


def object_lines(change: Change) -> list[str]:
    """The attributes and nested blocks of an object."""
    forced = set(change.replace_paths)
    before, after = change.before, change.after
    block = change.schema.block
    if change.action is Action.READ:
        before = null(after.type)
    return _block_lines(block, before, after, 4, (), forced, is_top=True)


def _block_lines(
    block: Block,
    before: Value,
    after: Value,
    indent: int,
    path: Path,
    forced: set[Path],
    is_top: bool = False,
) -> list[str]:
    old = {} if before.is_null else before.unmark()[0].mapping()
    new = {} if after.is_null else after.unmark()[0].mapping()
    shown: list[tuple[str, str, list[str]]] = []
    same = 0
    for name in sorted(block.attributes):
        one, other = old.get(name), new.get(name)
        here = (*path, GetAttr(name))
        found = _attribute(one, other, indent + 2, here, forced, name in _ALWAYS_SHOWN and is_top)
        if found is None:
            same += one is not None and not one.is_null
            continue
        shown.append((found[0], name, found[1]))
    width = max((len(name) for _, name, _ in shown), default=0)
    space = " " * (indent + 2)
    lines: list[str] = []
    for mark, name, inner in shown:
        lines.append(f"{space}{mark} {name:<{width}} = {inner[0]}")
        lines.extend(inner[1:])
    lines += hidden(same, "attribute", indent + 4)
    blocks, hidden_blocks = _nested_lines(block, old, new, indent, path, forced)
    if blocks and lines:
        lines.append("")
    lines += blocks
    return lines + hidden(hidden_blocks, "block", indent + 4)


def _attribute(
    one: Value | None,
    other: Value | None,
    indent: int,
    path: Path,
    forced: set[Path],
    is_always_shown: bool,
) -> tuple[str, list[str]] | None:
    """The mark and the lines of an attribute; None where there is nothing to show."""
    if (one is None or one.is_null) and (other is None or other.is_null):
        return None
    if one is not None and other is not None and one == other:
        return (" ", whole(other, " ", indent)) if is_always_shown else None
    forces = forced.__contains__ if forced else never
    return part(one, other, indent, path, forces)


def _nested_lines(
    block: Block,
    old: dict[str, Value],
    new: dict[str, Value],
    indent: int,
    path: Path,
    forced: set[Path],
) -> tuple[list[str], int]:
    lines: list[str] = []
    same = 0
    space = " " * (indent + 2)
    for name, nested in sorted(block.blocks.items()):
        here = (*path, GetAttr(name))
        for label, one, other in _pairs(nested, old.get(name), new.get(name)):
            if one is not None and other is not None and one == other:
                same += 1
                continue
            mark = "+" if one is None else "-" if other is None else "~"
            given = one if one is not None else other
            assert given is not None
            before = null(given.type) if one is None else one
            after = null(given.type) if other is None else other
            note = " # forces replacement" if here in forced else ""
            if SENSITIVE in before.marks or SENSITIVE in after.marks:
                lines.append(f"{space}{mark} {name}{label} {{ # sensitive")
            else:
                lines.append(f"{space}{mark} {name}{label} {{{note}")
                lines += _block_lines(nested.block, before, after, indent + 4, here, forced)
            lines.append(f"{space}  }}")
    return lines, same


def _pairs(
    nested: NestedBlock, before: Value | None, after: Value | None
) -> list[tuple[str, Value | None, Value | None]]:
    """The blocks of one kind, those before with those after."""
    old, new = _elements(nested, before), _elements(nested, after)
    if nested.nesting is Nesting.SET:
        kept = [(("", each, each)) for each in old.values() if each in new.values()]
        gone = [("", each, None) for each in old.values() if each not in new.values()]
        come = [("", None, each) for each in new.values() if each not in old.values()]
        return [*kept, *gone, *come]
    keys = list(dict.fromkeys([*old, *new]))
    is_map = nested.nesting is Nesting.MAP
    return [(f' "{key}"' if is_map else "", old.get(key), new.get(key)) for key in keys]


def _elements(nested: NestedBlock, value: Value | None) -> dict[str, Value]:
    if value is None or value.is_null or not value.is_known:
        return {}
    if nested.nesting in (Nesting.SINGLE, Nesting.GROUP):
        return {"": value}
    plain = value.unmark()[0]
    if nested.nesting is Nesting.MAP:
        return dict(plain.mapping())
    return {str(position): element for position, element in enumerate(plain.sequence())}


# -- outputs and drift ------------------------------------------------------------------------


def outputs_text(plan: Plan) -> str:
    """What becomes of the root's output values."""
    shown = [each for each in plan.outputs.values() if each.action is not Action.NO_OP]
    width = max((len(each.name) for each in shown), default=0)
    lines = ["\nChanges to Outputs:"]
    for each in shown:
        mark, inner = _output(each)
        lines.append(f"  {mark} {each.name:<{width}} = {inner[0]}")
        lines.extend(inner[1:])
    return "\n".join(lines) + "\n"


def _output(change: OutputChange) -> tuple[str, list[str]]:
    before, after = change.before, change.after
    if change.sensitive:
        before, after = before.mark(SENSITIVE), after.mark(SENSITIVE)
    if change.action is Action.CREATE:
        return "+", whole(after, "+", 2)
    if change.action is Action.DELETE:
        lines = whole(before, "-", 2)
        lines[-1] += " -> null"
        return "-", lines
    return "~", changed(before, after, 2)


def _drift_text(drift: tuple[Drift, ...]) -> str:
    lines = ["These objects have changed since they were last stored:\n"]
    for each in drift:
        addr = each.address.item.resource
        is_gone = each.after.is_null
        lines.append(f"  # {each.address} {'is gone' if is_gone else 'has changed'}")
        lines.append(f'  {"-" if is_gone else "~"} resource "{addr.type}" "{addr.name}" {{')
        block = each.schema.block
        lines += _block_lines(block, each.before, each.after, 4, (), set(), is_top=True)
        lines.append("    }\n")
    return "\n".join(lines)
