"""`HclError`, for functions that return data or fail; the rest of this package collects
diagnostics.
"""

from __future__ import annotations

from nigari.diagnostics import Diagnostic


class HclError(ValueError):
    """A text that could not be read or evaluated; `diagnostics` lists all its mistakes."""

    def __init__(self, diagnostics: list[Diagnostic], message: str) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics
        self.message = message

    def __reduce__(self) -> tuple[object, ...]:
        return (HclError, (self.diagnostics, self.message))
