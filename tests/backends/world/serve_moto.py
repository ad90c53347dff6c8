"""The server of moto, which here does one thing after the other.

By itself it looks whether a condition holds and then writes, and between the two another request
can do the same: of two who lock a state at the same time, both succeed.
"""

import threading
from collections.abc import Iterable
from typing import Final

from moto import server
from moto.moto_server.werkzeug_app import DomainDispatcherApplication

_TURN: Final = threading.Lock()


class OneAtATime(DomainDispatcherApplication):
    """Answers a request when the one before it is answered."""

    def __call__(self, environ: dict[str, object], start_response: object) -> Iterable[bytes]:
        with _TURN:
            return list(super().__call__(environ, start_response))


if __name__ == "__main__":
    vars(server)["DomainDispatcherApplication"] = OneAtATime
    server.main()
