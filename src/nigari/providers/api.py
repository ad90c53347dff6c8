"""The one interface of providers. A plugin process and a Python provider look the same from above.

Values cross it without marks: who calls removes them and puts them back. Opaque bytes of a
provider (`private`) are kept as they are. Every answer carries the provider's diagnostics, which
name a place by attribute path; `providers.diagnostics` finds the source range. A provider never
raises for a user's mistake.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """What a provider says about a configuration or an operation."""

    severity: Severity
    summary: str
    detail: str = ""
    path: cty.Path | None = None
    """The attribute it is about; none means the whole block."""
    about_provider: bool = False
    """Whether it is about the provider itself, so that every user of it would say the same."""


ProviderDiagnostics = tuple[ProviderDiagnostic, ...]


class ProviderDeferral(Enum):
    """Why a provider leaves something for a later plan, as the protocol names it."""

    CONFIG_UNKNOWN = "RESOURCE_CONFIG_UNKNOWN"
    PROVIDER_CONFIG_UNKNOWN = "PROVIDER_CONFIG_UNKNOWN"
    ABSENT_PREREQUISITE = "ABSENT_PREREQ"


def has_errors(diagnostics: ProviderDiagnostics) -> bool:
    """Whether any of them is an error."""
    return any(d.severity is Severity.ERROR for d in diagnostics)


@record
class SchemaResponse:
    schema: ProviderSchema | None
    """None only if the diagnostics say why."""
    diagnostics: ProviderDiagnostics = ()


@record
class Response:
    """The answer where there is nothing to tell but diagnostics."""

    diagnostics: ProviderDiagnostics = ()


@record
class UpgradeRequest:
    """State as some version of the provider stored it: JSON, or the old flat form."""

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
    """Null if the remote object is gone."""
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
    """Whether whoever asks can leave the object for a later plan."""


@record
class PlanResponse:
    planned: cty.Value
    requires_replace: tuple[cty.Path, ...] = ()
    planned_private: bytes = b""
    identity: cty.Value | None = None
    legacy_type_system: bool = False
    """The provider's library cannot keep the rules for planned values; do not hold it to them."""
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
    """What exists now, also after an error: it must be stored."""
    private: bytes = b""
    identity: cty.Value | None = None
    legacy_type_system: bool = False
    diagnostics: ProviderDiagnostics = ()


@record
class ImportRequest:
    """By the provider's own identifier or, where `identity` is set, by identity."""

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
    """State of another resource type, perhaps of another provider, to be taken over."""

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
    """Of the data source that is read. Only a provider in this process learns it."""
    may_defer: bool = False


@record
class ReadDataResponse:
    state: cty.Value
    diagnostics: ProviderDiagnostics = ()
    deferred: ProviderDeferral | None = None
    is_planned: bool = False
    """Whether this is what it will say once others have applied their plans: parts of it may be
    unknown until then.
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
class FunctionsResponse:
    functions: Mapping[str, FunctionSignature]
    diagnostics: ProviderDiagnostics = ()


@record
class FunctionFailure:
    """Why a provider-defined function has no result, and which argument is to blame, if one is."""

    text: str
    argument: int | None = None


@record
class CallResponse:
    result: cty.Value
    failure: FunctionFailure | None = None


class Provider(Protocol):
    """A provider that has been started. Only what its phase allows may be asked of it:
    schema, validation and functions at any time, the rest after `configure`.
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

    async def functions(self) -> FunctionsResponse:
        """The functions there are now: a configured provider may have more than its schema."""
        ...

    async def call_function(self, name: str, arguments: Sequence[cty.Value]) -> CallResponse: ...

    async def stop(self) -> None:
        """Ask that what is running ends soon, in good order. Never fails."""
        ...

    async def close(self) -> None:
        """Give the provider up. It cannot be used any more. Never fails."""
        ...
