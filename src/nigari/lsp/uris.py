"""File URIs and paths, in both directions."""

from __future__ import annotations

import os
from urllib.parse import quote, unquote, urlsplit


def path_of(uri: str) -> str | None:
    """The absolute path that a URI means; None for what is no file."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return None
    return os.path.normpath(unquote(parts.path, errors="surrogateescape")) if parts.path else None


def uri_of(path: str) -> str:
    """The URI of an absolute path."""
    return "file://" + quote(path.encode("utf-8", "surrogateescape"), safe="/:@!$&'()*+,;=~-._")
