"""A configuration to inspect, as it is before anything runs.

For people and programs that ask about values; the static phase itself asks only for what modules,
providers and the backend need.
"""

from __future__ import annotations

from nigari.addrs.module import ModuleAddr
from nigari.eval.static.run import StaticRun


class InspectionRun(StaticRun):
    """One pass over the whole tree, in which every call is expanded and every variable that is
    given has its value.
    """

    hides_dynamic = False

    def must_expand(self, module: ModuleAddr, call: str) -> bool:
        return True
