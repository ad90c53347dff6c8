"""The model of diagnostics: positions, ranges, severities, the diagnostic itself and its collector.

This is the one currency in which every package reports a user's mistake. A diagnostic carries
texts and ranges only: whoever builds it has already rendered and redacted the values it mentions.
Deliberately unknown here: values, expressions, and the source text the ranges point into.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from enum import Enum

from nigari.record import record, replace


class Severity(Enum):
    """How bad it is: an error stops the work, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@record
class Pos:
    """A place in a source text."""

    line: int
    """Counted from 1."""
    column: int
    """Counted from 1, in grapheme clusters."""
    byte: int
    """Counted from 0, in bytes of the file."""


@record
class Range:
    """A stretch of a source text; `end` is the first position after it."""

    filename: str
    start: Pos
    end: Pos

    def __str__(self) -> str:
        if self.start.line == self.end.line:
            return f"{self.filename}:{self.start.line},{self.start.column}-{self.end.column}"
        return (
            f"{self.filename}:{self.start.line},{self.start.column}"
            f"-{self.end.line},{self.end.column}"
        )


@record
class ScopeValue:
    """What a name that the subject refers to stood for: `ScopeValue("var.a", "is 5")`."""

    name: str
    text: str
    """Completes the sentence that begins with the name; already redacted."""


@record
class Cause:
    """One frame of the way from the root cause to the place that failed."""

    text: str
    subject: Range | None = None


@record
class CalledFunction:
    """The function whose call failed, as its author declared it."""

    called_as: str
    """The name in the configuration, with namespaces."""
    parameters: tuple[str, ...]
    """The names of the parameters; one that takes any number of arguments ends in `...`."""
    signature: str
    """The same for programs, as JSON text."""

    def __str__(self) -> str:
        return f"{self.called_as}({', '.join(self.parameters)})"


@record
class Difference:
    """Two values that were compared, as JSON texts in which every secret is null."""

    before: str
    after: str
    after_unknown: str
    """True for every part that is not known yet."""
    before_sensitive: str
    """True for every part that must not be shown."""
    after_sensitive: str


@record
class Deprecation:
    """That a warning is a module author's advice against using something."""

    subject: str
    """What the advice is about; for each it need be told once only."""
    is_remote: bool
    """Whether the module comes from elsewhere, where users cannot change it."""


@record
class Diagnostic:
    """One mistake or concern, told once."""

    severity: Severity
    summary: str
    """A short noun phrase without a full stop."""
    detail: str = ""
    """Full sentences: what is wrong, why, what to do."""
    subject: Range | None = None
    """The tightest place that is wrong."""
    context: Range | None = None
    """A wider place that helps to understand the subject, and includes it."""
    values: tuple[ScopeValue, ...] = ()
    causes: tuple[Cause, ...] = ()
    """The chain of causes, root cause first."""
    address: str = ""
    """What it is about: the address of a resource instance, for one."""
    deprecation: Deprecation | None = None
    call: CalledFunction | None = None
    """The function whose call failed."""
    difference: Difference | None = None
    """How the two sides of a comparison differ that should have been equal."""
    origins: tuple[str, ...] = ()
    """Where the values come from that were wrong, as lines of a tree; already redacted."""
    is_check: bool = False
    """Whether it says how a `check` went, as far as that is known by now."""
    checked: str = ""
    """The address of the object whose condition does not hold: `var.a`, `check.b`, or that of a
    resource instance. Empty for everything that is not a failed condition.
    """

    def __repr__(self) -> str:
        where = "" if self.subject is None else f" at {self.subject}"
        return f"<{self.severity.value}: {self.summary}{where}>"

    def _repr_html_(self) -> str:
        from html import escape

        where = "" if self.subject is None else f"<p><code>{escape(str(self.subject))}</code></p>"
        title = f"{self.severity.value.capitalize()}: {self.summary}"
        return f"<p><b>{escape(title)}</b></p>{where}<p>{escape(self.detail)}</p>"


