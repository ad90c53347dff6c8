"""State files of any version, as bytes: parsing and writing.

Selects the parser by the file's version, and rejects files of newer versions, foreign files and
truncated ones. Deliberately unknown here: encryption and storage.
"""

from __future__ import annotations

import json

from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.record import replace
from nigari.state.formats.read_v4 import read_v4
from nigari.state.json_text import end_of_document, read_members, read_text
from nigari.state.model import StateFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.state.formats.upgrade import UpgradeFailure

_NEWEST: Final = 4


def parse_state(data: bytes, diags: Diagnostics, name: str = "") -> StateFile | None:
    """Parse a state; `None` after reporting a failure.

    Reports include the name of the file, if it has one. Empty data is invalid here; the caller
    handles an absent state.
    """
    reported = Diagnostics()
    found = _parsed(data, reported)
    for each in reported:
        detail = f"{each.detail} The file is {name}." if name else each.detail
        diags.append(replace(each, detail=detail))
    return found


def _parsed(data: bytes, diags: Diagnostics) -> StateFile | None:
    text = data.decode("utf-8", "surrogateescape")
    if "\0" in text:
        diags.append(not_text())
        return None
    try:
        if _begins_as_usual(text):
            return read_v4(text, diags)
        return _read_by_version(text, diags)
    except json.JSONDecodeError as error:
        diags.append(not_json(error))
    except RecursionError:
        diags.append(nested_too_deeply())
    except ValueError:
        diags.append(unreadable_number())
    return None


def _begins_as_usual(text: str) -> bool:
    """Check for the version in its usual position, so that the file need not be searched for it."""
    colon = text.find(":", 0, 40)
    if colon < 0 or not text[colon + 1 : colon + 5].lstrip().startswith("4,"):
        return False
    return text[:colon].split() in (["{", '"version"'], ['{"version"'])


def format_state(file: StateFile, is_for_people: bool) -> bytes:
    """Write a state file, with or without indentation."""
    from nigari.state.formats.write_v4 import Writer

    return Writer(is_for_people).write(file)


def _read_by_version(text: str, diags: Diagnostics) -> StateFile | None:
    start = len(text) - len(text.lstrip(" \t\n\r"))
    members, end = read_members(text, start, {}, read_text)
    end_of_document(text, end)
    version = json.loads(str(members.get("version", "null")))
    if version is None:
        diags.append(no_version())
        return None
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        diags.append(impossible_version(version))
        return None
    if version > _NEWEST:
        writer = json.loads(str(members.get("terraform_version", "null")))
        diags.append(future_version(version, writer if isinstance(writer, str) else ""))
        return None
    if version == _NEWEST:
        return read_v4(text, diags)
    from nigari.state.formats.upgrade import UpgradeFailure, upgrade_to_v4

    try:
        upgraded = upgrade_to_v4(json.loads(text), version)
    except UpgradeFailure as failure:
        diags.append(upgrade_failed(version, failure))
        return None
    return read_v4(json.dumps(upgraded), diags)


def not_text() -> Diagnostic:
    """Report a file that is not text, such as one that git-crypt has not decrypted."""
    return Diagnostic(
        Severity.ERROR,
        "Unreadable state file",
        "The file contains binary data. If it is encrypted, for example with git-crypt, decrypt "
        "it first. It was not changed.",
    )


def not_json(error: json.JSONDecodeError) -> Diagnostic:
    """Report a file that is not JSON, or truncated."""
    return Diagnostic(
        Severity.ERROR,
        "Unreadable state file",
        f"The file is not valid JSON at line {error.lineno}, column {error.colno}. It may be "
        "truncated, or not a state file at all. It was not changed.",
    )


def nested_too_deeply() -> Diagnostic:
    """Report a file whose values are nested too deeply."""
    return Diagnostic(
        Severity.ERROR,
        "Unreadable state file",
        "The values in the file are nested too deeply. It was not changed.",
    )


def unreadable_number() -> Diagnostic:
    """Report a number that is too large."""
    return Diagnostic(
        Severity.ERROR,
        "Unreadable state file",
        "The file contains a number that cannot be read. It was not changed.",
    )


def no_version() -> Diagnostic:
    """Report JSON without the version of a state file."""
    return Diagnostic(
        Severity.ERROR,
        "Not a state file",
        'The file is JSON, but it has no "version", which every state file has. It was not '
        "changed.",
    )


def impossible_version(version: object) -> Diagnostic:
    """Report an impossible format version."""
    return Diagnostic(
        Severity.ERROR,
        "Not a state file",
        f"The file has format version {version!r}, which never existed. It was not changed.",
    )


def future_version(version: int, writer: str) -> Diagnostic:
    """Report a file of a newer format."""
    by = f" It was written by version {writer}." if writer else ""
    return Diagnostic(
        Severity.ERROR,
        "State file from a newer version",
        f"The file has format version {version}, but this program supports versions up to "
        f"{_NEWEST}.{by} Use a newer version of this program. The file was not changed.",
    )


def upgrade_failed(version: int, failure: UpgradeFailure) -> Diagnostic:
    """Report an old file that cannot be upgraded."""
    return Diagnostic(
        Severity.ERROR,
        "State file cannot be upgraded",
        f"The file has format version {version} and cannot be read: {failure}.",
    )
