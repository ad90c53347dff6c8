"""HTTP exchanges with one server: connections, and the diagnosis of their errors.

There is a pool for each proxy. Small requests use HTTP/2 if the server offers it, so that many
share one connection; downloads use HTTP/1.1, which is faster for large files here and has a
connection for each. Deliberately unknown here: redirects, retries and credentials.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping

from nigari.extras import missing_library
from nigari.net.failures import (
    CertificateRefused,
    ConnectionFailed,
    InvalidHeader,
    InvalidUrl,
    NameNotFound,
    NetFailure,
    ProxyFailed,
    TimedOut,
    TlsFailed,
)
from nigari.net.settings import Settings, proxy_for, trust
from nigari.net.urls import Origin, origin_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl
    from typing import Final

    import httpcore

_MOST_CONNECTIONS: Final = 32
_KEPT_FOR: Final = 30.0
_CONNECT_WITHIN: Final = 30.0

_UNTRUSTED: Final = (
    "If the server uses a certificate authority of your own, name its certificates in the "
    "environment variable SSL_CERT_FILE."
)
_CERTIFICATE_FAULTS: Final = {
    9: ("it is not valid yet", "Check the clock of this machine."),
    10: (
        "it has expired",
        "Check the clock of this machine, or contact the operator of the server.",
    ),
    18: ("it is self-signed", _UNTRUSTED),
    19: ("its certificate authority is not trusted", _UNTRUSTED),
    20: ("its certificate authority is not trusted", _UNTRUSTED),
    21: ("its certificate authority is not trusted", _UNTRUSTED),
    62: ("it belongs to another host name", "Check the host name."),
    64: ("it belongs to another address", "Check the address."),
}


def _need_library(url: str) -> None:
    """Raise an error with the missing package if the HTTP library is not installed."""
    try:
        import httpcore  # noqa: F401 - whether it is there
    except ModuleNotFoundError as error:
        advice = missing_library(error)
        if advice is None:
            raise
        raise NetFailure(url, "Nothing can be fetched.", advice) from error


_CONTROLS: Final = bytes({*range(32), 127} - {9})
"""Bytes that are invalid in a header."""


class Connections:
    """The connections of one client."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pools: dict[tuple[str, bool], httpcore.AsyncConnectionPool] = {}
        self._context: ssl.SSLContext | None = None

    async def close(self) -> None:
        import asyncio

        for pool in self._pools.values():
            await pool.aclose()
        self._pools.clear()
        # Sockets are closed when the event loop has its turn.
        await asyncio.sleep(0)

    @contextlib.asynccontextmanager
    async def exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        is_large: bool,
        stalled_after: float | None,
    ) -> AsyncIterator[httpcore.Response]:
        """Send a request; the response stays open until the context ends."""
        _need_library(url)
        import httpcore

        from nigari.net.streams import restore_size

        try:
            origin = origin_of(url)
        except ValueError as error:
            raise InvalidUrl(url, str(error)) from None
        proxy = proxy_for(origin, self._settings)
        pool = self._pool(proxy, is_large)
        is_open = False
        timeouts = {"connect": _CONNECT_WITHIN, "read": stalled_after, "write": stalled_after}
        try:
            async with pool.stream(
                method,
                url,
                headers=_sent(url, headers),
                content=body,
                extensions={"timeout": timeouts},
            ) as response:
                is_open = True
                restore_size(response)
                yield response
        except (
            httpcore.NetworkError,
            httpcore.TimeoutException,
            httpcore.ProtocolError,
            httpcore.ProxyError,
            httpcore.UnsupportedProtocol,
        ) as error:
            raise _meaning(error, url, origin, proxy) from error
        except (OSError, UnicodeError) as error:
            if is_open:
                raise  # from the code that uses the response, such as a full disk
            raise _meaning_of_cause(error, url, origin, proxy) from error

    def _pool(self, proxy_url: str, is_large: bool) -> httpcore.AsyncConnectionPool:
        import httpcore

        from nigari.net.streams import Connector

        key = proxy_url, is_large
        pool = self._pools.get(key)
        if pool is None:
            if self._context is None:
                self._context = trust(self._settings)
            pool = self._pools[key] = httpcore.AsyncConnectionPool(
                ssl_context=self._context,
                proxy=_proxy(proxy_url) if proxy_url else None,
                max_connections=_MOST_CONNECTIONS,
                keepalive_expiry=_KEPT_FOR,
                http2=not is_large,
                network_backend=Connector(bypasses=is_large),
            )
        return pool


def _sent(url: str, headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Encode headers; blanks around a value are insignificant and dropped."""
    sent = []
    for name, value in headers.items():
        content = value.strip(" \t").encode()
        if len(content.translate(None, _CONTROLS)) < len(content):
            raise InvalidHeader(url, name)
        sent.append((name.encode("ascii"), content))
    return sent


def _proxy(url: str) -> httpcore.Proxy:
    import httpcore

    from nigari.net.urls import user_of, without_user

    return httpcore.Proxy(without_user(url), auth=user_of(url))


def _meaning(error: Exception, url: str, origin: Origin, proxy: str) -> NetFailure:
    """Translate an exception; `proxy` is the URL of the proxy that was used, if any."""
    import httpcore

    if isinstance(error, httpcore.ConnectTimeout):
        if proxy:
            return ProxyFailed(url, "it did not accept a connection in time", proxy)
        return TimedOut(url, f"{origin.host} did not accept a connection in time.")
    if isinstance(error, httpcore.TimeoutException):
        return TimedOut(url, f"{origin.host} stopped answering.")
    if isinstance(error, httpcore.ProxyError):
        return ProxyFailed(url, str(error))
    if isinstance(error, httpcore.ProtocolError):
        return ConnectionFailed(url, f"{origin.host} closed the connection or broke the protocol")
    return _meaning_of_cause(error, url, origin, proxy)


def _meaning_of_cause(error: BaseException, url: str, origin: Origin, proxy: str) -> NetFailure:
    """Translate the innermost error: libraries wrap the original one several times."""
    import socket
    import ssl

    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            usual = cause.verify_message, _UNTRUSTED
            reason, advice = _CERTIFICATE_FAULTS.get(cause.verify_code, usual)
            return CertificateRefused(url, reason, advice)
        if isinstance(cause, ssl.SSLError):
            return TlsFailed(url, (cause.reason or str(cause)).replace("_", " ").lower())
        if isinstance(cause, socket.gaierror | UnicodeError):
            if proxy:
                return ProxyFailed(url, "its host name cannot be resolved", proxy)
            return NameNotFound(url, origin.host)
    for cause in causes:
        if isinstance(cause, ConnectionRefusedError):
            if proxy:
                return ProxyFailed(url, "it refuses connections", proxy)
            return ConnectionFailed(url, "", is_refused=True)
    for cause in reversed(causes):
        if isinstance(cause, OSError) and cause.strerror:
            if proxy:
                return ProxyFailed(url, cause.strerror, proxy)
            return ConnectionFailed(
                url, f"No connection to {origin.host} is possible: {cause.strerror}"
            )
    return ConnectionFailed(url, f"The connection to {origin.host} broke")


def _causes(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    waiting = [error]
    while waiting and len(found) < 50:
        each = waiting.pop(0)
        if each is None or each in found:
            continue
        found.append(each)
        waiting += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions
    return found