def _ended_once(detail: str) -> str:
    """A text with one sign at its end, though what it quotes of another program ends like a sentence."""
    return detail[:-1] if detail.endswith(("?.", "!.")) else detail


class Diagnostics:
    """The collector that is passed to every function which may find a mistake."""

    __slots__ = ("_error_count", "_findings", "_items")

    def __init__(self, diagnostics: Iterable[Diagnostic] = ()) -> None:
        self._items: list[Diagnostic] = []
        self._error_count = 0
        self._findings: set[Hashable] = set()
        self.extend(diagnostics)

    def append(self, diagnostic: Diagnostic) -> None:
        """Add one diagnostic."""
        self._items.append(diagnostic)
        if diagnostic.severity is Severity.ERROR:
            self._error_count += 1

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add diagnostics in the order given."""
        for diagnostic in list(diagnostics):
            self.append(diagnostic)

    def child(self) -> Diagnostics:
        """A collector for a part of the work, which knows what is known here to be found already."""
        child = Diagnostics()
        child._findings = self._findings
        return child

    def adopt(self, child: Diagnostics) -> None:
        """Take over what another collector has found; that one is empty then, and may go on."""
        self.extend(child.take())

    def take(self) -> list[Diagnostic]:
        """Everything that has been found so far, which is forgotten here."""
        found, self._items = self._items, []
        self._error_count = 0
        return found

    def error(
        self,
        summary: str,
        detail: str = "",
        subject: Range | None = None,
        context: Range | None = None,
        values: tuple[ScopeValue, ...] = (),
        causes: tuple[Cause, ...] = (),
        address: str = "",
        call: CalledFunction | None = None,
    ) -> None:
        """Add an error."""
        self.append(
            Diagnostic(
                Severity.ERROR,
                summary,
                _ended_once(detail),
                subject,
                context,
                values,
                causes,
                address,
                call=call,
            )
        )

    def warning(
        self,
        summary: str,
        detail: str = "",
        subject: Range | None = None,
        context: Range | None = None,
        values: tuple[ScopeValue, ...] = (),
        causes: tuple[Cause, ...] = (),
        address: str = "",
    ) -> None:
        """Add a warning."""
        self.append(
            Diagnostic(
                Severity.WARNING,
                summary,
                _ended_once(detail),
                subject,
                context,
                values,
                causes,
                address,
            )
        )

    def name_since(self, start: int, address: str) -> None:
        """Say of the diagnostics from an index on, unless they say it, what they are about."""
        if not address:
            return
        for index in range(start, len(self._items)):
            if not self._items[index].address:
                self._items[index] = replace(self._items[index], address=address)

    def is_new(self, finding: Hashable) -> bool:
        """Whether this is asked for the first time, by who may find the same from several sides."""
        count = len(self._findings)
        self._findings.add(finding)
        return len(self._findings) > count

    @property
    def has_errors(self) -> bool:
        """Whether any diagnostic is an error; costs nothing to ask often."""
        return self._error_count > 0

    @property
    def error_count(self) -> int:
        """How many errors there are."""
        return self._error_count

    @property
    def warning_count(self) -> int:
        """How many warnings there are."""
        return len(self._items) - self._error_count

    def in_order(self) -> list[Diagnostic]:
        """The diagnostics to show, each once, in the order of `tofu`.

        Warnings stand first, so that errors end up nearest to the prompt. Within a severity come
        those without a place, then those of files nearest to the root, by place.
        """
        return sorted(dict.fromkeys(self._items), key=_reading_order)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: int) -> Diagnostic:
        return self._items[index]

    def __repr__(self) -> str:
        return f"Diagnostics({self._items!r})"


def _reading_order(diagnostic: Diagnostic) -> tuple[bool, int, str, int, int]:
    is_error = diagnostic.severity is Severity.ERROR
    subject = diagnostic.subject
    if subject is None:
        return (is_error, -1, "", 0, 0)
    filename = subject.filename
    depth = filename.count("/") + filename.count("\\")
    return (is_error, depth, filename, subject.start.byte, subject.end.byte)
