"""One change of a plan on the screen: what is done with an object, why, and how it changes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from nigari.addrs.resource import DATA, Resource
from nigari.backends.shown_settings import shown_object
from nigari.cli.views.difference_text import difference_text
from nigari.cli.views.presentation import Presentation
from nigari.cli.views.style import Style
from nigari.cty.json import value_to_json
from nigari.cty.values import null
from nigari.plan.differences.datum import datum
from nigari.plan.differences.difference import DifferenceScope, Fate, Paths, paths_of
from nigari.plan.differences.object_comparison import compare_block
from nigari.plan.model.action_reasons import reason_text
from nigari.plan.model.changes import Action, Change, Drift, Reason
from nigari.state.json_text import indented

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_KEPT: Final = (Reason.KEPT_BY_CONFIG, Reason.KEPT_BY_STATE, Reason.PART_OF)


@lru_cache(maxsize=64)
def symbol(action: Action, style: Style) -> str:
    """The symbol of an action, three columns wide."""
    new, gone = style.green("+"), style.red("-")
    return {
        Action.CREATE: f"  {new}",
        Action.READ: f" {style.cyan('<=')}",
        Action.UPDATE: f"  {style.yellow('~')}",
        Action.DELETE: f"  {gone}",
        Action.DELETE_THEN_CREATE: f"{gone}/{new}",
        Action.CREATE_THEN_DELETE: f"{new}/{gone}",
        Action.FORGET: f"  {style.red('.')}",
        Action.FORGET_THEN_CREATE: f"{style.red('.')}/{new}",
        Action.NO_OP: "   ",
    }[action]


def change_text(change: Change, presentation: Presentation) -> str:
    """One object of a plan."""
    style = presentation.style
    lines = [f"  {line}" for line in _heading(change, style)]
    if change.action is Action.FORGET:
        presentation = presentation.unmarked()
    presentation = presentation.but(shows_same=bool(change.imported_as))
    resource = change.address.item.resource
    before = null(change.after.type) if change.action is Action.READ else change.before
    after = shown_object(resource, change.after)
    scope = DifferenceScope(paths_of(change.replace_paths))
    found = compare_block(datum(before), datum(after), change.schema.block, scope)
    header = _header(resource)
    text = difference_text(found, 0, presentation)
    lines.append(f"{symbol(change.action, style)} {header} {text}")
    return "\n".join(lines)


def drift_text(drift: Drift, relevant: Paths, presentation: Presentation) -> str | None:
    """One object that is not what it was; nothing where all that changed is of no interest."""
    action, style = drift.action, presentation.style
    scope = DifferenceScope(relevant=relevant)
    found = compare_block(datum(drift.before), datum(drift.after), drift.schema.block, scope)
    if found.fate is Fate.SAME and action is not Action.NO_OP:
        return None
    name = style.bold(f"# {drift.address}")
    heading = f"{name} has been deleted" if action is Action.DELETE else f"{name} has changed"
    if action is Action.NO_OP:
        before = style.bold(f"# {drift.previous_address}")
        heading = f"{before} has moved to {style.bold(str(drift.address))}"
    elif drift.previous_address is not None:
        heading += f"\n  # (moved from {drift.previous_address})"
    header = _header(drift.address.item.resource)
    text = difference_text(found, 0, presentation)
    return f"  {heading}\n{symbol(action, style)} {header} {text}"


def _header(resource: Resource) -> str:
    what = "data" if resource.mode is DATA else "resource"
    return f'{what} "{resource.type}" "{resource.name}"'


def _heading(change: Change, style: Style) -> Iterator[str]:
    name = str(change.address)
    if change.deposed:
        name += f" (deposed object {change.deposed})"
    yield from _deed(change, style.bold(f"# {name}"), style)
    if change.is_moved and change.action is not Action.NO_OP:
        yield f"# (moved from {change.previous_address})"
    if change.imported_as:
        yield from _source(change)
        if change.action.is_replace and change.action is not Action.FORGET_THEN_CREATE:
            yield f"# {style.yellow('Warning: this will destroy the imported object')}"


def _source(change: Change) -> Iterator[str]:
    """The ID or identity of an import."""
    identity = change.imported_identity
    if identity is None:
        yield f'# (imported from "{change.imported_as}")'
        return
    lines = indented(value_to_json(identity, identity.type)).splitlines()
    yield f"# (imported by its identity: {lines[0]}"
    yield from (f"# {line}" for line in lines[1:-1])
    yield f"# {lines[-1]})"


def _deed(change: Change, name: str, style: Style) -> Iterator[str]:
    """The action, and its reason."""
    action = change.action
    if action.is_replace:
        yield _replacement(change, name, style)
    elif action is Action.CREATE:
        yield f"{name} will be created"
    elif action is Action.UPDATE:
        yield f"{name} will be updated in-place"
    elif action is Action.READ:
        yield f"{name} will be read during apply"
    elif action is Action.DELETE:
        yield f"{name} will be {style.bold(style.red('destroyed'))}"
    elif action is Action.FORGET:
        stays = style.bold(style.red("but will not be destroyed"))
        yield f"{name} will be removed from the state {stays}"
    elif change.is_moved:
        before = style.bold(f"# {change.previous_address}")
        yield f"{before} has moved to {style.bold(str(change.address))}"
    else:
        yield f"{name} will be imported"
    reason = "" if action.is_replace else reason_text(change)
    is_told = action is not Action.FORGET or change.reason in _KEPT
    if reason and is_told:
        yield f"# ({reason})"
    if change.deposed and action in (Action.DELETE, Action.FORGET):
        yield "# (left over from a replacement that was not completed)"


def _replacement(change: Change, name: str, style: Style) -> str:
    replaced = style.bold(style.red("replaced"))
    text = f"{name} must be {replaced}"
    if change.reason is Reason.TAINTED:
        text = f"{name} is tainted, so it must be {replaced}"
    elif change.reason is Reason.REQUESTED:
        text = f"{name} will be {replaced}, as requested"
    elif change.reason is Reason.TRIGGERED:
        text = f"{name} will be {replaced} due to changes in replace_triggered_by"
    if change.action is Action.FORGET_THEN_CREATE:
        text += f" - {style.yellow('the old object is not destroyed')} (lifecycle.destroy = false)"
    return text
