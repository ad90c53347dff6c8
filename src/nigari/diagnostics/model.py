"""The diagnostic model: positions, source ranges, severities, the diagnostic and its collector.

Every package reports mistakes in this form. A diagnostic carries texts and ranges only: the code
that builds it has already rendered and redacted the values it mentions. Deliberately unknown here:
values, expressions, and the source text that ranges point into.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from enum import Enum

from nigari.record import record, replace


class Severity(Enum):
    """Severity of a diagnostic: an error stops the work, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@record
class Pos:
    """A position in a source text."""

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
    """The value of a name that the subject refers to: `ScopeValue("var.a", "is 5")`."""

    name: str
    text: str
    """Completes the sentence that begins with the name; already redacted."""


@record
class Cause:
    """One frame of the chain from the root cause to the expression that failed."""

    text: str
    subject: Range | None = None


@record
class CalledFunction:
    """The function whose call failed, with the parameters that its author declared."""

    called_as: str
    """The name in the configuration, with namespaces."""
    parameters: tuple[str, ...]
    """Parameter names; a variadic one ends in `...`."""
    signature: str
    """The same as JSON text, for programs."""

    def __str__(self) -> str:
        return f"{self.called_as}({', '.join(self.parameters)})"


@record
class Difference:
    """Two compared values, as JSON texts in which every sensitive value is null."""

    before: str
    after: str
    after_unknown: str
    """True for every unknown part."""
    before_sensitive: str
    """True for every part that must not be shown."""
    after_sensitive: str


@record
class Deprecation:
    """Marks a warning as a module author's deprecation notice."""

    subject: str
    """The deprecated object; one warning about each is enough."""
    is_remote: bool
    """True if the module was downloaded, so that its users cannot change it."""


@record
class Diagnostic:
    """One mistake or concern, reported once."""

    severity: Severity
    summary: str
    """A short noun phrase without a full stop."""
    detail: str = ""
    """Full sentences: what is wrong, why, what to do."""
    subject: Range | None = None
    """The tightest range that is wrong."""
    context: Range | None = None
    """A wider range that includes the subject and helps to understand it."""
    values: tuple[ScopeValue, ...] = ()
    causes: tuple[Cause, ...] = ()
    """The chain of causes, root cause first."""
    address: str = ""
    """Address of the resource instance concerned, if it is about one."""
    deprecation: Deprecation | None = None
    call: CalledFunction | None = None
    """The function whose call failed."""
    difference: Difference | None = None
    """The two sides of a comparison that should have been equal."""
    origins: tuple[str, ...] = ()
    """Sources of the wrong values, as lines of a tree; already redacted."""
    is_check: bool = False
    """True for a failed or pending `check` assertion."""
    checked: str = ""
    """Address of the object whose condition failed: `var.a`, `check.b`, or a resource instance.
    Empty for everything that is not a failed condition.
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
    """The collector that is passed to every function that may find a mistake."""

    __slots__ = ("_error_count", "_findings", "_items")

    def __init__(self, diagnostics: Iterable[Diagnostic] = ()) -> None:
        self._items: list[Diagnostic] = []
        self._error_count = 0
        self._findings: set[Hashable] = set()
        self.extend(diagnostics)

    def append(self, diagnostic: Diagnostic) -> None:
        """Add a diagnostic that was built elsewhere."""
        self._items.append(diagnostic)
        if diagnostic.severity is Severity.ERROR:
            self._error_count += 1

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add several, which may be those of this collector."""
        for diagnostic in list(diagnostics):
            self.append(diagnostic)

    def child(self) -> Diagnostics:
        """Create a collector for part of the work; it shares the record of findings (`is_new`)."""
        child = Diagnostics()
        child._findings = self._findings
        return child

    def adopt(self, child: Diagnostics) -> None:
        """Move everything from a child collector to this one; the child stays usable."""
        self.extend(child.take())

    def take(self) -> list[Diagnostic]:
        """Remove and return everything collected so far."""
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
        """Add an error; `docs/contributing/diagnostics.md` says how its texts are written."""
        self.append(
            Diagnostic(
                severity=Severity.ERROR,
                summary=summary,
                detail=_ended_once(detail),
                subject=subject,
                context=context,
                values=values,
                causes=causes,
                address=address,
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
        """Add a warning, written like an error."""
        self.append(
            Diagnostic(
                severity=Severity.WARNING,
                summary=summary,
                detail=_ended_once(detail),
                subject=subject,
                context=context,
                values=values,
                causes=causes,
                address=address,
            )
        )

    def name_since(self, start: int, address: str) -> None:
        """Set the address of diagnostics from an index on, unless they have one already."""
        if not address:
            return
        for index in range(start, len(self._items)):
            if not self._items[index].address:
                self._items[index] = replace(self._items[index], address=address)

    def is_new(self, finding: Hashable) -> bool:
        """Check whether a finding is reported for the first time. Callers that may reach the same
        mistake by several paths ask this first.
        """
        count = len(self._findings)
        self._findings.add(finding)
        return len(self._findings) > count

    @property
    def has_errors(self) -> bool:
        """True if any diagnostic is an error; constant time."""
        return self._error_count > 0

    @property
    def error_count(self) -> int:
        """Number of errors, without warnings."""
        return self._error_count

    @property
    def warning_count(self) -> int:
        """Number of warnings."""
        return len(self._items) - self._error_count

    def in_order(self) -> list[Diagnostic]:
        """Return distinct diagnostics in the order in which `tofu` prints them.

        Warnings come first, so that errors end up nearest to the prompt. Within a severity,
        diagnostics without a range come before those of files nearest to the root, by position.
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
