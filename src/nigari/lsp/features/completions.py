"""`textDocument/completion`, `completionItem/resolve` and `textDocument/signatureHelp`."""

from __future__ import annotations

from nigari.language.candidates import (
    ARGUMENT,
    BLOCK,
    FUNCTION,
    KEYWORD,
    MODULE,
    NAME,
    PATH,
    SNIPPET,
    TYPE,
    VALUE,
    Candidate,
)
from nigari.language.completion import complete
from nigari.language.signatures import call_at
from nigari.lsp.editor import Editor, Params
from nigari.lsp.features.hovers import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_KINDS: Final = {
    ARGUMENT: 10,
    BLOCK: 7,
    FUNCTION: 3,
    VALUE: 12,
    NAME: 6,
    MODULE: 9,
    TYPE: 22,
    PATH: 17,
    KEYWORD: 14,
    SNIPPET: 15,
}
_SNIPPET: Final = 2
_DEPRECATED: Final = 1


def completion(editor: Editor, params: Params) -> object:
    """The completions at a position."""
    document, offset = editor.at(params)
    found = complete(editor, document, offset)
    where = editor.lines(document).range(found.start, found.end)
    capable = ("textDocument", "completion", "completionItem")
    snippets = editor.can(*capable, "snippetSupport")
    formats = editor.formats(*capable, "documentationFormat")
    items = [
        _item(each, where, snippets, "markdown" if "markdown" in formats else "plaintext")
        for each in found.candidates
        if snippets or each.kind != SNIPPET
    ]
    return {"isIncomplete": False, "items": items}


def _item(
    candidate: Candidate, where: dict[str, object], snippets: bool, format_: str
) -> dict[str, object]:
    text = candidate.text
    is_snippet = candidate.is_snippet and snippets
    if candidate.is_snippet and not snippets:
        text = candidate.label
    item: dict[str, object] = {
        "label": candidate.label,
        "kind": _KINDS[candidate.kind],
        "sortText": f"{candidate.rank}{candidate.label}",
        "textEdit": {"range": where, "newText": text},
    }
    if candidate.detail:
        item["detail"] = candidate.detail
    if candidate.documentation:
        value = candidate.documentation
        item["documentation"] = {
            "kind": format_,
            "value": value if format_ == "markdown" else plain(value),
        }
    if is_snippet:
        item["insertTextFormat"] = _SNIPPET
    if candidate.is_deprecated:
        item["tags"] = [_DEPRECATED]
    return item


def signature_help(editor: Editor, params: Params) -> object:
    """The function whose arguments are being typed."""
    document, offset = editor.at(params)
    found = call_at(document, offset)
    if found is None:
        return None
    lines = editor.lines(document)
    signature: dict[str, object] = {
        "label": found.signature.label,
        "documentation": {"kind": "markdown", "value": found.description},
        "parameters": [
            {"label": [lines.units(found.signature.label[:each]) for each in span]}
            for span in found.signature.parameters
        ],
    }
    return {"signatures": [signature], "activeSignature": 0, "activeParameter": found.parameter}
