"""Spots: positions in the files of a module, by file name and offset.

Equal modules share their declarations wherever their files are, so the directory does not count.
"""

from __future__ import annotations

import posixpath

from nigari.hcl.expressions import Expression
from nigari.hcl.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

Spot: TypeAlias = tuple[str, int, int]


def spot_at(source: Source, start: int, end: int) -> Spot:
    """The spot between two offsets of a source."""
    return posixpath.basename(source.filename), start, end


def spot_of(expr: Expression) -> Spot:
    """The spot of an expression."""
    return spot_at(expr.source, expr.start, expr.end)
