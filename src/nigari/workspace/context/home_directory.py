"""The home directory of the user, for which `~` stands in a configuration."""

from __future__ import annotations

import sys
from collections.abc import Mapping


def home_directory(environ: Mapping[str, str]) -> str | None:
    """The directory that the environment names, else the one that the system has for the user;
    None where there is neither.
    """
    named = environ.get("HOME")
    if named:
        return named
    if sys.platform == "win32":
        return environ.get("USERPROFILE") or None
    else:
        import os
        from pwd import getpwuid

        try:
            return getpwuid(os.getuid()).pw_dir or None
        except KeyError:
            return None
