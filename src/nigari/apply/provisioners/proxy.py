"""Reaching a host through a web proxy, which is asked to CONNECT."""

from __future__ import annotations

import asyncio
import base64
import socket

from nigari.apply.provisioners.connection import Proxy
from nigari.apply.provisioners.provisioner import ProvisionerFailure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_LONGEST_HEAD: Final = 1 << 14


async def proxied_socket(proxy: Proxy, host: str, port: int) -> socket.socket:
    """A socket that is connected to a host."""
    if proxy.scheme == "https":
        raise ProvisionerFailure(
            "Encrypted connections to proxies are not supported: set proxy_scheme to http."
        )
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(proxy.host, proxy.port, type=socket.SOCK_STREAM)
    family, kind, protocol, _, address = found[0]
    opened = socket.socket(family, kind, protocol)
    opened.setblocking(False)
    try:
        await loop.sock_connect(opened, address)
        await loop.sock_sendall(opened, _request(proxy, host, port))
        status = await _status(opened)
    except BaseException:
        opened.close()
        raise
    if status != 200:
        opened.close()
        raise OSError(0, f"the proxy {proxy.host} answered with status {status}")
    return opened


def _request(proxy: Proxy, host: str, port: int) -> bytes:
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}"]
    if proxy.user:
        secret = base64.b64encode(f"{proxy.user}:{proxy.password}".encode()).decode()
        lines.append(f"Proxy-Authorization: Basic {secret}")
    return "\r\n".join([*lines, "", ""]).encode()


async def _status(opened: socket.socket) -> int:
    """The status of the answer, of which not one byte more than its head is read."""
    loop = asyncio.get_running_loop()
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = await loop.sock_recv(opened, 1)
        if not byte or len(head) > _LONGEST_HEAD:
            raise OSError(0, "the proxy sent an invalid answer")
        head += byte
    words = head.split(None, 2)
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
