"""File watching: detects changes on disk, and the test files that they affect.

A test file is affected by itself, by the modules of its runs, and by variable files. The runs have
recorded their modules.
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
"""Change time and size of each file."""


def stamps(files: DiskFiles, directories: Iterable[str]) -> Stamps:
    """Collect the files in these directories that tests may depend on."""
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
    """List the files that were added, deleted or changed."""
    return {path for path, _ in before.items() ^ now.items()}


def concerned(outcomes: Iterable[FileOutcome], changed: set[str]) -> list[str]:
    """List the test files that must run again, including new ones."""
    known = {each.name: each for each in outcomes}
    found = [name for name, each in known.items() if _is_concerned(each, changed)]
    fresh = {path for path in changed if is_test_file(os.path.basename(path))} - known.keys()
    return [*found, *sorted(fresh)]


def _is_concerned(outcome: FileOutcome, changed: set[str]) -> bool:
    if outcome.name in changed or any(path.endswith(_VALUES) for path in changed):
        return True
    others = [path for path in changed if not is_test_file(os.path.basename(path))]
    directories = outcome.directories
    # A configuration that could not be read may depend on any file.
    return any(not directories or (os.path.dirname(path) or ".") in directories for path in others)
