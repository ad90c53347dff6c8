"""Rules and findings as data.

A rule says what it is called, which groups it belongs to and which function looks; a finding says
where, why, and by which edits it can be fixed. Which rules there are is in `nigari.lint.rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nigari.diagnostics import Diagnostic, Range, Severity
from nigari.hcl.edits import Edit
from nigari.hcl.source import Source
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.lint.model import LintedTree

OWN: Final = "nigari"
"""The namespace of the rules that OpenTofu does not have."""
RECOMMENDED: Final = "nigari:recommended"
"""The group of the rules that run unless something else is said."""


@record
class Fix:
    """Edits of one file that remove the reason of a finding without changing what is planned."""

    title: str
    filename: str
    edits: tuple[Edit, ...]


@record
class Finding:
    """Something that a rule has found."""

    rule: str
    summary: str
    detail: str
    range: Range | None
    context: Range | None = None
    fix: Fix | None = None
    severity: Severity = Severity.WARNING
    address: str = ""
    """The object of a plan that it is about, if it is about one."""

    @property
    def diagnostic(self) -> Diagnostic:
        """The finding as OpenTofu reports it: a diagnostic with the rule in parentheses."""
        return Diagnostic(
            severity=self.severity,
            summary=f"{self.summary} ({self.rule})",
            detail=self.detail,
            subject=self.range,
            context=self.context,
            address=self.address,
        )


@record
class Hit:
    """A rule function's result: a finding without the rule's own texts."""

    detail: str
    range: Range
    context: Range | None = None
    fix: Fix | None = None


@record
class Rule:
    """One rule."""

    id: str
    groups: tuple[str, ...]
    """The groups of its namespace without `all`, and `recommended`, which is one of `nigari`."""
    summary: str
    """The summary of its findings, without a full stop."""
    check: Callable[[LintedTree], Iterable[Hit]]

    @property
    def namespace(self) -> str:
        return self.id.partition(":")[0]

    @property
    def all_groups(self) -> tuple[str, ...]:
        """Every group that stands for the rule in a list."""
        own = [each for each in self.groups if f"{OWN}:{each}" != RECOMMENDED]
        found = [f"{self.namespace}:{each}" for each in ("all", *own)]
        return tuple(found) if len(own) == len(self.groups) else (*found, RECOMMENDED)

    def findings(self, tree: LintedTree) -> Iterable[Finding]:
        """Everything that the rule finds in a tree."""
        for hit in self.check(tree):
            yield Finding(self.id, self.summary, hit.detail, hit.range, hit.context, hit.fix)


def replacement(title: str, source: Source, start: int, end: int, text: str) -> Fix:
    """A fix that puts another text in place of a part of a file."""
    return Fix(title, source.filename, (Edit(start, end, text),))


def removal(title: str, source: Source, start: int, end: int) -> Fix:
    """A fix that removes whole lines, with the comments that stand directly above or behind them;
    or only the part itself, where something else is on its lines.
    """
    text = source.text
    first = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    last = len(text) if stop < 0 else stop + 1
    behind = text[end:last].strip()
    if text[first:start].strip() or (behind and not behind.startswith(("#", "//"))):
        return replacement(title, source, start, end, "")
    while first > 0:
        above = text.rfind("\n", 0, first - 1) + 1
        if not text[above:first].lstrip().startswith(("#", "//")):
            break
        first = above
    return replacement(title, source, first, last, "")
