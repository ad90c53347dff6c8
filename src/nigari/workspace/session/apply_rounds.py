"""Apply rounds: plans that follow each other under one lock, each with the results of the last.

A round defers what depends on unknown values to the next. Showing, approving and applying the plans
is left to the caller.
"""

from __future__ import annotations

from nigari.diagnostics import Diagnostic, Severity
from nigari.plan.model.changes import Action, Plan
from nigari.plan.model.plan_options import PlanOptions
from nigari.plan.show.deferred_summary import waiting_line
from nigari.record import replace
from nigari.running.round_cache import RoundCache
from nigari.workspace.plans.plan_context import plan_timestamp
from nigari.workspace.session.locked_session import LockedSession
from nigari.workspace.session.made_plan import MadePlan

_MOST_NAMED = 10


class ApplyRounds:
    """The rounds of one apply."""

    def __init__(self, locked: LockedSession, options: PlanOptions, most: int = 0) -> None:
        """`most` limits the number of rounds; 0 means no limit."""
        self._locked = locked
        self._options = options
        self._most = most
        self.number: int = 0
        """The round that was planned last; the first one is 1."""
        self._before: object = None
        self._cache = RoundCache(plan_timestamp())

    async def plan(self) -> MadePlan | None:
        """Make the plan of the next round; None if there is not even an incomplete one."""
        self.number += 1
        await self._locked.close()
        return await self._locked.plan(self._options, self._cache)

    def is_stuck(self, plan: Plan) -> bool:
        """Return whether no round can ever apply the plan's deferred changes, which is then
        reported. That is so if it changes nothing itself, or only what the previous round changed.
        """
        outline = (
            tuple((each.address, each.action) for each in plan.changes if each.is_visible),
            tuple((each.address, each.chain) for each in plan.left),
        )
        is_same, self._before = outline == self._before, outline
        if not plan.left or not (is_same or not _goes_ahead(plan)):
            return False
        self._locked.diags.append(_stuck(plan))
        return True

    def goes_on(self, plan: Plan) -> bool:
        """Return whether another round follows.

        Requested replacements are done, unless they are deferred themselves.
        """
        done = {each.address for each in plan.changes if not each.deposed}
        asked = tuple(each for each in self._options.replaced if each not in done)
        self._options = replace(self._options, replaced=asked)
        return bool(plan.left) and not (self._most and self.number >= self._most)


def _goes_ahead(plan: Plan) -> bool:
    """Return whether a plan changes anything that may make more values known in the next round."""
    if any(each.is_visible for each in plan.changes):
        return True
    return any(
        each.action is not Action.NO_OP and each.after.is_wholly_known
        for each in plan.outputs.values()
    )


def _stuck(plan: Plan) -> Diagnostic:
    lines = [f"  - {waiting_line(each)}" for each in plan.left[:_MOST_NAMED]]
    more = len(plan.left) - _MOST_NAMED
    if more > 0:
        lines.append(f"  - and {more} more")
    return Diagnostic(
        Severity.ERROR,
        "Rounds without progress",
        "Nothing in this round makes known what the rest waits for, so another round would not "
        "help:\n"
        + "\n".join(lines)
        + "\n\nSet the values that these wait for in the configuration, or take them from "
        "something that is known after apply.",
    )
