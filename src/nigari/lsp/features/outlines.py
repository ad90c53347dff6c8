"""`textDocument/documentSymbol` and `workspace/symbol`."""

from __future__ import annotations

import os

from nigari.language.symbols import Outline, find_symbols, outline
from nigari.lsp.editor import Editor, Params
from nigari.lsp.text import LineMap
from nigari.lsp.uris import uri_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_CLASS: Final = 5
_PROPERTY: Final = 7
_KINDS: Final = {
    "argument": _PROPERTY,
    "variable": 13,
    "locals": 3,
    "local": 14,
    "output": 10,
    "module": 2,
    "resource": 19,
    "data": 20,
    "ephemeral": 19,
    "action": 12,
    "provider": 11,
    "check": 17,
    "run": 12,
}
"""The kinds of symbol, by what is declared; anything else is a class."""


def document_symbol(editor: Editor, params: Params) -> object:
    """The symbols of a document: as a tree if the client can show one."""
    document = editor.document(params)
    lines = editor.lines(document)
    found = outline(document)
    if editor.can("textDocument", "documentSymbol", "hierarchicalDocumentSymbolSupport"):
        return [_tree(lines, each) for each in found]
    return [
        {
            "name": each.name,
            "kind": _KINDS.get(each.kind, _CLASS),
            "location": {"uri": uri_of(document.path), "range": lines.range(each.start, each.end)},
        }
        for each in found
    ]


def _tree(lines: LineMap, each: Outline) -> dict[str, object]:
    return {
        "name": each.name,
        "detail": each.detail,
        "kind": _KINDS.get(each.kind, _CLASS),
        "range": lines.range(each.start, each.end),
        "selectionRange": lines.range(each.name_start, each.name_end),
        "children": [_tree(lines, inner) for inner in each.inner],
    }


def workspace_symbol(editor: Editor, params: Params) -> object:
    """Declarations in all modules, by name."""
    shown = []
    for place in find_symbols(editor.project, str(params.get("query", ""))):
        location = editor.location(place.path, place.span)
        if location is not None:
            occurrence = place.occurrence
            shown.append(
                {
                    "name": occurrence.name,
                    "kind": _KINDS.get(occurrence.kind, _CLASS),
                    "containerName": _container(editor, place.path),
                    "location": location,
                }
            )
    return shown


def _container(editor: Editor, path: str) -> str:
    """The module that a file belongs to, seen from the folder that it is in."""
    directory = os.path.dirname(path)
    for folder in editor.project.folders:
        if directory == folder or directory.startswith(folder + os.sep):
            return os.path.relpath(directory, folder)
    return directory
