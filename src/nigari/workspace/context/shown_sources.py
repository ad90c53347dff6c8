"""Source files as diagnostics quote them: secrets are masked, and positions stay as they are."""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.diagnostics import Sources


class ShownSources:
    """A view of source files that masks each file when it is first quoted."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._masked: dict[str, bytes] = {}
        self._variables: frozenset[str] | None = None

    def get(self, filename: str, /) -> bytes | None:
        """The bytes of a file, as many as it has; None where it is not known."""
        data = self._sources.get(filename)
        if data is not None and filename not in self._masked:
            from nigari.workspace.context.secret_literals import (
                sensitive_variables,
                without_secrets,
            )

            if self._variables is None:
                files = self._sources.items() if isinstance(self._sources, Mapping) else ()
                self._variables = frozenset(sensitive_variables(files))
            self._masked[filename] = without_secrets(filename, data, self._variables)
        return self._masked.get(filename)
