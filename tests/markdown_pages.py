"""What tests of the documents read of a Markdown page: fenced blocks, headings and anchors."""

from __future__ import annotations

import re
from typing import Final

FENCE: Final = re.compile(r"^(?:```|~~~)(\w*)[^\n]*\n(.*?)^(?:```|~~~)$", re.MULTILINE | re.DOTALL)
_HEADING: Final = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_LINK: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_ANCHOR: Final = re.compile(r"""<a (?:id|name)="([^"]+)">""")
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)


def prose(text: str) -> str:
    """The page without its fenced blocks and comments."""
    return _COMMENT.sub("", FENCE.sub("", text))


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading, and the site, too."""
    plain = _LINK.sub(r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchors(text: str) -> set[str]:
    """All anchors of a page: of its headings, where equal ones are numbered, and explicit ones."""
    found: set[str] = set()
    for heading in _HEADING.findall(prose(text)):
        name = slug(heading)
        number = 0
        while (candidate := f"{name}-{number}" if number else name) in found:
            number += 1
        found.add(candidate)
    return found | set(_ANCHOR.findall(text))


def before_heading(text: str, anchor: str) -> str:
    """The part of a page that precedes the heading with an anchor."""
    for match in _HEADING.finditer(text):
        if slug(match[1]) == anchor:
            return text[: match.start()]
    raise ValueError(f"no heading has the anchor {anchor}")
