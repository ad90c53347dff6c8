"""Events: what planning and applying tell while they are at work.

A `Listener` is called with what happens to single objects, as it happens. Python programs hear the
same as events, values that can be printed: `session.apply(listen=print)`. What a plan says in the
end, and what is wrong, is told elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable

from nigari.addrs.absolute import AbsResourceInstance
from nigari.cty.values import Value
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


__all__ = [
    "Event",
    "Failed",
    "Finished",
    "Interrupted",
    "Listen",
    "ProvisionerOutput",
    "Started",
]


def __dir__() -> list[str]:
    return __all__


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


@record
class Started:
    """An operation on an object begins."""

    address: str
    action: str
    """`create`, `update`, `delete`, `read`, `forget`, `refresh` or `import`."""

    def __str__(self) -> str:
        return f"{self.address}: {self.action} started"


@record
class Finished:
    """An operation on an object has succeeded."""

    address: str
    action: str
    seconds: float

    def __str__(self) -> str:
        return f"{self.address}: {self.action} finished after {self.seconds:.1f}s"


@record
class Failed:
    """An operation on an object has failed; why is in the exception at the end."""

    address: str
    action: str
    seconds: float

    def __str__(self) -> str:
        return f"{self.address}: {self.action} failed after {self.seconds:.1f}s"


@record
class ProvisionerOutput:
    """A provisioner has printed a line."""

    address: str
    provisioner: str
    text: str

    def __str__(self) -> str:
        return f"{self.address} ({self.provisioner}): {self.text}"


@record
class Interrupted:
    """Somebody has asked the work to stop: gently at first, at once the second time."""

    times: int

    def __str__(self) -> str:
        return "stopping once running operations are done" if self.times == 1 else "stopping now"


Event = Started | Finished | Failed | ProvisionerOutput | Interrupted
"""Everything that a listener can be called with."""
Listen = Callable[[Event], object]
"""Hears events."""
