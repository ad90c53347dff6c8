"""Failures of cloud authentication, as sentences for diagnostics."""

from __future__ import annotations


class CloudFailure(Exception):
    """A missing prerequisite for a cloud request, or an unexpected response."""

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code
        """The cloud's own error code, if there is one."""

    @property
    def text(self) -> str:
        return str(self)


class NoCredentials(CloudFailure):
    """No source of credentials is configured."""
