"""Fork servers: instant start of providers written in Python, for programs that start them
repeatedly.

Starting such a provider means starting Python and importing its libraries, which takes longer than
most plans. A fork server is the provider's own program, started once: it imports everything and
waits. On request it forks; the child gets the directory, environment and outputs of a separate
program, and is an ordinary plugin.

A program that does not support fork servers, or has threads, is started normally.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence

from nigari.providers import handshake
from nigari.providers.guard import GuardedProgram, socket_directory, start_guarded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Final, NoReturn


VARIABLE: Final = "NIGARI_FORK_SERVER"
"""Names the socket on which a fork server listens."""
_GREETING: Final = b"nigari-fork-server|1\n"
_SCRIPT: Final = b"#!"
_MOST: Final = 1 << 20
_WAIT: Final = 30.0
"""Seconds that a fork server may take to be ready."""


class ForkServers:
    """The fork servers of this process, one for each program."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], _ForkServer | None] = {}
        self._lock = threading.Lock()

    def start(
        self, command: tuple[str, ...], environment: Mapping[str, str], directory: str
    ) -> ForkedProgram | None:
        """Start a plugin from a fork server; None if its program does not support it."""
        with self._lock:
            if command not in self._known:
                self._known[command] = _open(command, environment)
            server = self._known[command]
        if server is None:
            return None
        try:
            return server.fork(environment, directory or os.getcwd())
        except OSError:
            with self._lock:
                self._known[command] = None
            return None

    def close(self) -> None:
        """Terminate all fork servers."""
        for server in self._known.values():
            if server is not None:
                server.close()
        self._known.clear()


class ForkedProgram:
    """A plugin from a fork server, with the interface of a `GuardedProgram`."""

    def __init__(
        self, outputs: tuple[IO[bytes], IO[bytes]], link: socket.socket, life: int, directory: str
    ) -> None:
        self.outputs: tuple[IO[bytes], IO[bytes]] = outputs
        self.directory: str = directory
        self._link = link
        self._life = life
        self._status: int | None = None

    def wait(self) -> int:
        """Wait for the program to end, and return its exit status."""
        if self._status is None:
            text = b""
            with contextlib.suppress(OSError):
                while not text.endswith(b"\n") and (part := self._link.recv(64)):
                    text += part
            self._status = int(text or b"-9")
            self._link.close()
        return self._status

    def kill(self) -> None:
        """Kill the program and its children, and remove its directory."""
        if self._life >= 0:
            # Processes that wait for this pipe end with it.
            os.close(self._life)
            self._life = -1
        self.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


class _ForkServer:
    """The client of a fork server."""

    def __init__(self, program: GuardedProgram, path: str) -> None:
        self._program = program
        self._path = path

    def fork(self, environment: Mapping[str, str], directory: str) -> ForkedProgram:
        """Fork a new plugin."""
        sockets = socket_directory()
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        pipes = [os.pipe() for _ in range(3)]
        (out, their_out), (err, their_err), (their_life, life) = pipes
        try:
            link.connect(self._path)
            wanted = {
                "directory": directory,
                "environment": handshake.environment(environment, sockets),
            }
            data = json.dumps(wanted).encode()
            socket.send_fds(
                link, [len(data).to_bytes(8, "big")], [their_out, their_err, their_life]
            )
            link.sendall(data)
        except BaseException:
            for each in (out, err, life):
                os.close(each)
            link.close()
            shutil.rmtree(sockets, ignore_errors=True)
            raise
        finally:
            for each in (their_out, their_err, their_life):
                os.close(each)
        return ForkedProgram((os.fdopen(out, "rb"), os.fdopen(err, "rb")), link, life, sockets)

    def close(self) -> None:
        self._program.kill()
        for each in self._program.outputs:
            each.close()
        shutil.rmtree(os.path.dirname(self._path), ignore_errors=True)


