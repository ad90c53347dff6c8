"""The home directory of whoever runs the program: what `~` stands for in a configuration."""

from __future__ import annotations

from collections.abc import Mapping


def home_directory(environ: Mapping[str, str]) -> str | None:
    """The directory that the environment names, else the one that the system has for the user;
    None where there is neither.
    """
    named = environ.get("HOME")
    if named:
        return named
    import os

    try:
        from pwd import getpwuid

        return getpwuid(os.getuid()).pw_dir or None
    except (ImportError, KeyError):
        return None
