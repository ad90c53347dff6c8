"""Diagnostics that a client asks for: what is known now, without waiting for anything."""

from __future__ import annotations

import json
from hashlib import sha256

from nigari.language.document import Document
from nigari.lsp.diagnostics import diagnostics_of
from nigari.lsp.editor import Editor, Params
from nigari.lsp.uris import path_of, uri_of


def document_diagnostic(editor: Editor, params: Params) -> dict[str, object]:
    """The diagnostics of a document, or that they are still the same."""
    return _report(editor, editor.document(params), params.get("previousResultId"))


def workspace_diagnostic(editor: Editor, params: Params) -> dict[str, object]:
    """The diagnostics of all files of the evaluated root modules, and of the open documents."""
    previous = {
        path_of(str(each["uri"])): each["value"] for each in params.get("previousResultIds", ())
    }
    paths = {
        *editor.project.documents,
        *(
            evaluation.path(diagnostic.subject.filename)
            for evaluation in editor.evaluations.values()
            for diagnostic in evaluation.diagnostics
            if diagnostic.subject is not None
        ),
        *(path for path in previous if path is not None),
    }
    items = []
    for path in sorted(paths):
        document = editor.project.document(path)
        if document is not None:
            report = _report(editor, document, previous.get(path))
            version = editor.versions.get(path)
            items.append({"uri": uri_of(path), "version": version, **report})
    return {"items": items}


def _report(editor: Editor, document: Document, previous: object) -> dict[str, object]:
    found = diagnostics_of(editor, document)
    text = json.dumps(found, sort_keys=True)
    result = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    if result == previous:
        return {"kind": "unchanged", "resultId": result}
    return {"kind": "full", "resultId": result, "items": found}
