"""Diagnostics of Nigari's own files that are being edited: environments, fleets, lint settings.

Each is read as the commands read it, with the text of the document in place of the file. Functions in
it read files on disk. What such a file may contain is in `nigari.language.own_blocks`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from nigari.diagnostics import Diagnostic, Diagnostics
from nigari.fleet.units.definition import FleetDefinition
from nigari.language.document import Document, Kind
from nigari.lint.rules import RULES
from nigari.lint.settings import SettingsFiles
from nigari.workspace.context.environments import read_environments
from nigari.workspace.context.working_directory import WorkingDirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


def own_problems(document: Document, environ: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """Return what reading a file of our own reports: nothing for other files, and while its syntax
    is wrong.
    """
    read = _READERS.get(document.kind)
    if read is None or document.problems:
        return ()
    where = WorkingDirectory(environ, root=document.directory)
    diags = Diagnostics()
    read(where, document.text.encode("utf-8", "replace"), diags)
    return tuple(diags.in_order())


def _environments(where: WorkingDirectory, data: bytes, diags: Diagnostics) -> None:
    read_environments(where, diags, data)


def _fleet(where: WorkingDirectory, data: bytes, diags: Diagnostics) -> None:
    FleetDefinition(where, diags, data)


def _lint(where: WorkingDirectory, data: bytes, diags: Diagnostics) -> None:
    SettingsFiles(where, RULES, diags).read(data)


_READERS: Final[Mapping[Kind, Callable[[WorkingDirectory, bytes, Diagnostics], None]]] = {
    Kind.ENVIRONMENTS: _environments,
    Kind.FLEET: _fleet,
    Kind.LINT: _lint,
}
