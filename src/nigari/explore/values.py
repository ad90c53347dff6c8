"""The table of values: every value of a configuration once, with links to those it comes from.

A chain of explanations is a walk over these links, so that the page has every chain without any of
them being written down twice.
"""

from __future__ import annotations

from typing import Final

from nigari.diagnostics import Range
from nigari.explore.secrets import Secrets
from nigari.explore.sources import SourceTable
from nigari.workspace.explain.explanation import Explanation
from nigari.workspace.views.declarations import VariableView
from nigari.workspace.views.static_value import (
    StaticValue,
    identity_of,
    links_of,
    parts_of,
    range_of,
)

Row = dict[str, object]
_MOST_PARTS: Final = 5000
"""The most parts of expressions; in a larger configuration, only whole expressions are shown."""


class ValueTable:
    """Collects values; numbers stand for them."""

    def __init__(self, sources: SourceTable, secrets: Secrets) -> None:
        self.sources = sources
        self.secrets = secrets
        self._rows: list[Row] = []
        self._numbers: dict[object, int] = {}
        self._pending: list[tuple[int, StaticValue]] = []
        self._texts: dict[str, int] = {}
        self._left = _MOST_PARTS

    def add(self, known: StaticValue, path: str = "") -> int:
        """The number of a value; `path` is the address that `explain` takes, where it has one."""
        number = self._number(known)
        if path:
            self._rows[number].setdefault("path", path)
        return number

    def complete(self) -> None:
        """Add what is linked to."""
        # The list grows while it is walked: what is linked to has links, too.
        for at, each in self._pending:
            self._link(self._rows[at], each)
        self._pending.clear()

    def data(self) -> dict[str, object]:
        """All rows, and the texts of values that they share."""
        return {"rows": self._rows, "texts": self.secrets.scrubbed_all(list(self._texts))}

    def _number(self, known: StaticValue) -> int:
        identity = identity_of(known)
        number = self._numbers.get(identity)
        if number is None:
            number = self._numbers[identity] = len(self._rows)
            self._rows.append(self._row(known))
            self._pending.append((number, known))
        return number

    def _row(self, known: StaticValue) -> Row:
        explained = Explanation(known.name, known.value, known.range, (), ())
        text = self._texts.setdefault(explained.shown_value, len(self._texts))
        row: Row = {"name": known.name, "text": text, "phase": explained.phase}
        reasons = known.reasons
        if reasons:
            row["reasons"] = reasons
        declared, written = known.range, range_of(known)
        self.secrets.note(known.value, written)
        if isinstance(known, VariableView):
            row["giver"] = known.giver
            self._note_default(known)
        self._place(row, "at", declared)
        if written != declared:
            self._place(row, "expr", written)
        return row

    def _note_default(self, variable: VariableView) -> None:
        """A default that is not used is secret all the same."""
        default = variable.default
        if default is not None and (variable.is_sensitive or variable.is_ephemeral):
            self.secrets.note_all(default.value)
            if default.range is not None:
                self.secrets.note_range(default.range)

    def _place(self, row: Row, name: str, where: Range | None) -> None:
        place = self.sources.place(where)
        if place is not None:
            row[name] = place

    def _link(self, row: Row, known: StaticValue) -> None:
        links: list[list[object]] = []
        for link in links_of(known):
            place = self.sources.place(link.range)
            links.append([place, [self._number(each) for each in link.values]])
        if links:
            row["links"] = links
        parts = self._parts(known)
        if parts:
            row["parts"] = parts

    def _parts(self, known: StaticValue) -> list[list[object]]:
        """The parts of an expression, each with its range, its text and its phase."""
        found: list[list[object]] = []
        if self._left <= 0:
            return found
        for each in parts_of(known):
            self._left -= 1
            explained = Explanation(each.name, each.value, each.range, (), ())
            text = self._texts.setdefault(explained.shown_value, len(self._texts))
            found.append([self.sources.place(each.range), text, explained.phase])
        return found
