"""How conditions went, in the form in which a state keeps it."""

from __future__ import annotations

from collections.abc import Iterable

from nigari.eval.conditions import Outcome
from nigari.plan.conditions import Noted
from nigari.state.model import CheckObject, CheckResult

_ORDER = ("error", "fail", "unknown", "pass")


def check_results(noted: Iterable[Noted]) -> tuple[CheckResult, ...]:
    """The results of everything that has conditions, by kind and address."""
    objects: dict[tuple[str, str], dict[str, list[Outcome]]] = {}
    for kind, block, address, conditions in noted:
        objects.setdefault((kind, block), {}).setdefault(address, []).append(conditions.outcome)
    return tuple(_result(kind, block, found) for (kind, block), found in sorted(objects.items()))


def open_results(known: Iterable[CheckResult]) -> tuple[CheckResult, ...]:
    """The results where everything is destroyed: nothing is looked at, only outputs are there."""
    found: list[CheckResult] = []
    for each in known:
        there = each.objects if each.kind == "output" else ()
        objects = tuple(CheckObject(one.address, "unknown") for one in there)
        found.append(CheckResult(each.kind, each.block, "unknown", objects))
    return tuple(found)


def updated_results(
    planned: Iterable[CheckResult], noted: Iterable[Noted]
) -> tuple[CheckResult, ...]:
    """The results of a plan with those that are known better now."""
    known = {(each.kind, each.block): each for each in planned}
    for each in check_results(noted):
        earlier = known.get((each.kind, each.block))
        objects = {} if earlier is None else {o.address: o for o in earlier.objects}
        objects.update((o.address, o) for o in each.objects)
        found = tuple(objects[address] for address in sorted(objects))
        status = _worst([o.status for o in found])
        known[each.kind, each.block] = CheckResult(each.kind, each.block, status, found)
    return tuple(known[key] for key in sorted(known))


def _result(kind: str, block: str, found: dict[str, list[Outcome]]) -> CheckResult:
    objects: list[CheckObject] = []
    for address, outcomes in sorted(found.items()):
        status = _worst([each.status for each in outcomes])
        failures = tuple(text for each in outcomes for text in each.failures)
        objects.append(CheckObject(address, status, failures))
    return CheckResult(kind, block, _worst([each.status for each in objects]), tuple(objects))


def _worst(statuses: list[str]) -> str:
    return min(statuses, key=_ORDER.index, default="unknown")
