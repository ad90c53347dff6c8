"""The backend `consul`: a state per key of Consul's key-value store, locked by a session."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.backends.stores.consul.storing import ConsulStore
    from nigari.clouds.arguments import Arguments


def open_store(arguments: Arguments) -> ConsulStore:
    """The store that the arguments describe."""
    from nigari.backends.stores.consul.api import read_server
    from nigari.backends.stores.consul.storing import ConsulStore

    settings, server = read_server(arguments)
    return ConsulStore(
        settings,
        server,
        arguments.required("path"),
        is_compressed=arguments.flag("gzip"),
        has_locks=arguments.flag("lock", default=True),
    )
