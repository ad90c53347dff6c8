"""The backend `remote`: workspaces by name or by prefix."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.backends.stores.hosted.storing import HostedStore
    from nigari.clouds.arguments import Arguments


def open_store(arguments: Arguments) -> HostedStore:
    """The store that the arguments describe."""
    from nigari.backends.stores.hosted.api import HostedApi, HostedService
    from nigari.backends.stores.hosted.mapping import ByName, ByPrefix, WorkspaceMapping
    from nigari.backends.stores.hosted.organization import Organization
    from nigari.backends.stores.hosted.storing import Behavior, HostedStore

    environ = arguments.environ
    is_forced_local = bool(environ.get("TF_FORCE_LOCAL_BACKEND"))
    service = HostedService(
        arguments.required("hostname"),
        arguments.text("token"),
        "state.v2" if is_forced_local else "tfe.v2.1",
    )
    workspaces = arguments.block("workspaces")
    prefix = "" if workspaces is None else workspaces.text("prefix")
    name = "" if workspaces is None else workspaces.text("name")
    mapping: WorkspaceMapping = ByPrefix(prefix) if prefix else ByName(name, is_default=True)
    api = HostedApi(service, environ)
    organization = Organization(api, arguments.required("organization"), mapping)
    how = Behavior(
        is_forced_local,
        environ.get("TFE_RUN_ID", ""),
        asks_for_interval=False,
        shows_states=False,
    )
    return HostedStore(api, organization, mapping, how)
