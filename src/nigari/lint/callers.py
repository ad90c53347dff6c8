"""Callers outside of the linted tree: other modules of the same repository that call its modules.

A rule that speaks of all callers of a module must not speak of one that is also called by a root
module, an example or a test that was not evaluated. Sources are read off the texts of files, because
only the relative paths of `source` arguments matter.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from nigari.config.file_names import is_config_file, is_test_file
from nigari.lazy import lazy_pattern
from nigari.lint.model import EvaluatedRoot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_LOCAL_SOURCE = lazy_pattern(rb'\bsource"?\s*[=:]\s*"(\.\.?/[^"$%]*)"')
_SKIPPED: Final = frozenset((".git", ".terraform", ".terragrunt-cache", "node_modules", ".venv"))
_MOST_FILES: Final = 20_000


def modules_with_other_callers(roots: Sequence[EvaluatedRoot]) -> frozenset[str]:
    """The directories of modules in which a call leads from a directory outside of the tree."""
    inside = {root.locate(frame.module.directory) for root in roots for frame in root.frames}
    called = inside - {root.path for root in roots}
    if not called:
        return frozenset()
    found: set[str] = set()
    for top in {_repository(root.path) for root in roots}:
        for path in _files(top):
            directory = os.path.dirname(path)
            if is_test_file(os.path.basename(path)):
                # The runs of a test read what they like of the module beside or above them.
                found.update(
                    each for each in (directory, os.path.dirname(directory)) if each in called
                )
            if directory not in inside:
                found.update(each for each in _sources(path, directory) if each in called)
    return frozenset(found)


def _repository(directory: str) -> str:
    """The top of the git repository; the directory itself outside of any."""
    place = directory
    while True:
        if os.path.exists(os.path.join(place, ".git")):
            return place
        place, below = os.path.dirname(place), place
        if place == below:
            return directory


def _files(top: str) -> Iterator[str]:
    count = 0
    for directory, inner, names in os.walk(top):
        inner[:] = [each for each in inner if each not in _SKIPPED]
        for name in names:
            if is_config_file(name) or is_test_file(name):
                count += 1
                if count > _MOST_FILES:
                    return
                yield os.path.join(directory, name)


def _sources(path: str, directory: str) -> Iterator[str]:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return
    if b"module" in data:
        for match in _LOCAL_SOURCE.finditer(data):
            yield os.path.normpath(os.path.join(directory, os.fsdecode(match[1])))
