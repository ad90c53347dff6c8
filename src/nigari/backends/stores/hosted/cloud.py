"""The block `cloud`: workspaces by name or by tags, perhaps those of a project only."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.backends.stores.hosted.storing import HostedStore
    from nigari.clouds.arguments import Arguments


def open_store(arguments: Arguments) -> HostedStore:
    """The store that the arguments describe."""
    from nigari.backends.stores.hosted.api import HostedApi, HostedService
    from nigari.backends.stores.hosted.mapping import ByName, ByTags, WorkspaceMapping
    from nigari.backends.stores.hosted.organization import Organization
    from nigari.backends.stores.hosted.storing import Behavior, HostedStore
    from nigari.clouds.arguments import Arguments

    environ = arguments.environ
    service = HostedService(
        arguments.required("hostname", "TF_CLOUD_HOSTNAME"),
        arguments.text("token"),
        "tfe.v2",
        {"x-terraform-integration": "cloud"},
    )
    workspaces = arguments.block("workspaces") or Arguments({}, environ)
    tags = tuple(sorted(workspaces.texts("tags")))
    name = workspaces.text("name") or ("" if tags else environ.get("TF_WORKSPACE", ""))
    mapping: WorkspaceMapping = ByName(name, is_default=False) if name else ByTags(tags)
    api = HostedApi(service, environ)
    organization = Organization(
        api,
        arguments.required("organization", "TF_CLOUD_ORGANIZATION"),
        mapping,
        workspaces.text("project", "TF_CLOUD_PROJECT"),
        # A mistake in the environment must not make another workspace.
        must_exist=bool(environ.get("TF_WORKSPACE")),
    )
    how = Behavior(
        bool(environ.get("TF_FORCE_LOCAL_BACKEND")),
        environ.get("TFE_RUN_ID", ""),
        asks_for_interval=True,
        shows_states=True,
    )
    return HostedStore(api, organization, mapping, how)
