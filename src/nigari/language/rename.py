"""Renaming: the edits that rename a declaration everywhere and keep its objects.

Comments and layout stay. For a resource or a module call a `moved` block is added, so that a plan
afterwards is empty; earlier `moved` blocks stay, since states that were not applied since need them.
What cannot be renamed safely is reported, and then nothing is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from nigari.config.core.declared import MODULE_WORDS
from nigari.config.file_names import config_files
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import Block
from nigari.hcl.edits import Edit
from nigari.hcl.quoting import quoted
from nigari.hcl.scanner import is_identifier
from nigari.language.cursor import cursor_at
from nigari.language.document import Document, module_directory
from nigari.language.occurrences import (
    CHECK,
    HISTORY,
    LOCAL,
    MODULE,
    OUTPUT,
    PROVIDER,
    RESOURCE,
    RUN,
    VARIABLE,
)
from nigari.language.project import Place, Project, Symbol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_WORDS: Final = {
    VARIABLE: "variable",
    LOCAL: "local value",
    OUTPUT: "output",
    MODULE: "module call",
    RESOURCE: "resource",
    PROVIDER: "provider configuration",
    CHECK: "check",
    RUN: "run",
}
_WITHOUT_MOVES: Final = ("data.", "ephemeral.", "action.", "list.")
_PREFIXES: Final = {
    VARIABLE: "var.",
    LOCAL: "local.",
    OUTPUT: "output.",
    MODULE: "module.",
    RESOURCE: "",
    PROVIDER: "provider.",
    CHECK: "check.",
    RUN: "run.",
}
_INSTALLED: Final = f"{os.sep}.terraform{os.sep}"


def can_rename(project: Project, symbols: Sequence[Symbol], diags: Diagnostics) -> bool:
    """Return whether a symbol can be renamed, and report the reason otherwise."""
    declared = project.declarations(symbols)
    if not declared:
        diags.error(
            "Nothing to rename",
            "Only variables, local values, outputs, module calls, resources, checks and provider "
            "configurations with an alias that a configuration declares can be renamed.",
        )
        return False
    (first, *_) = symbols
    if any(_INSTALLED in each.path for each in declared):
        diags.error(
            "Module is installed",
            f"{_address(first)} is declared in a module that was installed from another package, "
            "where changes would be lost. Rename it in that package.",
        )
        return False
    if first.kind == PROVIDER and "." not in first.name:
        diags.error(
            "Provider configuration without an alias",
            f"{first.name} is the local name of a provider. Only the alias of a configuration can "
            "be renamed.",
        )
        return False
    return True


def rename(
    project: Project, symbols: Sequence[Symbol], name: str, diags: Diagnostics
) -> dict[str, list[Edit]] | None:
    """The edits by path that give something another name; None after reporting why it cannot have
    that name.
    """
    symbols = _named_together(project, symbols)
    if not can_rename(project, symbols, diags):
        return None
    if not all(_is_free(project, each, name, diags) for each in symbols):
        return None
    edits: dict[str, list[Edit]] = {}
    for place in project.places(symbols):
        if place.occurrence.role != HISTORY:
            edits.setdefault(place.path, []).append(Edit(*place.span, name))
    if not _check_files(project, symbols, edits, diags):
        return None
    for place in project.declarations(symbols):
        if place.occurrence.kind in (RESOURCE, MODULE):
            for path, more in _moves(project, place, name).items():
                edits.setdefault(path, []).extend(more)
    return {path: sorted(each, key=_start) for path, each in sorted(edits.items())}


def _named_together(project: Project, symbols: Sequence[Symbol]) -> Sequence[Symbol]:
    """Add the symbols that have their name in common with others: if the instances of a call have
    different modules, one argument is for a variable of each of them.
    """
    found = dict.fromkeys(symbols)
    while True:
        known = len(found)
        for place in project.places(tuple(found)):
            directory = module_directory(place.path)
            found.update(dict.fromkeys(project.symbols_of(directory, place.occurrence)))
        if len(found) == known:
            return tuple(found)


def _start(edit: Edit) -> tuple[int, int]:
    return edit.start, edit.end


def renamed(symbol: Symbol, name: str) -> str:
    """The whole name of a symbol that has been given another last part."""
    head, dot, _ = symbol.name.rpartition(".")
    return f"{head}{dot}{name}"


def _address(symbol: Symbol) -> str:
    return f"{_PREFIXES[symbol.kind]}{symbol.name}"


def _is_free(project: Project, symbol: Symbol, name: str, diags: Diagnostics) -> bool:
    if not is_identifier(name):
        diags.error(
            "Invalid name",
            f"{quoted(name)} is not a valid name. A name must begin with a letter or an "
            "underscore, and can contain letters, digits, underscores and dashes.",
        )
        return False
    if symbol.kind == VARIABLE and name in MODULE_WORDS:
        diags.error(
            "Reserved name",
            f"No variable can be named {quoted(name)}, because that word has a meaning of its own "
            "in module blocks.",
        )
        return False
    wanted = Symbol(symbol.kind, symbol.directory, renamed(symbol, name))
    taken = [] if wanted == symbol else project.declarations([wanted])
    if taken:
        diags.error(
            "Name is taken",
            f"There is already a {_WORDS[symbol.kind]} {_address(wanted)}, in {taken[0].path}.",
        )
    return not taken


def _check_files(
    project: Project,
    symbols: Sequence[Symbol],
    edits: Mapping[str, object],
    diags: Diagnostics,
) -> bool:
    """Report files that may have the name where it cannot be found: those with syntax errors, and
    those in the JSON syntax, which are not rewritten.
    """
    short = symbols[0].name.rpartition(".")[2]
    directories = {each.directory for each in symbols}
    directories.update(module_directory(path) for path in edits)
    for directory in sorted(directories):
        for file in project.files_of(directory):
            document = project.document(file.path)
            if document is None or short not in document.text:
                continue
            if document.is_json:
                diags.error(
                    "File in the JSON syntax",
                    f"{file.path} mentions {quoted(short)}, and files in the JSON syntax cannot be "
                    "rewritten. Change it there by hand, and rename the rest afterwards.",
                )
                return False
            if document.problems:
                diags.error(
                    "File with syntax errors",
                    f"{file.path} mentions {quoted(short)} and cannot be read whole. Correct its "
                    "syntax first.",
                )
                return False
    return True


# -- moves ----------------------------------------------------------------------------------------


def _moves(project: Project, place: Place, name: str) -> dict[str, list[Edit]]:
    """The edits that add a `moved` block after a block, and remove one that would lead back."""
    document = project.document(place.path)
    occurrence = place.occurrence
    if document is None or occurrence.name.startswith(_WITHOUT_MOVES):
        return {}
    if config_files([os.path.basename(place.path)])[1]:
        # Blocks of override files are merged into others, and `moved` blocks cannot be there.
        return {}
    block = cursor_at(document, occurrence.start).header
    if block is None:
        return {}
    prefix = "module." if occurrence.kind == MODULE else ""
    head, dot, _ = occurrence.name.rpartition(".")
    old, new = f"{prefix}{occurrence.name}", f"{prefix}{head}{dot}{name}"
    found: dict[str, list[Edit]] = {}
    for names in project.files_of(document.directory):
        other = project.document(names.path)
        back = [] if other is None else [*_moved_from(other, new)]
        for edit in back:
            found.setdefault(names.path, []).append(edit)
    end = _line_end(document.text, block.end)
    text = f"\nmoved {{\n  from = {old}\n  to   = {new}\n}}\n"
    line_end = "\r\n" if "\r\n" in document.text else "\n"
    text = text.replace("\n", line_end)
    is_last = end == len(document.text) and not document.text.endswith("\n")
    found.setdefault(place.path, []).append(
        Edit(end, end, f"{line_end}{text}" if is_last else text)
    )
    return found


def _moved_from(document: Document, address: str) -> list[Edit]:
    """The edits that remove `moved` blocks from an address, with the line that they leave empty."""
    found: list[Edit] = []
    for block in [] if document.body is None else document.body.blocks:
        given = block.attributes.get("from") if block.type == "moved" else None
        traversal = None if given is None else given.expr.static_traversal()
        if traversal is not None and str(traversal) == address:
            found.append(_removal(document.text, block))
    return found


def _removal(text: str, block: Block) -> Edit:
    start, end = block.start, _line_end(text, block.end)
    before = text[:start].rstrip(" \t")
    if before.endswith(("\n\n", "\n\r\n")) or not before:
        start = len(before) - (2 if before.endswith("\r\n") else 1 if before else 0)
    return Edit(start, end, "")


def _line_end(text: str, offset: int) -> int:
    """Return the offset after the line that contains an offset."""
    end = text.find("\n", offset)
    return len(text) if end < 0 else end + 1


def declared_symbol(
    project: Project, directory: str, address: str, diags: Diagnostics
) -> list[Symbol]:
    """Find the symbols of an address in a configuration: `var.x`, `module.net.output.id`,
    `aws_vpc.main`.
    """
    parts = address.split(".")
    calls: list[str] = []
    while len(parts) > 2 and parts[0] == "module":
        calls.append(parts[1])
        parts = parts[2:]
    if "[" not in address:
        for kind, prefix in _PREFIXES.items():
            rest = ".".join(parts)
            if rest.startswith(prefix):
                name = rest.removeprefix(prefix)
                found = [Symbol(kind, each, name) for each in project.called(directory, calls)]
                if found and project.declarations(found):
                    return found
    diags.error(
        "Nothing at this address",
        f"The configuration declares nothing named {quoted(address)}. Give an address without "
        "instance keys, such as var.region, local.name, output.id, module.net, aws_vpc.main, "
        "provider.aws.west or module.net.var.cidr.",
    )
    return []
