"""Finds the blocks of a configuration that were edited since a commit.

Blocks are compared as text, file by file, in all modules that are in the same repository. Files in JSON
and blocks that concern the whole module, such as `terraform`, count as an edit of everything in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from nigari.config.file_names import is_config_file
from nigari.diagnostics import Diagnostics
from nigari.eval.core.module_tree import ModuleInstance
from nigari.hcl.body import Block
from nigari.hcl.parser import parse_body
from nigari.hcl.source import Source
from nigari.plan.order.block_references import EXPANSION
from nigari.workspace.context.changed_files import changed_files, known_commit
from nigari.workspace.context.git import git
from nigari.workspace.context.working_directory import WorkingDirectory


def edited_blocks(
    where: WorkingDirectory, root: ModuleInstance, reference: str, diags: Diagnostics
) -> frozenset[tuple[str, str]] | None:
    """Return directories of modules and names of blocks that differ from a commit; None after an error."""
    commit = known_commit(where.path, reference, diags)
    changed = None if commit is None else changed_files(where.path, commit, diags)
    if commit is None or changed is None:
        return None
    found: set[tuple[str, str]] = set()
    for directory in _directories(root):
        at = os.path.realpath(where.at(directory))
        for path in changed:
            if os.path.dirname(path) == at and is_config_file(os.path.basename(path)):
                found.update((directory, name) for name in _edited(path, commit))
    return frozenset(found)


def _directories(root: ModuleInstance) -> set[str]:
    found: set[str] = set()
    pending = [root]
    while pending:
        instance = pending.pop()
        found.add(instance.module.directory)
        pending += [child for each in instance.children.values() for child in each.values()]
    return found


def _edited(path: str, commit: str) -> Iterator[str]:
    """The names of the blocks in a file that are new or different."""
    if path.endswith(".json"):
        yield EXPANSION
        return
    directory, name = os.path.split(path)
    before = git(directory, Diagnostics(), "show", f"{commit}:./{name}")
    try:
        with open(path, "rb") as file:
            now = file.read()
    except OSError:
        # What a removed file declared is destroyed, and read for that.
        return
    known = _blocks(path, before or b"")
    for block, text in _blocks(path, now).items():
        if known.get(block) != text:
            yield block


def _blocks(path: str, data: bytes) -> dict[str, str]:
    """The text of each block in a file, by the name that the block graph has for it."""
    source = Source.from_bytes(path, data)
    found: dict[str, str] = {}
    for block in parse_body(source, Diagnostics()).blocks:
        for name, start, end in _named(block):
            found[name] = found.get(name, "") + source.text[start:end]
    return found


def _named(block: Block) -> Iterator[tuple[str, int, int]]:
    labels = ".".join(block.labels)
    if block.type == "locals":
        for name, attribute in block.body.just_attributes(Diagnostics()).items():
            yield f"local.{name}", attribute.start, attribute.end
        return
    prefixes = {"resource": "", "variable": "var."}
    if block.type in ("resource", "data", "ephemeral", "module", "variable", "output", "check"):
        yield f"{prefixes.get(block.type, f'{block.type}.')}{labels}", block.start, block.end
    elif block.type not in ("moved", "removed", "import"):
        yield EXPANSION, block.start, block.end
