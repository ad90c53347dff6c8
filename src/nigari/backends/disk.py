"""Files on a disk: where they lie beside each other, writing them whole, having them synced.

All functions raise `OSError` when the system refuses. What is in the files is unknown here.
"""

from __future__ import annotations

import errno
import os
import stat
import sys

from nigari import system_calls
from nigari.system_calls import NOT_INHERITED, read_at


def below(directory: str | os.PathLike[str], *names: str) -> str:
    """The path of something in a directory, as short as a person would write it."""
    return os.path.join(os.fspath(directory), *names).removeprefix("./")


def hidden_beside(path: str, suffix: str) -> str:
    """The path of a hidden file that belongs to another."""
    directory, name = os.path.split(path)
    return os.path.join(directory, f".{name.removeprefix('.')}{suffix}")


def write_beside(
    path: str | os.PathLike[str],
    content: bytes,
    mode: int = 0o666,
    survives_power_loss: bool = True,
) -> None:
    """Make or replace a file that has no lock, all of it or none."""
    path = os.fspath(path)
    if os.path.exists(path) and not os.path.isfile(path):
        # Nothing can take the place of a device, such as /dev/null.
        overwrite_file(path, content, mode)
        return
    make_directories(directory_of(path))
    unfinished = part_of(path)
    # What a killed process has left would keep its mode.
    discard(unfinished)
    try:
        _write_file(unfinished, content, mode, survives_power_loss)
        os.replace(unfinished, path)
    except BaseException:
        discard(unfinished)
        raise


def write_unused(path: str | os.PathLike[str], content: bytes, mode: int = 0o666) -> str:
    """Write a file where there is none, all of it or nothing but an empty one, and say where it is:
    under this name or, where that is taken, under the first that is free with a number in it.
    """
    free, number = os.fspath(path), 0
    make_directories(directory_of(free))
    stem, suffix = os.path.splitext(free)
    while not _is_claimed(free, mode):
        number += 1
        free = f"{stem}.{number}{suffix}"
    try:
        write_beside(free, content, mode)
    except BaseException:
        discard(free)
        raise
    return free


def _is_claimed(path: str, mode: int) -> bool:
    """Make an empty file that is ours, unless there is something of that name."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOT_INHERITED, mode))
    except FileExistsError:
        return False
    return True


def make_directories(path: str) -> None:
    """Make a directory and those above it, where they are missing."""
    if not os.path.isdir(path):
        from nigari.packages.content import whole_file

        whole_file.make_directories(path)


def directory_of(path: str) -> str:
    """The directory that a file is in."""
    return os.path.dirname(path) or "."


def part_of(path: str) -> str:
    """The path of a file that is only partly written."""
    return hidden_beside(path, ".part")


def discard(path: str) -> None:
    """Remove a file, if it is there and can be."""
    try:
        os.unlink(path)
    except OSError:
        return


def bytes_of(path: str) -> bytes:
    """The content of a file; nothing if there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def content_of(descriptor: int) -> bytes:
    """The whole content of an open file."""
    pieces = []
    offset = 0
    while piece := read_at(descriptor, 1 << 24, offset):
        pieces.append(piece)
        offset += len(piece)
    return b"".join(pieces)


def write_at(descriptor: int, content: bytes | memoryview, offset: int, sync: bool = False) -> None:
    """Write all of the content at an offset."""
    view = memoryview(content)
    while view:
        written = system_calls.write_at(descriptor, view, offset)
        view = view[written:]
        offset += written
    if sync:
        os.fsync(descriptor)


def _write_file(path: str, content: bytes, mode: int, sync: bool = True) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NOT_INHERITED
    descriptor = os.open(path, flags, mode)
    try:
        write_at(descriptor, content, 0, sync)
    finally:
        os.close(descriptor)


def overwrite_file(path: str, content: bytes, mode: int) -> None:
    """Write a file over what it was, which costs the system less than a new file does."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | NOT_INHERITED, mode)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            write_at(descriptor, content, 0)
            os.ftruncate(descriptor, len(content))
            return
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
    finally:
        os.close(descriptor)


def sync_directory(path: str) -> None:
    """Have the names in a directory survive a power failure."""
    if sys.platform != "win32":  # directories cannot be opened there
        descriptor = os.open(path, os.O_RDONLY | NOT_INHERITED)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # not all file systems can
                raise
        finally:
            os.close(descriptor)


def reserve(descriptor: int, length: int, size: int) -> None:
    """Make sure that the disk has room, so that the writing itself cannot run out of it."""
    if length <= size or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(descriptor, 0, length)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # not all file systems can
            raise
