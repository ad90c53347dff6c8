"""Splitting a file: the blocks of one kind move to a file of their own, with the comments above them.

In which file of a module a block is means nothing, so nothing else changes.
"""

from __future__ import annotations

import os

from nigari.config.file_names import config_files
from nigari.hcl.body import Block
from nigari.hcl.edits import Edit
from nigari.language.document import Document
from nigari.language.fixes import Fix
from nigari.language.project import Project
from nigari.lint.rule import removal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_FILES: Final = {
    "check": "checks",
    "data": "data",
    "import": "imports",
    "locals": "locals",
    "module": "modules",
    "moved": "moved",
    "output": "outputs",
    "provider": "providers",
    "removed": "removed",
    "terraform": "versions",
    "variable": "variables",
}
"""The usual names of files, without the ending, by the type of their blocks."""


def to_own_file(project: Project, document: Document, block: Block) -> Fix | None:
    """Move all blocks of a file that are like this one to the file where they usually are: those of a
    type, and resources of one type to a file that is named like it.
    """
    head, name = os.path.split(document.path)
    is_resource = block.type == "resource" and bool(block.labels)
    stem = block.labels[0] if is_resource else _FILES.get(block.type)
    target = f"{stem}{os.path.splitext(name)[1]}"
    if stem is None or document.body is None or name == target or config_files([name])[1]:
        return None
    kinds = (block.type, *block.labels[:1]) if is_resource else (block.type,)
    like = [
        each for each in document.body.blocks if (each.type, *each.labels)[: len(kinds)] == kinds
    ]
    if len(like) == len(document.body.blocks):
        return None
    path = os.path.join(head, target)
    known = project.document(path)
    if known is not None and known.problems:
        return None
    removed = [_whole(document, each) for each in like]
    moved = "\n".join(f"{document.text[each.start : each.end].strip()}\n" for each in removed)
    end = "" if known is None else known.text
    gap = "" if not end.strip() else "\n" if end.endswith("\n") else "\n\n"
    what = f"{' '.join(kinds)} blocks" if len(like) > 1 else f"the {' '.join(kinds)} block"
    return Fix(
        f"Move {what} to {target}",
        {document.path: tuple(removed), path: (Edit(len(end), len(end), gap + moved),)},
    )


def _whole(document: Document, block: Block) -> Edit:
    """The edit that removes a block with the comments above it and one empty line after it."""
    (edit,) = removal("", document.source, block.start, block.end).edits
    is_followed = document.text.startswith("\n", edit.end)
    return Edit(edit.start, edit.end + is_followed, "")
