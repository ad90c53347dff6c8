"""AWS profiles, from the shared credentials and config files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

from nigari.clouds.failures import CloudFailure
from nigari.record import record

Section = Mapping[str, str]
_NONE: Final[Section] = {}


@record
class Profiles:
    """Sections of the files; credentials files take precedence over config files."""

    profiles: Mapping[str, Section]
    sessions: Mapping[str, Section]
    """The `sso-session` sections."""

    def get(self, name: str) -> Section | None:
        return self.profiles.get(name)


def read_profiles(
    credentials_files: Sequence[str], config_files: Sequence[str], environ: Mapping[str, str]
) -> Profiles:
    """Read the files, any of which may be missing."""
    profiles: dict[str, dict[str, str]] = {}
    sessions: dict[str, dict[str, str]] = {}
    for path in config_files or _usual("AWS_CONFIG_FILE", "config", environ):
        for name, section in _sections(path, environ).items():
            kind, _, rest = name.partition(" ")
            if name == "default":
                profiles.setdefault(name, {}).update(section)
            elif kind == "profile":
                profiles.setdefault(rest.strip(), {}).update(section)
            elif kind == "sso-session":
                sessions.setdefault(rest.strip(), {}).update(section)
    for path in credentials_files or _usual("AWS_SHARED_CREDENTIALS_FILE", "credentials", environ):
        for name, section in _sections(path, environ).items():
            profiles.setdefault(name, {}).update(section)
    return Profiles(profiles, sessions)


def _usual(variable: str, name: str, environ: Mapping[str, str]) -> tuple[str]:
    return (environ.get(variable) or f"~/.aws/{name}",)


def home_path(path: str, environ: Mapping[str, str]) -> str:
    """Expand a leading home directory."""
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    return os.path.join(home, path[2:]) if path.startswith("~/") and home else path


def text_of(path: str) -> str:
    """Read a token file."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CloudFailure(f"The token in {path} cannot be read: {reason}.") from None


def _sections(path: str, environ: Mapping[str, str]) -> Mapping[str, Section]:
    from configparser import Error, RawConfigParser

    parser = RawConfigParser(
        default_section="\0", comment_prefixes=("#", ";"), strict=False, interpolation=None
    )
    at = home_path(path, environ)
    try:
        with open(at, encoding="utf-8") as file:
            parser.read_file(file)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeError, Error) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise CloudFailure(f"The AWS settings in {at} cannot be read: {reason}.") from None
    return {name: dict(parser.items(name)) for name in parser.sections()}
