"""Opening a backend of any type: from its type and its arguments to something that stores states.

The arguments are JSON data as init remembers them. Nothing is connected to yet, and the code of a
backend is imported only here, when it is wanted.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.backends.local import STATE_NAME, WORKSPACE_DIR, LocalBackend, LocalPaths
from nigari.backends.protocol import Backend
from nigari.diagnostics import Diagnostics
from nigari.json_shape import ShapeError, as_members
from nigari.lazy import module_named
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Final

    from nigari.backends.installed import InstalledBackend
    from nigari.backends.store import Store

REMOTE: Final[Mapping[str, str]] = {
    "azurerm": "nigari.backends.stores.azurerm",
    "cloud": "nigari.backends.stores.hosted.cloud",
    "consul": "nigari.backends.stores.consul",
    "cos": "nigari.backends.stores.cos",
    "gcs": "nigari.backends.stores.gcs",
    "http": "nigari.backends.stores.http",
    "inmem": "nigari.backends.stores.inmem",
    "kubernetes": "nigari.backends.stores.kubernetes",
    "oss": "nigari.backends.stores.oss",
    "pg": "nigari.backends.stores.postgres",
    "remote": "nigari.backends.stores.hosted.remote",
    "s3": "nigari.backends.stores.s3",
}
"""The modules of the remote backends; each has a function `open_store`."""


@record
class Around:
    """What a backend finds around it."""

    directory: str | os.PathLike[str]
    environ: Mapping[str, str]


def _installed(type_: str) -> InstalledBackend | None:
    """The backend of a package, which may not be usable: a `BackendFailure` says why."""
    from nigari.backends.schemas import OURS

    if type_ in OURS:
        return None
    from nigari.backends.installed import installed_backend

    return installed_backend(type_)


def open_backend(
    type_: str, config: Mapping[str, object], around: Around, diags: Diagnostics
) -> Backend | None:
    """The backend, or `None` after reporting why it cannot be used."""
    if type_ == "local":
        return LocalBackend(around.directory, local_paths(config))
    store = _open_store(type_, config, around, diags)
    if store is None:
        return None
    from nigari.backends.remote import RemoteBackend

    return RemoteBackend(type_, store, around.environ)


def stored_arguments(data: object) -> dict[str, object]:
    """Arguments as init remembers them; a `ShapeError` for those that no backend has."""
    found = as_members(data)
    for name, value in found.items():
        if isinstance(value, str) and "\0" in value:
            raise ShapeError("contains a null character", name)
    return found


def local_paths(config: Mapping[str, object]) -> LocalPaths:
    """Where the local backend has its states."""
    path, directory = config.get("path"), config.get("workspace_dir")
    return LocalPaths(str(path or STATE_NAME), str(directory or WORKSPACE_DIR))


def _open_store(
    type_: str, config: Mapping[str, object], around: Around, diags: Diagnostics
) -> Store | None:
    from nigari.backends.store import BackendFailure
    from nigari.clouds.arguments import Arguments
    from nigari.clouds.failures import CloudFailure

    module = REMOTE.get(type_)
    try:
        if module is not None:
            found: Store = module_named(module).open_store(Arguments(config, around.environ))
            return found
        installed = _installed(type_)
        if installed is not None:
            return installed.open(config, around.environ, around.directory)
    except (BackendFailure, CloudFailure) as failure:
        diags.error("Cannot use the backend", f'Backend "{type_}": {failure.text}')
        return None
    diags.error(
        "Backend is not installed",
        f'The state is stored in a backend of type "{type_}", which comes from a package. '
        "Install that package where this program is installed.",
    )
    return None
