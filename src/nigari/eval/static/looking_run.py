"""A configuration to look at, as before anything runs: for who asks, not for static places."""

from __future__ import annotations

from nigari.addrs.module import ModuleAddr
from nigari.eval.static.run import StaticRun


class LookingRun(StaticRun):
    """One pass over the whole tree, in which every call is expanded and every variable that is
    given has its value.
    """

    hides_dynamic = False

    def must_expand(self, module: ModuleAddr, call: str) -> bool:
        return True
