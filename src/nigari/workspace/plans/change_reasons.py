"""The reasons of a change: where the new value of each argument comes from, as data and in words.

Printed, there is a line for each argument, and the chain behind it. Sensitive values are hidden
there, and long ones cut. How reasons are found is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.cty.values import Value
from nigari.diagnostics import Range
from nigari.lang.render import value_glimpse
from nigari.record import record
from nigari.workspace.explain.chain_text import chain_lines, fate_text
from nigari.workspace.explain.explanation import Explanation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_MOST_KEYS: Final = 8


@record
class ArgumentReason:
    """Origin of an argument's new value."""

    path: str
    before: Value
    """Null where it had no value."""
    after: Value
    """Null where it will have none; unknown where only applying tells."""
    source: str
    """The origin of the value: `configuration`, `provider`, or `removed` if the configuration no
    longer sets it.
    """
    explanation: Explanation | None
    """The value with the tree of what it comes from, for what the configuration has."""
    forces_replacement: bool = False
    changed_outside: bool = False
    """True if the real object was changed outside since the last apply."""

    @property
    def waits_for(self) -> tuple[str, ...]:
        """For an unknown value, the chains to its causes."""
        return () if self.explanation is None else self.explanation.chains

    @property
    def changed_inputs(self) -> tuple[Explanation, ...]:
        """Inputs of the value that have changed since the last apply, according to the state or the journal."""
        roots = () if self.explanation is None else self.explanation.roots()
        return tuple(root for root in roots if root.is_changed)


@record
class Missing:
    """The block or key that an object belonged to, and which of them was removed."""

    kind: str
    """`module`, `module instance`, `resource` or `instance`."""
    address: str
    keys: tuple[str, ...] = ()
    """The keys of the instances that there are."""
    explanation: Explanation | None = None
    """The `for_each`, `count` or `enabled` that decides it, for instances."""


@record
class ChangeReasons:
    """Reason for the change of an object or output."""

    address: str
    action: str
    reason: str
    """The reason by the name that `show -json` gives it; empty if there is none."""
    why: str
    """The reason in words; empty where it goes without saying."""
    arguments: tuple[ArgumentReason, ...] = ()
    missing: Missing | None = None
    """The missing declaration, for an object that is no longer wanted."""
    triggers: tuple[Explanation, ...] = ()
    """Other changes that cause this one, by `replace_triggered_by` or `depends_on`."""
    range: Range | None = None
    """The block, where the configuration has one."""
    deposed: str = ""

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def _lines(reasons: ChangeReasons) -> Iterator[str]:
    deposed = f" (deposed object {reasons.deposed})" if reasons.deposed else ""
    suffix = f", {reasons.why}" if reasons.why else ""
    yield f"{reasons.action} {reasons.address}{deposed}{suffix}"
    if reasons.range is not None:
        yield f"  {reasons.range.filename} line {reasons.range.start.line}"
    if reasons.missing is not None:
        yield from _missing(reasons.missing)
    for trigger in reasons.triggers:
        yield f"  {trigger.name}: {fate_text(trigger)}"
    own = [each for each in reasons.arguments if each.source != "provider"]
    for argument in own:
        yield from _argument(argument)
    rest = [each for each in reasons.arguments if each.source == "provider"]
    outside = [each for each in rest if each.changed_outside]
    for argument in outside:
        yield from _argument(argument)
    decided = [each.path for each in rest if not each.changed_outside]
    if decided:
        yield f"  decided by the provider: {', '.join(decided)}"


def _missing(missing: Missing) -> Iterator[str]:
    if missing.kind in ("instance", "module instance"):
        keys = missing.keys
        more = f" and {len(keys) - _MOST_KEYS} more" if len(keys) > _MOST_KEYS else ""
        there = f"the instances are {', '.join(keys[:_MOST_KEYS])}{more}" if keys else ""
        yield f"  {missing.address} is no longer there: {there or 'there are no instances'}"
    else:
        yield f"  {missing.address} is not in the configuration"
    if missing.explanation is not None:
        yield from chain_lines(missing.explanation, "    ")


def _argument(argument: ArgumentReason) -> Iterator[str]:
    forced = "  (forces replacement)" if argument.forces_replacement else ""
    before, after = value_glimpse(argument.before), value_glimpse(argument.after)
    values = after if argument.before.is_null else f"{before} -> {after}"
    yield f"  {argument.path} = {values}{forced}"
    if argument.changed_outside:
        yield "    it was changed outside of this configuration"
    if argument.source == "removed":
        yield "    the configuration does not set it"
        return
    explanation = argument.explanation
    if explanation is None:
        yield "    decided by the provider"
        return
    yield from (f"    waits for: {chain}" for chain in argument.waits_for)
    yield f"    {_where(explanation)}"
    for part in explanation.parts:
        yield from chain_lines(part, "    ")


def _where(explanation: Explanation) -> str:
    where = explanation.range
    code = f": {explanation.line}" if explanation.line else ""
    return "" if where is None else f"{where.filename} line {where.start.line}{code}"
