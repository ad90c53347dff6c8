"""Reading the output values of another configuration's state, for `terraform_remote_state`."""

from __future__ import annotations

from nigari.cty.errors import CtyError
from nigari.cty.paths import GetAttr, path_text
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.providers.api import ProviderDiagnostic, Told
from nigari.providers.base import problem
from nigari.providers.builtin.remote_state import RemoteOutputs, RemoteState
from nigari.schema.coerce import coerce


async def read_remote_state(wanted: RemoteState) -> RemoteOutputs:
    """The outputs of the state that is wanted, or why it cannot be read."""
    from pathlib import Path

    from nigari.backends.local import STATE_NAME, WORKSPACE_DIR, LocalBackend, LocalPaths
    from nigari.backends.snapshots import Snapshots
    from nigari.state.encryption import no_encryption

    if wanted.backend != "local":
        text = f'Backends of type "{wanted.backend}" are not supported.'
        return RemoteOutputs(None, problem("Backend is not supported", text))
    paths = LocalPaths(
        _text(wanted.config, "path", STATE_NAME),
        _text(wanted.config, "workspace_dir", WORKSPACE_DIR),
    )
    diags = Diagnostics()
    storage = LocalBackend(Path(), paths).storage(wanted.workspace)
    snapshots = Snapshots(storage, no_encryption().state)
    await snapshots.read(diags)
    told = tuple(ProviderDiagnostic(d.severity, d.summary, d.detail) for d in diags)
    if snapshots.file is None:
        return RemoteOutputs(None, told)
    return RemoteOutputs(
        {name: output.value for name, output in snapshots.state.outputs.items()}, told
    )


async def check_remote_state(wanted: RemoteState) -> Told:
    """Whether there is such a backend and it takes these arguments."""
    from nigari.backends.schemas import BACKENDS

    block = BACKENDS.get(wanted.backend)
    if block is None:
        from nigari.hcl.suggestion import did_you_mean

        hint = did_you_mean(wanted.backend, BACKENDS)
        text = f'There is no backend of type "{wanted.backend}".{hint}'
        return problem("Unknown backend", text, (GetAttr("backend"),))
    try:
        coerce(block, wanted.config)
    except CtyError as error:
        where = path_text(error.path).lstrip(".")
        text = f'A backend "{wanted.backend}" cannot have this configuration: '
        text += f"{where}: {error.message}." if where else f"{error.message}."
        return problem("Invalid backend configuration", text, (GetAttr("config"),))
    return ()


def _text(config: Value, name: str, default: str) -> str:
    given = config.mapping().get(name)
    return given.data if given is not None and isinstance(given.data, str) else default
