"""Reports about fleets: JUnit for services that run tests, Markdown for pull requests."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from nigari.diagnostics import Diagnostic, Severity
from nigari.fleet.runs.plan_fleet import FleetPlan
from nigari.fleet.runs.results import UnitResult, UnitStatus
from nigari.fleet.work.tasks import Changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


LIMIT: Final = 65_536
"""The most characters that the usual services take."""
_ROOM: Final = 200
_MOST_LINES: Final = 200


def junit_report(results: Sequence[UnitResult], kind: str) -> bytes:
    """A case for each unit."""
    root = Element("testsuites")
    failed = [each for each in results if not each.is_done]
    left = sum(each.status is UnitStatus.SKIPPED for each in failed)
    drifted = {each.unit: _drift(each) for each in results if kind == "drift" and _drift(each)}
    suite = SubElement(
        root,
        "testsuite",
        name=f"fleet {kind}",
        tests=str(len(results)),
        failures=str(len(drifted)),
        errors=str(len(failed) - left),
        skipped=str(left),
    )
    for each in results:
        case = SubElement(
            suite, "testcase", name=each.unit, classname=kind, time=f"{each.seconds:.3f}"
        )
        if each.status is UnitStatus.SKIPPED:
            SubElement(case, "skipped", message=f"{each.because_of} failed")
        elif not each.is_done:
            errors = _errors(each)
            message = errors[0].summary if errors else each.status.value
            part = SubElement(case, "error", message=message)
            part.text = "\n\n".join(_text(one) for one in errors)
        elif each.unit in drifted:
            found = drifted[each.unit]
            SubElement(case, "failure", message=_drifted(len(found))).text = "\n".join(found)
        elif each.changes is not None:
            SubElement(case, "system-out").text = each.changes.summary
    indent(root)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def plan_markdown(plan: FleetPlan, limit: int = LIMIT) -> str:
    """The plan of a fleet in at most so many characters: numbers, a table, folded details."""
    add, change, destroy = plan.totals
    changed = plan.changed
    page = _Page(limit)
    page.head(
        f"**Plan: {add} to add, {change} to change, {destroy} to destroy in {len(changed)} of "
        f"{len(plan.units)} units.**\n"
    )
    lost = [name for name in changed if _changes(plan, name).destroy]
    if lost:
        page.head(f"\n> [!WARNING]\n> Objects will be lost in {_listed(lost)}.\n")
    page.failures(plan)
    if changed:
        page.head("\n| unit | add | change | destroy |\n| --- | --- | --- | --- |\n")
    for name in changed:
        each = _changes(plan, name)
        page.put(f"| `{_cell(name)}` | {each.add} | {each.change} | {each.destroy} |\n")
    for name in changed:
        page.fold(name, [f"{one.action}: {one.address}" for one in _changes(plan, name).lines])
    return page.text("the rest is in the saved plan")


def drift_markdown(plan: FleetPlan) -> str:
    """The drift, in at most `LIMIT` characters."""
    drifted, page = plan.drifted, _Page(LIMIT)
    page.head(f"**Drift in {len(drifted)} of {len(plan.units)} units.**\n")
    page.failures(plan)
    for name in drifted:
        page.fold(name, _changes(plan, name).drift)
    return page.text("`nigari fleet drift` shows everything")


class _Page:
    """A text that grows as long as there is room."""

    def __init__(self, limit: int) -> None:
        self._parts: list[str] = []
        self._room = limit - _ROOM
        self._is_whole = True

    def head(self, text: str) -> None:
        """Add something that must not be left out."""
        self._parts.append(text)
        self._room -= len(text)

    def put(self, text: str) -> None:
        """Add something where there is room for it."""
        if len(text) <= self._room:
            self.head(text)
        else:
            self._is_whole = False

    def failures(self, plan: FleetPlan) -> None:
        """Add the units that could not be planned."""
        failed = [each.result for each in plan.units.values() if not each.result.is_done]
        for each in failed[:_MOST_LINES]:
            self.head(f"\n- :x: `{each.unit}`: {_failure(each)}")
        if failed:
            self.head("\n")

    def fold(self, name: str, lines: Sequence[str]) -> None:
        """Add lines about a unit that are folded."""
        text = "\n".join(lines)
        head = f"\n<details><summary><code>{_cell(name)}</code></summary>\n\n"
        self.put(f"{head}```\n{text}\n```\n\n</details>\n")

    def text(self, rest: str) -> str:
        """All of it; where that is not everything, it says where the rest is."""
        if not self._is_whole:
            self._parts.append(f"\nNot everything fits here: {rest}.\n")
        return "".join(self._parts)


def _drift(result: UnitResult) -> Sequence[str]:
    return () if result.changes is None else result.changes.drift


def _drifted(count: int) -> str:
    return "1 object has drifted" if count == 1 else f"{count} objects have drifted"


def _changes(plan: FleetPlan, name: str) -> Changes:
    found = plan.units[name].result.changes
    assert found is not None
    return found


def _failure(result: UnitResult) -> str:
    if result.status is UnitStatus.SKIPPED:
        return f"not planned, because `{result.because_of}` failed"
    errors = _errors(result)
    return errors[0].summary if errors else result.status.value


def _errors(result: UnitResult) -> list[Diagnostic]:
    return [each for each in result.diagnostics if each.severity is Severity.ERROR]


def _text(diagnostic: Diagnostic) -> str:
    where = f"{diagnostic.subject}: " if diagnostic.subject is not None else ""
    return f"{where}{diagnostic.summary}\n{diagnostic.detail}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{_cell(name)}`" for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more units"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'")
