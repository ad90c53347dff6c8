"""What planning and applying may tell while they are at work, and the listener who hears nothing.

What happens to single objects is told as it happens. What a plan says in the end, and what is wrong,
is told elsewhere.
"""

from __future__ import annotations

from typing import Final

from nigari.addrs.absolute import AbsResourceInstance
from nigari.cty.values import Value


class Listener:
    """Hears what happens, and does nothing about it; others do more."""

    def refresh_started(self, address: AbsResourceInstance, value: Value, deposed: str) -> None:
        """An object that the state knows is about to be read anew."""

    def refresh_finished(
        self, address: AbsResourceInstance, value: Value | None, deposed: str
    ) -> None:
        """It has been read; without a value it is gone."""

    def read_started(self, address: AbsResourceInstance) -> None:
        """A data source is about to be read while planning."""

    def read_finished(self, address: AbsResourceInstance, value: Value | None) -> None:
        """It has been read; without a value that failed."""

    def import_started(self, address: AbsResourceInstance, id: str) -> None:
        """An object that exists is about to be looked up, to be taken over."""

    def ephemeral_deferred(self, address: AbsResourceInstance, is_known: bool) -> None:
        """An ephemeral object is opened only while applying: its configuration is not known, or
        what it depends on is still to be changed.
        """

    def ephemeral_started(self, address: AbsResourceInstance, what: str) -> None:
        """An ephemeral object is about to be opened, renewed or closed."""

    def ephemeral_finished(self, address: AbsResourceInstance, what: str) -> None:
        """That has been done."""

    def ephemeral_failed(self, address: AbsResourceInstance, what: str) -> None:
        """That could not be done."""

    def provision_started(self, address: AbsResourceInstance, kind: str) -> None:
        """A provisioner is about to run."""

    def provision_said(self, address: AbsResourceInstance, kind: str, text: str) -> None:
        """A provisioner has something to say."""

    def provision_finished(self, address: AbsResourceInstance, kind: str, succeeded: bool) -> None:
        """A provisioner has come to its end."""

    def interrupted(self, times: int) -> None:
        """Someone wants it to stop: gently at first, at once the second time."""


SILENCE: Final = Listener()
