"""A host on this machine that one can log in to over ssh, in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import threading
from pathlib import Path
from types import TracebackType

import asyncssh

USER = "somebody"
PASSWORD = "hush"


class _Doorman(asyncssh.SSHServer):
    def __init__(self, host: SshHost) -> None:
        self._host = host

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._host.connections += 1

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == (USER, PASSWORD)

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username == USER and key == self._host.user_key.convert_to_public()

    def validate_ca_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        known = self._host.authority
        return known is not None and key == known.convert_to_public()

    def connection_requested(
        self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
    ) -> bool:
        self._host.tunnels.append(dest_port)
        return True


class SshHost:
    """Runs commands in a real shell, and takes real files."""

    def __init__(self) -> None:
        self.host_key = asyncssh.generate_private_key("ssh-ed25519")
        self.user_key = asyncssh.generate_private_key("ssh-ed25519")
        self.authority: asyncssh.SSHKey | None = None
        """Whose certificates are as good as the user's key."""
        self.port = 0
        """Where it listens; zero for any free port."""
        self.connections = 0
        self.tunnels: list[int] = []
        self.commands: list[str] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncssh.SSHAcceptor | None = None

    @property
    def public_host_key(self) -> str:
        return self.host_key.export_public_key().decode().strip()

    @property
    def private_user_key(self) -> str:
        return self.user_key.export_private_key("pkcs8-pem").decode()

    def __enter__(self) -> SshHost:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _listen(self) -> None:
        self._server = await asyncssh.listen(
            "127.0.0.1",
            self.port,
            server_factory=lambda: _Doorman(self),
            server_host_keys=[self.host_key],
            process_factory=self._process,
            sftp_factory=True,
            allow_scp=shutil.which("scp") is None,
            encoding=None,
        )
        self.port = self._server.get_port()

    async def _close(self) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    async def _process(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        assert process.command is not None
        self.commands.append(process.command)
        pipe = asyncio.subprocess.PIPE
        shell = await asyncio.create_subprocess_shell(
            process.command, stdin=pipe, stdout=pipe, stderr=pipe
        )
        assert shell.stdin is not None
        assert shell.stdout is not None
        assert shell.stderr is not None
        feeding = asyncio.create_task(self._feed(process, shell.stdin))
        await asyncio.gather(
            self._pass_on(shell.stdout, process.stdout), self._pass_on(shell.stderr, process.stderr)
        )
        feeding.cancel()
        await asyncio.wait((feeding,))
        process.exit(await shell.wait())

    async def _pass_on(
        self, source: asyncio.StreamReader, target: asyncssh.SSHWriter[bytes]
    ) -> None:
        while data := await source.read(65536):
            target.write(data)

    async def _feed(
        self, process: asyncssh.SSHServerProcess[bytes], stdin: asyncio.StreamWriter
    ) -> None:
        with contextlib.suppress(OSError, asyncssh.Error):
            while data := await process.stdin.read(65536):
                stdin.write(data)
                await stdin.drain()
        stdin.close()


def login(server: SshHost, folder: Path, /, **more: str) -> str:
    """A `connection` block for a host; arguments are given as they are written."""
    arguments = {
        "host": '"127.0.0.1"',
        "port": str(server.port),
        "user": f'"{USER}"',
        "password": f'"{PASSWORD}"',
        "agent": "false",
        "timeout": '"5s"',
        "script_path": f'"{folder}/script_%RAND%.sh"',
        **more,
    }
    lines = "\n".join(f"    {name} = {text}" for name, text in arguments.items() if text)
    return f"  connection {{\n{lines}\n  }}\n"
