"""Blocks that are written for objects which are imported and have none yet.

What is written is taken for part of the root module at once, wherever the file with it is put.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from nigari.config.core.provider_ref import ProviderRef
from nigari.diagnostics import Diagnostics
from nigari.lang.files import Entry, Files, by_name
from nigari.plan.nodes.import_lookup import ImportLookup
from nigari.plan.nodes.lists import ListInstance
from nigari.plan.objects.generated_resource import written_resource
from nigari.record import record
from nigari.workspace.context.working_directory import WorkingDirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_HEAD: Final = (
    "# __generated__ by Nigari\n# Review these blocks, and move them to where they belong in "
    "your configuration.\n"
)
_SUFFIXES: Final = (".tf", ".tofu")


@record
class GeneratedBlock:
    """A block for an object."""

    address: str
    origin: str
    """The object's identity; empty if it is not an id."""
    text: str


def generated_blocks(found: Iterable[ImportLookup]) -> list[GeneratedBlock]:
    """A block for each object, in the order of addresses."""
    blocks: list[GeneratedBlock] = []
    for each in sorted(found, key=lambda node: str(node.target.address)):
        if each.found is None or each.schema is None:
            continue
        target = each.target
        address = target.address.item.resource
        ref = None if target.block is None else target.block.provider
        text = written_resource(
            address,
            _written(ref, address.implied_provider),
            each.schema.block,
            each.found.value,
        )
        blocks.append(GeneratedBlock(str(target.address), target.id, text))
    return blocks


def listed_blocks(found: Iterable[ListInstance]) -> list[GeneratedBlock]:
    """A resource block and an import block for each object that queries found."""
    return [
        GeneratedBlock("", each.display_name, f"{each.config}\n\n{each.import_config}\n")
        for instance in found
        for each in instance.found
    ]


def generated_text(blocks: Iterable[GeneratedBlock]) -> str:
    """A file with blocks; empty if there is none."""
    texts: list[str] = []
    for each in blocks:
        origin = f' from "{each.origin}"' if each.origin else ""
        texts.append(f"\n# __generated__ by Nigari{origin}\n{each.text}")
    return _HEAD + "".join(texts) if texts else ""


def _written(ref: ProviderRef | None, usual: str) -> str:
    """Return a block's provider reference; empty if it needs none."""
    if ref is None or (ref.name == usual and not ref.alias):
        return ""
    text = ref.name if not ref.alias else f"{ref.name}.{ref.alias}"
    if ref.key is None:
        return text
    key = ref.key
    return f"{text}[{key.source.text[key.start : key.end]}]"


def is_new(path: str, where: WorkingDirectory, diags: Diagnostics) -> bool:
    """Return whether the path for generated blocks is free, and report it otherwise."""
    if os.path.exists(where.at(path)):
        diags.error(
            "File already exists",
            f"Generated blocks are written to a new file, but {path} already exists. Choose "
            "another name, or move its contents elsewhere.",
        )
        return False
    return True


def write_new(path: str, text: str, where: WorkingDirectory, diags: Diagnostics) -> bool:
    """Write blocks to a file; False after reporting why that cannot be done."""
    try:
        with open(where.at(path), "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        diags.error("Cannot write the generated blocks", f"{path}: {error.strerror}.")
        return False
    return True


class WithGenerated:
    """Files, with one more in the root module."""

    def __init__(self, files: Files, directory: str, path: str, text: str) -> None:
        self._files = files
        self._directory = os.path.normpath(directory)
        name = os.path.basename(path)
        self._name = name if name.endswith(_SUFFIXES) else f"{name}.tf"
        self._content = text.encode()

    def _is_generated(self, path: str) -> bool:
        return os.path.normpath(path) == os.path.normpath(os.path.join(self._directory, self._name))

    def read(self, path: str, limit: int | None = None) -> bytes:
        if not self._is_generated(path):
            return self._files.read(path, limit)
        return self._content if limit is None else self._content[: limit + 1]

    def entries(self, path: str) -> list[Entry]:
        found = self._files.entries(path)
        if os.path.normpath(path or ".") != self._directory:
            return found
        return sorted({*found, Entry(self._name, False)}, key=by_name)

    def is_file(self, path: str) -> bool:
        return self._is_generated(path) or self._files.is_file(path)

    def is_directory(self, path: str) -> bool:
        return self._files.is_directory(path)
