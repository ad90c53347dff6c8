"""Edits that a diagnostic suggests: the near name, a missing declaration or argument, a key.

Each is read off what the diagnostic says and where it points. Fixes of lint rules come from the
rules; `nigari.language.refactorings` has the edits that need no diagnostic.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from nigari.diagnostics import Diagnostic
from nigari.hcl.edits import Edit
from nigari.language.cursor import cursor_at
from nigari.language.document import Document
from nigari.language.workbench import Workbench
from nigari.lazy import lazy_pattern
from nigari.lint.rule import Finding
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_MEANT = lazy_pattern(r'Did you mean "([^"]+)"\?\Z')
_NAMED = lazy_pattern(r'"([^"]+)"')
_SELECTED = lazy_pattern(r"Select one of them: (\S+)\.\Z")


@record
class Fix:
    """Edits by path that mend something, and what they are called."""

    title: str
    edits: Mapping[str, tuple[Edit, ...]]
    is_preferred: bool = False


Span = tuple[int, int]
_Suggest = Callable[[Workbench, Document, Diagnostic, Span], Iterator[Fix]]


def fixes(
    workbench: Workbench, document: Document, diagnostic: Diagnostic, span: Span
) -> Iterator[Fix]:
    """The fixes for a diagnostic about a part of a document."""
    meant = _MEANT.search(diagnostic.detail)
    if meant is not None:
        yield _near_name(document, span, meant[1])
    suggest = _SUGGESTIONS.get(diagnostic.summary)
    if suggest is not None:
        yield from suggest(workbench, document, diagnostic, span)


def lint_fixes(document: Document, finding: Finding, span: Span) -> Iterator[Fix]:
    """The fix of a lint rule, and the comment that ignores the finding."""
    fix = finding.fix
    if fix is not None and not document.has_mark:
        yield Fix(fix.title, _here(document, *fix.edits), True)
    start = document.text.rfind("\n", 0, span[0]) + 1
    line = document.text[start:]
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    text = f"{indent}# nigari-ignore: {finding.rule}: reason\n"
    yield Fix(f"Ignore {finding.rule} here", _here(document, Edit(start, start, text)))


def _here(document: Document, *edits: Edit) -> dict[str, tuple[Edit, ...]]:
    return {document.path: edits}


def _near_name(document: Document, span: Span, name: str) -> Fix:
    """Replace what is wrong, or the last part of it, by the name that is meant."""
    start, end = span
    wrong = document.text[start:end]
    if "." in wrong and "." not in name:
        start += wrong.rindex(".") + 1
    elif wrong.startswith('"') and wrong.endswith('"'):
        start, end = start + 1, end - 1
    return Fix(f'Change to "{name}"', _here(document, Edit(start, end, name)), True)


def _declare_variable(
    workbench: Workbench, document: Document, diagnostic: Diagnostic, span: Span
) -> Iterator[Fix]:
    """Declare a variable that is used, in the file that has the others."""
    name = document.text[slice(*span)].rpartition(".")[2]
    module = workbench.module(document.directory)
    path = os.path.join(document.directory, "variables.tf")
    target = workbench.project.document(path)
    if target is None and module is not None and module.variables:
        first = next(iter(module.variables.values()))
        path = os.path.join(document.directory, os.path.basename(first.range.filename))
        target = workbench.project.document(path)
    target = target or document
    end = len(target.text)
    gap = "" if not target.text else "\n" if target.text.endswith("\n") else "\n\n"
    text = f'{gap}variable "{name}" {{\n  type = any\n}}\n'
    yield Fix(f'Declare the variable "{name}"', {target.path: (Edit(end, end, text),)})


def _add_argument(
    workbench: Workbench, document: Document, diagnostic: Diagnostic, span: Span
) -> Iterator[Fix]:
    """Add an argument that is required, at the end of its block."""
    named = _NAMED.search(diagnostic.detail)
    cursor = cursor_at(document, span[0] + 1)
    if named is None or not cursor.blocks:
        return
    block = cursor.blocks[-1]
    text, end = document.text, block.end - 1
    if not text.startswith("}", end):
        return
    line = text.rfind("\n", 0, end) + 1
    if text[line:end].strip():
        edit = Edit(end, end, f"\n  {named[1]} = null\n")
    else:
        indent = text[line:end]
        edit = Edit(line, line, f"{indent}  {named[1]} = null\n")
    yield Fix(f'Add the argument "{named[1]}"', _here(document, edit))


def _remove_argument(
    workbench: Workbench, document: Document, diagnostic: Diagnostic, span: Span
) -> Iterator[Fix]:
    """Remove an argument that does not exist, with its line."""
    attribute = cursor_at(document, span[0]).attribute
    if attribute is None or attribute.name_start != span[0]:
        return
    text = document.text
    start = text.rfind("\n", 0, attribute.start) + 1
    end = text.find("\n", attribute.end)
    end = len(text) if end < 0 else end + 1
    if text[start : attribute.start].strip() or "}" in text[attribute.end : end]:
        start, end = attribute.start, attribute.end
    yield Fix(f'Remove the argument "{attribute.name}"', _here(document, Edit(start, end, "")))


def _add_key(
    workbench: Workbench, document: Document, diagnostic: Diagnostic, span: Span
) -> Iterator[Fix]:
    """Select an instance, as the diagnostic says."""
    selected = _SELECTED.search(diagnostic.detail)
    if selected is not None:
        yield Fix(f"Change to {selected[1]}", _here(document, Edit(*span, selected[1])))


def _remove_key(
    workbench: Workbench, document: Document, diagnostic: Diagnostic, span: Span
) -> Iterator[Fix]:
    """Take the key of an only instance out."""
    wrong = document.text[slice(*span)]
    if wrong.endswith("]"):
        start = span[0] + wrong.rindex("[")
        yield Fix("Remove the key", _here(document, Edit(start, span[1], "")), True)


_SUGGESTIONS: Final[Mapping[str, _Suggest]] = {
    "Reference to undeclared variable": _declare_variable,
    "Missing argument": _add_argument,
    "Unexpected argument": _remove_argument,
    "Missing instance key": _add_key,
    "Unexpected instance key": _remove_key,
}
