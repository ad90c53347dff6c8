"""URLs: parsing, resolution of references, origins and credentials."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urljoin, urlsplit, urlunsplit

from nigari.record import record


@record
class Origin:
    """Scheme, host and port of a URL. Credentials for one origin are never sent to another."""

    scheme: str
    host: str
    port: int


def origin_of(url: str) -> Origin:
    """Parse the origin of an absolute URL; raise `ValueError` if it is not an http(s) URL."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        # The original message quotes the host, including a password before it.
        raise ValueError("its host or port is not valid") from None
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"its scheme is {parts.scheme or 'missing'}, not http or https")
    if not parts.hostname:
        raise ValueError("it has no host")
    return Origin(parts.scheme, parts.hostname, port or (443 if _is_https(parts) else 80))


def resolved(base: str, reference: str) -> str:
    """Resolve a reference in a document at `base`."""
    return urljoin(base, reference)


def with_query(url: str, arguments: Mapping[str, str]) -> str:
    """Add arguments to the query of a URL, replacing those of the same name."""
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
    """Return the user and password in a URL."""
    parts = urlsplit(url)
    if parts.username is None:
        return None
    return unquote(parts.username), unquote(parts.password or "")


def without_user(url: str) -> str:
    """Remove the user and the fragment from a URL; credentials are sent in a header."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment=""))


def _is_https(parts: SplitResult) -> bool:
    return parts.scheme == "https"
