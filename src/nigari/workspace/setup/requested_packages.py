"""Packages that calls ask for, as messages name them."""

from __future__ import annotations

from functools import lru_cache

from nigari.addrs.module_source import RegistrySource, RemoteSource
from nigari.diagnostics import Cause, Diagnostics
from nigari.lang.versions import parse_module_constraints
from nigari.workspace.configuration.modules import PackageRequest


def package_text(source: RegistrySource | RemoteSource) -> str:
    """The package as people write it, without the directory in it."""
    if isinstance(source, RemoteSource):
        return RemoteSource(source.package).display
    return source.display.partition("//")[0]


@lru_cache(maxsize=1024)
def only_version(constraint: str | None) -> str:
    """The one version that a constraint allows; empty if it may allow several."""
    constraints = (
        None if constraint is None else parse_module_constraints(constraint, Diagnostics())
    )
    if constraints is None or len(constraints.items) != 1 or constraints.items[0].operator != "=":
        return ""
    return str(constraints.items[0].version)


def made_from(wanted: PackageRequest) -> tuple[Cause, ...]:
    """Return the causes of a call's source, if it is not a literal."""
    if wanted.caller is None:
        return ()
    from nigari.eval.static.input_dependencies import leading_to

    call = wanted.caller.module.call_at(wanted.addr.name)
    return tuple(leading_to(wanted.caller, call.source))
