"""The exception for callers who want data or nothing; all else in this package collects."""

from __future__ import annotations

from nigari.diagnostics import Diagnostic


class HclError(ValueError):
    """A text could not be read; `diagnostics` say all that is wrong with it."""

    def __init__(self, diagnostics: list[Diagnostic], message: str) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics
        self.message = message

    def __reduce__(self) -> tuple[object, ...]:
        return (HclError, (self.diagnostics, self.message))
