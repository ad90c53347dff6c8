"""URLs: reading them, resolving references, and who asks."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urljoin, urlsplit, urlunsplit

from nigari.record import record


@record
class Origin:
    """Who answers a URL. What is meant for one origin is not sent to another."""

    scheme: str
    host: str
    port: int


def origin_of(url: str) -> Origin:
    """The origin of an absolute URL; a `ValueError` says that it is no http(s) URL."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        # Its own words quote the host, with a password that stands before it.
        raise ValueError("its host or port is not valid") from None
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"its scheme is {parts.scheme or 'missing'}, not http or https")
    if not parts.hostname:
        raise ValueError("it has no host")
    return Origin(parts.scheme, parts.hostname, port or (443 if _is_https(parts) else 80))


def resolved(base: str, reference: str) -> str:
    """What a reference in a document at `base` means."""
    return urljoin(base, reference)


def with_query(url: str, arguments: Mapping[str, str]) -> str:
    """The URL with these arguments added to its query, or put in place of those it has."""
    parts = urlsplit(url)
    kept = [
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if name not in arguments
    ]
    query = "&".join(
        f"{quote(name, safe='')}={quote(value, safe='')}"
        for name, value in (*kept, *arguments.items())
    )
    return urlunsplit(parts._replace(query=query))


def user_of(url: str) -> tuple[str, str] | None:
    """The user and password that a URL has before its host."""
    parts = urlsplit(url)
    if parts.username is None:
        return None
    return unquote(parts.username), unquote(parts.password or "")


def without_user(url: str) -> str:
    """The URL that is asked for: who asks is told in a header."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment=""))


def _is_https(parts: SplitResult) -> bool:
    return parts.scheme == "https"
