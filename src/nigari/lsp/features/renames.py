"""`textDocument/prepareRename` and `textDocument/rename`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nigari.diagnostics import Diagnostics
from nigari.hcl.edits import Edit
from nigari.language.navigation import symbols_at
from nigari.language.rename import can_rename, rename
from nigari.lsp.editor import Editor, Params
from nigari.lsp.features.layouts import edits_of
from nigari.lsp.uris import uri_of
from nigari.lsp.wire import REQUEST_FAILED, RequestFailure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_START: Final = {"line": 0, "character": 0}


def prepare_rename(editor: Editor, params: Params) -> object:
    """The name that would be changed; None if there is none."""
    document, offset = editor.at(params)
    symbols = symbols_at(editor, document, offset)
    occurrence = editor.project.occurrence_at(document.path, offset)
    if occurrence is None or not symbols:
        return None
    _raise(can_rename(editor.project, symbols, diags := Diagnostics()), diags)
    return {
        "range": editor.lines(document).range(occurrence.start, occurrence.end),
        "placeholder": document.text[occurrence.start : occurrence.end],
    }


def rename_symbol(editor: Editor, params: Params) -> object:
    """The edits that give a name another form everywhere."""
    document, offset = editor.at(params)
    symbols = symbols_at(editor, document, offset)
    diags = Diagnostics()
    edits = rename(editor.project, symbols, str(params["newName"]), diags)
    _raise(edits is not None, diags)
    return workspace_edit(editor, edits or {})


def new_files(editor: Editor, edits: Iterable[str]) -> list[str]:
    """The paths among those to be edited at which there is no file yet."""
    return [path for path in edits if editor.project.document(path) is None]


def can_create(editor: Editor) -> bool:
    """Return whether the client can create files as part of an edit."""
    operations = editor.formats("workspace", "workspaceEdit", "resourceOperations")
    return "create" in operations and editor.can("workspace", "workspaceEdit", "documentChanges")


def workspace_edit(editor: Editor, edits: Mapping[str, list[Edit]]) -> dict[str, object]:
    """Edits of several files, as the client can take them. New files are created, if it can do that."""
    changes = {}
    for path, each in edits.items():
        document = editor.project.document(path)
        if document is not None:
            changes[path] = edits_of(editor.lines(document), each)
    if not editor.can("workspace", "workspaceEdit", "documentChanges"):
        return {"changes": {uri_of(path): each for path, each in changes.items()}}
    created = new_files(editor, edits) if can_create(editor) else []
    for path in created:
        text = "".join(each.text for each in edits[path])
        changes[path] = [{"range": {"start": _START, "end": _START}, "newText": text}]
    return {
        "documentChanges": [
            *({"kind": "create", "uri": uri_of(path)} for path in created),
            *(
                {
                    "textDocument": {"uri": uri_of(path), "version": editor.versions.get(path)},
                    "edits": each,
                }
                for path, each in changes.items()
            ),
        ]
    }


def _raise(is_possible: bool, diags: Diagnostics) -> None:
    if not is_possible:
        raise RequestFailure(REQUEST_FAILED, " ".join(each.detail for each in diags))
