"""Resource blocks while an object is imported: what the import itself needs of them.

OpenTofu expands managed resources in its import walk and checks their conditions and providers; their
bodies may be incomplete, because users write a block, import, and fill it in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nigari.eval.core.worklist import Need
from nigari.eval.nodes.resource import ValidatedResource


class IncompleteResource(ValidatedResource):
    """A managed resource whose arguments are not checked."""

    __slots__ = ()

    def _check_dependencies(self) -> Sequence[Need]:
        return ()

    def _check_body(self) -> Sequence[Need]:
        return ()

    def _check_ignored(self) -> Sequence[Need]:
        return ()

    def _check_triggers(self) -> Sequence[Need]:
        return ()

    def _provisioner_stages(self) -> Sequence[Callable[[], Sequence[Need]]]:
        return ()
