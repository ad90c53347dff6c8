"""Events of planning and applying, as they happen.

A `Listener` is called for each event of an object. Python programs receive the same as values that
can be printed: `session.apply(listen=print)`. The resulting plan and diagnostics are reported
elsewhere.
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
    "ActionProgress",
    "Event",
    "Failed",
    "Finished",
    "FoundObject",
    "Interrupted",
    "Listen",
    "ProvisionerOutput",
    "Started",
]


def __dir__() -> list[str]:
    return __all__


@record
class FoundObject:
    """An existing object that a query found."""

    display_name: str
    identity: Value
    identity_version: int
    state: Value
    """Null if only the identity was requested."""
    config: str = ""
    """A resource block for the object, if it was requested."""
    import_config: str = ""
    """An import block for it."""


class Listener:
    """Receives events and ignores them; subclasses handle some."""

    def refresh_started(self, address: AbsResourceInstance, value: Value, deposed: str) -> None:
        """An object in the state is about to be refreshed."""

    def refresh_finished(
        self, address: AbsResourceInstance, value: Value | None, deposed: str
    ) -> None:
        """The object has been refreshed; without a value it no longer exists."""

    def read_started(self, address: AbsResourceInstance) -> None:
        """A data source is about to be read during planning."""

    def read_finished(self, address: AbsResourceInstance, value: Value | None) -> None:
        """The data source has been read; without a value it failed."""

    def import_started(self, address: AbsResourceInstance, id: str) -> None:
        """An existing object is about to be read for its import."""

    def query_started(self, address: AbsResourceInstance, config: Value) -> None:
        """A provider is about to be asked for existing objects."""

    def query_found(self, address: AbsResourceInstance, found: FoundObject) -> None:
        """The query has found an object."""

    def query_finished(self, address: AbsResourceInstance, total: int) -> None:
        """The query has ended without an error."""

    def ephemeral_deferred(self, address: AbsResourceInstance, is_known: bool) -> None:
        """An ephemeral resource is deferred to the apply: its configuration is unknown, or a
        dependency still has to be changed.
        """

    def ephemeral_started(self, address: AbsResourceInstance, what: str) -> None:
        """An ephemeral resource is about to be opened, renewed or closed."""

    def ephemeral_finished(self, address: AbsResourceInstance, what: str) -> None:
        """The operation has succeeded."""

    def ephemeral_failed(self, address: AbsResourceInstance, what: str) -> None:
        """The operation has failed."""

    def provision_started(self, address: AbsResourceInstance, kind: str) -> None:
        """A provisioner is about to run."""

    def provision_said(self, address: AbsResourceInstance, kind: str, text: str) -> None:
        """A provisioner has printed text."""

    def provision_hides(self, address: AbsResourceInstance, kind: str) -> None:
        """A provisioner has sensitive arguments, so its output may be sensitive too."""
        self.provision_said(
            address, kind, "The output is not shown, because some of the arguments are secret"
        )

    def provision_revealed(self, address: AbsResourceInstance, kind: str, text: str) -> None:
        """Such a provisioner has printed text, for listeners that the user lets show secrets."""

    def provision_finished(self, address: AbsResourceInstance, kind: str, succeeded: bool) -> None:
        """A provisioner has ended."""

    def interrupted(self, times: int) -> None:
        """The user has asked to stop: gracefully at first, immediately the second time."""


SILENCE: Final = Listener()


@record
class Started:
    """An operation on an object has started."""

    address: str
    action: str
    """`create`, `update`, `delete`, `read`, `forget`, `refresh`, `import` or `invoke`."""

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
    """An operation on an object has failed; the exception raised at the end has the reason."""

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
class ActionProgress:
    """A provider has reported the progress of an action."""

    address: str
    text: str

    def __str__(self) -> str:
        return f"{self.address}: {self.text}"


@record
class Interrupted:
    """The user has asked to stop: gracefully at first, immediately the second time."""

    times: int

    def __str__(self) -> str:
        return "stopping once running operations are done" if self.times == 1 else "stopping now"


Event = Started | Finished | Failed | ProvisionerOutput | ActionProgress | Interrupted
"""Every event that a listener may receive."""
Listen = Callable[[Event], object]
"""A callable that receives events."""
