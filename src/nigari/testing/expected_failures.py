"""Expected failures of a run: conditions that must fail.

A diagnostic of a condition has the address of its object. An expected one is dropped; an expected
one that does not occur is an error.
"""

from __future__ import annotations

from collections.abc import Iterable

from nigari.config.test_files import TestRun
from nigari.diagnostics import Diagnostic, Diagnostics, Range, Severity
from nigari.lang.references import parse_reference
from nigari.record import replace


class Expectations:
    """The expected failures of one run, with those that have occurred."""

    def __init__(self, run: TestRun) -> None:
        self._wanted: dict[str, Range] = {}
        for traversal in run.expected:
            reference = parse_reference(traversal, Diagnostics(), in_tests=True)
            if reference is not None:
                self._wanted[str(reference.subject)] = reference.range
        self._seen: set[str] = set()

    def matched(self, found: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return unexpected diagnostics, failed checks as errors, and an error for each expected
        failure that did not occur.
        """
        remaining: list[Diagnostic] = []
        for each in found:
            if not each.checked or (each.severity is Severity.WARNING and not each.is_check):
                remaining.append(each)
            elif not self._takes(each.checked):
                remaining.append(replace(each, severity=Severity.ERROR))
        missing = [name for name in self._wanted if name not in self._seen]
        return remaining + [self._missing(name) for name in missing]

    def names_variable(self, checked: str) -> bool:
        """Check for an expected failure of an input variable."""
        return checked.startswith("var.") and checked in self._wanted

    def _takes(self, checked: str) -> bool:
        """Check whether a failure is expected, for an instance or its whole resource."""
        whole = checked.partition("[")[0]
        taken = {checked, whole} & self._wanted.keys()
        self._seen |= taken
        return bool(taken)

    def _missing(self, name: str) -> Diagnostic:
        return Diagnostic(
            Severity.ERROR,
            "Expected failure missing",
            f"The run expects a condition of {name} to fail, but all of them hold.",
            self._wanted[name],
        )
