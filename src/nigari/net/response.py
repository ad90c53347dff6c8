"""HTTP responses, complete and in memory."""

from __future__ import annotations

import re
from collections.abc import Mapping

from nigari.diagnostics.secret_urls import hidden_url
from nigari.lazy import lazy_pattern
from nigari.net.failures import NotJson, StatusRefused
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_LONGEST_QUOTE: Final = 300
_TITLE: Final = lazy_pattern(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_MARKUP: Final = lazy_pattern(r"<[^>]*>")


@record
class Response:
    """A response. `url` is the final one after redirects; header names are in lower case."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def media_type(self) -> str:
        """Media type without its parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def said(self) -> str:
        """The server's message, short and on one line; empty if there is none to read."""
        text = self.body[: 1 << 16].decode("utf-8", "replace")
        return _one_line(_words(text, self.media_type))

    def require(self, *statuses: int) -> Response:
        """Return this response if its status is one of these, by default any success; otherwise
        raise its failure.
        """
        if (self.status in statuses) if statuses else self.is_success:
            return self
        raise self.refusal()

    def refusal(self) -> StatusRefused:
        """Describe the response as a failure, for callers that do not accept its status."""
        after = self.headers.get("retry-after", "")
        return StatusRefused(self.url, self.status, self.said, after)

    def json(self, needs_type: bool = False) -> object:
        """Parse the content as JSON; with `needs_type`, only if its media type is JSON."""
        import json

        if needs_type and self.media_type != "application/json":
            raise self._not_json(f"content of type {self.media_type or 'unknown'}")
        try:
            document: object = json.loads(self.body)
        except (ValueError, RecursionError):
            raise self._not_json("something else") from None
        return document

    def _not_json(self, found: str) -> NotJson:
        start = self.body[:512].lstrip().lower()
        is_html = self.media_type == "text/html" or start.startswith((b"<!doctype html", b"<html"))
        given = "a web page" if is_html else found
        what = f"{hidden_url(self.url)} returned {given} instead of JSON."
        if is_html and (title := self.said):
            what = f'{what} Its title is "{title}".'
        return NotJson(self.url, what, is_html)


def _words(text: str, media_type: str) -> str:
    if media_type == "text/html":
        title = _TITLE.search(text)
        return title[1] if title else _MARKUP.sub(" ", text)
    if media_type.endswith(("/xml", "+xml")):
        return _MARKUP.sub(" ", text)
    if media_type in ("application/json", "application/vnd.api+json", ""):
        return _words_of_json(text)
    return text if media_type.startswith("text/") else ""


def _words_of_json(text: str) -> str:
    import json

    try:
        document: object = json.loads(text)
    except (ValueError, RecursionError):
        return text if text.isprintable() else ""
    if isinstance(document, dict):
        for name in ("errors", "error", "message", "error_description", "detail"):
            if words := _joined(document.get(name)):
                return words
    return _joined(document)


def _joined(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "; ".join(filter(None, (_joined(each) for each in value)))
    if isinstance(value, dict):
        for name in ("detail", "message", "title", "code"):
            if words := _joined(value.get(name)):
                return words
    return ""


def _one_line(text: str) -> str:
    printable = "".join(c if c.isprintable() else " " for c in text)
    line = " ".join(printable.split())
    return line if len(line) <= _LONGEST_QUOTE else f"{line[:_LONGEST_QUOTE]}…"
