"""Checking a renaming before anything is written: the root modules have no errors that they did not
have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.hcl.edits import Edit, applied
from nigari.language.document import module_directory
from nigari.language.evaluation import Evaluation
from nigari.language.project import Project
from nigari.workspace.context.working_directory import WorkingDirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_MOST_ROOTS: Final = 50


def check_edits(
    project: Project,
    edits: Mapping[str, list[Edit]],
    environ: Mapping[str, str],
    diags: Diagnostics,
) -> dict[str, bytes]:
    """The contents of the files after edits. What would be wrong then and is not now is reported."""
    before = project.texts()
    after = dict(before)
    for path, each in edits.items():
        document = project.document(path)
        if document is not None:
            text = document.written(applied(document.text, each))
            after[path] = text.encode("utf-8", "surrogateescape")
    roots = {
        root: None
        for directory in {module_directory(path) for path in edits}
        for root in project.roots_of(directory, _MOST_ROOTS)
    }
    for root in roots:
        where = WorkingDirectory(environ, root=root)
        known = Counter(map(_kind, _errors(where, before)))
        for error in _errors(where, after):
            kind = _kind(error)
            if known[kind] > 0:
                known[kind] -= 1
            else:
                diags.append(error)
    return {path: after[path] for path in edits}


def _errors(where: WorkingDirectory, texts: Mapping[str, bytes]) -> list[Diagnostic]:
    evaluation = Evaluation(where, texts, lambda _: None)
    return [each for each in evaluation.diagnostics if each.severity is Severity.ERROR]


def _kind(error: Diagnostic) -> tuple[str, str]:
    return error.summary, "" if error.subject is None else error.subject.filename
