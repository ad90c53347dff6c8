"""Diagnostics on the screen: errors to standard error, warnings to standard output."""

from __future__ import annotations

from nigari.cli.command import FLAG_SWITCH, Flag, Terminal
from nigari.diagnostics import Diagnostic, Diagnostics, Difference, Severity
from nigari.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.diagnostics import ContextOf, Sources

NO_COLOR_FLAG = Flag("no-color", FLAG_SWITCH, "Do not use colors")
COMPACT_WARNINGS_FLAG = Flag(
    "compact-warnings", FLAG_SWITCH, "If there are only warnings, show them as one line each"
)


def show_diagnostics(
    terminal: Terminal,
    diagnostics: Diagnostics,
    sources: Sources,
    context_of: ContextOf,
    *,
    no_color: bool = False,
    compact_warnings: bool = False,
) -> None:
    """Write all diagnostics, each once and in order."""
    if not len(diagnostics):
        return
    from nigari.diagnostics import Layout, to_text
    from nigari.workspace.context.shown_sources import ShownSources

    sources = ShownSources(sources)
    no_color = no_color or terminal.is_on("no-color")
    compact_warnings = compact_warnings or terminal.is_on("compact-warnings")
    ordered = _of_several(with_options(diagnostics, terminal).in_order())
    warnings = [each for each in ordered if each.severity is Severity.WARNING]
    errors = [each for each in ordered if each.severity is Severity.ERROR]
    warnings = _advised(warnings, terminal.deprecations)
    if terminal.is_on("consolidate-warnings"):
        warnings = _consolidated(warnings)
    if terminal.is_on("consolidate-errors"):
        errors = _consolidated(errors)
    if compact_warnings and not errors:
        terminal.stdout.write(_compact(warnings))
    else:
        layout = Layout.for_stream(terminal.stdout, terminal.environ, no_color)
        terminal.stdout.write(to_text(_with_help(warnings), sources, layout, context_of, compared))
    terminal.stdout.flush()
    layout = Layout.for_stream(terminal.stderr, terminal.environ, no_color)
    terminal.stderr.write(to_text(_with_help(errors), sources, layout, context_of, compared))


def with_options(diagnostics: Diagnostics, terminal: Terminal) -> Diagnostics:
    """The diagnostics, whose suggested commands have the options that this command line has."""
    if not terminal.options:
        return diagnostics
    return Diagnostics(
        replace(each, detail=terminal.with_options(each.detail)) for each in diagnostics
    )


def _with_help(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics with the page that helps. The last of several that share a page names it."""
    from nigari.cli.views.help_links import help_address

    shown: list[Diagnostic] = []
    named: set[str] = set()
    for each in reversed(diagnostics):
        address = help_address(each.summary)
        if address and address not in named:
            named.add(address)
            each = replace(each, detail=f"{each.detail}\n\n{address}".lstrip())
        shown.append(each)
    return shown[::-1]


def compared(difference: Difference, colour: bool) -> str:
    """A difference in the layout of a plan."""
    from nigari.cli.views.compared_values import compared_text

    return compared_text(difference, colour)


def _of_several(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics, with those as one that differ only in the instance they are about."""
    from nigari.hcl.suggestion import listed

    found: dict[Diagnostic, list[str]] = {}
    for each in diagnostics:
        found.setdefault(replace(each, address=""), []).append(each.address)
    merged: list[Diagnostic] = []
    for each, addresses in found.items():
        merged.append(replace(each, address=listed(addresses)))
    return merged


def _advised(warnings: list[Diagnostic], wanted: str) -> list[Diagnostic]:
    """The warnings without deprecations that are disabled, or that were shown before."""
    kept: list[Diagnostic] = []
    given: set[tuple[str, str]] = set()
    for each in warnings:
        if each.deprecation is not None:
            advice = (each.summary, each.deprecation.subject)
            is_wanted = wanted == "all" or (wanted == "local" and not each.deprecation.is_remote)
            if advice in given or not is_wanted:
                continue
            given.add(advice)
        kept.append(each)
    return kept


def _consolidated(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """The first of those that say the same, which says how many more there are; what has no place
    stays.
    """
    counts: dict[tuple[str, str], int] = {}
    for each in diagnostics:
        if each.subject is not None:
            said = (each.summary, each.detail)
            counts[said] = counts.get(said, 0) + 1
    kept: list[Diagnostic] = []
    for each in diagnostics:
        said = (each.summary, each.detail)
        count = 0 if each.subject is None else counts[said]
        if count > 1:
            more = "one more location" if count == 2 else f"{count - 1} more locations"
            detail = f"{each.detail}\n\nThe same applies to {more}."
            each = replace(each, detail=detail.lstrip())
            counts[said] = -1
        if count >= 0:
            kept.append(each)
    return kept


def _compact(warnings: list[Diagnostic]) -> str:
    if not warnings:
        return ""
    lines = ["", "Warnings:", ""]
    for warning in warnings:
        place = warning.subject
        where = "" if place is None else f"\n  on {place.filename} line {place.start.line}"
        lines.append(f"- {warning.summary}{where}")
    return "\n".join([*lines, "", "To see them in full, leave out -compact-warnings.", ""])
