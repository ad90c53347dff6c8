"""The backend `remote`: workspaces by name or by prefix."""

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
    from nigari.backends.stores.hosted.mapping import ByName, ByPrefix, WorkspaceMapping
    from nigari.backends.stores.hosted.organization import Organization
    from nigari.backends.stores.hosted.store import Behavior, HostedStore

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


def _problems(value: Value, _environ: Environment) -> ArgumentProblems:
    if not argument_text(value, "organization"):
        yield "organization", "The organization is not set."
    yield from workspace_problems(value, ("name", "prefix"))


SPEC: BackendSpec = BackendSpec(
    block=Block(
        attributes(strings="hostname organization token", required="organization"),
        {"workspaces": NestedBlock(Block(attributes(strings="name prefix")), Nesting.SINGLE)},
    ),
    open=open_store,
    shown="hostname organization workspaces workspace",
    address=ADDRESS,
    identify=hosted_address,
    rules=_problems,
    has_registry=True,
)
