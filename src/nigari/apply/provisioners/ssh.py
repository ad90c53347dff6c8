"""Connecting to a host over ssh, through a bastion or a proxy where the block says so.

Attempts are repeated until the timeout, since a new machine takes a while to answer. What runs on
the host is not known here.
"""

from __future__ import annotations

import asyncio
import getpass
import os
import secrets
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nigari.apply.provisioners.connection import UNIX, HostConnection, Login
from nigari.apply.provisioners.provisioner import ProvisionerFailure, Say
from nigari.apply.provisioners.proxy import proxied_socket

if TYPE_CHECKING:
    from asyncssh import SSHClientConnection, SSHKey, SSHKeyPair

_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 20.0
_KEEP_ALIVE: Final = 2.0
_MOST_UNANSWERED: Final = 60


class SshSession:
    """A host that one is logged in to."""

    def __init__(self, settings: HostConnection, connection: SSHClientConnection) -> None:
        self.settings = settings
        self.connection = connection

    @property
    def is_unix(self) -> bool:
        return self.settings.platform == UNIX

    def script_path(self) -> str:
        """Somewhere for a script."""
        return self.settings.script_path.replace("%RAND%", str(secrets.randbelow(1 << 31)))

    async def execute(self, command: str, say: Say) -> int:
        """Run a command there and tell what it prints; its exit status."""
        from asyncssh import PTY_ECHO, STDOUT

        options: dict[str, Any] = {}  # what asyncssh takes by keyword is not typed
        if self.is_unix:
            # OpenTofu requests a terminal on Unix, so that programs such as sudo can
            # be used; without echo, so that input is not repeated in the output.
            options = {"term_type": "xterm", "term_size": (80, 40), "term_modes": {PTY_ECHO: 0}}
        async with await self.connection.create_process(
            command, stderr=STDOUT, errors="replace", **options
        ) as process:
            async for line in process.stdout:
                say(str(line).rstrip("\r\n"))
            done = await process.wait()
        if done.exit_status is None:
            raise ProvisionerFailure("The connection was lost while the command was running.")
        return done.exit_status


async def open_session(settings: HostConnection, say: Say, stack: AsyncExitStack) -> SshSession:
    """Log in, trying again until the timeout: hosts that were just made take their time."""
    keys = await _keys(settings, stack)
    target, bastion = settings.target, settings.bastion
    say(f"Connecting to {target.user}@{target.host}, port {target.port}, over ssh")
    if bastion is not None:
        say(f"Through the bastion {bastion.user}@{bastion.host}, port {bastion.port}")
    deadline = time.monotonic() + settings.timeout
    pause = _FIRST_PAUSE
    while True:
        left = deadline - time.monotonic()
        try:
            async with asyncio.timeout(max(left, 0.001)):
                connection = await _connect(settings, keys, stack)
            say("Connected")
            return SshSession(settings, connection)
        except (OSError, TimeoutError, _ssh_error()) as error:
            if time.monotonic() + pause >= deadline:
                why = str(error) or "no answer"
                raise ProvisionerFailure(
                    f"Cannot connect to {target.host} within {settings.timeout:g} seconds. The "
                    f"last attempt failed: {why}."
                ) from None
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)


def _ssh_error() -> type[Exception]:
    from asyncssh import Error

    return Error


# -- keys -----------------------------------------------------------------------------------------


async def _keys(settings: HostConnection, stack: AsyncExitStack) -> list[SSHKeyPair]:
    """The keys that an agent has, the one that is asked for first."""
    if not settings.agent_socket:
        return []
    from asyncssh import connect_agent

    try:
        agent = await connect_agent(settings.agent_socket)
    except OSError as error:
        raise ProvisionerFailure(f"Cannot reach the ssh agent: {error.strerror}.") from None
    stack.push_async_callback(agent.wait_closed)
    stack.callback(agent.close)
    keys = list(await agent.get_keys())
    wanted = settings.agent_identity
    if wanted:
        public = _public_key(wanted)
        # OpenTofu moves the wanted identity to the front instead of using it alone:
        # servers close the connection after a few wrong keys.
        keys.sort(key=lambda each: _distance(each, wanted, public))
    return keys


