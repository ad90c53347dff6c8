"""Azure Storage on this machine: the program `azurite-blob`, behind a proxy that knows its name."""

import asyncio
import base64
import contextlib
import itertools
import os
from collections.abc import Iterator, Sequence
from email.utils import formatdate
from pathlib import Path

from nigari.clouds.azure import shared_key_headers
from nigari.net.client import Client
from nigari.net.settings import read_settings
from tests.net_world.certificates import Authority
from tests.net_world.latency import Distance
from tests.net_world.programs import free_port, serving
from tests.net_world.server import Proxy, json_answer
from tests.net_world.server import serving as serving_http
from tests.real import program

ACCOUNT = "states1"
KEY = base64.b64encode(b"k" * 64).decode()
HOST = f"{ACCOUNT}.blob.core.windows.net"
_NUMBERS = itertools.count(1)


class Azurite:
    """A running server."""

    def __init__(
        self, distance: Distance, proxy: str, certificates: Path, certificate: Path
    ) -> None:
        self.distance = distance
        self.certificate = certificate
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
def with_metadata(directory: Path) -> Iterator[Azurite]:
    """A server of an Azure of one's own, whose names only a host of metadata knows."""
    host, suffix = "metadata.example.com", "storage.example.com"
    endpoints = {
        "authentication": {
            "audiences": ["https://manager.example.com/"],
            "loginEndpoint": "https://login.example.com/",
        },
        "resourceManager": "https://manager.example.com/",
        "suffixes": {"storage": suffix},
    }
    name = f"{ACCOUNT}.blob.{suffix}"
    with running(directory, names=(HOST, host, name)) as server:
        certificate = server.certificate
        with serving_http(lambda _: json_answer(endpoints), certificate) as metadata:
            ports = {name: server.distance.port, HOST: server.distance.port, host: metadata.port}
            with Proxy(ports) as proxy:
                server.environ |= {"HTTPS_PROXY": proxy.url, "ARM_METADATA_HOST": host}
                yield server


@contextlib.contextmanager
def running(
    directory: Path, delay: float = 0.0, names: Sequence[str] = (HOST,)
) -> Iterator[Azurite]:
    """A server of its own, without anything in it; `delay` are the seconds of a round trip."""
    authority = Authority(directory)
    certificate = authority.certificate([*names])
    port = free_port()
    command = [str(program("azurite-blob")), "--blobHost", "127.0.0.1", "--blobPort", str(port)]
    command += ["--location", str(directory / "blobs"), "--skipApiVersionCheck", "--silent"]
    environ = {**os.environ, "AZURITE_ACCOUNTS": f"{ACCOUNT}:{KEY}"}
    with (
        serving(command, port, environ),
        Distance(port, delay, certificate=certificate) as distance,
        Proxy({HOST: distance.port}) as proxy,
    ):
        yield Azurite(distance, proxy.url, authority.path, certificate)
