"""The data source `terraform_remote_state`: output values from another configuration's state.

Locations and access are the responsibility of backends, which are unknown here: the creator of the
provider passes a reader.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from nigari import cty
from nigari.providers import api
from nigari.providers.base import problem
from nigari.providers.builtin.schema import REMOTE_STATE_NAME
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_DEFAULT_WORKSPACE: Final = "default"


@record
class RemoteState:
    """The state to read."""

    backend: str
    config: cty.Value
    """Object with the backend's arguments."""
    workspace: str
    name: str = ""
    """Name of the data source in the `encryption` block."""


@record
class RemoteOutputs:
    """Output values of a state; None if the state does not exist."""

    outputs: Mapping[str, cty.Value] | None
    diagnostics: api.ProviderDiagnostics = ()
    is_planned: bool = False
    """True for outputs that the state will have, with unknown values where only apply determines
    them.
    """


Reader = Callable[[RemoteState], Awaitable[RemoteOutputs]]
Checker = Callable[[RemoteState], Awaitable[api.ProviderDiagnostics]]


async def no_reader(_state: RemoteState) -> RemoteOutputs:
    """Report that there are no backends."""
    reported = problem("No access to remote state", "Backends are not available here.")
    return RemoteOutputs(None, reported)


async def no_checker(_state: RemoteState) -> api.ProviderDiagnostics:
    """Skip the check of backend arguments."""
    return ()


async def validate(config: cty.Value, check: Checker) -> api.ProviderDiagnostics:
    """Check types, and with `check` the backend's arguments once all of them are known."""
    reported: api.ProviderDiagnostics = ()
    settings = config.attribute("config")
    backend = config.attribute("backend")
    if backend.is_null:
        reported += problem(
            "Missing argument", "backend must not be null.", (cty.GetAttr("backend"),)
        )
    if not settings.is_null and not _is_mapping(settings):
        reported += problem(
            "Invalid backend configuration", "config must be an object.", (cty.GetAttr("config"),)
        )
    elif settings.is_wholly_known and backend.is_known and not backend.is_null:
        reported += await check(_which(config))
    if not _is_mapping(config.attribute("defaults")):
        reported += problem(
            "Invalid default values", "defaults must be an object.", (cty.GetAttr("defaults"),)
        )
    return reported


async def read(request: api.ReadDataRequest, reader: Reader) -> api.ReadDataResponse:
    """Read the state, and merge its outputs over the defaults."""
    config = request.config
    state = dict(config.mapping())
    found = await reader(_which(config, _encryption_name(request.address)))
    outputs: dict[str, cty.Value] = {}
    defaults = config.attribute("defaults")
    if defaults.is_null:
        # dataSourceRemoteStateRead: a typed null would differ from the result of
        # OpenTofu.
        state["defaults"] = cty.null(cty.DYNAMIC)
    else:
        outputs.update(defaults.mapping())
    reported = found.diagnostics
    if found.outputs is None and not api.has_errors(reported):
        reported += problem(
            "Remote state not found",
            "The backend has no state for this workspace. Check the backend's arguments, or "
            "apply the configuration that the state belongs to first.",
            (cty.GetAttr("workspace"),),
        )
    # Outputs of the state come last: defaults are for those it does not have.
    outputs.update(found.outputs or {})
    state["outputs"] = cty.object_value(outputs)
    return api.ReadDataResponse(cty.object_value(state), reported, is_planned=found.is_planned)


def _encryption_name(address: str) -> str:
    """Convert `module.a[0].data.terraform_remote_state.b` to its name in the `encryption` block,
    `a[0].b`.
    """
    return address.replace(f"data.{REMOTE_STATE_NAME}.", "", 1).removeprefix("module.")


def _which(config: cty.Value, name: str = "") -> RemoteState:
    backend = config.attribute("backend").as_string()
    settings = config.attribute("config")
    workspace = config.attribute("workspace")
    is_known = workspace.is_known and not workspace.is_null
    return RemoteState(
        # getBackend: a former name of the local backend, still accepted.
        "local" if backend == "_local" else backend,
        cty.EMPTY_OBJECT if settings.is_null else cty.object_value(settings.mapping()),
        workspace.as_string() if is_known else _DEFAULT_WORKSPACE,
        name,
    )


def _is_mapping(value: cty.Value) -> bool:
    return value.type.kind in (cty.KIND_DYNAMIC, cty.KIND_OBJECT, cty.KIND_MAP)
