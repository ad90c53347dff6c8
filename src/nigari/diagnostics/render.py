"""Rendering of diagnostics: text for people, and JSON in the shape of `tofu validate -json`.

The caller provides the sources that ranges point into and a function that names the block around a
range. Deliberately unknown here: HCL, values, files and terminals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nigari.diagnostics.layout import Layout, display_width, printable, wrap
from nigari.diagnostics.model import (
    CalledFunction,
    Cause,
    Diagnostic,
    Difference,
    Pos,
    Range,
    ScopeValue,
    Severity,
)

TYPE_CHECKING = False
# Loading snippets costs start-up time, and a diagnostic without a range needs none.
if TYPE_CHECKING:
    from typing import TypeAlias

    from nigari.diagnostics.snippet import Snippet, Sources


ContextOf: TypeAlias = Callable[[Range], str]
"""Names the block around a range, such as `resource "a" "b"`; empty if there is none."""

DifferenceText: TypeAlias = Callable[[Difference, bool], str]
"""Lays out how two values differ, in colours if requested; empty if that cannot be shown. All lines
except the first are already indented, by at least four columns.
"""

JsonValue: TypeAlias = "str | int | list[JsonValue] | dict[str, JsonValue] | None"

_RESET = "\x1b[0m"
_BOLD = "\x1b[1m"
_UNDERLINE = "\x1b[4m"
_DIM = "\x1b[90m"
_SEVERITY_COLOUR = {Severity.ERROR: "\x1b[31m", Severity.WARNING: "\x1b[33m"}
_SEVERITY_TITLE = {Severity.ERROR: "Error: ", Severity.WARNING: "Warning: "}

_MOST_LINES = 30
"""A longer snippet is shortened in its middle."""
_LAST_LINES = 5


def no_context(_: Range) -> str:
    """Provide no block name, for callers without a configuration."""
    return ""


def no_difference(_: Difference, colour: bool) -> str:
    """Provide no layout of differences, for callers that cannot load values."""
    return ""


def to_text(
    diagnostics: Iterable[Diagnostic],
    sources: Sources,
    layout: Layout | None = None,
    context_of: ContextOf = no_context,
    difference_text: DifferenceText = no_difference,
) -> str:
    """Render diagnostics in the order passed, ready to be written to a stream."""
    writer = _TextWriter(sources, layout or Layout(), context_of, difference_text)
    return "".join(writer.diagnostic(diagnostic) for diagnostic in diagnostics)


def to_json(
    diagnostic: Diagnostic, sources: Sources, context_of: ContextOf = no_context
) -> dict[str, JsonValue]:
    """Build a member of the `diagnostics` list of `validate -json`.

    That shape has no member for a chain of causes, so the chain is appended to the detail.
    """
    result: dict[str, JsonValue] = {
        "severity": diagnostic.severity.value,
        "summary": diagnostic.summary,
        "detail": _detail_with_causes(diagnostic),
    }
    if diagnostic.address:
        result["address"] = diagnostic.address
    subject = diagnostic.subject
    if subject is not None:
        from nigari.diagnostics.snippet import cut_snippet, visible_range

        result["range"] = _range_to_json(visible_range(subject))
        snippet = cut_snippet(subject, diagnostic.context, sources)
        if snippet is not None:
            members = _snippet_to_json(snippet, context_of(subject), diagnostic.values)
            if diagnostic.call is not None:
                members["function_call"] = _call_to_json(diagnostic.call)
            result["snippet"] = members
    if diagnostic.difference is not None:
        result["difference"] = _difference_to_json(diagnostic.difference)
    if diagnostic.origins:
        result["origins"] = list(diagnostic.origins)
    return result


def place_to_json(
    subject: Range, sources: Sources, context_of: ContextOf = no_context
) -> dict[str, JsonValue]:
    """Build `range`, and `snippet` if the source is available."""
    from nigari.diagnostics.snippet import cut_snippet, visible_range

    result: dict[str, JsonValue] = {"range": _range_to_json(visible_range(subject))}
    snippet = cut_snippet(subject, None, sources)
    if snippet is not None:
        result["snippet"] = _snippet_to_json(snippet, context_of(subject), ())
    return result


def _call_to_json(call: CalledFunction) -> JsonValue:
    import json

    return {"called_as": call.called_as, "signature": json.loads(call.signature)}


def _difference_to_json(difference: Difference) -> JsonValue:
    """Use the form of a change in a JSON plan, as `tofu` does for failed comparisons."""
    import json

    return {
        "before": json.loads(difference.before),
        "after": json.loads(difference.after),
        "after_unknown": json.loads(difference.after_unknown),
        "before_sensitive": json.loads(difference.before_sensitive),
        "after_sensitive": json.loads(difference.after_sensitive),
    }


def _detail_with_causes(diagnostic: Diagnostic) -> str:
    if not diagnostic.causes:
        return diagnostic.detail
    frames = [f"  - {cause.text}{_place(cause.subject)}" for cause in diagnostic.causes]
    chain = "\n".join([_causes_title(diagnostic.causes), *frames])
    return f"{diagnostic.detail}\n\n{chain}" if diagnostic.detail else chain


def _causes_title(causes: tuple[Cause, ...]) -> str:
    return "Caused by:" if len(causes) == 1 else "Caused by, from the root cause on:"


def _place(subject: Range | None) -> str:
    return "" if subject is None else f" ({subject.filename} line {subject.start.line})"


def _range_to_json(place: Range) -> JsonValue:
    return {
        "filename": place.filename,
        "start": _pos_to_json(place.start),
        "end": _pos_to_json(place.end),
    }


def _pos_to_json(pos: Pos) -> JsonValue:
    return {"line": pos.line, "column": pos.column, "byte": pos.byte}


def _snippet_to_json(
    snippet: Snippet, context: str, values: tuple[ScopeValue, ...]
) -> dict[str, JsonValue]:
    statements: list[JsonValue] = [
        {"traversal": value.name, "statement": value.text} for value in _sorted_values(values)
    ]
    return {
        "context": context or None,
        "code": snippet.code,
        "start_line": snippet.start_line,
        "highlight_start_offset": snippet.highlight_start,
        "highlight_end_offset": snippet.highlight_end,
        "values": statements,
    }


def _sorted_values(values: tuple[ScopeValue, ...]) -> list[ScopeValue]:
    return sorted(dict.fromkeys(values), key=lambda value: value.name)


class _TextWriter:
    """Lays out diagnostics one at a time, each with a coloured rule on its left on a terminal.

    Without colours there is no rule, so that logs stay greppable, and the subject is underlined by
    a line of its own.
    """

    __slots__ = ("_colour", "_context_of", "_difference_text", "_lines", "_sources", "_width")

    def __init__(
        self,
        sources: Sources,
        layout: Layout,
        context_of: ContextOf,
        difference_text: DifferenceText,
    ) -> None:
        self._difference_text = difference_text
        self._sources = sources
        self._colour = layout.colour
        self._context_of = context_of
        rule_width = 3 if layout.colour else 1
        self._width = max(layout.width - rule_width, 20) if layout.width > 0 else 0
        self._lines: list[str] = []

    def diagnostic(self, diagnostic: Diagnostic) -> str:
        self._lines = []
        severity = diagnostic.severity
        title = self._styled(_BOLD + _SEVERITY_COLOUR[severity], _SEVERITY_TITLE[severity])
        self._lines.append(title + self._styled(_BOLD, printable(diagnostic.summary)))
        self._lines.append("")
        self._where(diagnostic)
        if diagnostic.detail:
            self._lines += wrap(printable(diagnostic.detail), self._width)
        if diagnostic.causes:
            self._causes(diagnostic)
        return self._framed(severity)

    def _styled(self, style: str, text: str) -> str:
        return f"{style}{text}{_RESET}" if self._colour and text else text

    def _framed(self, severity: Severity) -> str:
        while self._lines and not self._lines[-1]:
            self._lines.pop()
        if not self._colour:
            return "\n" + "\n".join(self._lines) + "\n"
        colour = _SEVERITY_COLOUR[severity]
        bar = self._styled(colour, "│")
        lines = [self._styled(colour, "╷")]
        lines += [f"{bar} {line}" if line else bar for line in self._lines]
        lines.append(self._styled(colour, "╵"))
        return "\n".join(lines) + "\n"

    def _where(self, diagnostic: Diagnostic) -> None:
        if diagnostic.address:
            ending = "," if diagnostic.subject is not None else ":"
            self._lines += wrap(f"  with {printable(diagnostic.address)}{ending}", self._width)
        if diagnostic.subject is not None:
            self._place(diagnostic.subject, diagnostic.context, "  ")
            self._values(diagnostic)
        if diagnostic.address or diagnostic.subject is not None:
            self._lines.append("")

    def _place(self, subject: Range, context: Range | None, indent: str) -> None:
        from nigari.diagnostics.snippet import cut_snippet

        snippet = cut_snippet(subject, context, self._sources)
        place = f"{indent}on {printable(subject.filename)} line {subject.start.line}"
        if snippet is None:
            self._lines.append(f"{place} (source not available)")
            return
        name = self._context_of(subject)
        self._lines.append(f"{place}, in {printable(name)}:" if name else f"{place}:")
        self._snippet(snippet, indent)

    def _snippet(self, snippet: Snippet, indent: str) -> None:
        before, subject, after = (printable(part).split("\n") for part in snippet.split())
        if not "".join(subject).strip():
            # Something missing is reported at the end of a line or file, where there is nothing to
            # underline: add a column.
            subject[0] = subject[0] or " "
        rows = [(line, "", "") for line in before[:-1]]
        rows.append((before[-1], subject[0], ""))
        # The first line is enough to find a subject that spans several.
        rows += [(line, "", "") for line in subject[1:]]
        rows[-1] = (rows[-1][0], rows[-1][1], after[0])
        rows += [(line, "", "") for line in after[1:]]
        skipped = range(_MOST_LINES - _LAST_LINES, len(rows) - _LAST_LINES)
        if len(rows) <= _MOST_LINES:
            skipped = range(0)
        for index, row in enumerate(rows):
            if index not in skipped:
                self._row(f"{indent}{snippet.start_line + index:>2}: ", row)
            elif index == skipped.start:
                self._lines.append(f"{indent} … {len(skipped)} more lines")

    def _row(self, margin: str, row: tuple[str, str, str]) -> None:
        before, subject, after = _clipped(row, self._width - len(margin))
        marked = subject.strip() or subject
        blank, _, rest = subject.partition(marked) if marked else ("", "", "")
        indent = before + blank
        line = margin + indent + self._styled(_UNDERLINE, marked) + rest + after
        self._lines.append(line if self._colour else line.rstrip())
        if marked and not self._colour:
            self._lines.append(" " * display_width(margin + indent) + "^" * display_width(marked))

    def _values(self, diagnostic: Diagnostic) -> None:
        """List the called function, the values and the difference below the subject."""
        lines: list[str] = []
        if diagnostic.call is not None:
            lines.append(f"while calling {self._styled(_BOLD, printable(str(diagnostic.call)))}")
        for value in _sorted_values(diagnostic.values):
            first, *rest = wrap(printable(f"{value.name} {value.text}"), self._width - 6)
            name = printable(value.name)
            if first.startswith(name):
                first = self._styled(_BOLD, name) + first[len(name) :]
            lines += [first, *(f"  {line}" for line in rest)]
        self._note(lines)
        if diagnostic.difference is not None:
            shown = self._difference_text(diagnostic.difference, self._colour)
            if shown:
                first, *rest = shown.split("\n")
                self._note(["difference:", f"    {first}", *rest])
        if diagnostic.origins:
            lines = [printable(line) for line in diagnostic.origins]
            self._note(["where it comes from:", *(f"  {line}" for line in lines)])

    def _note(self, lines: list[str]) -> None:
        """Add lines below the snippet, set off from it by a rule."""
        if lines:
            bar = self._styled(_DIM, "│")
            self._lines.append("    " + self._styled(_DIM, "├────────────────"))
            self._lines += [f"    {bar} {line}" for line in lines]

    def _causes(self, diagnostic: Diagnostic) -> None:
        if diagnostic.detail:
            self._lines.append("")
        self._lines.append(_causes_title(diagnostic.causes))
        for cause in diagnostic.causes:
            first, *rest = wrap(printable(cause.text), self._width - 4 if self._width else 0)
            self._lines.append(f"  - {first}")
            self._lines += [f"    {line}" for line in rest]
            if cause.subject is not None:
                self._place(cause.subject, None, "    ")


_SCREEN_ROWS = 4
"""Rows of the screen that one source line may fill before it is clipped around its subject."""


def _clipped(row: tuple[str, str, str], width: int) -> tuple[str, str, str]:
    before, subject, after = row
    room = width * _SCREEN_ROWS
    if room <= 0 or len(before) + len(subject) + len(after) <= room:
        return row
    third = room // 3
    if len(before) > third:
        before = "…" + before[-third:]
    if len(subject) > third:
        subject = subject[:third] + "…"
        return before, subject, ""
    if len(after) > third:
        after = after[:third] + "…"
    return before, subject, after
