"""Ends the process, as `kill -9` would, just before the step that `KILLED_AT` counts to, or in the
middle of it. Steps are whatever writes to files or sends to a server. They are listed in the file
that `KILLED_LOG` names.
"""

import builtins
import itertools
import os
import signal
import socket
from collections.abc import Callable

_AT = int(os.environ.get("KILLED_AT", "0"))
_IS_HALF = os.environ.get("KILLED_HALFWAY") == "1"
_LOG = os.environ.get("KILLED_LOG", "")
_open = builtins.open
_numbers = itertools.count(1)


def _step(what: str, halfway: Callable[[], object] | None = None) -> None:
    if _LOG:
        with _open(_LOG, "a", encoding="utf-8") as log:
            log.write(f"{what}\n")
    if next(_numbers) == _AT:
        if _IS_HALF and halfway is not None:
            halfway()
        os.kill(os.getpid(), signal.SIGKILL)


def _writing(place: object, name: str) -> None:
    inner = getattr(place, name)

    def outer(to: object, data: bytes, *more: object) -> object:
        if not isinstance(to, int) or to > 2:
            _step(name, lambda: inner(to, bytes(data)[: len(data) // 2], *more))
        return inner(to, data, *more)

    setattr(place, name, outer)


def _changing(name: str) -> None:
    inner = getattr(os, name)

    def outer(*args: object, **named: object) -> object:
        if name != "unlink" or os.path.lexists(args[0]):  # type: ignore[arg-type] # a path
            _step(name)
        return inner(*args, **named)

    setattr(os, name, outer)


for _name in ("write", "pwrite"):
    _writing(os, _name)
_writing(socket.socket, "send")
for _name in ("replace", "rename", "link", "unlink", "mkdir", "rmdir", "ftruncate", "truncate"):
    _changing(_name)
_os_open = os.open


def _opening(path: str, flags: int, *more: int, **named: int) -> int:
    if flags & (os.O_CREAT | os.O_TRUNC):
        _step("open")
    return _os_open(path, flags, *more, **named)


setattr(os, "open", _opening)  # noqa: B010 - its type is another one
