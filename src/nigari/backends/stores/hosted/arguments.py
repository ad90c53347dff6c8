"""Arguments that the backends `remote` and `cloud` share: the host, the organization, workspaces."""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.hostname import normalize_hostname
from nigari.backends.backend_spec import AddressArgument, ArgumentProblems, StateAddress
from nigari.backends.protocol import DEFAULT_WORKSPACE, Around
from nigari.clouds.arguments import Arguments
from nigari.cty.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_ALIAS: Final = "localterraform.com"
_HOST: Final = "app.terraform.io"
ADDRESS: Final = tuple(map(AddressArgument, ("hostname", "organization", "workspaces")))


def host_aliases(config: Mapping[str, object], environ: Mapping[str, str]) -> Mapping[str, str]:
    """The alias by which addresses of modules and providers may name the host, and that host; empty
    if the arguments name no host.
    """
    given = config.get("hostname") or environ.get("TF_CLOUD_HOSTNAME", "")
    host = normalize_hostname(str(given)) if given else None
    return {} if host is None else {_ALIAS: host}


def hosted_address(
    config: Mapping[str, object], workspace: str, around: Around
) -> StateAddress | None:
    """The workspace of an organization. One that is chosen by tags, or by the rest of its name after
    a prefix, is unknown until one is selected: there is no default workspace.
    """
    arguments = Arguments(config, around.environ)
    given = config.get("workspaces")
    if isinstance(given, list):
        given = given[0] if given else None
    wanted = given if isinstance(given, dict) else {}
    name = str(wanted.get("name") or "")
    if not name and workspace != DEFAULT_WORKSPACE:
        name = f"{wanted.get('prefix') or ''}{workspace}"
    organization = arguments.text("organization", "TF_CLOUD_ORGANIZATION")
    if not name or not organization:
        return None
    address = (
        ("hostname", arguments.text("hostname", "TF_CLOUD_HOSTNAME", default=_HOST)),
        ("organization", organization),
        ("workspace", name),
    )
    return "remote", address


def workspace_problems(value: Value, names: tuple[str, str]) -> ArgumentProblems:
    """Workspaces must be identified in exactly one of two ways."""
    workspaces = value.attribute("workspaces")
    given = 0
    if not workspaces.is_null:
        given = sum(1 for name in names if workspaces.attribute(name).data not in (None, "", ()))
    if given != 1:
        have = "both are" if given else "none is"
        yield "workspaces", f"Workspaces need either {names[0]} or {names[1]}, and {have} set."
