"""`nigari fleet destroy`: destroy everything that is managed in the units, dependants first."""

from __future__ import annotations

from nigari.cli.command import Command, Example, Invocation
from nigari.cli.commands.fleet_apply import RESTART_FLAG, FleetApply
from nigari.cli.commands.fleet_plan import DETAILS_FLAG, REFRESH_FLAG
from nigari.cli.fleet_flags import (
    APPROVE_FLAG,
    MARKDOWN_FLAG,
    ORPHANS_FLAG,
    STATE_FLAGS,
    FleetCommand,
)
from nigari.plan.model.changes import PlanMode


def run(invocation: Invocation) -> int:
    """Plan the end of everything, ask, and do it."""
    return FleetApply(FleetCommand(invocation), PlanMode.DESTROY).run()


COMMAND = Command(
    "fleet destroy",
    "Destroys everything that is managed in the units, once you approve: each unit after those that "
    "depend on it.",
    run,
    flags=(
        APPROVE_FLAG,
        ORPHANS_FLAG,
        RESTART_FLAG,
        DETAILS_FLAG,
        MARKDOWN_FLAG,
        REFRESH_FLAG,
        *STATE_FLAGS,
    ),
    examples=(
        Example("nigari fleet destroy", "asks for approval before destroying anything"),
        Example("nigari fleet destroy -only=label:dev", "one environment"),
        Example("nigari fleet destroy -orphans", "units that are no longer declared"),
    ),
)
