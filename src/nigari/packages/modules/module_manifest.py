"""`modules.json`: the installed modules of a working directory and their locations.

The format is `tofu`'s, byte for byte. The order of records with the same key, and obsolete records,
are not reproduced.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from os import PathLike

from nigari.addrs.module_source import parse_module_source
from nigari.diagnostics import Diagnostics
from nigari.diagnostics.advice import advice
from nigari.lang.files import Files
from nigari.packages.content.whole_file import write_whole
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


FILE_NAME: Final = "modules.json"
_ESCAPED: Final = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


@record
class ModuleRecord:
    """An installed module."""

    key: str
    """Names of the calls from the root, joined by dots; empty for the root."""
    source: str
    directory: str
    version: str = ""


Manifest = Mapping[str, ModuleRecord]


def load_manifest(files: Files, modules: str, diags: Diagnostics) -> Manifest:
    """Read the records of a modules directory, by key; empty if there is no file."""
    path = f"{modules}/{FILE_NAME}"
    try:
        content = files.read(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        _report_unreadable(path, error.strerror or str(error), diags)
        return {}
    return _records(path, content, diags)


def _records(path: str, text: bytes, diags: Diagnostics) -> Manifest:
    records: dict[str, ModuleRecord] = {}
    # OpenTofu takes an empty file for one without modules: an interrupted init may leave it.
    if not text:
        return records
    try:
        for each in json.loads(text)["Modules"]:
            source = str(each["Source"])
            # OpenTofu normalizes sources when it reads them, so that a file by an older version
            # compares equal.
            parsed = parse_module_source(source, Diagnostics()) if source else None
            record = ModuleRecord(
                str(each["Key"]),
                source if parsed is None else str(parsed),
                str(each["Dir"]),
                str(each.get("Version", "")),
            )
            records[record.key] = record
    except (ValueError, KeyError, TypeError, AttributeError):
        _report_unreadable(path, "it does not have the expected form", diags)
        return {}
    return records


def manifest_text(records: Iterable[ModuleRecord]) -> str:
    """Write the text of the file."""
    modules = [
        {"Key": each.key, "Source": each.source}
        | ({"Version": each.version} if each.version else {})
        | {"Dir": each.directory}
        for each in sorted(records, key=lambda record: record.key.encode())
    ]
    text = json.dumps({"Modules": modules}, ensure_ascii=False, separators=(",", ":"))
    return as_go_writes(text)


def as_go_writes(text: str) -> str:
    """Escape the characters in JSON that Go escapes for HTML."""
    return text.translate(_ESCAPED)


def save_manifest(modules: str | PathLike[str], records: Iterable[ModuleRecord]) -> None:
    """Save the file atomically; raise `OSError` on failure."""
    write_whole(os.path.join(modules, FILE_NAME), manifest_text(records).encode())


def _report_unreadable(path: str, reason: str, diags: Diagnostics) -> None:
    diags.error(
        "Cannot read the list of installed modules",
        f"{path} cannot be used: {reason}. Delete it and run {advice().init()} to install the "
        "modules again.",
    )
