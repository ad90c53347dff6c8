"""Failures before a cloud is asked for anything: a small set, in sentences for people."""

from __future__ import annotations


class CloudFailure(Exception):
    """Something that a cloud needs and does not get, or an answer that it should not give."""

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code
        """The cloud's own name for what is wrong, if it gave one."""

    @property
    def text(self) -> str:
        return str(self)


class NoCredentials(CloudFailure):
    """Nobody has said who we are."""
