"""The provider interface, implemented by plugin processes and Python providers alike.

Values cross it without marks: the caller removes and restores them. A provider's opaque bytes
(`private`) are passed unchanged. Every response carries the provider's diagnostics with attribute
paths; `providers.diagnostics` finds their source ranges. A provider never raises for a user's
mistake.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from enum import Enum

from nigari import cty
from nigari.diagnostics import Severity
from nigari.record import record
from nigari.schema.provider import FunctionSignature, ProviderSchema
from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime


@record
class ProviderDiagnostic:
    """A provider's error or warning about a configuration or an operation."""

    severity: Severity
    summary: str
    detail: str = ""
    path: cty.Path | None = None
    """Path of the attribute concerned; None for the whole block."""
    about_provider: bool = False
    """True if it concerns the provider itself, so that every use of it would report the same."""


ProviderDiagnostics = tuple[ProviderDiagnostic, ...]


class ProviderDeferral(Enum):
    """Reason why a provider defers an object to a later plan, by its name in the protocol."""

    # Deferred.Reason of the protocol, without UNKNOWN.
    CONFIG_UNKNOWN = "RESOURCE_CONFIG_UNKNOWN"
    PROVIDER_CONFIG_UNKNOWN = "PROVIDER_CONFIG_UNKNOWN"
    ABSENT_PREREQUISITE = "ABSENT_PREREQ"


def has_errors(diagnostics: ProviderDiagnostics) -> bool:
    return any(d.severity is Severity.ERROR for d in diagnostics)


@record
class SchemaResponse:
    schema: ProviderSchema | None
    """None only if the diagnostics contain an error."""
    diagnostics: ProviderDiagnostics = ()


@record
class Response:
    """Response of an operation without a result."""

    diagnostics: ProviderDiagnostics = ()


@record
class UpgradeRequest:
    """Stored state of some schema version: JSON, or the old flatmap form."""

    type_name: str
    version: int
    json: bytes = b""
    flatmap: tuple[tuple[str, str], ...] = ()


@record
class UpgradeResponse:
    state: cty.Value
    diagnostics: ProviderDiagnostics = ()


@record
class ReadRequest:
    type_name: str
    state: cty.Value
    private: bytes = b""
    provider_meta: cty.Value | None = None
    identity: cty.Value | None = None
    may_defer: bool = False


@record
class ReadResponse:
    state: cty.Value
    """Null if the remote object no longer exists."""
    private: bytes = b""
    identity: cty.Value | None = None
    diagnostics: ProviderDiagnostics = ()
    deferred: ProviderDeferral | None = None


@record
class PlanRequest:
    type_name: str
    prior: cty.Value
    """Null for an object to be created."""
    proposed: cty.Value
    """Null for an object to be destroyed."""
    config: cty.Value
    prior_private: bytes = b""
    provider_meta: cty.Value | None = None
    identity: cty.Value | None = None
    may_defer: bool = False
    """True if the caller can defer the object to a later plan."""
    planned_private: bytes = b""
    """Private data that the provider returned when the object was planned, if it is planned again
    for the apply.
    """


@record
class PlanResponse:
    planned: cty.Value
    requires_replace: tuple[cty.Path, ...] = ()
    planned_private: bytes = b""
    identity: cty.Value | None = None
    legacy_type_system: bool = False
    """The provider's SDK cannot follow the rules for planned values, so they must not be enforced."""
    diagnostics: ProviderDiagnostics = ()
    deferred: ProviderDeferral | None = None


@record
class ApplyRequest:
    type_name: str
    prior: cty.Value
    planned: cty.Value
    config: cty.Value
    planned_private: bytes = b""
    provider_meta: cty.Value | None = None
    identity: cty.Value | None = None


@record
class ApplyResponse:
    state: cty.Value
    """The object as it exists now, even after an error: it must be stored."""
    private: bytes = b""
    identity: cty.Value | None = None
    legacy_type_system: bool = False
    diagnostics: ProviderDiagnostics = ()


@record
class ImportRequest:
    """Import by the provider's own identifier or, if `identity` is set, by identity."""

    type_name: str
    id: str = ""
    identity: cty.Value | None = None
    may_defer: bool = False


@record
class ImportedResource:
    type_name: str
    state: cty.Value
    private: bytes = b""
    identity: cty.Value | None = None


@record
class ImportResponse:
    resources: tuple[ImportedResource, ...] = ()
    diagnostics: ProviderDiagnostics = ()
    deferred: ProviderDeferral | None = None


@record
class MoveRequest:
    """State of another resource type, possibly of another provider, that the target type takes
    over.
    """

    source_provider: str
    source_type_name: str
    source_version: int
    target_type_name: str
    json: bytes = b""
    flatmap: tuple[tuple[str, str], ...] = ()
    private: bytes = b""


