"""Outlines: what a document declares, and what is declared in all modules by a name."""

from __future__ import annotations

from nigari.hcl.body import Attribute, Block
from nigari.hcl.native_body import NativeBody
from nigari.language.document import Document
from nigari.language.occurrences import DECLARED
from nigari.language.project import Place, Project
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_MOST_FOUND: Final = 1_000


@record
class Outline:
    """A block or an argument of a document."""

    name: str
    kind: str
    """The type of the block, or `argument`."""
    detail: str
    start: int
    end: int
    name_start: int
    name_end: int
    inner: tuple[Outline, ...]


def outline(document: Document) -> tuple[Outline, ...]:
    """The declarations of a document, in order."""
    return () if document.body is None else _of_body(document.body)


def _of_body(body: NativeBody) -> tuple[Outline, ...]:
    found = [_of_attribute(each) for each in body.attributes.values()]
    found += [_of_block(each) for each in body.blocks]
    return tuple(sorted(found, key=_start))


def _of_block(block: Block) -> Outline:
    inner = [_of_attribute(each) for each in block.attributes.values()]
    inner += [_of_block(each) for each in block.blocks]
    name = " ".join([block.type, *[f'"{label}"' for label in block.labels]])
    return Outline(
        name=name,
        kind=block.type,
        detail="",
        start=block.start,
        end=block.end,
        name_start=block.def_start,
        name_end=block.def_end,
        inner=tuple(sorted(inner, key=_start)),
    )


def _of_attribute(attribute: Attribute) -> Outline:
    detail = attribute.source.glimpse(attribute.expr.start, attribute.expr.end)
    return Outline(
        name=attribute.name,
        kind="argument",
        detail=detail,
        start=attribute.start,
        end=attribute.end,
        name_start=attribute.name_start,
        name_end=attribute.name_end,
        inner=(),
    )


def _start(outline: Outline) -> int:
    return outline.start


def find_symbols(project: Project, query: str) -> list[Place]:
    """Declarations whose name has the letters of a query in that order; the closest first."""
    wanted = query.lower()
    found: list[tuple[int, str, int, Place]] = []
    for names in project.all_files():
        for each in names.occurrences:
            if each.role == DECLARED:
                distance = _distance(wanted, f"{each.kind}.{each.name}".lower())
                if distance is not None:
                    found.append((distance, names.path, each.start, Place(names.path, each)))
    found.sort(key=lambda item: item[:3])
    return [item[3] for item in found[:_MOST_FOUND]]


def _distance(wanted: str, name: str) -> int | None:
    """The distance of a name from the query; None if it lacks letters of it in order."""
    if not wanted:
        return 0
    at = name.find(wanted)
    if at >= 0:
        return len(name) - len(wanted)
    position = 0
    for letter in wanted:
        position = name.find(letter, position) + 1
        if not position:
            return None
    return len(name) * 10
