"""HTTP client: requests with responses in memory, and downloads to files.

Owns redirects, retries, limits, and which headers are sent to which origin. `request` returns
responses of any status, because callers differ in which they accept; a `NetFailure` means that
there is no response. Nothing is imported before the first request, and no connection is shared
between clients.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from types import MappingProxyType

from nigari.diagnostics.secret_urls import hidden_url
from nigari.net.connect import Connections
from nigari.net.content import Decoder, FileWriter
from nigari.net.failures import (
    InvalidUrl,
    NetFailure,
    RedirectRefused,
    StatusRefused,
    TimedOut,
    TooLarge,
    Truncated,
    WrongContent,
)
from nigari.net.response import Response
from nigari.net.settings import Settings
from nigari.net.urls import Origin, origin_of, resolved, user_of, without_user
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeVar

    import httpcore

    T = TypeVar("T")


Progress = Callable[[int, int | None], None]
"""Receives the number of bytes downloaded, and the total if it is known."""

_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_REDIRECTS: Final = (301, 302, 303, 307, 308)
_QUOTED: Final = 1 << 14
"""Bytes of an error response that are read, to quote the server's message."""


@record
class Policy:
    """Patience and limits of a request."""

    retries: int = 2
    timeout: float | None = 60.0
    """Seconds for a whole attempt; `None` to continue while there is progress."""
    redirects: int = 10
    limit: int = 1 << 24
    """Maximum bytes of content."""
    pause: float = 1.0
    """Seconds before the first retry; doubled for each further one."""
    longest_pause: float = 30.0
    stalled_after: float = 60.0
    """Seconds in which at least `slowest` bytes must arrive."""
    slowest: int = 1 << 12


DOWNLOAD: Final = Policy(timeout=None, limit=1 << 33)


@record
class Expected:
    """Expected size and digests of a download; unset ones are not checked."""

    size: int | None = None
    digests: Mapping[str, str] = MappingProxyType({})
    """Hexadecimal, by algorithm."""


@record
class Downloaded:
    """A complete downloaded file. `digests` always has `sha256`."""

    url: str
    size: int
    digests: Mapping[str, str]
    headers: Mapping[str, str]


