"""Selection of a package's subdirectory, which may be a pattern.

Patterns are those of Go's `path/filepath`: `*` and `?` do not match a slash, `[a-z]` and `[^a-z]`
are character classes, and a backslash escapes the next character.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from nigari.packages.content.module_fetch import FetchError


def find_subdir(package: Path, subdir: str) -> str:
    """Return the one selected directory, relative to the package, or raise `FetchError`."""
    if not re.search(r"[*?\[\\]", subdir):
        _check_exists(package, subdir)
        return subdir
    found = [""]
    for part in subdir.split("/"):
        found = [path for base in found for path in _matching(package, base, part)]
    if len(found) > 1:
        raise FetchError(
            f"The directory {subdir} in the source is a pattern that must match exactly one "
            f"directory, but it matches {', '.join(sorted(found)[:5])}."
        )
    if not found or not (package / found[0]).is_dir():
        raise FetchError(f'No directory of the package matches "{subdir}".')
    return found[0]


def _check_exists(package: Path, subdir: str) -> None:
    path = ""
    for part in subdir.split("/"):
        path = f"{path}/{part}" if path else part
        if not (package / path).is_dir():
            of = f', so "{subdir}" does not exist' if path != subdir else ""
            raise FetchError(f'The package has no directory "{path}"{of}.')


def _matching(package: Path, base: str, pattern: str) -> list[str]:
    try:
        names = sorted(os.listdir(package / base))
    except OSError:
        return []
    matches = re.compile(_expression(pattern), re.DOTALL).fullmatch
    return [f"{base}/{name}" if base else name for name in names if matches(name)]


def _expression(pattern: str) -> str:
    """Convert one part of a pattern to a regular expression."""
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "*":
            parts.append("[^/]*")
        elif char == "?":
            parts.append("[^/]")
        elif char == "\\" and at < len(pattern):
            parts.append(re.escape(pattern[at]))
            at += 1
        elif char == "[":
            end = pattern.find("]", at + 1)
            if end < 0:
                raise FetchError(f"The pattern {pattern} in the source has a [ without a ].")
            inside = pattern[at:end]
            negated = inside.startswith("^")
            members = re.sub(r"([\[\]&~|^])", r"\\\1", inside.removeprefix("^"))
            parts.append(f"[{'^' if negated else ''}{members}]")
            at = end + 1
        else:
            parts.append(re.escape(char))
    return "".join(parts)
