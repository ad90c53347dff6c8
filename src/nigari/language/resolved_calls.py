"""Where module calls lead whose sources are expressions: found by evaluating the root modules above them.

An editor evaluates root modules anyway. This is for programs that work on a project once.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.diagnostics import Diagnostics
from nigari.language.evaluation import Evaluation
from nigari.language.occurrences import DECLARED, MODULE, FileNames
from nigari.language.project import Project
from nigari.record import replace
from nigari.workspace.context.environments import read_environments
from nigari.workspace.context.working_directory import WorkingDirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_MOST_ROOTS: Final = 50
"""Root modules that are evaluated for one directory with such calls."""


def resolve_calls(project: Project, environ: Mapping[str, str]) -> None:
    """Find the modules of all calls without a literal source, in every environment."""
    roots = {
        root: None
        for names in project.all_files()
        if _has_computed_source(names)
        for root in project.roots_of(names.directory, _MOST_ROOTS)
    }
    for root in roots:
        project.resolve(root, _calls_below(project, WorkingDirectory(environ, root=root)))


def _has_computed_source(names: FileNames) -> bool:
    return any(
        each.kind == MODULE and each.role == DECLARED and each.name not in names.sources
        for each in names.occurrences
    )


def _calls_below(
    project: Project, where: WorkingDirectory
) -> dict[str, dict[str, tuple[str, ...]]]:
    """The modules of calls by directory and name, without an environment and in each of them."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    environments = read_environments(where, Diagnostics()).by_name.values()
    for place in (where, *(replace(where, environment=each) for each in environments)):
        evaluation = Evaluation(place, project.texts(), lambda _: None)
        for directory, calls in evaluation.calls.items():
            known = found.setdefault(directory, {})
            for name, paths in calls.items():
                known[name] = tuple(dict.fromkeys((*known.get(name, ()), *paths)))
    return found
