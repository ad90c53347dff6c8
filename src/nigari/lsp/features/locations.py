"""Definition, declaration, implementation, references, highlights and links."""

from __future__ import annotations

from collections.abc import Sequence

from nigari.language.navigation import (
    Target,
    definitions,
    highlights,
    implementations,
    links,
    references,
)
from nigari.lsp.editor import Editor, Params
from nigari.lsp.uris import uri_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_READ: Final = 2
_WRITE: Final = 3


def definition(editor: Editor, params: Params) -> object:
    """The declarations of a name."""
    return _targets(editor, definitions(editor, *editor.at(params)), "definition")


def declaration(editor: Editor, params: Params) -> object:
    """The same."""
    return _targets(editor, definitions(editor, *editor.at(params)), "declaration")


def implementation(editor: Editor, params: Params) -> object:
    """The implementations of a name: a called module, or the given values of a variable."""
    return _targets(editor, implementations(editor, *editor.at(params)), "implementation")


def _targets(editor: Editor, found: Sequence[Target], capability: str) -> object:
    if not editor.can("textDocument", capability, "linkSupport"):
        return editor.locations((each.path, each.span) for each in found)
    shown = []
    for each in found:
        document = editor.project.document(each.path)
        if document is not None:
            lines = editor.lines(document)
            shown.append(
                {
                    "targetUri": uri_of(each.path),
                    "targetRange": lines.range(*each.around),
                    "targetSelectionRange": lines.range(*each.span),
                }
            )
    return shown


def all_references(editor: Editor, params: Params) -> object:
    """Everywhere that a name is used."""
    context = params.get("context") or {}
    found = references(editor, *editor.at(params), bool(context.get("includeDeclaration")))
    return editor.locations((each.path, each.span) for each in found)


def document_highlight(editor: Editor, params: Params) -> object:
    """The same name in the same document."""
    document, offset = editor.at(params)
    lines = editor.lines(document)
    return [
        {"range": lines.range(each.start, each.end), "kind": _WRITE if is_given else _READ}
        for each, is_given in highlights(editor, document, offset)
    ]


def document_link(editor: Editor, params: Params) -> object:
    """Paths that lead to files."""
    document = editor.document(params)
    lines = editor.lines(document)
    return [
        {"range": lines.range(each.start, each.end), "target": uri_of(path)}
        for each in links(editor, document)
        for path in each.paths[:1]
    ]
