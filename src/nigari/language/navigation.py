"""From a name to its declaration, its uses, its values, the module behind a call, and to files.

Every answer is a place in a file. What names stand for is known to `nigari.language.project`, and
the values that paths may need to `nigari.language.values`; how places are shown is unknown here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from nigari.hcl.body import Block
from nigari.hcl.calls import FunctionCall
from nigari.hcl.expressions import Expression
from nigari.language.cursor import cursor_at
from nigari.language.document import Document, Kind
from nigari.language.occurrences import (
    DECLARED,
    GIVEN,
    MODULE,
    Occurrence,
    written_text,
)
from nigari.language.project import Place, Symbol
from nigari.language.values import static_value
from nigari.language.workbench import Workbench
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

Span = tuple[int, int]
_FILE_FUNCTIONS: Final = frozenset(
    (
        "file",
        "filebase64",
        "filebase64sha256",
        "filebase64sha512",
        "filemd5",
        "filesha1",
        "filesha256",
        "filesha512",
        "templatefile",
    )
)


@record
class Target:
    """A place that a name leads to."""

    path: str
    span: Span
    """Of the name there."""
    around: Span
    """Of what is declared there."""


def symbols_at(workbench: Workbench, document: Document, offset: int) -> list[Symbol]:
    """The symbol of the name at an offset."""
    project = workbench.project
    project.files_of(document.directory)
    occurrence = project.occurrence_at(document.path, offset)
    return [] if occurrence is None else project.symbols_of(document.directory, occurrence)


def definitions(workbench: Workbench, document: Document, offset: int) -> list[Target]:
    """Find the declaration of the name at an offset.

    A call's source leads to the module, a path to the file, and a call's argument to the variable.
    """
    near = links(workbench, document, offset)
    paths = [link for link in near if link.start <= offset <= link.end]
    if paths:
        return [Target(path, (0, 0), (0, 0)) for path in paths[0].paths]
    symbols = symbols_at(workbench, document, offset)
    return [_target(workbench, each) for each in workbench.project.declarations(symbols)]


def implementations(workbench: Workbench, document: Document, offset: int) -> list[Target]:
    """The implementations of a name: the files of a called module, the given values of a variable."""
    symbols = symbols_at(workbench, document, offset)
    project = workbench.project
    modules = [
        directory
        for each in symbols
        if each.kind == MODULE
        for directory in project.called(each.directory, (each.name,))
    ]
    found = [
        Target(path, (0, 0), (0, 0)) for each in modules for path in _first_files(workbench, each)
    ]
    named = project.places([each for each in symbols if each.kind != MODULE])
    return found + [_target(workbench, each) for each in named if each.occurrence.role == GIVEN]


def references(
    workbench: Workbench, document: Document, offset: int, with_declaration: bool
) -> list[Place]:
    """Everywhere that the name at an offset is used, over all modules."""
    symbols = symbols_at(workbench, document, offset)
    return [
        each
        for each in workbench.project.places(symbols)
        if with_declaration or each.occurrence.role != DECLARED
    ]


def highlights(
    workbench: Workbench, document: Document, offset: int
) -> list[tuple[Occurrence, bool]]:
    """The same name in the document itself, each with whether it is given a value there."""
    wanted = set(symbols_at(workbench, document, offset))
    names = workbench.project.names_in(document.path)
    if names is None:
        return []
    return [
        (each, each.role in (DECLARED, GIVEN))
        for each in names.occurrences
        if wanted.intersection(workbench.project.symbols_of(names.directory, each))
    ]


# -- links ----------------------------------------------------------------------------------------


@record
class Link:
    """A part of a document that leads to files."""

    start: int
    end: int
    paths: tuple[str, ...]


def links(workbench: Workbench, document: Document, near: int | None = None) -> list[Link]:
    """The paths in a document that lead somewhere: of modules, and of files that functions read. With
    an offset, only those in the block around it.
    """
    found: list[Link] = []
    first: dict[str, Sequence[str]] = {}
    if document.body is None or document.kind is not Kind.CONFIGURATION:
        return found
    for block in document.body.blocks:
        if near is not None and not block.start <= near <= block.end:
            continue
        source = block.attributes.get("source")
        if block.type == "module" and source is not None and block.labels:
            called = workbench.project.called(document.directory, (block.labels[0],))
            first.update((e, _first_files(workbench, e)) for e in called if e not in first)
            paths = [path for each in called for path in first[each]]
            if paths:
                found.append(_link(source.expr, tuple(paths)))
        for call in _file_calls(block):
            path = _path_of(workbench, document, call.arguments[0])
            if path is not None and os.path.isfile(path):
                found.append(_link(call.arguments[0], (path,)))
    return sorted(found, key=_start)


def _start(link: Link) -> int:
    return link.start


def _link(expr: Expression, paths: tuple[str, ...]) -> Link:
    is_quoted = expr.source.text.startswith('"', expr.start) and expr.end - expr.start > 1
    start, end = (expr.start + 1, expr.end - 1) if is_quoted else (expr.start, expr.end)
    return Link(start, end, paths)


def _file_calls(block: Block) -> Iterator[FunctionCall]:
    """The calls of functions that read a file, in a block."""
    pending: list[Expression] = []
    blocks = [block]
    while blocks:
        current = blocks.pop()
        pending.extend(each.expr for each in current.attributes.values())
        blocks.extend(current.blocks)
    while pending:
        expr = pending.pop()
        if isinstance(expr, FunctionCall) and expr.arguments:
            if expr.name.removeprefix("core::") in _FILE_FUNCTIONS:
                yield expr
        pending.extend(expr.children())


def _path_of(workbench: Workbench, document: Document, expr: Expression) -> str | None:
    """The file that a path leads to, which is seen from the root module unless it says otherwise."""
    text = written_text(expr)
    roots = [each.root for each in workbench.evaluations_of(document.directory)]
    base = roots[0] if roots else document.directory
    if text is None:
        value = static_value(workbench, document.directory, expr.source.text[expr.start : expr.end])
        if value is None or not value.is_known or value.marks or not isinstance(value.data, str):
            return None
        text = value.data
    return os.path.normpath(os.path.join(base, os.path.expanduser(text)))


def _first_files(workbench: Workbench, directory: str) -> Sequence[str]:
    """The file to open for a module: `main` if there is one."""
    paths = [each.path for each in workbench.project.files_of(directory)]
    main = [each for each in paths if os.path.basename(each).partition(".")[0] == "main"]
    return (main or paths)[:1]


def _target(workbench: Workbench, place: Place) -> Target:
    """The place of a name, with the block around it."""
    document = workbench.project.document(place.path)
    around = place.span
    if document is not None:
        cursor = cursor_at(document, place.occurrence.start)
        if cursor.header is not None:
            around = cursor.header.start, cursor.header.end
        elif cursor.attribute is not None:
            around = cursor.attribute.start, cursor.attribute.end
    return Target(place.path, place.span, around)


# -- calls ----------------------------------------------------------------------------------------


def module_at(workbench: Workbench, document: Document, offset: int) -> list[str]:
    """The modules that are meant at an offset: those that a call leads to, or the file's own."""
    cursor = cursor_at(document, offset)
    block = cursor.blocks[0] if cursor.blocks else cursor.header
    if block is not None and block.type == "module" and block.labels:
        return [*workbench.project.called(document.directory, (block.labels[0],))]
    return [document.directory]


def calls_in(workbench: Workbench, directory: str) -> list[tuple[Place, tuple[str, ...]]]:
    """The calls in a module, each with the directories that it leads to."""
    return [
        (Place(names.path, each), workbench.project.called(directory, (each.name,)))
        for names in workbench.project.files_of(directory)
        for each in names.occurrences
        if each.kind == MODULE and each.role == DECLARED
    ]
