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
    from nigari.fleet.aio import Unfinished
    from nigari.fleet.fleet import Fleet, open  # noqa: A004 - people write `nigari.fleet.open`
    from nigari.fleet.graph import Edge, ForeignState, Graph
    from nigari.fleet.planning import FleetPlan, PlannedUnit
    from nigari.fleet.results import FleetResult, UnitFinished, UnitResult, UnitStarted, UnitStatus
    from nigari.fleet.tasks import ChangeLine, Changes
    from nigari.fleet.unit import Unit
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "nigari.fleet.aio": ("Unfinished",),
            "nigari.fleet.fleet": ("Fleet", "open"),
            "nigari.fleet.graph": ("Edge", "ForeignState", "Graph"),
            "nigari.fleet.planning": ("FleetPlan", "PlannedUnit"),
            "nigari.fleet.results": (
                "FleetResult",
                "UnitFinished",
                "UnitResult",
                "UnitStarted",
                "UnitStatus",
            ),
            "nigari.fleet.tasks": ("ChangeLine", "Changes"),
            "nigari.fleet.unit": ("Unit",),
        },
    )

__all__ = [
    "ChangeLine",
    "Changes",
    "Edge",
    "Fleet",
    "FleetPlan",
    "FleetResult",
    "ForeignState",
    "Graph",
    "PlannedUnit",
    "Unfinished",
    "Unit",
    "UnitFinished",
    "UnitResult",
    "UnitStarted",
    "UnitStatus",
    "open",
]