class Client:
    """HTTP client, used as a context manager: `async with Client(settings) as client`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._connections = Connections(settings)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._connections.close()

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] = _NONE,
        credentials: Mapping[str, str] = _NONE,
        body: bytes | None = None,
        policy: Policy = Policy(),  # noqa: B008 -- a record does not change
    ) -> Response:
        """Send a request and read the whole response. `credentials` are headers for the URL's
        origin only.
        """
        asked = _Request(method, url, headers, credentials, body)
        given: list[Response] = []

        async def once() -> Response:
            async with self._following(asked, policy, is_large=False) as (at, response):
                given[:] = [await _read(at, response, policy)]
            refusal = given[0].refusal()
            if refusal.is_worth_retrying:
                raise refusal
            return given[0]

        try:
            return await _retried(once, url, policy)
        except StatusRefused:
            return given[0]

    async def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] = _NONE,
        credentials: Mapping[str, str] = _NONE,
        policy: Policy = Policy(),  # noqa: B008 -- a record does not change
    ) -> Response:
        return await self.request(
            "GET", url, headers=headers, credentials=credentials, policy=policy
        )

    async def download(
        self,
        url: str,
        target: str | os.PathLike[str],
        *,
        headers: Mapping[str, str] = _NONE,
        credentials: Mapping[str, str] = _NONE,
        policy: Policy = DOWNLOAD,
        expected: Expected = Expected(),  # noqa: B008 -- a record does not change
        progress: Progress | None = None,
    ) -> Downloaded:
        """Download to a file, which exists afterwards only if the download is complete."""
        identity = {"accept-encoding": "identity", **headers}
        asked = _Request("GET", url, identity, credentials, None)

        async def once() -> Downloaded:
            async with self._following(asked, policy, is_large=True) as (at, response):
                if response.status not in (200, 206):
                    raise (await _read(at, response, policy, _QUOTED)).refusal()
                return await _write(at, response, target, policy, expected, progress)

        return await _retried(once, url, policy)

    @contextlib.asynccontextmanager
    async def _following(
        self, asked: _Request, policy: Policy, is_large: bool
    ) -> AsyncIterator[tuple[str, httpcore.Response]]:
        """Follow redirects; yield the final URL and its response."""
        request, visited = asked, {asked.url}
        _origin(asked.url)
        while True:
            async with self._connections.exchange(
                request.method,
                without_user(request.url),
                {**self._own_headers(), **request.all_headers()},
                request.body,
                is_large,
                policy.stalled_after,
            ) as response:
                location = _headers(response).get("location")
                if response.status not in _REDIRECTS or location is None:
                    yield request.url, response
                    return
                await _read_out(response)
            request = _redirected(request, response.status, location)
            if len(visited) > policy.redirects or request.url in visited:
                raise RedirectRefused(
                    asked.url,
                    f"{hidden_url(asked.url)} redirects in a loop."
                    if request.url in visited
                    else f"{hidden_url(asked.url)} redirects more than {policy.redirects} times.",
                    "Check the URL, or contact the operator of the server.",
                )
            visited.add(request.url)

    def _own_headers(self) -> Mapping[str, str]:
        return {"user-agent": self._settings.user_agent, "accept-encoding": "gzip"}


@record
class _Request:
    method: str
    url: str
    headers: Mapping[str, str]
    credentials: Mapping[str, str]
    body: bytes | None

    def all_headers(self) -> dict[str, str]:
        headers = {name.lower(): value for name, value in self.headers.items()}
        user = user_of(self.url)
        if user is not None:
            headers["authorization"] = _basic(*user)
        headers.update({name.lower(): value for name, value in self.credentials.items()})
        if self.body is not None or self.method in ("POST", "PUT", "PATCH"):
            headers["content-length"] = str(len(self.body or b""))
        return headers


def _redirected(request: _Request, status: int, location: str) -> _Request:
    try:
        url = resolved(request.url, location)
    except ValueError:
        raise InvalidUrl(location, f"{hidden_url(request.url)} redirects to it") from None
    before, after = _origin(request.url), _origin(url)
    if before.scheme == "https" and after.scheme == "http":
        raise RedirectRefused(
            request.url,
            f"{hidden_url(request.url)} redirects to {hidden_url(url)}, which is not encrypted.",
            "The operator of the server must redirect to https.",
        )
    credentials = request.credentials if before == after else _NONE
    if status in (307, 308) or request.method in ("GET", "HEAD"):
        return _Request(request.method, url, request.headers, credentials, request.body)
    return _Request("GET", url, request.headers, credentials, None)


def _origin(url: str) -> Origin:
    try:
        return origin_of(url)
    except ValueError as error:
        raise InvalidUrl(url, str(error)) from None


def _basic(user: str, password: str) -> str:
    from base64 import b64encode

    return "Basic " + b64encode(f"{user}:{password}".encode()).decode("ascii")


def _headers(response: httpcore.Response) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in response.headers:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


async def _read_out(response: httpcore.Response) -> None:
    """Read an unneeded response if it is short, so that the connection can be reused."""
    headers = _headers(response)
    size = _announced(headers)
    if size is None and "transfer-encoding" not in headers:
        return
    if size is not None and size > _QUOTED:
        return
    received = 0
    async for piece in response.aiter_stream():
        received += len(piece)
        if received > _QUOTED:
            return


def _announced(headers: Mapping[str, str]) -> int | None:
    text = headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() else None


async def _read(
    url: str, response: httpcore.Response, policy: Policy, only: int | None = None
) -> Response:
    """Read the content into memory: all of it within the limit, or only the beginning."""
    limit = policy.limit if only is None else only
    headers = _headers(response)
    decoder = Decoder(headers.get("content-encoding", ""))
    body = bytearray()
    async with contextlib.aclosing(_pieces(url, response, policy)) as pieces:
        async for piece in pieces:
            body += decoder.decoded(piece, limit + 1 - len(body))
            if len(body) > limit:
                if only is None:
                    raise TooLarge(url, limit)
                del body[limit:]
                break
    return Response(url, response.status, headers, bytes(body))


async def _write(
    url: str,
    response: httpcore.Response,
    target: str | os.PathLike[str],
    policy: Policy,
    expected: Expected,
    progress: Progress | None,
) -> Downloaded:
    headers = _headers(response)
    announced = _announced(headers)
    limit = policy.limit if expected.size is None else min(policy.limit, expected.size)
    if announced is not None and announced > limit:
        if expected.size is not None:
            raise _wrong_size(url, expected.size, announced)
        raise TooLarge(url, limit)
    total = announced if announced is not None else expected.size
    with FileWriter(target, {"sha256", *expected.digests}) as writer:
        async with contextlib.aclosing(_pieces(url, response, policy)) as pieces:
            async for piece in pieces:
                if writer.size + len(piece) > limit:
                    raise TooLarge(url, limit)
                writer.write(piece)
                if progress is not None:
                    progress(writer.size, total)
        if announced is not None and writer.size < announced:
            raise Truncated(url, writer.size, announced)
        digests = await writer.digests()
        if expected.size is not None and writer.size != expected.size:
            raise _wrong_size(url, expected.size, writer.size)
        for algorithm, digest in expected.digests.items():
            if digests[algorithm] != digest.lower():
                raise WrongContent(
                    url,
                    f"The file from {hidden_url(url)} has the {algorithm} checksum "
                    f"{digests[algorithm]}, but {digest.lower()} is expected.",
                    "It may have been changed or damaged in transit: do not use it.",
                )
        writer.keep()
    return Downloaded(url, writer.size, digests, headers)


async def _pieces(
    url: str, response: httpcore.Response, policy: Policy
) -> AsyncGenerator[bytes | memoryview]:
    """Yield the content while it arrives fast enough. Each piece is only valid until the next."""
    import time

    from nigari.net.streams import large_content

    begin, received = time.monotonic(), 0
    announced, whole = _announced(_headers(response)), 0
    content = large_content(response, policy.stalled_after)
    try:
        async for piece in content or response.aiter_stream():
            received += len(piece)
            whole += len(piece)
            yield piece
            now = time.monotonic()
            if now - begin > policy.stalled_after:
                if received < policy.slowest:
                    raise TimedOut(url, f"{_origin(url).host} answers too slowly.")
                begin, received = now, 0
    except NetFailure:
        raise
    except Exception as error:
        if _is_cut(error):
            raise Truncated(url, whole, announced) from error
        raise


def _is_cut(error: Exception) -> bool:
    import httpcore

    return isinstance(error, httpcore.RemoteProtocolError | httpcore.ReadError)


def _wrong_size(url: str, expected: int, found: int) -> WrongContent:
    return WrongContent(
        url,
        f"The file from {hidden_url(url)} has {found} bytes, but {expected} are expected.",
        "It may have been changed or damaged in transit: do not use it.",
    )


async def _retried(once: Callable[[], Awaitable[T]], url: str, policy: Policy) -> T:
    import asyncio

    for attempt in range(policy.retries + 1):
        try:
            async with asyncio.timeout(policy.timeout):
                return await once()
        except TimeoutError:
            failure: NetFailure = TimedOut(
                url,
                f"{_origin(url).host} did not answer within {policy.timeout:g} "
                f"second{'' if policy.timeout == 1 else 's'}.",
            )
        except NetFailure as error:
            failure = error
        failure.attempts = attempt + 1
        pause = _pause(failure, attempt, policy)
        if attempt == policy.retries or not failure.is_worth_retrying or pause is None:
            raise failure
        await asyncio.sleep(pause)
    raise AssertionError("the last attempt returns or raises")


def _pause(failure: NetFailure, attempt: int, policy: Policy) -> float | None:
    """Return the seconds until the next attempt; `None` if the server demands more than the limit."""
    usual = min(policy.pause * 2.0**attempt, policy.longest_pause)
    if not isinstance(failure, StatusRefused) or failure.status not in (429, 503):
        return usual
    asked = _retry_after(failure.retry_after)
    if asked is None:
        return usual
    return asked if asked <= policy.longest_pause else None


def _retry_after(text: str) -> float | None:
    """Parse a number of seconds or a date."""
    if text.isascii() and text.isdigit():
        return float(text)
    import time
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None
