"""The choice of units that a command is about: by selectors, and by what has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.diagnostics import Diagnostics
from nigari.fleet.units.changed_files import changed_files, concerned_units, known_commit
from nigari.fleet.units.graph_loader import Survey
from nigari.fleet.units.selection import parse_selectors, select
from nigari.record import record


@record
class Choice:
    """What a command says about the units it is meant for."""

    only: Sequence[str] = ()
    except_: Sequence[str] = ()
    changed_since: str = ""
    """A commit; only what has changed since, and what depends on that, is meant."""


def chosen_units(
    found: Survey, choice: Choice, environ: Mapping[str, str], diags: Diagnostics
) -> list[str]:
    """The names of the units that are meant, in order; what makes no sense is reported."""
    names = set(found.units)
    if choice.only:
        names = select(found.graph, parse_selectors(choice.only), diags, found.modules)
    if choice.changed_since:
        names &= _changed(found, choice.changed_since, environ, diags)
    if choice.except_:
        names -= select(found.graph, parse_selectors(choice.except_), diags, found.modules)
    return [name for name in found.units if name in names]


def _changed(
    found: Survey, reference: str, environ: Mapping[str, str], diags: Diagnostics
) -> set[str]:
    commit = known_commit(found.root, reference, diags)
    changed = None if commit is None else changed_files(found.root, commit, diags)
    if commit is None or changed is None:
        return set()
    concerned = concerned_units(found, changed, commit, environ)
    return found.graph.closure(concerned, is_upward=False)
