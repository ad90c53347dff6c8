"""Edits that change how something is written and not what it means.

Each is offered for the part of a document that is selected, and is None where it does not fit.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.hcl.body import Block
from nigari.hcl.edits import Edit
from nigari.hcl.expressions import Expression, Literal
from nigari.hcl.templates import StringLiteral
from nigari.language.count_to_keys import to_for_each
from nigari.language.cursor import Cursor, cursor_at
from nigari.language.document import Document, Kind
from nigari.language.fixes import Fix
from nigari.language.language_blocks import LABELS
from nigari.language.occurrences import DECLARED, LOCAL, READ, VARIABLE
from nigari.language.project import Project, Symbol
from nigari.language.splitting import to_own_file
from nigari.language.workbench import Workbench
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

EXTRACT: Final = "refactor.extract"
INLINE: Final = "refactor.inline"
REWRITE: Final = "refactor.rewrite"
MOVE: Final = "refactor.move"
_BOUND: Final = frozenset(("each", "count", "self"))
_RESOURCES: Final = frozenset(("resource", "data", "ephemeral"))
_OUTER: Final = frozenset(("variable", "terraform", "moved", "removed", "import", "provider_meta"))


@record
class Refactoring:
    """A change, and of which kind it is."""

    kind: str
    fix: Fix


def refactorings(
    workbench: Workbench, document: Document, start: int, end: int
) -> Iterator[Refactoring]:
    """The changes that are possible for a selection."""
    if document.kind is not Kind.CONFIGURATION or document.problems:
        return
    cursor = cursor_at(document, start)
    expr = _selected(cursor, start, end)
    top = cursor.blocks[0] if cursor.blocks else None
    if expr is not None and top is not None and top.type not in _OUTER and start < end:
        text = _text(expr)
        yield Refactoring(REWRITE, _replace("Wrap in try", document, expr, f"try({text}, null)"))
        if not _uses_bound(cursor, expr):
            yield Refactoring(EXTRACT, _extract_local(workbench, document, expr, top))
        if isinstance(expr, Literal | StringLiteral) and top.type != "locals":
            yield Refactoring(EXTRACT, _extract_variable(workbench, document, expr, top))
    block = cursor.header or top
    keyed = None if block is None else to_for_each(workbench, document, block)
    if keyed is not None:
        yield Refactoring(REWRITE, keyed)
    moved = None
    if cursor.header is not None and not cursor.blocks:
        moved = to_own_file(workbench.project, document, cursor.header)
    if moved is not None:
        yield Refactoring(MOVE, moved)
    inlined = _inline_local(workbench.project, document, start)
    if inlined is not None:
        yield Refactoring(INLINE, inlined)
    required = _require_provider(workbench, document, cursor)
    if required is not None:
        yield Refactoring(REWRITE, required)


def _selected(cursor: Cursor, start: int, end: int) -> Expression | None:
    """The expression that is exactly what is selected."""
    touching = [each for each in cursor.expressions if (each.start, each.end) == (start, end)]
    return touching[-1] if touching else None


def _uses_bound(cursor: Cursor, expr: Expression) -> bool:
    """Return whether an expression uses names that are only bound at its position."""
    own = {each.root_name for each in expr.variables()}
    around = {each.root_name for each in cursor.expressions[0].variables()}
    return bool(own & _BOUND or own - around)


def _text(expr: Expression) -> str:
    return expr.source.text[expr.start : expr.end]


def _replace(title: str, document: Document, expr: Expression, text: str) -> Fix:
    return Fix(title, {document.path: (Edit(expr.start, expr.end, text),)})


def _free_name(workbench: Workbench, document: Document, wanted: str, kind: str) -> str:
    """A name that nothing of the kind has in the module."""
    taken = {
        each.name
        for file in workbench.project.files_of(document.directory)
        for each in file.occurrences
        if each.kind == kind and each.role == DECLARED
    }
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


def _wanted_name(document: Document, expr: Expression) -> str:
    """The name of the argument that an expression is in."""
    attribute = cursor_at(document, expr.start).attribute
    return "value" if attribute is None else attribute.name


def _extract_local(workbench: Workbench, document: Document, expr: Expression, top: Block) -> Fix:
    name = _free_name(workbench, document, _wanted_name(document, expr), LOCAL)
    text = f"locals {{\n  {name} = {_text(expr)}\n}}\n\n"
    edits = (Edit(top.start, top.start, text), Edit(expr.start, expr.end, f"local.{name}"))
    return Fix(f"Extract to local.{name}", {document.path: edits})


def _extract_variable(
    workbench: Workbench, document: Document, expr: Expression, top: Block
) -> Fix:
    name = _free_name(workbench, document, _wanted_name(document, expr), VARIABLE)
    text = _text(expr)
    type_ = "string" if text.startswith('"') else "bool" if text in ("true", "false") else "number"
    declared = f'variable "{name}" {{\n  type    = {type_}\n  default = {text}\n}}\n\n'
    if text == "null":
        declared = f'variable "{name}" {{\n  default = null\n}}\n\n'
    edits = (Edit(top.start, top.start, declared), Edit(expr.start, expr.end, f"var.{name}"))
    return Fix(f"Extract to var.{name}", {document.path: edits})


def _inline_local(project: Project, document: Document, offset: int) -> Fix | None:
    """Replace all uses of a local value by its expression."""
    occurrence = project.occurrence_at(document.path, offset)
    if occurrence is None or occurrence.kind != LOCAL or occurrence.calls:
        return None
    symbol = Symbol(LOCAL, document.directory, occurrence.name)
    declared = project.declarations([symbol])
    if len(declared) != 1:
        return None
    owner = project.document(declared[0].path)
    cursor = None if owner is None else cursor_at(owner, declared[0].occurrence.start)
    if owner is None or cursor is None or cursor.attribute is None or not cursor.blocks:
        return None
    attribute = cursor.attribute
    text = _text(attribute.expr)
    if "<<" in text[:2]:
        return None
    edits: dict[str, list[Edit]] = {}
    for place in project.places([symbol]):
        if place.occurrence.role == READ:
            start = place.occurrence.start - len("local.")
            edits.setdefault(place.path, []).append(
                Edit(start, place.occurrence.end, _grouped(attribute.expr, text))
            )
    edits.setdefault(owner.path, []).append(_removal(owner.text, attribute.start, attribute.end))
    return Fix(
        f"Inline local.{occurrence.name}", {path: tuple(each) for path, each in edits.items()}
    )


def _grouped(expr: Expression, text: str) -> str:
    """The text of an expression, in parentheses unless it holds together wherever it is put."""
    is_safe = isinstance(expr, Literal | StringLiteral) or expr.static_traversal() is not None
    return text if is_safe else f"({text})"


def _removal(text: str, start: int, end: int) -> Edit:
    """The edit that removes an argument, with its line if nothing else is on that."""
    line = text.rfind("\n", 0, start) + 1
    after = text.find("\n", end)
    after = len(text) if after < 0 else after + 1
    is_alone = not text[line:start].strip() and not text[end:after].strip()
    return Edit(line, after, "") if is_alone else Edit(start, end, "")


def _require_provider(workbench: Workbench, document: Document, cursor: Cursor) -> Fix | None:
    """Say where a provider comes from that the module uses without saying so."""
    header = cursor.header
    if (
        header is None
        or header.type not in _RESOURCES
        or len(header.labels) < len(LABELS["resource"])
    ):
        return None
    module = workbench.module(document.directory)
    name = header.labels[0].partition("_")[0]
    provider = workbench.provider(document.directory, name)
    if (
        module is None
        or provider is None
        or provider.is_builtin
        or name in module.required_providers
    ):
        return None
    source = f"{provider.namespace}/{provider.type}"
    text = f'terraform {{\n  required_providers {{\n    {name} = {{\n      source = "{source}"\n    }}\n  }}\n}}\n\n'
    return Fix(f'Add "{name}" to required_providers', {document.path: (Edit(0, 0, text),)})
