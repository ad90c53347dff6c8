"""Reading the output values of another configuration's state, for `terraform_remote_state`."""

from __future__ import annotations

from collections.abc import Mapping

from nigari.cty.errors import CtyError
from nigari.cty.paths import GetAttr, path_text
from nigari.diagnostics import Diagnostics
from nigari.event_loop import event_loop
from nigari.providers.api import ProviderDiagnostic, ProviderDiagnostics
from nigari.providers.base import problem
from nigari.record import ReadOnly
from nigari.schema.coerce import coerce
from nigari.workspace.context.working_directory import WorkingDirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio

    from nigari.backends.backend_address import StateIdentity
    from nigari.cty.values import Value
    from nigari.eval.static.run import StaticRun
    from nigari.providers.builtin.remote_state import Checker, RemoteOutputs, RemoteState
    from nigari.state.encryption import Encryption, StateLayer


class RemoteStates:
    """Other configurations' states, encrypted as this configuration says they are.

    States are read side by side, and each only once while planning. While applying, what a state
    says may depend on what was done before, so that only reads at the same time are one.
    """

    def __init__(
        self,
        run: StaticRun,
        where: WorkingDirectory,
        planned: Mapping[StateIdentity, Mapping[str, Value]] = ReadOnly({}),
    ) -> None:
        """`planned` are outputs that states will have; until something is applied they count."""
        self._run = run
        self._where = where
        self._planned = planned
        self._encryption: Encryption | None = None
        self._reads: dict[object, asyncio.Task[RemoteOutputs]] = {}
        self._keeps = True

    def begin_applying(self) -> None:
        """Forget what was read, and what was planned."""
        self._reads.clear()
        self._planned = {}
        self._keeps = False

    async def read(self, wanted: RemoteState) -> RemoteOutputs:
        """The outputs of the state that is wanted, or why it cannot be read."""
        from nigari.providers.builtin.remote_state import RemoteOutputs

        diags = Diagnostics()
        if self._planned:
            identity = remote_state_identity(wanted, self._where)
            outputs = None if identity is None else self._planned.get(identity)
            if outputs is not None:
                return RemoteOutputs(outputs, is_planned=True)
        if self._encryption is None:
            from nigari.workspace.states.encryption import configured_encryption

            self._encryption = configured_encryption(self._run, self._where.environ, diags)
        if self._encryption is None:
            return RemoteOutputs(None, _provider_diagnostics(diags))
        layer = self._encryption.remote_state(wanted.name)
        return await self._read_once(wanted, layer)

    async def _read_once(self, wanted: RemoteState, layer: StateLayer) -> RemoteOutputs:
        await event_loop()
        import asyncio

        key = (wanted.backend, _arguments_text(wanted), wanted.workspace, id(layer))
        reading = self._reads.get(key)
        if reading is None:
            reading = self._reads[key] = asyncio.create_task(_outputs(wanted, layer, self._where))
        try:
            return await asyncio.shield(reading)
        finally:
            if not self._keeps:
                self._reads.pop(key, None)


async def _outputs(
    wanted: RemoteState, encryption: StateLayer, where: WorkingDirectory
) -> RemoteOutputs:
    import json

    from nigari.backends.open_backend import open_backend
    from nigari.backends.protocol import Around
    from nigari.backends.snapshots import Snapshots
    from nigari.providers.builtin.remote_state import RemoteOutputs

    diags = Diagnostics()
    around = Around(where.root or ".", where.environ)
    backend = open_backend(wanted.backend, json.loads(_arguments_text(wanted)), around, diags)
    if backend is None:
        return RemoteOutputs(None, _provider_diagnostics(diags))
    snapshots = Snapshots(backend.storage(wanted.workspace), encryption)
    await snapshots.read(diags)
    reported = _provider_diagnostics(diags)
    if snapshots.file is None:
        return RemoteOutputs(None, reported)
    return RemoteOutputs(
        {name: output.value for name, output in snapshots.state.outputs.items()}, reported
    )


def remote_state_identity(wanted: RemoteState, where: WorkingDirectory) -> StateIdentity | None:
    """Which state is wanted, if that is known; its arguments were found to be right before."""
    import json

    from nigari.backends.backend_address import state_identity
    from nigari.backends.protocol import Around

    around = Around(where.root or ".", where.environ)
    arguments = json.loads(_arguments_text(wanted))
    return state_identity(wanted.backend, arguments, wanted.workspace, around)


def _arguments_text(wanted: RemoteState) -> str:
    """The arguments as init would remember them; they were found to be right before."""
    from nigari.backends.known_backends import backend_block
    from nigari.cty.json import value_to_json

    block = backend_block(wanted.backend)
    assert block is not None
    value = coerce(block, wanted.config)
    return value_to_json(value, value.type)


def _provider_diagnostics(diags: Diagnostics) -> ProviderDiagnostics:
    return tuple(ProviderDiagnostic(d.severity, d.summary, d.detail) for d in diags)


def remote_state_checker(environ: Mapping[str, str]) -> Checker:
    """Looks, for the built-in provider, at the arguments of a backend with this environment."""

    async def check(wanted: RemoteState) -> ProviderDiagnostics:
        return _check(wanted, environ)

    return check


def _check(wanted: RemoteState, environ: Mapping[str, str]) -> ProviderDiagnostics:
    """Check that the backend exists and accepts these arguments."""
    from nigari.backends.known_backends import argument_problems, backend_block, backend_names
    from nigari.backends.store import BackendFailure

    try:
        block = backend_block(wanted.backend)
    except BackendFailure as failure:
        text = f'The backend "{wanted.backend}" cannot be used: {failure.text}'
        return problem("Cannot use the backend", text, (GetAttr("backend"),))
    if block is None:
        from nigari.hcl.suggestion import did_you_mean

        hint = did_you_mean(wanted.backend, backend_names())
        text = f'There is no backend of type "{wanted.backend}".{hint}'
        return problem("Unknown backend", text, (GetAttr("backend"),))
    try:
        config = coerce(block, wanted.config)
    except CtyError as error:
        where = path_text(error.path).lstrip(".")
        text = f'Invalid configuration for the backend "{wanted.backend}": '
        text += f"{where}: {error.message}." if where else f"{error.message}."
        return problem("Invalid backend configuration", text, (GetAttr("config"),))
    reported: ProviderDiagnostics = ()
    for _, text in argument_problems(wanted.backend, config, environ):
        reported += problem("Invalid backend configuration", text, (GetAttr("config"),))
    return reported
