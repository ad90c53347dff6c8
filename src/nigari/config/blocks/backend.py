"""`backend` and `cloud` blocks: declared state storage."""

from __future__ import annotations

from nigari.diagnostics import Range
from nigari.hcl.body import Block, Body
from nigari.record import record


@record
class BackendBlock:
    """A `backend` block, or a `cloud` block of the type `cloud`."""

    block: Block

    @property
    def type(self) -> str:
        """Backend type."""
        return self.block.labels[0] if self.block.type == "backend" else "cloud"

    @property
    def body(self) -> Body:
        """The arguments, which depend on the type."""
        return self.block.body

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range

    @property
    def type_range(self) -> Range:
        """Range of the type."""
        block = self.block
        return block.label_ranges[0] if block.type == "backend" else block.type_range
