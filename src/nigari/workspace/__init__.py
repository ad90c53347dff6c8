"""The composition root: working directories, and all that commands do with them.

`Workspace` is in `nigari.workspace.configuration.directory`, with the whole evaluator behind it; what
only looks at a state does without.
"""

from __future__ import annotations

from nigari.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.workspace.configuration.directory import Workspace
else:
    __getattr__ = lazy_exports(
        __name__, {"nigari.workspace.configuration.directory": ("Workspace",)}
    )

__all__ = ["Workspace"]