def _open(command: tuple[str, ...], environment: Mapping[str, str]) -> _ForkServer | None:
    """Start the fork server of a program; None if the program does not announce one."""
    try:
        with open(command[0], "rb") as file:
            if file.read(len(_SCRIPT)) != _SCRIPT:
                return None
        directory = tempfile.mkdtemp(prefix="nigari-")
        path = os.path.join(directory, "server")
        program = start_guarded(command, {**environment, VARIABLE: path})
    except OSError:
        return None
    out, err = program.outputs
    with selectors.DefaultSelector() as ready:
        ready.register(out, selectors.EVENT_READ)
        greeting = out.readline() if ready.select(_WAIT) else b""
    if greeting != _GREETING:
        program.kill()
        shutil.rmtree(directory, ignore_errors=True)
        out.close()
        err.close()
        return None
    return _ForkServer(program, path)


_servers: ForkServers | None = None


def use_fork_servers() -> ForkServers:
    """Enable fork servers for all providers that this process starts from now on."""
    global _servers  # noqa: PLW0603 - a setting of the process, made once by its main function
    _servers = ForkServers()
    return _servers


def from_fork_server(
    command: tuple[str, ...], environment: Mapping[str, str], directory: str
) -> ForkedProgram | None:
    """Start a plugin from a fork server, if they are enabled and the program supports it."""
    return None if _servers is None else _servers.start(command, environment, directory)


# -- in the provider's program ------------------------------------------------------------------


def be_fork_server(path: str, prepare: Callable[[], object], serve: Callable[[], object]) -> bool:
    """Run as a fork server until the client ends; call `serve` in each child.

    Returns False if the program has threads, which a fork would not copy.
    """
    prepare()
    if threading.active_count() > 1:
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        listener.listen()
        os.write(1, _GREETING)
        _serve_requests(listener, serve)
    return True


def _serve_requests(listener: socket.socket, serve: Callable[[], object]) -> None:
    links: dict[int, socket.socket] = {}
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes)
    with selectors.DefaultSelector() as ready:
        ready.register(listener, selectors.EVENT_READ)
        ready.register(woken, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                if key.fileobj is listener:
                    link, _ = listener.accept()
                    child = _fork(link, [listener, *links.values()], serve)
                    links[child] = link
                else:
                    os.read(woken, 4096)
                    _report_exits(links)


def _report_exits(links: dict[int, socket.socket]) -> None:
    """Report the exit status of ended plugins to their clients."""
    while links:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            return
        link = links.pop(child, None)
        if link is not None:
            with link, contextlib.suppress(OSError):
                link.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _fork(link: socket.socket, others: Sequence[socket.socket], serve: Callable[[], object]) -> int:
    """Fork a child with the requested directory and environment; it closes the files of its
    siblings.
    """
    head, files, _, _ = socket.recv_fds(link, 8, 3)
    data = b""
    size = min(int.from_bytes(head, "big"), _MOST)
    while len(data) < size:
        data += link.recv(size - len(data))
    child = os.fork()
    if child == 0:
        for each in (link, *others):
            each.close()
        _run_plugin(json.loads(data), files, serve)
    for file in files:
        os.close(file)
    return child


def _run_plugin(
    wanted: Mapping[str, object], files: list[int], serve: Callable[[], object]
) -> NoReturn:
    """Run as a plugin in the child, as if started separately."""
    status = 1
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        out, err, life = files
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.close(out)
        os.close(err)
        environment = wanted["environment"]
        assert isinstance(environment, dict)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(str(wanted["directory"]))
        threading.Thread(target=_end_with, args=(life,), daemon=True).start()
        serve()
        status = 0
    except Exception:  # noqa: BLE001 - any failure of the provider's own code
        # `os._exit` prints no traceback, which is the only explanation of a failed start.
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    finally:
        os._exit(status)


def _end_with(life: int) -> None:
    """Kill this process group when the client's pipe closes."""
    os.read(life, 1)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(0, signal.SIGKILL)
