"""Case files: input and expectation in one text.

A case file has cases, each begun by `=== title`; a case has files, each begun by `--- path`, and
ends with `--- expect`. Run pytest with `--update` to write what came out into the files instead of
comparing, and read the difference before you commit it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_CASE = "=== "
_FILE = "--- "
_EXPECT = "expect"


@dataclass(frozen=True)
class Case:
    """One case of a case file."""

    path: Path
    title: str
    files: dict[str, str]
    expected: str

    def __str__(self) -> str:
        return f"{self.path.stem}: {self.title}"


def read_cases(directory: Path) -> list[Case]:
    """Every case in the `.case` files of a directory."""
    return [case for path in sorted(directory.glob("*.case")) for case in _cases(path)]


def _cases(path: Path) -> Iterator[Case]:
    for text in ("\n" + path.read_text()).split(f"\n{_CASE}")[1:]:
        title, _, rest = text.partition("\n")
        files: dict[str, str] = {}
        for part in ("\n" + rest).split(f"\n{_FILE}")[1:]:
            name, _, content = part.partition("\n")
            files[name.strip()] = content.rstrip("\n") + "\n"
        expected = files.pop(_EXPECT, "").strip("\n")
        yield Case(path, title.strip(), files, expected)


def check_case(case: Case, actual: str, update: bool) -> None:
    """Compare what came out with what the case expects, or write it there."""
    actual = actual.strip("\n")
    if actual == case.expected:
        return
    if update:
        _rewrite(case, actual)
        return
    assert actual == case.expected


def _rewrite(case: Case, actual: str) -> None:
    before, marker, after = case.path.read_text().partition(f"{_CASE}{case.title}\n")
    head, expect, rest = after.partition(f"{_FILE}{_EXPECT}\n")
    following = rest.find(f"\n{_CASE}")
    tail = "" if following < 0 else rest[following:]
    case.path.write_text(f"{before}{marker}{head}{expect}{actual}\n{tail}")
