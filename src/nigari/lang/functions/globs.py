r"""File patterns with `*`, `**`, `?`, `[a-z]`, `{this,that}`, and `\` before any of them.

A `**` that is alone between slashes matches any number of directories, elsewhere it equals `*`. As
in OpenTofu, hidden files match, and links to directories are followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nigari.cty.function import FunctionError
from nigari.cty.values import Mark
from nigari.lang.files import Entry, Files
from nigari.lang.functions.host_environment import redacted
from nigari.lang.functions.paths import clean
from nigari.lazy import lazy_pattern
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_META: Final = lazy_pattern(r"\\.|([*?\[{])", re.DOTALL)
_ESCAPED: Final = lazy_pattern(r"\\([*?\[\]{}])")
_MOST_ALTERNATIVES: Final = 10_000
_MOST_DIRECTORIES: Final = 100_000
_DEEPEST: Final = 256
_ANY_DEPTH: Final = "**"


@record
class _Character:
    """A character: any, one within these ranges, or one outside them."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool

    def matches(self, char: str) -> bool:
        return self.negated != any(low <= char <= high for low, high in self.ranges)


_ANY_CHARACTER: Final = _Character((), True)
_Segment = list[_Character | None]
"""Characters to match in order; None matches any number of any characters."""


def find(files: Files, directory: str, pattern: str, marks: frozenset[Mark]) -> list[str]:
    """List the regular files that match the pattern, as paths from the directory.

    The marks are those of the pattern: they decide whether a message may show it.
    """
    base, rest = _split_base(pattern)
    if not _is_valid(rest):
        raise FunctionError(f"the pattern {redacted(pattern, marks)} is not valid")
    found: dict[str, None] = {}
    walk = _Walk(files)
    for alternative in _alternatives(rest):
        segments = [segment for segment in alternative.split("/") if segment != "."]
        # The pattern was cleaned, so such a segment can only come from braces. It matches
        # nothing.
        if not segments or any(segment in ("", "..") for segment in segments):
            continue
        found.update(dict.fromkeys(walk.matches(base, segments)))
    return [_relative(path, directory) for path in found]


def _relative(path: str, directory: str) -> str:
    """Return the path relative to the directory, by text: the working directory has no name."""
    steps = path.split("/")
    base = [] if directory == "." else directory.rstrip("/").split("/")
    shared = 0
    while shared < min(len(base), len(steps)) and base[shared] == steps[shared]:
        shared += 1
    return "/".join([".."] * (len(base) - shared) + steps[shared:]) or "."


def _split_base(pattern: str) -> tuple[str, str]:
    """Split a pattern into the directory before its first wildcard, and the rest."""
    meta = next((match for match in _META.finditer(pattern) if match[1]), None)
    head = pattern if meta is None else pattern[: meta.start()]
    slash = head.rfind("/")
    if slash < 0:
        return ".", pattern
    return _ESCAPED.sub(r"\1", pattern[:slash]) or "/", pattern[slash + 1 :]


def _is_valid(pattern: str) -> bool:
    depth = 0
    i = 0
    while i < len(pattern):
        char = pattern[i]
        if char == "\\":
            i += 1
            if i == len(pattern):
                return False
        elif char == "[":
            i = _class_end(pattern, i)
            if i < 0:
                return False
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth < 0:
                return False
        i += 1
    return depth == 0


def _class_end(pattern: str, start: int) -> int:
    """Return the offset of the `]` that ends a character class; -1 if it is missing or the class is
    empty.
    """
    i = start + 1
    if pattern[i : i + 1] in ("^", "!"):
        i += 1
    # doublestar: an empty class is a mistake.
    if pattern[i : i + 1] == "]":
        return -1
    while i < len(pattern):
        if pattern[i] == "\\":
            i += 1
        elif pattern[i] == "]":
            return i
        i += 1
    return -1


# -- alternatives in braces ---------------------------------------------------------------------


def _alternatives(pattern: str) -> list[str]:
    """Expand the braces of a valid pattern to all patterns without braces."""
    complete: list[str] = []
    pending = [pattern]
    while pending:
        current = pending.pop()
        braces = _first_braces(current)
        if braces is None:
            complete.append(current)
        else:
            pending.extend(reversed(braces))
        if len(complete) + len(pending) > _MOST_ALTERNATIVES:
            raise FunctionError("the pattern has too many alternatives in braces")
    return complete


