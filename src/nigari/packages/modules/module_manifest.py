"""`modules.json`: which modules a working directory has installed, and where.

The file is `tofu`'s, byte for byte. Records of the same key cannot be, and neither can records of
calls that are gone.
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
from nigari.packages.base.whole_file import write_whole
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


FILE_NAME: Final = "modules.json"
_ESCAPED: Final = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


@record
class ModuleRecord:
    """One installed module."""

    key: str
    """The names of the calls from the root, with dots between them; empty for the root."""
    source: str
    directory: str
    version: str = ""


Manifest = Mapping[str, ModuleRecord]


def load_manifest(files: Files, modules: str, diags: Diagnostics) -> Manifest:
    """The records of a modules directory, by key; none where there is no such file."""
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
    if not text:
        return records
    try:
        for each in json.loads(text)["Modules"]:
            source = str(each["Source"])
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
    """The text of the file."""
    modules = [
        {"Key": each.key, "Source": each.source}
        | ({"Version": each.version} if each.version else {})
        | {"Dir": each.directory}
        for each in sorted(records, key=lambda record: record.key.encode())
    ]
    text = json.dumps({"Modules": modules}, ensure_ascii=False, separators=(",", ":"))
    return as_go_writes(text)


def as_go_writes(text: str) -> str:
    """JSON text with those characters escaped that Go's writer escapes for the sake of HTML."""
    return text.translate(_ESCAPED)


def save_manifest(modules: str | PathLike[str], records: Iterable[ModuleRecord]) -> None:
    """Write the file, whole or not at all. An `OSError` says why it cannot be."""
    write_whole(os.path.join(modules, FILE_NAME), manifest_text(records).encode())


def _report_unreadable(path: str, reason: str, diags: Diagnostics) -> None:
    diags.error(
        "Cannot read the list of installed modules",
        f"{path} cannot be used: {reason}. Delete it and run {advice().init()} to install the "
        "modules again.",
    )
