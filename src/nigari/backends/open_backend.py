"""Opening a backend of any type: from its type and its arguments to something that stores states.

The arguments are JSON data as init remembers them. Nothing is connected to yet, and the code of a
backend is imported only here, when it is wanted.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.backends.known_backends import our_backend
from nigari.backends.local import LOCAL, LocalBackend, local_paths
from nigari.backends.protocol import Around, Backend
from nigari.diagnostics import Diagnostics
from nigari.json_shape import ShapeError, as_members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.backends.store import Store


def open_backend(
    type_: str, config: Mapping[str, object], around: Around, diags: Diagnostics
) -> Backend | None:
    """The backend, or `None` after reporting why it cannot be used."""
    if type_ == LOCAL:
        # The default backend opens without its specification, which takes time to import.
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
        if isinstance(value, str) and not _is_encodable(value):
            raise ShapeError("contains half a character", name)
    return found


def _is_encodable(text: str) -> bool:
    """Return whether the text can be a file name that JSON can store, even if it is not UTF-8."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _open_store(
    type_: str, config: Mapping[str, object], around: Around, diags: Diagnostics
) -> Store | None:
    from nigari.backends.installed import installed_backend
    from nigari.backends.store import BackendFailure
    from nigari.clouds.arguments import Arguments
    from nigari.clouds.failures import CloudFailure

    spec = our_backend(type_)
    try:
        if spec is not None and spec.open is not None:
            return spec.open(Arguments(config, around.environ))
        installed = installed_backend(type_)
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
