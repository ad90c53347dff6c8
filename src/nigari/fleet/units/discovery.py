"""Discovery: the directories below a directory that have configuration files.

Hidden directories are not looked into, so neither are `.terraform` and `.git`, and links to
directories are not followed: what they lead to is found where it is.
"""

from __future__ import annotations

import os
import re

from nigari.config.file_names import is_config_file

_NOT_OURS = frozenset(("node_modules", "__pycache__"))


def find_directories(root: str, excluded: re.Pattern[str]) -> list[str]:
    """The directories with configuration, as paths from the root with slashes, in order; those that
    are excluded are left out with all that is below them.
    """
    found: list[str] = []
    pending = ["."]
    while pending:
        directory = pending.pop()
        inner: list[str] = []
        has_configuration = False
        try:
            entries = list(os.scandir(os.path.join(root, directory)))
        except OSError:
            # Who may not look into a directory has no unit there.
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                path = entry.name if directory == "." else f"{directory}/{entry.name}"
                is_hidden = entry.name.startswith(".") or entry.name in _NOT_OURS
                if not is_hidden and not excluded.fullmatch(path):
                    inner.append(path)
            elif is_config_file(entry.name):
                has_configuration = True
        if has_configuration:
            found.append(directory)
        pending.extend(inner)
    return sorted(found)
