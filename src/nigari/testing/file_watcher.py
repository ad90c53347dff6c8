"""Watches the disk for changes, and finds which test files they concern.

A test file is concerned by itself, by the modules that its runs are made of, and by files of
values. Which modules those are, the runs have found out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Final

from nigari.config.file_names import is_test_file
from nigari.lang.files import DiskFiles
from nigari.testing.outcome import FileOutcome

_ENDINGS: Final = (".tf", ".tofu", ".hcl", ".json", ".tfvars")
_VALUES: Final = (".tfvars", ".tfvars.json")

Stamps = Mapping[str, tuple[int, int]]
"""When each file was changed, and its size."""


def stamps(files: DiskFiles, directories: Iterable[str]) -> Stamps:
    """The files in these directories that tests may depend on."""
    found: dict[str, tuple[int, int]] = {}
    for directory in directories:
        try:
            entries = list(os.scandir(files.at(directory)))
        except OSError:
            continue
        for entry in entries:
            if entry.name.endswith(_ENDINGS):
                try:
                    stat = entry.stat()
                except OSError:
                    continue
                path = os.path.normpath(os.path.join(directory, entry.name))
                found[path] = stat.st_mtime_ns, stat.st_size
    return found


def changes(before: Stamps, now: Stamps) -> set[str]:
    """The files that have come, gone or changed."""
    return {path for path, _ in before.items() ^ now.items()}


def concerned(outcomes: Iterable[FileOutcome], changed: set[str]) -> list[str]:
    """The test files that must run again, those among them that are new."""
    known = {each.name: each for each in outcomes}
    found = [name for name, each in known.items() if _is_concerned(each, changed)]
    fresh = {path for path in changed if is_test_file(os.path.basename(path))} - known.keys()
    return [*found, *sorted(fresh)]


def _is_concerned(outcome: FileOutcome, changed: set[str]) -> bool:
    if outcome.name in changed or any(path.endswith(_VALUES) for path in changed):
        return True
    others = [path for path in changed if not is_test_file(os.path.basename(path))]
    directories = outcome.directories
    # What could not even be read may come of anything.
    return any(not directories or (os.path.dirname(path) or ".") in directories for path in others)
