"""Copying to another host with its `scp` program, in the protocol that it speaks with a peer.

Files are sent as readable by all and writable by their owner, whatever they are here.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from nigari.apply.provisioners.provisioner import Machine, ProvisionerFailure

if TYPE_CHECKING:
    from asyncssh import SSHClientConnection, SSHClientProcess

_PIECE: Final = 1 << 16
_NOT_FOUND: Final = 127


async def put_content(connection: SSHClientConnection, content: bytes, path: str) -> None:
    """Make a file with a content."""
    await _put_file(connection, len(content), iter((content,)), path)


async def put(connection: SSHClientConnection, source: str, path: str, machine: Machine) -> None:
    """Copy a file, or a directory into another; with a slash at its end, only what is in it."""
    found = _expanded(source, machine)
    if not _is_directory(found):
        await _put_file(connection, *_opened(found), path)
        return
    async with await _receiver(connection, "-rt", path) as process:
        sender = _Sender(process)
        await sender.confirmed()
        # As with rsync and in OpenTofu: a slash at the end means the contents of the
        # directory.
        if source.endswith("/"):
            await sender.entries(found)
        else:
            await sender.directory(_name(found), found)
        await sender.end()


async def _put_file(
    connection: SSHClientConnection, size: int, pieces: Iterator[bytes], path: str
) -> None:
    target = PurePosixPath(path)
    async with await _receiver(connection, "-t", str(target.parent)) as process:
        sender = _Sender(process)
        await sender.confirmed()
        await sender.file(target.name, size, pieces)
        await sender.end()


async def _receiver(
    connection: SSHClientConnection, flags: str, path: str
) -> SSHClientProcess[bytes]:
    command = f"scp {flags} {shlex.quote(path)}"
    return await connection.create_process(command, encoding=None, request_pty=False)


class _Sender:
    """This side of the conversation: every step is confirmed by the other with a zero byte."""

    def __init__(self, process: SSHClientProcess[bytes]) -> None:
        self._process = process

    async def confirmed(self) -> None:
        answer = await self._process.stdout.read(1)
        if answer == b"\0":
            return
        said = b"" if not answer else await self._process.stdout.readline()
        await self._fail(said)

    async def _fail(self, said: bytes) -> None:
        if said:
            raise ProvisionerFailure(f"Cannot copy the file: {said.decode().strip()}.")
        done = await self._process.wait()
        if done.exit_status == _NOT_FOUND:
            raise ProvisionerFailure(
                "Copying files requires the scp program, which the host does not have."
            )
        stderr = done.stderr
        text = stderr.decode() if isinstance(stderr, bytes) else ""
        raise ProvisionerFailure(
            f"Cannot copy the file: scp exited with status {done.exit_status}. {text.strip()}"
        )

    async def _tell(self, line: str) -> None:
        self._process.stdin.write(f"{line}\n".encode())
        await self.confirmed()

    async def file(self, name: str, size: int, pieces: Iterator[bytes]) -> None:
        # scp protocol: C starts a file with its mode and size, D and E open and close a
        # directory.
        await self._tell(f"C0644 {size} {name}")
        for piece in pieces:
            self._process.stdin.write(piece)
            await self._process.stdin.drain()
        self._process.stdin.write(b"\0")
        await self.confirmed()

    async def directory(self, name: str, folder: Path) -> None:
        await self._tell(f"D0755 0 {name}")
        await self.entries(folder)
        await self._tell("E")

    async def entries(self, folder: Path) -> None:
        for entry in _entries(folder):
            if _is_directory(entry):
                await self.directory(entry.name, entry)
            else:
                await self.file(entry.name, *_opened(entry))

    async def end(self) -> None:
        self._process.stdin.write_eof()
        done = await self._process.wait()
        if done.exit_status:
            raise ProvisionerFailure(f"scp exited with status {done.exit_status}.")


# -- what is on this side -------------------------------------------------------------------------


def _expanded(source: str, machine: Machine) -> Path:
    return Path(machine.at(str(Path(source).expanduser())))


def _is_directory(path: Path) -> bool:
    return path.is_dir()


def _name(folder: Path) -> str:
    return folder.resolve().name


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def _opened(path: Path) -> tuple[int, Iterator[bytes]]:
    """Return a file's size and its content in chunks."""
    return path.stat().st_size, _pieces(path)


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece
