"""Code actions and call hierarchies."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from nigari.language.described import roots_without_schema
from nigari.language.document import Document
from nigari.language.fixes import Fix, fixes, lint_fixes
from nigari.language.navigation import calls_in, module_at
from nigari.language.project import Place
from nigari.language.refactorings import refactorings
from nigari.lsp.diagnostics import as_protocol, offsets, sources_of
from nigari.lsp.editor import Editor, Params
from nigari.lsp.features.commands import INIT, command
from nigari.lsp.features.renames import can_create, new_files, workspace_edit
from nigari.lsp.uris import uri_of
from nigari.workspace.configuration.modules import NOT_INSTALLED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

QUICK_FIX: Final = "quickfix"
_MODULE: Final = 2


def code_action(editor: Editor, params: Params) -> object:
    """Fixes for the diagnostics of a range, and changes for what is selected."""
    document = editor.document(params)
    lines = editor.lines(document)
    start, end = (lines.offset(params["range"][each]) for each in ("start", "end"))
    only = (params.get("context") or {}).get("only")
    found = [*_quick_fixes(editor, document, start, end)]
    changes = refactorings(editor, document, start, end)
    found += [
        _action(editor, each.kind, each.fix)
        for each in changes
        if can_create(editor) or not new_files(editor, each.fix.edits)
    ]
    return [each for each in found if only is None or _is_wanted(str(each["kind"]), only)]


def _quick_fixes(
    editor: Editor, document: Document, start: int, end: int
) -> Iterator[dict[str, object]]:
    """Offer fixes for the diagnostics of a part of a document, and `init` where it is missing."""
    uninstalled: dict[str, list[dict[str, object]]] = {}
    for diagnostic, evaluation in sources_of(editor, document):
        if diagnostic.subject is None:
            continue
        span = offsets(diagnostic.subject, document.text)
        if span[0] > end or span[1] < start:
            continue
        shown = as_protocol(editor, document, diagnostic, evaluation)
        finding = None if evaluation is None else evaluation.findings.get(diagnostic)
        mended = fixes(editor, document, diagnostic, span)
        for fix in mended if finding is None else lint_fixes(document, finding, span):
            yield {**_action(editor, QUICK_FIX, fix), "diagnostics": [shown]}
        if diagnostic.summary == NOT_INSTALLED and evaluation is not None:
            uninstalled.setdefault(evaluation.root, []).append(shown)
    for root in roots_without_schema(editor, document, start):
        uninstalled.setdefault(root, [])
    for root, reasons in uninstalled.items():
        title = f"Run nigari init in {os.path.basename(root)}"
        action: dict[str, object] = {"title": title, "kind": QUICK_FIX}
        action["command"] = command(title, INIT, root)
        yield {**action, "diagnostics": reasons} if reasons else action


def _action(editor: Editor, kind: str, fix: Fix) -> dict[str, object]:
    edits = {path: list(each) for path, each in fix.edits.items()}
    action: dict[str, object] = {
        "title": fix.title,
        "kind": kind,
        "edit": workspace_edit(editor, edits),
    }
    if fix.is_preferred:
        action["isPreferred"] = True
    return action


def _is_wanted(kind: str, only: list[str]) -> bool:
    return any(kind == each or kind.startswith(f"{each}.") for each in only)


# -- call hierarchy -------------------------------------------------------------------------------


def prepare_calls(editor: Editor, params: Params) -> object:
    """The modules that are meant at a position."""
    document, offset = editor.at(params)
    found = [_module(editor, each) for each in module_at(editor, document, offset)]
    return [each for each in found if each is not None] or None


def incoming_calls(editor: Editor, params: Params) -> object:
    """The modules that call a module."""
    directory = str(params["item"]["data"])
    found = []
    for caller, call in editor.project.callers(directory):
        item = _module(editor, caller)
        ranges = [
            _range(editor, each)
            for each, _ in calls_in(editor, caller)
            if each.occurrence.name == call
        ]
        if item is not None:
            found.append(
                {"from": item, "fromRanges": [each for each in ranges if each is not None]}
            )
    return found


def outgoing_calls(editor: Editor, params: Params) -> object:
    """The modules that a module calls."""
    found = []
    for place, directories in calls_in(editor, str(params["item"]["data"])):
        for directory in directories:
            item, where = _module(editor, directory), _range(editor, place)
            if item is not None and where is not None:
                found.append({"to": item, "fromRanges": [where]})
    return found


def _module(editor: Editor, directory: str) -> dict[str, object] | None:
    """A module as an item of the hierarchy, in its first file."""
    files = editor.project.files_of(directory)
    document = editor.project.document(files[0].path) if files else None
    if document is None:
        return None
    whole = editor.lines(document).range(0, len(document.text))
    return {
        "name": os.path.basename(directory),
        "detail": directory,
        "kind": _MODULE,
        "uri": uri_of(document.path),
        "range": whole,
        "selectionRange": editor.lines(document).range(0, 0),
        "data": directory,
    }


def _range(editor: Editor, place: Place) -> Mapping[str, object] | None:
    document: Document | None = editor.project.document(place.path)
    return None if document is None else editor.lines(document).range(*place.span)
