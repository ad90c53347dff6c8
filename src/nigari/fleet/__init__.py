"""Fleets: many root modules, found by evaluation, planned and applied as one.

    with nigari.fleet.open("live") as fleet:
        print(fleet.graph.layers())
        plan = fleet.plan(changed_since="origin/main")
        fleet.apply(plan)

Nothing is imported before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nigari.lazy import lazy_exports

if TYPE_CHECKING:
    from nigari.backends.backend_address import StateIdentity
    from nigari.fleet.aio import Unfinished
    from nigari.fleet.fleet import Fleet, open  # noqa: A004 - people write `nigari.fleet.open`
    from nigari.fleet.runs.orphans import Orphan
    from nigari.fleet.runs.plan_fleet import FleetPlan, PlannedUnit
    from nigari.fleet.runs.results import (
        FleetResult,
        UnitFinished,
        UnitResult,
        UnitStarted,
        UnitStatus,
    )
    from nigari.fleet.units.graph import Edge, EdgeReason, ForeignState, Graph, SharedState
    from nigari.fleet.units.unit import Unit, WorkingCopy
    from nigari.fleet.work.tasks import ChangeLine, Changes
    from nigari.plan.model.changes import PlanMode
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "nigari.backends.backend_address": ("StateIdentity",),
            "nigari.fleet.aio": ("Unfinished",),
            "nigari.fleet.fleet": ("Fleet", "open"),
            "nigari.fleet.units.graph": (
                "Edge",
                "EdgeReason",
                "ForeignState",
                "Graph",
                "SharedState",
            ),
            "nigari.fleet.runs.orphans": ("Orphan",),
            "nigari.fleet.runs.plan_fleet": ("FleetPlan", "PlannedUnit"),
            "nigari.fleet.runs.results": (
                "FleetResult",
                "UnitFinished",
                "UnitResult",
                "UnitStarted",
                "UnitStatus",
            ),
            "nigari.fleet.work.tasks": ("ChangeLine", "Changes"),
            "nigari.fleet.units.unit": ("Unit", "WorkingCopy"),
            "nigari.plan.model.changes": ("PlanMode",),
        },
    )

__all__ = [
    "ChangeLine",
    "Changes",
    "Edge",
    "EdgeReason",
    "Fleet",
    "FleetPlan",
    "FleetResult",
    "ForeignState",
    "Graph",
    "Orphan",
    "PlanMode",
    "PlannedUnit",
    "SharedState",
    "StateIdentity",
    "Unfinished",
    "Unit",
    "UnitFinished",
    "UnitResult",
    "UnitStarted",
    "UnitStatus",
    "WorkingCopy",
    "open",
]