def _distance(key: SSHKeyPair, wanted: str, public: bytes | None) -> int:
    comment = key.get_comment() or ""
    if comment == wanted or (public is not None and key.public_data == public):
        return 0
    return 1 if comment.endswith(wanted) else 2


def _public_key(name: str) -> bytes | None:
    """The public key in a file, or beside a file, of that name."""
    from asyncssh import KeyImportError, read_public_key

    for path in (Path(f"{name}.pub"), Path(name)):
        try:
            return read_public_key(path).public_data
        except (OSError, KeyImportError):
            continue
    return None


def _private_key(login: Login) -> list[Any]:
    """The key of a login, with its certificate; asyncssh takes either form, untyped."""
    if not login.private_key:
        return []
    from asyncssh import (
        KeyEncryptionError,
        KeyImportError,
        import_certificate,
        import_private_key,
    )

    try:
        key = import_private_key(login.private_key)
    except (KeyEncryptionError, KeyImportError) as error:
        what = "is encrypted; decrypt it first" if "ncrypt" in str(error) else "cannot be read"
        raise ProvisionerFailure(f"The private key of the connection {what}.") from None
    if not login.certificate:
        return [key]
    try:
        return [(key, import_certificate(login.certificate))]
    except KeyImportError as error:
        raise ProvisionerFailure(f"The certificate cannot be used: {error}.") from None


# -- connecting -----------------------------------------------------------------------------------


async def _connect(
    settings: HostConnection, keys: list[SSHKeyPair], stack: AsyncExitStack
) -> SSHClientConnection:
    from asyncssh import connect

    _have_a_name()
    first = settings.bastion or settings.target
    way: dict[str, Any] = {}
    if settings.proxy is not None:
        way["sock"] = await proxied_socket(settings.proxy, first.host, first.port)
    connection = await connect(
        first.host, first.port, **_options(first, keys, settings.agent_socket), **way
    )
    stack.push_async_callback(connection.wait_closed)
    stack.callback(connection.close)
    if settings.bastion is None:
        return connection
    target = settings.target
    inner = await connect(
        target.host,
        target.port,
        tunnel=connection,
        **_options(target, keys, settings.agent_socket),
    )
    stack.push_async_callback(inner.wait_closed)
    stack.callback(inner.close)
    return inner


def _have_a_name() -> None:
    """Ensure a local user name, which some containers lack.

    asyncssh calls `getpass.getuser` before it reads the `username` option.
    """
    try:
        getpass.getuser()
    except (KeyError, OSError):
        os.environ["LOGNAME"] = "nobody"


def _options(login: Login, keys: list[SSHKeyPair], agent: str) -> dict[str, Any]:
    """Return the login options. They ignore the user's own ssh settings."""
    known = [*_private_key(login), *keys]
    return {
        # OpenTofu does not read ~/.ssh/config, so the same configuration must not depend
        # on it here.
        "config": None,
        "username": login.user,
        "password": login.password or None,
        "client_keys": known or None,
        "agent_path": None,
        "agent_forwarding": agent or False,
        # Without host_key, OpenTofu accepts any host: the keys of new machines are not
        # known beforehand.
        "known_hosts": _known_hosts(login),
        "keepalive_interval": _KEEP_ALIVE,
        "keepalive_count_max": _MOST_UNANSWERED,
    }


def _known_hosts(login: Login) -> tuple[list[SSHKey], ...] | None:
    """Return the accepted host keys: the given key, or certificates that it has signed."""
    if not login.host_key:
        return None
    from asyncssh import KeyImportError, import_public_key

    try:
        key = import_public_key(login.host_key)
    except KeyImportError as error:
        raise ProvisionerFailure(f"The host_key cannot be read: {error}.") from None
    return ([key], [key], [])
