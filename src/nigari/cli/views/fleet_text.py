"""Fleets as text: tables of units."""

from __future__ import annotations

from collections.abc import Sequence

from nigari.diagnostics.layout import display_width


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows as a table with aligned columns, without those in which nothing is but a heading."""
    kept = [
        index for index in range(len(rows[0])) if index == 0 or any(row[index] for row in rows[1:])
    ]
    widths = {index: max(display_width(row[index]) for row in rows) for index in kept}
    lines = []
    for row in rows:
        cells = [row[i] + " " * (widths[i] - display_width(row[i])) for i in kept]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
