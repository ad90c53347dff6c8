"""`remote-exec` and `file`: scripts and files that are copied to a host, and run there."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path

from nigari.apply.provisioners.connection import connection_from
from nigari.apply.provisioners.provisioner import (
    Arguments,
    Machine,
    ProvisionerFailure,
    Say,
    text_of,
)
from nigari.apply.provisioners.scp import put, put_content
from nigari.apply.provisioners.ssh import SshSession, open_session
from nigari.cty.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_SHELL: Final = b"#!/bin/sh\n"


async def run_remote(
    arguments: Arguments, way: Arguments | None, machine: Machine, say: Say
) -> None:
    """Copy scripts to a host and run them, one after the other."""
    scripts = _scripts(arguments, machine)

    async def run(session: SshSession) -> None:
        for script in scripts:
            await _run_script(session, script, say)

    await _connected(way, machine, say, run)


async def copy_files(
    arguments: Arguments, way: Arguments | None, machine: Machine, say: Say
) -> None:
    """Copy a file, a directory or some content to a host."""
    destination = text_of(arguments["destination"])
    if not destination:
        raise ProvisionerFailure("The destination is empty.")
    content, source = arguments["content"], text_of(arguments["source"])

    async def copy(session: SshSession) -> None:
        # An empty content is content too: it makes an empty file.
        if isinstance(content.data, str):
            await put_content(session.connection, content.data.encode(), destination)
        else:
            await put(session.connection, source, destination, machine)

    await _connected(way, machine, _ignored, copy)


async def _connected(
    way: Arguments | None,
    machine: Machine,
    say: Say,
    work: Callable[[SshSession], Coroutine[None, None, None]],
) -> None:
    """Log in, do something, and log out."""
    if way is None:
        raise ProvisionerFailure(
            "There is no connection block, so the host is not known. Add one to the provisioner "
            "or to the resource."
        )
    settings = connection_from(way, machine.environ)
    from asyncssh import Error

    async with AsyncExitStack() as stack:
        session = await open_session(settings, say, stack)
        try:
            await work(session)
        except (Error, OSError) as error:
            detail = getattr(error, "strerror", None) or error
            raise ProvisionerFailure(f"{detail}.") from None


async def _run_script(session: SshSession, script: bytes, say: Say) -> None:
    path = session.script_path()
    if session.is_unix and not script.startswith(b"#!"):
        # OpenTofu adds a shell to scripts without "#!", since the kernel refuses to run
        # those.
        script = _SHELL + script
    await put_content(session.connection, script, path)
    # OpenTofu 1.13: the path is a name, even if it has characters that mean more to a shell.
    command = shlex.quote(path) if session.is_unix else path
    if session.is_unix and await session.execute(f"chmod 0777 {command}", _ignored):
        raise ProvisionerFailure(f"Cannot make the script {path} executable.")
    status = await session.execute(command, say)
    if status:
        raise ProvisionerFailure(
            f"A script on {session.settings.target.host} exited with {status}."
        )
    # The script may hold secrets and is no longer needed.
    await put_content(session.connection, b"", path)


def _scripts(arguments: Arguments, machine: Machine) -> list[bytes]:
    inline = arguments["inline"]
    if not inline.is_null:
        lines = [_filled(each, "inline") for each in inline.sequence()]
        # All inline commands are one script, so that they share a directory and
        # variables.
        return ["".join(f"{line}\n" for line in lines).encode()]
    if not arguments["script"].is_null:
        return [_read(_filled(arguments["script"], "script"), machine)]
    if arguments["scripts"].is_null:
        raise ProvisionerFailure("One of inline, script and scripts must be set.")
    return [_read(_filled(each, "scripts"), machine) for each in arguments["scripts"].sequence()]


def _filled(value: Value, name: str) -> str:
    text = text_of(value)
    if not text:
        raise ProvisionerFailure(f"{name} contains a null or an empty string.")
    return text


def _read(path: str, machine: Machine) -> bytes:
    try:
        return Path(machine.at(path)).read_bytes()
    except OSError as error:
        raise ProvisionerFailure(f"Cannot read the script {path}: {error.strerror}.") from None


def _ignored(_: str) -> None:
    """Ignore an output line."""
