"""Diagnostics of documents, as the protocol has them, and where they come from.

A document's diagnostics are the syntax errors in its present text, and what the evaluated root modules
and lint have found in exactly that text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nigari.diagnostics import Diagnostic, Range, Severity
from nigari.language.document import Document
from nigari.language.evaluation import Evaluation
from nigari.lsp.editor import Editor
from nigari.lsp.text import LineMap
from nigari.lsp.uris import uri_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

SOURCE: Final = "nigari"
_SEVERITIES: Final = {Severity.ERROR: 1, Severity.WARNING: 2}
_UNNECESSARY: Final = 1
_DEPRECATED: Final = 2
_MOST_RELATED: Final = 10


def diagnostics_of(editor: Editor, document: Document) -> list[dict[str, object]]:
    """Everything that is wrong with a document, each once, as the protocol has it."""
    found: dict[tuple[object, ...], dict[str, object]] = {}
    for diagnostic, evaluation in sources_of(editor, document):
        key = (diagnostic.summary, diagnostic.detail, diagnostic.subject and _span(diagnostic))
        if key not in found:
            found[key] = as_protocol(editor, document, diagnostic, evaluation)
    return list(found.values())


def sources_of(
    editor: Editor, document: Document
) -> Iterator[tuple[Diagnostic, Evaluation | None]]:
    """The diagnostics of a document, each with the root module that it was found in, if in one."""
    for problem in document.problems:
        yield problem, None
    if document.problems:
        # What follows from a text that cannot be read whole is seldom worth reading.
        return
    for problem in editor.own_problems(document):
        yield problem, None
    for evaluation in reversed(editor.evaluations.values()):
        if is_current(editor, evaluation, document):
            for diagnostic in (*evaluation.diagnostics, *evaluation.findings):
                subject = diagnostic.subject
                if subject is not None and evaluation.path(subject.filename) == document.path:
                    yield diagnostic, evaluation


def is_current(editor: Editor, evaluation: Evaluation, document: Document) -> bool:
    """Return whether a root module was evaluated with the document's current text."""
    read = evaluation.texts.get(document.path)
    if read is None:
        return document.path not in editor.project.documents
    return read == document.text.encode("utf-8", "replace")


def offsets(range_: Range, text: str) -> tuple[int, int]:
    """The text in which a range was found."""
    if text.isascii():
        return range_.start.byte, range_.end.byte
    data = text.encode("utf-8", "surrogateescape" if _has_bytes(text) else "replace")
    start, end = (
        len(data[: each.byte].decode("utf-8", "surrogateescape"))
        for each in (range_.start, range_.end)
    )
    return start, end


def _has_bytes(text: str) -> bool:
    """Return whether lone surrogates represent bytes that are not UTF-8."""
    return any("\udc80" <= char <= "\udcff" for char in text)


def _span(diagnostic: Diagnostic) -> tuple[int, int]:
    assert diagnostic.subject is not None
    return diagnostic.subject.start.byte, diagnostic.subject.end.byte


def as_protocol(
    editor: Editor, document: Document, diagnostic: Diagnostic, evaluation: Evaluation | None
) -> dict[str, object]:
    """A diagnostic of a document as the protocol has it."""
    lines = editor.lines(document)
    subject = diagnostic.subject
    where = (0, 0) if subject is None else offsets(subject, document.text)
    message = diagnostic.summary
    if diagnostic.detail:
        message = f"{message}: {diagnostic.detail}"
    if diagnostic.address:
        message = f"{message}\n\nIn {diagnostic.address}."
    shown: dict[str, object] = {
        "range": lines.range(*where),
        "severity": _SEVERITIES[diagnostic.severity],
        "source": SOURCE,
        "code": diagnostic.summary,
        "message": message,
    }
    if diagnostic.deprecation is not None:
        shown["tags"] = [_DEPRECATED]
    finding = None if evaluation is None else evaluation.findings.get(diagnostic)
    if finding is not None:
        shown["code"] = finding.rule
        if finding.rule.partition(":")[2].startswith("unused-"):
            shown["tags"] = [_UNNECESSARY]
    further = _related(editor, document, diagnostic, evaluation, lines)
    if further and editor.can("textDocument", "publishDiagnostics", "relatedInformation"):
        shown["relatedInformation"] = further
    return shown


def _related(
    editor: Editor,
    document: Document,
    diagnostic: Diagnostic,
    evaluation: Evaluation | None,
    lines: LineMap,
) -> list[Mapping[str, object]]:
    """The places on the way from the root cause, the nearest one first."""
    found: list[Mapping[str, object]] = []
    for cause in reversed(diagnostic.causes[-_MOST_RELATED:]):
        subject = cause.subject
        if subject is None:
            continue
        path = subject.filename if evaluation is None else evaluation.path(subject.filename)
        other = document if path == document.path else editor.project.document(path)
        if other is not None:
            there = lines if other is document else editor.lines(other)
            span = there.range(*offsets(subject, other.text))
            found.append({"location": {"uri": uri_of(path), "range": span}, "message": cause.text})
    return found
