"""Reports about fleets: JUnit for services that run tests, Markdown for pull requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from nigari.diagnostics import Diagnostic, Severity
from nigari.fleet.runs.planning import FleetPlan
from nigari.fleet.runs.results import UnitResult, UnitStatus
from nigari.fleet.work.tasks import Changes

LIMIT: Final = 65_536
"""The most characters that the usual services take."""
_ROOM: Final = 200
_MOST_LINES: Final = 200


def junit_report(results: Sequence[UnitResult], kind: str) -> bytes:
    """A case for each unit."""
    root = Element("testsuites")
    failed = [each for each in results if not each.is_done]
    left = sum(each.status is UnitStatus.SKIPPED for each in failed)
    suite = SubElement(
        root,
        "testsuite",
        name=f"fleet {kind}",
        tests=str(len(results)),
        failures="0",
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
        elif each.changes is not None:
            SubElement(case, "system-out").text = each.changes.summary
    indent(root)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def plan_markdown(plan: FleetPlan, limit: int = LIMIT) -> str:
    """The plan of a fleet in at most so many characters: numbers, a table, folded details."""
    add, change, destroy = plan.totals
    changed = plan.changed
    head = f"**Plan: {add} to add, {change} to change, {destroy} to destroy in {len(changed)} of "
    parts = [head + f"{len(plan.units)} units.**\n"]
    lost = [name for name in changed if _changes(plan, name).destroy]
    if lost:
        parts.append(f"\n> [!WARNING]\n> Objects will be lost in {_listed(lost)}.\n")
    failed = [each.result for each in plan.units.values() if not each.result.is_done]
    parts += [f"\n- :x: `{each.unit}`: {_failure(each)}" for each in failed[:_MOST_LINES]]
    if failed:
        parts.append("\n")
    if changed:
        parts.append("\n| unit | add | change | destroy |\n| --- | --- | --- | --- |\n")
    room = limit - _ROOM
    left = 0
    for name in changed:
        each = _changes(plan, name)
        line = f"| `{_cell(name)}` | {each.add} | {each.change} | {each.destroy} |\n"
        left += _put(parts, line, room)
    for name in changed:
        lines = [f"{one.action}: {one.address}" for one in _changes(plan, name).lines]
        text = (
            f"\n<details><summary><code>{_cell(name)}</code></summary>\n\n```\n"
            + "\n".join(lines)
            + "\n```\n\n</details>\n"
        )
        left += _put(parts, text, room)
    if left:
        parts.append("\nNot everything fits here: the rest is in the saved plan.\n")
    return "".join(parts)


def _put(parts: list[str], text: str, room: int) -> int:
    """Add a text where there is room; 1 where there is none."""
    if sum(map(len, parts)) + len(text) > room:
        return 1
    parts.append(text)
    return 0


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


def _text(told: Diagnostic) -> str:
    where = f"{told.subject}: " if told.subject is not None else ""
    return f"{where}{told.summary}\n{told.detail}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{_cell(name)}`" for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more units"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'")
