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
from tests.net_world.programs import free_port, serving
from tests.net_world.server import Proxy
from tests.real import program

ACCOUNT = "states1"
KEY = base64.b64encode(b"k" * 64).decode()
HOST = f"{ACCOUNT}.blob.core.windows.net"
_NUMBERS = itertools.count(1)


class Azurite:
    """A running server."""

    def __init__(self, proxy: str, certificates: Path) -> None:
        self.environ = {
            "HTTPS_PROXY": proxy,
            "SSL_CERT_FILE": str(certificates),
            "ARM_ACCESS_KEY": KEY,
        }

    def container(self) -> str:
        """The name of a new container."""
        name = f"states-{next(_NUMBERS)}"

        async def create() -> None:
            url = f"https://{HOST}/{name}?restype=container"
            headers = {"x-ms-version": "2021-12-02", "x-ms-date": formatdate(usegmt=True)}
            signed = shared_key_headers("PUT", url, headers, ACCOUNT, KEY)
            async with Client(read_settings(self.environ)) as client:
                (await client.request("PUT", url, headers=signed, body=b"")).require(201)

        asyncio.run(create())
        return name

    def block(self, container: str) -> str:
        lines = {"storage_account_name": ACCOUNT, "container_name": container, "key": "a/state"}
        body = "".join(f'    {name} = "{value}"\n' for name, value in lines.items())
        return f'terraform {{\n  backend "azurerm" {{\n{body}  }}\n}}\n'


@contextlib.contextmanager
def running(directory: Path) -> Iterator[Azurite]:
    """A server of its own, without anything in it."""
    authority = Authority(directory)
    certificate = authority.certificate([HOST])
    port = free_port()
    command = [str(program("azurite-blob")), "--blobHost", "127.0.0.1", "--blobPort", str(port)]
    command += ["--location", str(directory / "blobs"), "--cert", str(certificate)]
    command += ["--key", str(certificate), "--skipApiVersionCheck", "--silent"]
    environ = {**os.environ, "AZURITE_ACCOUNTS": f"{ACCOUNT}:{KEY}"}
    with serving(command, port, environ), Proxy({HOST: port}) as proxy:
        yield Azurite(proxy.url, authority.path)
