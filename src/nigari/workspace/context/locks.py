"""The warning for runs that a lock would keep apart, on a file system that has no locks."""

from __future__ import annotations

from nigari.diagnostics import Diagnostic, Severity


def without_locks(what: str) -> Diagnostic:
    """`what` are the runs, in the plural."""
    return Diagnostic(
        Severity.WARNING,
        "File system without locks",
        f"This file system cannot lock files, so two {what} at the same time would not wait for "
        "each other. Run only one at a time.",
    )