def _first_braces(pattern: str) -> list[str] | None:
    """Expand the first braces of a pattern; None without braces.

    An empty alternative is valid unless it is the last one.
    """
    depth = 0
    opening = 0
    starts: list[int] = []
    i = 0
    while i < len(pattern):
        char = pattern[i]
        if char == "\\":
            i += 1
        elif char == "[":
            i = _class_end(pattern, i)
        elif char == "{":
            depth += 1
            if depth == 1:
                opening = i
                starts = [i + 1]
        elif char == "," and depth == 1:
            starts.append(i + 1)
        elif char == "}":
            depth -= 1
            if depth == 0:
                ends = [start - 1 for start in starts[1:]]
                if starts[-1] < i:
                    ends.append(i)
                head, tail = pattern[:opening], pattern[i + 1 :]
                bounds = zip(starts, ends, strict=False)
                return [head + pattern[start:end] + tail for start, end in bounds]
        i += 1
    return None


# -- one segment --------------------------------------------------------------------------------


def _compile(segment: str) -> _Segment:
    parts: _Segment = []
    i = 0
    while i < len(segment):
        char = segment[i]
        if char == "*":
            if not parts or parts[-1] is not None:
                parts.append(None)
        elif char == "?":
            parts.append(_ANY_CHARACTER)
        elif char == "[" and (end := _class_end(segment, i)) > 0:
            parts.append(_read_class(segment[i + 1 : end]))
            i = end
        else:
            if char == "\\" and i + 1 < len(segment):
                i += 1
            parts.append(_Character(((segment[i], segment[i]),), False))
        i += 1
    return parts


def _read_class(text: str) -> _Character:
    negated = text[0] in "^!"
    ranges: list[tuple[str, str]] = []
    i = 1 if negated else 0
    while i < len(text):
        i += text[i] == "\\" and i + 1 < len(text)
        low = high = text[i]
        if text[i + 1 : i + 2] == "-" and i + 2 < len(text):
            i += 2
            i += text[i] == "\\" and i + 1 < len(text)
            high = text[i]
        ranges.append((low, high))
        i += 1
    return _Character(tuple(ranges), negated)


def _matches(parts: _Segment, name: str) -> bool:
    """Match a whole name. After a mismatch only the last `*` needs another attempt."""
    part = position = 0
    star = -1
    star_position = 0
    while position < len(name):
        wanted = parts[part] if part < len(parts) else _ANY_CHARACTER
        if wanted is None:
            star, star_position = part, position
            part += 1
        elif part < len(parts) and wanted.matches(name[position]):
            part += 1
            position += 1
        elif star >= 0:
            star_position += 1
            part, position = star + 1, star_position
        else:
            return False
    return all(rest is None for rest in parts[part:])


# -- directories --------------------------------------------------------------------------------


class _Walk:
    """Searches directories, up to a limit for all patterns together."""

    __slots__ = ("files", "room")

    def __init__(self, files: Files) -> None:
        self.files = files
        self.room = _MOST_DIRECTORIES

    def matches(self, base: str, segments: list[str]) -> Iterator[str]:
        """Yield the files below the base directory that match the segments of a pattern."""
        pending: list[tuple[str, int, int]] = [(base, 0, 0)]
        seen: set[tuple[str, int]] = set()
        while pending:
            directory, at, depth = pending.pop()
            if (directory, at) in seen or depth > _DEEPEST:
                continue
            seen.add((directory, at))
            segment, last = segments[at], at == len(segments) - 1
            if _META.search(segment) is None:
                path = clean(f"{directory}/{segment}")
                if not last:
                    pending.append((path, at + 1, depth + 1))
                elif self._is_file(path):
                    yield path
                continue
            any_depth = segment == _ANY_DEPTH
            # doublestar: ** also matches no directory at all.
            if any_depth and not last:
                pending.append((directory, at + 1, depth))
            parts = _compile(segment)
            for entry in self._entries(directory):
                if not any_depth and not _matches(parts, entry.name):
                    continue
                path = clean(f"{directory}/{entry.name}")
                if entry.is_directory and (any_depth or not last):
                    pending.append((path, at if any_depth else at + 1, depth + 1))
                elif not entry.is_directory and last and self._is_file(path):
                    yield path

    def _entries(self, directory: str) -> list[Entry]:
        self.room -= 1
        if self.room < 0:
            raise FunctionError("the pattern matches too many directories")
        try:
            return self.files.entries(directory)
        except (OSError, ValueError):
            return []

    def _is_file(self, path: str) -> bool:
        try:
            return self.files.is_file(path)
        except (OSError, ValueError):
            return False
