"""The exception of sessions: whatever a session cannot do, it raises this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.diagnostics import Diagnostic, Severity
from nigari.record import ReadOnly


class SessionError(Exception):
    """Something could not be done; the diagnostics say why, and what to do.

    Printed, it shows them as the command line does, with the lines that they are about.
    """

    def __init__(
        self,
        diagnostics: Sequence[Diagnostic],
        sources: Mapping[str, bytes] = ReadOnly({}),
        unsaved_state: bytes | None = None,
    ) -> None:
        super().__init__(diagnostics, sources, unsaved_state)
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        """Everything that was found: errors and warnings."""
        self.unsaved_state = unsaved_state
        """A state that could be stored nowhere, as the bytes of a state file: save it."""
        self.sources = sources
        """The files that the diagnostics are about."""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics without warnings."""
        return tuple(each for each in self.diagnostics if each.severity is Severity.ERROR)

    def __str__(self) -> str:
        from nigari.diagnostics import to_text
        from nigari.workspace.context.shown_sources import ShownSources

        return to_text(self.errors or self.diagnostics, ShownSources(self.sources)).strip()

    def _repr_html_(self) -> str:
        from nigari.diagnostics.html import diagnostics_html
        from nigari.workspace.context.shown_sources import ShownSources

        return diagnostics_html(self.diagnostics, ShownSources(self.sources))
