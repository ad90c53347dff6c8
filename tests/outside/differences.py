"""What differs between the two programs in a directory, by kind.

Compared are verdicts, the places of diagnostics and planned changes, never words. Our `config` and
`explain` have nothing beside them: they must not crash, nor contradict the plan.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from tests.outside.beside import Beside, Json, Said
from tests.outside.reasons import ELSEWHERE, is_from_elsewhere, reason, verdict_reason
from tests.real.alike import Tree, without_chance

_MANY = 12
_VERDICTS = (0, 1, 2)
_WHOLE = ("format_version", "applyable", "complete", "errored", "output_changes")


@dataclass(frozen=True)
class Difference:
    """One difference: its kind, what both said, and why that may be, if it may."""

    kind: str
    detail: str
    reason: str = ""


def differences(found: Beside) -> Iterator[Difference]:
    """Everything that differs."""
    for name, said in found.ours.items():
        if said.status not in _VERDICTS or "Traceback" in said.errors:
            kind = name.split()[0]
            yield Difference(f"{kind} crash", f"{name}: {said.status}\n{said.errors[-3000:]}")
    if is_from_elsewhere(found.theirs["init"]) and found.ours["init"].status == 1:
        yield Difference("init", "", ELSEWHERE)
        return
    for name in ("init", "validate", "plan"):
        ours, theirs = found.ours[name], found.theirs[name]
        validated = found.ours["validate"] if name == "plan" else None
        if theirs.status != ours.status:
            yield Difference(
                f"{name} verdict", _both(theirs, ours), verdict_reason(theirs, ours, validated)
            )
            if name == "init":
                return
        elif name == "init" and theirs.status == 1:
            # Whatever the other commands say follows from that.
            if theirs.places != ours.places:
                yield Difference("init places", _both(theirs, ours), reason(theirs, ours))
            return
        elif theirs.places != ours.places:
            yield Difference(f"{name} places", _both(theirs, ours), reason(theirs, ours, validated))
    yield from _values(found)


def _both(theirs: Said, ours: Said) -> str:
    lines = [f"theirs {theirs.status}, ours {ours.status}"]
    for name, said, other in (("theirs", theirs, ours), ("ours", ours, theirs)):
        only = said.places - other.places
        lines += [f"only {name}: {place}" for place in sorted(only)[:_MANY]]
        keys = [f"{place[0]}: {place[1] or None}:{place[2]}" for place in only]
        shown = [text for text in said.summaries if text.startswith(tuple(keys))]
        lines += [f"  {name} say {text}" for text in shown[:_MANY]]
        if said.status == 1 and not said.places:
            lines.append(f"  {name}: {said.text[-800:]}{said.errors[-800:]}")
    return "\n".join(lines)


def _values(found: Beside) -> Iterator[Difference]:
    if "show" not in found.ours or "show" not in found.theirs:
        return
    ours, theirs = found.ours["show"], found.theirs["show"]
    if ours.status or theirs.status:
        yield Difference("show verdict", f"{theirs.errors}\n{ours.errors}")
        return
    left, right = plan_view(theirs.text), plan_view(ours.text)
    different = list(_unequal(left, right, ""))
    if different:
        yield Difference("plan values", "\n".join(different[:_MANY]))
    yield from _contradictions(found)


def plan_view(shown: str) -> Tree:
    """What is compared of a plan: what is to be done, and whether that is all."""
    data = json.loads(without_chance(shown))
    view: dict[str, Tree] = {name: data.get(name) for name in _WHOLE}
    checks = data.get("checks") or ()
    view["checks"] = sorted(
        ({**check, "instances": sorted(check.get("instances") or (), key=str)} for check in checks),
        key=str,
    )
    for name in ("resource_changes", "resource_drift"):
        found = data.get(name) or ()
        view[name] = sorted(found, key=lambda each: (each["address"], each.get("deposed", "")))
    return view


def _unequal(left: Tree, right: Tree, path: str) -> Iterator[str]:
    if isinstance(left, dict) and isinstance(right, dict):
        for name in sorted(left.keys() | right.keys()):
            if name not in left or name not in right:
                side = "ours" if name in right else "theirs"
                yield f"{path}.{name}: only {side}: {_short(right.get(name, left.get(name)))}"
            else:
                yield from _unequal(left[name], right[name], f"{path}.{name}")
    elif isinstance(left, list) and isinstance(right, list):
        if len(left) != len(right):
            yield f"{path}: theirs {len(left)} {_short(left)}, ours {len(right)} {_short(right)}"
            return
        for position, (mine, other) in enumerate(zip(left, right, strict=True)):
            address = mine.get("address") if isinstance(mine, dict) else None
            step = address if isinstance(address, str) else position
            yield from _unequal(mine, other, f"{path}[{step}]")
    elif left != right or type(left) is not type(right):
        yield f"{path}: theirs {_short(left)}, ours {_short(right)}"


def _short(tree: Tree) -> str:
    text = json.dumps(tree)
    return text if len(text) < 300 else f"{text[:300]} …"


def _contradictions(found: Beside) -> Iterator[Difference]:
    """Values that `config` calls known before anything runs, and the plan gives otherwise."""
    config = found.ours["config"]
    if config.status:
        yield Difference("config verdict", config.errors[-2000:])
        return
    document = config.document()
    planned = found.theirs["show"].document().get("planned_values")
    outputs = planned.get("outputs") if isinstance(planned, dict) else None
    for name, value in _static_outputs(document):
        later = outputs.get(name) if isinstance(outputs, dict) else None
        if isinstance(later, dict) and "value" in later and later["value"] != value:
            yield Difference("config contradicts", f"{name}: {value} then {later['value']}")


def _static_outputs(document: dict[str, Json]) -> Iterator[tuple[str, Json]]:
    modules = document.get("modules")
    root = modules[0] if isinstance(modules, list) and modules else None
    outputs = root.get("outputs") if isinstance(root, dict) else None
    if isinstance(outputs, dict):
        for name, output in outputs.items():
            if isinstance(output, dict) and output.get("value") is not None:
                yield name, output["value"]
