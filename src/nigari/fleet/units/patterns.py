"""Patterns of paths: `*` for any characters but slashes, `**` for any number of directories, `?` for
one character, `[a-z]` for one of several.

Many patterns become one regular expression, so that it costs the same to look for one or for all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_META = frozenset("*?[")


def is_pattern(text: str) -> bool:
    """Return whether a text has wildcards."""
    return not _META.isdisjoint(text)


def path_matcher(patterns: Iterable[str]) -> re.Pattern[str]:
    """The pattern that matches the whole of every path that one of the patterns does."""
    parts = [_translated(each.strip("/").removeprefix("./")) for each in patterns]
    return re.compile("|".join(f"(?:{part})" for part in parts) or r"(?!)")


def _translated(pattern: str) -> str:
    """The regular expression of a pattern; a directory that it names means what is below, too."""
    found: list[str] = []
    position = 0
    while position < len(pattern):
        char = pattern[position]
        if pattern.startswith("**/", position):
            found.append("(?:[^/]+/)*")
            position += 3
            continue
        if pattern.startswith("**", position):
            found.append(".*")
            position += 2
            continue
        end = pattern.find("]", position + 2) if char == "[" else -1
        if end > 0:
            inner = pattern[position + 1 : end].replace("\\", "\\\\")
            negation = "^" if inner[0] in "!^" else ""
            found.append(f"[{negation}{inner.lstrip('!^')}]")
            position = end + 1
            continue
        found.append({"*": "[^/]*", "?": "[^/]"}.get(char) or re.escape(char))
        position += 1
    return f"{''.join(found)}(?:/.*)?"
