"""Reading the output values of another configuration's state, for `terraform_remote_state`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nigari.cty.errors import CtyError
from nigari.cty.paths import GetAttr, path_text
from nigari.diagnostics import Diagnostics
from nigari.providers.api import ProviderDiagnostic, Told
from nigari.providers.base import problem
from nigari.providers.builtin.remote_state import Checker, RemoteOutputs, RemoteState
from nigari.schema.coerce import coerce
from nigari.workspace.working_directory import WorkingDirectory

if TYPE_CHECKING:
    from nigari.eval.static import StaticRun
    from nigari.state.encryption import Encryption, StateLayer


class RemoteStates:
    """Other configurations' states, encrypted as this configuration says they are."""

    def __init__(self, run: StaticRun, where: WorkingDirectory) -> None:
        self._run = run
        self._where = where
        self._encryption: Encryption | None = None

    async def read(self, wanted: RemoteState) -> RemoteOutputs:
        """The outputs of the state that is wanted, or why it cannot be read."""
        diags = Diagnostics()
        if self._encryption is None:
            from nigari.workspace.encryption import configured_encryption

            self._encryption = configured_encryption(self._run, self._where.environ, diags)
        if self._encryption is None:
            return RemoteOutputs(None, _told(diags))
        layer = self._encryption.remote_state(wanted.name)
        return await _outputs(wanted, layer, self._where)


async def _outputs(
    wanted: RemoteState, encryption: StateLayer, where: WorkingDirectory
) -> RemoteOutputs:
    from nigari.backends.opening import Around, open_backend
    from nigari.backends.snapshots import Snapshots

    diags = Diagnostics()
    around = Around(where.root or ".", where.environ)
    backend = open_backend(wanted.backend, _arguments(wanted), around, diags)
    if backend is None:
        return RemoteOutputs(None, _told(diags))
    snapshots = Snapshots(backend.storage(wanted.workspace), encryption)
    await snapshots.read(diags)
    told = _told(diags)
    if snapshots.file is None:
        return RemoteOutputs(None, told)
    return RemoteOutputs(
        {name: output.value for name, output in snapshots.state.outputs.items()}, told
    )


def _arguments(wanted: RemoteState) -> Mapping[str, object]:
    """The arguments as init would remember them; they were found to be right before."""
    import json

    from nigari.backends.schemas import BACKENDS
    from nigari.cty.json import value_to_json

    value = coerce(BACKENDS[wanted.backend], wanted.config)
    found: Mapping[str, object] = json.loads(value_to_json(value, value.type))
    return found


def _told(diags: Diagnostics) -> Told:
    return tuple(ProviderDiagnostic(d.severity, d.summary, d.detail) for d in diags)


def remote_state_checker(environ: Mapping[str, str]) -> Checker:
    """Looks, for the built-in provider, at the arguments of a backend with this environment."""

    async def check(wanted: RemoteState) -> Told:
        return _check(wanted, environ)

    return check


def _check(wanted: RemoteState, environ: Mapping[str, str]) -> Told:
    """Whether there is such a backend and it takes these arguments."""
    from nigari.backends.rules import argument_problems
    from nigari.backends.schemas import BACKENDS

    block = BACKENDS.get(wanted.backend)
    if block is None:
        from nigari.hcl.suggestion import did_you_mean

        hint = did_you_mean(wanted.backend, BACKENDS)
        text = f'There is no backend of type "{wanted.backend}".{hint}'
        return problem("Unknown backend", text, (GetAttr("backend"),))
    try:
        config = coerce(block, wanted.config)
    except CtyError as error:
        where = path_text(error.path).lstrip(".")
        text = f'Invalid configuration for the backend "{wanted.backend}": '
        text += f"{where}: {error.message}." if where else f"{error.message}."
        return problem("Invalid backend configuration", text, (GetAttr("config"),))
    told: Told = ()
    for found in argument_problems(wanted.backend, config, environ):
        told += problem("Invalid backend configuration", found.text, (GetAttr("config"),))
    return told
