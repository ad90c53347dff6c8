"""An ssh server as a process of its own: `git-upload-pack` for whoever has the key.

Its arguments are the directory of the repositories and one for keys, where it writes `key` and
`known_hosts`. It prints its port, and ends with its standard input.
"""

import asyncio
import shlex
import subprocess
import sys
from pathlib import Path

import asyncssh


async def main(root: Path, directory: Path) -> None:
    key, host = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    allowed = directory / "authorized_keys"
    allowed.write_bytes(key.export_public_key())

    async def serve(process: asyncssh.SSHServerProcess[bytes]) -> None:
        name, path = shlex.split(process.command or "")
        assert name == "git-upload-pack"
        ran = await asyncio.create_subprocess_exec(
            "git",
            "upload-pack",
            str(root / path.lstrip("/")),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert ran.stdin is not None
        await process.redirect(ran.stdin, ran.stdout, ran.stderr)
        process.exit(await ran.wait())

    server = await asyncssh.listen(
        "127.0.0.1",
        0,
        server_host_keys=[host],
        authorized_client_keys=str(allowed),
        process_factory=serve,
        encoding=None,
    )
    private = directory / "key"
    private.write_bytes(key.export_private_key("openssh"))
    private.chmod(0o600)
    known = f"[127.0.0.1]:{server.get_port()} {host.export_public_key().decode()}"
    (directory / "known_hosts").write_text(known)
    sys.stdout.write(f"{server.get_port()}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
