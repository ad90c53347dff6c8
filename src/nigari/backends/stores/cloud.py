"""The block `cloud`: workspaces by name or by tags, perhaps those of a project only."""

from __future__ import annotations

from nigari.backends.backend_spec import (
    ArgumentProblems,
    BackendSpec,
    Environment,
    argument_text,
    attributes,
)
from nigari.backends.stores.hosted.arguments import ADDRESS, hosted_address, workspace_problems
from nigari.cty.values import Value
from nigari.schema.block import Block, NestedBlock, Nesting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.backends.stores.hosted.store import HostedStore
    from nigari.clouds.arguments import Arguments


def open_store(arguments: Arguments) -> HostedStore:
    """The store that the arguments describe."""
    from nigari.backends.stores.hosted.api import HostedApi, HostedService
    from nigari.backends.stores.hosted.mapping import ByName, ByTags, WorkspaceMapping
    from nigari.backends.stores.hosted.organization import Organization
    from nigari.backends.stores.hosted.store import Behavior, HostedStore
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


def _problems(value: Value, environ: Environment) -> ArgumentProblems:
    if not argument_text(value, "organization") and not environ.get("TF_CLOUD_ORGANIZATION"):
        text = (
            "The organization is set neither here nor by the environment variable "
            "TF_CLOUD_ORGANIZATION."
        )
        yield "organization", text
    override = environ.get("TF_WORKSPACE", "")
    workspaces = value.attribute("workspaces")
    name = "" if workspaces.is_null else argument_text(workspaces, "name")
    if override and name and name != override:
        text = f'The workspace is "{name}" here, but TF_WORKSPACE is set to "{override}".'
        yield "workspaces", text
    if not override or name:
        yield from workspace_problems(value, ("name", "tags"))


SPEC: BackendSpec = BackendSpec(
    block=Block(
        attributes(strings="hostname organization token"),
        {
            "workspaces": NestedBlock(
                Block(attributes(strings="name project", sets="tags")), Nesting.SINGLE
            )
        },
    ),
    open=open_store,
    shown="hostname organization workspaces",
    address=ADDRESS,
    identify=hosted_address,
    rules=_problems,
    has_registry=True,
)
