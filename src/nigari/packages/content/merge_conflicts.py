"""Detection of unresolved merge conflicts in lock files."""

from __future__ import annotations

from nigari.diagnostics import Diagnostics
from nigari.diagnostics.advice import advice
from nigari.hcl.source import Source

_MARKS = ("<<<<<<< ", "=======", ">>>>>>> ")


def report_conflict(source: Source, diags: Diagnostics) -> bool:
    """Check a lock file for conflict markers, and report the first of them."""
    offset = 0
    for line in source.text.splitlines(keepends=True):
        if line.startswith(_MARKS):
            end = offset + len(line.rstrip("\r\n"))
            diags.error(
                "Unresolved conflict in a lock file",
                "Version control has marked a conflict here: two branches have changed the lock "
                f"file. Keep one side of it, remove the marks, and run {advice().init()}.",
                source.range(offset, end),
            )
            return True
        offset += len(line)
    return False
