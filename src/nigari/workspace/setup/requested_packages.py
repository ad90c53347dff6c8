"""Packages that calls ask for, as messages name them."""

from __future__ import annotations

from nigari.addrs.module_source import RegistrySource, RemoteSource
from nigari.diagnostics import Cause
from nigari.workspace.configuration.modules import PackageRequest


def package_text(source: RegistrySource | RemoteSource) -> str:
    """The package as people write it, without the directory in it."""
    if isinstance(source, RemoteSource):
        return RemoteSource(source.package).display
    return source.display.partition("//")[0]


def made_from(wanted: PackageRequest) -> tuple[Cause, ...]:
    """What the source of a call was made from, if it is not simply written there."""
    if wanted.caller is None:
        return ()
    from nigari.eval.static.deciding import leading_to

    call = wanted.caller.module.calls[wanted.addr.name]
    return tuple(leading_to(wanted.caller, call.source))