@record
class MoveResponse:
    state: cty.Value
    private: bytes = b""
    diagnostics: ProviderDiagnostics = ()


@record
class ReadDataRequest:
    type_name: str
    config: cty.Value
    provider_meta: cty.Value | None = None
    address: str = ""
    """Address of the data source. Only a provider in this process receives it."""
    may_defer: bool = False


@record
class ReadDataResponse:
    state: cty.Value
    diagnostics: ProviderDiagnostics = ()
    deferred: ProviderDeferral | None = None
    is_planned: bool = False
    """True for values that will apply once other configurations have applied their plans; parts may
    be unknown until then.
    """


@record
class OpenEphemeralResponse:
    result: cty.Value
    private: bytes | None = None
    renew_at: datetime | None = None
    diagnostics: ProviderDiagnostics = ()


@record
class RenewEphemeralResponse:
    private: bytes | None = None
    renew_at: datetime | None = None
    diagnostics: ProviderDiagnostics = ()


@record
class ListRequest:
    """A query for existing objects of one resource type."""

    type_name: str
    config: cty.Value
    limit: int
    include_resource: bool = False
    """True to receive whole objects, not only their identities."""


@record
class ListEvent:
    """One object that a query found, or diagnostics; an error is the last event."""

    display_name: str = ""
    identity: cty.Value | None = None
    """None only for an event that has nothing but diagnostics."""
    resource: cty.Value | None = None
    diagnostics: ProviderDiagnostics = ()


@record
class PlanActionResponse:
    diagnostics: ProviderDiagnostics = ()
    deferred: ProviderDeferral | None = None


@record
class ActionEvent:
    """Something that happened while an action ran: progress, or its end."""

    message: str = ""
    """Progress, to be shown to the user."""
    is_end: bool = False
    """True for the last event. The action failed if its diagnostics have errors."""
    diagnostics: ProviderDiagnostics = ()


@record
class FunctionsResponse:
    functions: Mapping[str, FunctionSignature]
    diagnostics: ProviderDiagnostics = ()


@record
class FunctionFailure:
    """Failure of a provider-defined function, with the index of the wrong argument, if there is
    one.
    """

    text: str
    argument: int | None = None


@record
class CallResponse:
    result: cty.Value
    failure: FunctionFailure | None = None


class Provider(Protocol):
    """A started provider. Schema, validation and functions are available at any time, other
    operations only after `configure`.
    """

    async def schema(self) -> SchemaResponse: ...

    async def validate_provider(self, config: cty.Value) -> Response: ...

    async def validate_resource(self, type_name: str, config: cty.Value) -> Response: ...

    async def validate_data(self, type_name: str, config: cty.Value) -> Response: ...

    async def validate_ephemeral(self, type_name: str, config: cty.Value) -> Response: ...

    async def configure(self, config: cty.Value, may_defer: bool = False) -> Response: ...

    async def upgrade(self, request: UpgradeRequest) -> UpgradeResponse: ...

    async def read(self, request: ReadRequest) -> ReadResponse: ...

    async def plan(self, request: PlanRequest) -> PlanResponse: ...

    async def apply(self, request: ApplyRequest) -> ApplyResponse: ...

    async def import_state(self, request: ImportRequest) -> ImportResponse: ...

    async def move_state(self, request: MoveRequest) -> MoveResponse: ...

    async def read_data(self, request: ReadDataRequest) -> ReadDataResponse: ...

    async def open_ephemeral(self, type_name: str, config: cty.Value) -> OpenEphemeralResponse: ...

    async def renew_ephemeral(
        self, type_name: str, private: bytes | None
    ) -> RenewEphemeralResponse: ...

    async def close_ephemeral(self, type_name: str, private: bytes | None) -> Response: ...

    async def validate_list(self, request: ListRequest) -> Response: ...

    def list_resources(self, request: ListRequest) -> AsyncGenerator[ListEvent, None]:
        """Search for objects. The provider may find more than the limit: the caller stops."""
        ...

    async def validate_action(self, type_name: str, config: cty.Value) -> Response: ...

    async def plan_action(
        self, type_name: str, config: cty.Value, may_defer: bool = False
    ) -> PlanActionResponse:
        """Check an action whose configuration may have unknown values. Nothing is done yet."""
        ...

    def invoke_action(self, type_name: str, config: cty.Value) -> AsyncGenerator[ActionEvent, None]:
        """Run an action. The last event is its end."""
        ...

    async def functions(self) -> FunctionsResponse:
        """List the current functions: a configured provider may have more than its schema."""
        ...

    async def call_function(self, name: str, arguments: Sequence[cty.Value]) -> CallResponse: ...

    async def stop(self) -> None:
        """Ask running operations to end soon and cleanly. Never fails."""
        ...

    async def close(self) -> None:
        """Release the provider, which cannot be used any more. Never fails."""
        ...
