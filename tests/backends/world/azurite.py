"""Azure Storage on this machine: the program `azurite-blob`, behind a proxy that knows its name."""

import asyncio
import base64
import contextlib
import itertools
import os
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

from nigari.clouds.azure import shared_key_headers
from nigari.net.client import Client
from nigari.net.settings import read_settings
from tests.net_world.certificates import Authority
from tests.net_world.latency import Distance
from tests.net_world.programs import free_port, serving
from tests.net_world.server import Proxy
from tests.real import program

ACCOUNT = "states1"
KEY = base64.b64encode(b"k" * 64).decode()
HOST = f"{ACCOUNT}.blob.core.windows.net"
_NUMBERS = itertools.count(1)


class Azurite:
    """A running server."""

    def __init__(self, distance: Distance, proxy: str, certificates: Path) -> None:
        self.distance = distance
        self.environ = {
            "HTTPS_PROXY": proxy,
            "SSL_CERT_FILE": str(certificates),
            "ARM_ACCESS_KEY": KEY,
        }

    def container(self) -> str:
        """The name of a new container."""
        name = f"states-{next(_NUMBERS)}"
        assert self._ask("PUT", f"{name}?restype=container") == 201
        return name

    def delete(self, container: str) -> None:
        """Delete the state of the default workspace, if there is one."""
        assert self._ask("DELETE", f"{container}/a/state") in (202, 404)

    def _ask(self, method: str, path: str) -> int:
        async def ask() -> int:
            url = f"https://{HOST}/{path}"
            headers = {"x-ms-version": "2021-12-02", "x-ms-date": formatdate(usegmt=True)}
            signed = shared_key_headers(method, url, headers, ACCOUNT, KEY)
            async with Client(read_settings(self.environ)) as client:
                return (await client.request(method, url, headers=signed, body=b"")).status

        return asyncio.run(ask())

    def block(self, container: str) -> str:
        lines = {"storage_account_name": ACCOUNT, "container_name": container, "key": "a/state"}
        body = "".join(f'    {name} = "{value}"\n' for name, value in lines.items())
        return f'terraform {{\n  backend "azurerm" {{\n{body}  }}\n}}\n'


@contextlib.contextmanager
def running(directory: Path, delay: float = 0.0) -> Iterator[Azurite]:
    """A server of its own, without anything in it; `delay` are the seconds of a round trip."""
    authority = Authority(directory)
    port = free_port()
    command = [str(program("azurite-blob")), "--blobHost", "127.0.0.1", "--blobPort", str(port)]
    command += ["--location", str(directory / "blobs"), "--skipApiVersionCheck", "--silent"]
    environ = {**os.environ, "AZURITE_ACCOUNTS": f"{ACCOUNT}:{KEY}"}
    with (
        serving(command, port, environ),
        Distance(port, delay, certificate=authority.certificate([HOST])) as distance,
        Proxy({HOST: distance.port}) as proxy,
    ):
        yield Azurite(distance, proxy.url, authority.path)
