"""Formatting, folding, selection ranges, semantic tokens and inlay hints."""

from __future__ import annotations

from hashlib import sha256

from nigari.hcl.edits import Edit
from nigari.language.coloring import KINDS, colored
from nigari.language.document import Document
from nigari.language.folding import folds, selections
from nigari.language.hints import LEVELS, VALUES, hints
from nigari.language.layout import layout_edits
from nigari.lsp.editor import Editor, Params
from nigari.lsp.text import LineMap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

MODIFIERS: Final = ("declaration",)
_PARAMETER: Final = 2


def formatting(editor: Editor, params: Params) -> object:
    """The edits for the standard layout of a document."""
    document = editor.document(params)
    return edits_of(editor.lines(document), layout_edits(document))


def range_formatting(editor: Editor, params: Params) -> object:
    """The same for some of its lines."""
    document = editor.document(params)
    lines = editor.lines(document)
    start, end = (lines.offset(params["range"][each]) for each in ("start", "end"))
    return edits_of(lines, layout_edits(document, start, end))


def on_type_formatting(editor: Editor, params: Params) -> object:
    """The same for the block that a typed brace closes, or for the line that is left."""
    document, offset = editor.at(params)
    lines = editor.lines(document)
    start = document.text.rfind("\n", 0, max(0, offset - 1)) + 1
    if params.get("ch") == "}" and document.body is not None:
        closed = [each for each in document.body.blocks if each.start < offset <= each.end]
        start = closed[0].start if closed else start
    return edits_of(lines, layout_edits(document, start, offset - 1))


def edits_of(lines: LineMap, edits: list[Edit]) -> list[dict[str, object]]:
    """Edits as the protocol has them."""
    return [{"range": lines.range(each.start, each.end), "newText": each.text} for each in edits]


def folding_range(editor: Editor, params: Params) -> object:
    """Return the foldable ranges."""
    document = editor.document(params)
    lines = editor.lines(document)
    found: list[dict[str, object]] = []
    for each in folds(document):
        fold: dict[str, object] = {
            "startLine": lines.line_of(each.start),
            "endLine": lines.line_of(each.end),
        }
        if each.is_comment:
            fold["kind"] = "comment"
        found.append(fold)
    return found


def selection_range(editor: Editor, params: Params) -> object:
    """The parts around each of some positions."""
    document = editor.document(params)
    lines = editor.lines(document)
    found: list[dict[str, object]] = []
    for position in params["positions"]:
        whole: dict[str, object] = {}
        for start, end in reversed(selections(document, lines.offset(position))):
            inner: dict[str, object] = {"range": lines.range(start, end)}
            if whole:
                inner["parent"] = whole
            whole = inner
        found.append(whole)
    return found


def semantic_tokens(editor: Editor, params: Params) -> object:
    """Return the semantic tokens of a document."""
    document = editor.document(params)
    data = _tokens(editor, document, 0, len(document.text))
    result = _result_id(data)
    editor.tokens[document.path] = result, data
    return {"resultId": result, "data": data}


def semantic_tokens_range(editor: Editor, params: Params) -> object:
    """The same for a part of a document."""
    document = editor.document(params)
    lines = editor.lines(document)
    start, end = (lines.offset(params["range"][each]) for each in ("start", "end"))
    return {"data": _tokens(editor, document, start, end)}


def semantic_tokens_delta(editor: Editor, params: Params) -> object:
    """Return the changes since an earlier answer, or all tokens if that answer is no longer
    available.
    """
    document = editor.document(params)
    before = editor.tokens.get(document.path)
    data = _tokens(editor, document, 0, len(document.text))
    result = _result_id(data)
    editor.tokens[document.path] = result, data
    if before is None or before[0] != params.get("previousResultId"):
        return {"resultId": result, "data": data}
    old = before[1]
    start = 0
    while start < min(len(old), len(data)) and old[start] == data[start]:
        start += 1
    end = 0
    while end < min(len(old), len(data)) - start and old[-1 - end] == data[-1 - end]:
        end += 1
    edits = []
    if start < len(old) or start < len(data):
        inserted = data[start : len(data) - end]
        edits = [{"start": start, "deleteCount": len(old) - end - start, "data": inserted}]
    return {"resultId": result, "edits": edits}


def _tokens(editor: Editor, document: Document, start: int, end: int) -> list[int]:
    """The numbers that the protocol writes tokens as: each relative to the one before."""
    lines = editor.lines(document)
    data: list[int] = []
    line = column = 0
    for each in colored(document):
        if each.end <= start or each.start >= end or "\n" in document.text[each.start : each.end]:
            continue
        position = lines.position(each.start)
        at, character = position["line"], position["character"]
        assert isinstance(at, int)
        assert isinstance(character, int)
        length = lines.units(document.text[each.start : each.end])
        shift = character - column if at == line else character
        data += [at - line, shift, length, KINDS.index(each.kind), int(each.is_declared)]
        line, column = at, character
    return data


def _result_id(data: list[int]) -> str:
    return sha256(repr(data).encode()).hexdigest()[:16]


def inlay_hint(editor: Editor, params: Params) -> object:
    """Values and names of parameters, by the setting `inlayHints`: `off`, `names` or `values`."""
    document = editor.document(params)
    lines = editor.lines(document)
    start, end = (lines.offset(params["range"][each]) for each in ("start", "end"))
    level = editor.settings.get("inlayHints", VALUES)
    shown = []
    for each in hints(editor, document, start, end, level if level in LEVELS else VALUES):
        hint: dict[str, object] = {
            "position": lines.position(each.offset),
            "label": each.text,
            "paddingLeft": not each.is_parameter,
            "paddingRight": each.is_parameter,
        }
        if each.is_parameter:
            hint["kind"] = _PARAMETER
        if each.explanation:
            hint["tooltip"] = each.explanation
        shown.append(hint)
    return shown
