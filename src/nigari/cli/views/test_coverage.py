"""Test coverage: the parts of a configuration that tests have touched, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator

from nigari.diagnostics.render import no_context, place_to_json
from nigari.testing.coverage import KINDS, Coverage, CoverageItem

_PLURALS = {
    "resource": "resources",
    "data": "data sources",
    "ephemeral": "ephemeral resources",
    "module": "module calls",
    "output": "outputs",
    "validation": "validations",
    "precondition": "preconditions",
    "postcondition": "postconditions",
    "check": "checks",
    "branch": "branches",
}


def coverage_text(coverage: Coverage) -> str:
    """The coverage in numbers, and everything that is not covered."""
    covered, total = coverage.count()
    lines = [f"Coverage: {covered} of {total}{_percent(covered, total)}"]
    lines += [f"  {name}: {some} of {all_}" for name, some, all_ in coverage_counts(coverage)]
    if coverage.missing:
        lines += ["", "Not covered:", *(f"  {missing_text(each)}" for each in coverage.missing)]
    return "\n".join(lines)


def coverage_counts(coverage: Coverage) -> Iterator[tuple[str, int, int]]:
    """Of each kind that there is anything of: how many are covered, and how many there are."""
    for kind in KINDS:
        some, total = coverage.count(kind)
        if total:
            yield _PLURALS[kind], some, total


def missing_text(item: CoverageItem) -> str:
    """The missing coverage, on one line."""
    where = f"{item.range.filename} line {item.range.start.line}"
    kind = "" if item.kind in ("resource", "data", "ephemeral", "output", "module") else item.kind
    name = f"{kind} {item.name}" if kind == "branch" else item.name
    if kind and kind != "branch":
        name = f"{kind} of {item.name}" if kind != "check" else f"assertion of {item.name}"
    return f"{where}: {name}: {item.missing}"


def coverage_json(coverage: Coverage) -> dict[str, object]:
    """The same for programs."""
    counts = {}
    for kind in KINDS:
        some, total = coverage.count(kind)
        if total:
            counts[kind] = {"covered": some, "total": total}
    items = [
        {
            "kind": each.kind,
            "module": each.module,
            "name": each.name,
            "covered": each.is_covered,
            **({"missing": each.missing} if each.missing else {}),
            "range": place_to_json(each.range, {}, no_context)["range"],
        }
        for each in coverage.items
    ]
    return {"counts": counts, "items": items}


def _percent(covered: int, total: int) -> str:
    return f" ({covered * 100 // total} %)" if total else ""
