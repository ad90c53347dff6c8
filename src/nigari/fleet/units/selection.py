"""Selection: which units a command is about, by name, path, label and graph.

    app            the unit app, or all instances of the block app
    app["dev"]     one instance
    live/eu/**     the units in directories that the pattern matches
    label:prod     the units with a label
    +app, app+     with its dependencies, with its dependants; +app+ is both

All selectors are evaluated together, so that the units and the graph are walked once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from nigari.diagnostics import Diagnostics
from nigari.fleet.units.changed_files import concerned_units
from nigari.fleet.units.graph import Graph
from nigari.fleet.units.graph_loader import Survey
from nigari.fleet.units.patterns import is_pattern, path_matcher
from nigari.fleet.units.unit import Unit
from nigari.hcl.suggestion import did_you_mean
from nigari.record import record
from nigari.workspace.context.changed_files import changed_files, known_commit

_LABEL = "label:"
_MOST_HINTS = 5
"""To look for what was meant takes a look at all units each time."""


@record
class Selector:
    """One of the texts that select units."""

    text: str
    what: str
    """The text without graph operators."""
    upward: bool
    downward: bool


def parse_selectors(texts: Iterable[str]) -> list[Selector]:
    """Selectors as they are written, several in one text with commas between them."""
    found: list[Selector] = []
    for text in texts:
        for each in _split(text):
            what = each.removeprefix("+")
            downward = what.endswith("+")
            bare = what.removesuffix("+").strip()
            if bare:
                found.append(Selector(each, bare, each.startswith("+"), downward))
    return found


def _split(text: str) -> list[str]:
    """The parts between commas, of which those in brackets or quotes do not count."""
    return [each.strip() for each in re.findall(r'(?:[^,"\[\]]|\[[^\]]*\]|"[^"]*")+', text)]


def select(
    graph: Graph,
    selectors: Sequence[Selector],
    diags: Diagnostics,
    modules: Collection[str] = frozenset(),
) -> set[str]:
    """The units that any of the selectors means; one that means nothing is reported. `modules` are
    directories that are no units, because units call them.
    """
    index = _Index(graph.units.values(), modules)
    upward: set[str] = set()
    downward: set[str] = set()
    found: set[str] = set()
    patterns: dict[tuple[bool, bool], list[str]] = {}
    for selector in selectors:
        if is_pattern(selector.what) and selector.what not in index.names:
            patterns.setdefault((selector.upward, selector.downward), []).append(selector.what)
            continue
        names = index.find(selector.what)
        if not names:
            index.report(selector, diags)
        found.update(names)
        upward.update(names if selector.upward else ())
        downward.update(names if selector.downward else ())
    for (is_upward, is_downward), texts in patterns.items():
        names = index.matching(texts, diags)
        found.update(names)
        upward.update(names if is_upward else ())
        downward.update(names if is_downward else ())
    found |= graph.closure(upward, is_upward=True) | graph.closure(downward, is_upward=False)
    return found


class _Index:
    """Units by everything that selects them."""

    def __init__(self, units: Iterable[Unit], modules: Collection[str]) -> None:
        self._modules = modules
        self.names: dict[str, list[str]] = {}
        self._labels: dict[str, list[str]] = {}
        self._directories: dict[str, list[str]] = {}
        self._hints = 0
        for unit in units:
            for name in dict.fromkeys((unit.name, unit.block or unit.name)):
                self.names.setdefault(name, []).append(unit.name)
            for label in unit.labels:
                self._labels.setdefault(label, []).append(unit.name)
            self._directories.setdefault(unit.directory, []).append(unit.name)

    def find(self, text: str) -> list[str]:
        """The units that a text means which is no pattern."""
        if text.startswith(_LABEL):
            return self._labels.get(text.removeprefix(_LABEL), [])
        return self.names.get(text) or self._below(_plain(text))

    def _below(self, directory: str) -> list[str]:
        """The units in a directory, or else in those below it."""
        exact = self._directories.get(directory)
        if exact is not None:
            return exact
        start = f"{directory}/"
        return [
            name
            for path, names in self._directories.items()
            if path.startswith(start)
            for name in names
        ]

    def matching(self, patterns: Sequence[str], diags: Diagnostics) -> list[str]:
        """The units whose names or directories patterns match."""
        matcher = path_matcher(patterns)
        found = [
            name
            for path, names in self._directories.items()
            for name in names
            if matcher.fullmatch(path) or matcher.fullmatch(name)
        ]
        if not found:
            for pattern in patterns:
                diags.error("No unit selected", f'No unit matches the pattern "{pattern}".')
        return found

    def report(self, selector: Selector, diags: Diagnostics) -> None:
        """Tell that a selector means nothing."""
        self._hints += 1
        helps = self._hints <= _MOST_HINTS
        if selector.what.startswith(_LABEL):
            label = selector.what.removeprefix(_LABEL)
            hint = did_you_mean(label, self._labels) if helps else ""
            diags.error("No unit selected", f'No unit has the label "{label}".{hint}')
            return
        if _plain(selector.what) in self._modules:
            diags.error(
                "No unit selected",
                f'"{selector.what}" is not a unit, because a unit calls it as a module. Declare a '
                "unit for this directory in fleet.hcl to work with it all the same.",
            )
            return
        known = [*self.names, *self._directories]
        hint = did_you_mean(selector.what, known) if helps else ""
        diags.error(
            "No unit selected",
            f'"{selector.what}" is neither a unit nor a directory with units.{hint}',
        )


def _plain(directory: str) -> str:
    """A directory as it is called in a fleet."""
    return directory.removeprefix("./").rstrip("/") or "."


@record
class Choice:
    """The selection of units on the command line."""

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
