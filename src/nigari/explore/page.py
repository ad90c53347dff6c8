"""The page: one HTML file that has its data, its program and its style in it, and asks for nothing.

The program and the style are built from `page/` by `make page`; a wheel has them in it.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Final

from nigari.explore.document import Document
from nigari.record import record

_BUILT: Final = Path(__file__).parent / "static"


class PageNotBuilt(Exception):
    """The program of the page is not there."""


@record
class Page:
    """A page, and the policy that lets nothing but itself run in it."""

    html: str
    policy: str


def built() -> tuple[str, str]:
    """The program and the style of the page; `PageNotBuilt` where they have not been built."""
    try:
        script = (_BUILT / "page.js").read_text(encoding="utf-8")
        style = (_BUILT / "page.css").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise PageNotBuilt from None
    return script, style


def page(document: Document, is_served: bool = False) -> Page:
    """The page with a document in it; one that is served may ask its server."""
    script, style = built()
    title = page_title(str(document.data["title"]))
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src 'sha256-{_digest(script)}'",
            f"style-src 'sha256-{_digest(style)}'",
            "worker-src blob:",
            "connect-src 'self'" if is_served else "connect-src 'none'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    html = (
        f'<!doctype html>\n<html lang="en" data-served="{int(is_served)}">\n<head>\n'
        '<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)} · Nigari</title>\n"
        f'<link rel="icon" href="{_ICON}">\n'
        f"<style>{style}</style>\n</head>\n<body>\n"
        '<div id="app"><noscript>This page needs JavaScript.</noscript></div>\n'
        f'<script type="text/plain" id="document">{document.packed()}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )
    return Page(html, f"{policy}; frame-ancestors 'none'")


def page_title(name: str) -> str:
    """The name of a directory as text, even if it has bytes that are none."""
    return name.encode("utf-8", "replace").decode()


_ICON: Final = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Crect x='2' y='2' width='12' height='12' rx='3' fill='%23276f86'/%3E%3C/svg%3E"
)


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
