"""A plan as data for the page: what changes, how and why, what drifted, checks and outputs.

Sensitive values are scrubbed here, and sources are numbered for the page. How a plan is made and how
the page shows it is decided elsewhere.
"""

from __future__ import annotations

from typing import Final

from nigari.addrs.absolute import AbsResourceInstance
from nigari.cty.types import DYNAMIC
from nigari.cty.values import null
from nigari.eval.core.module_tree import ModuleInstance
from nigari.eval.tree.placement_rules import each_instance
from nigari.explore.differences import PartTable
from nigari.explore.reason_entries import ReasonTable
from nigari.explore.secrets import Secrets
from nigari.explore.sources import Place, SourceTable
from nigari.plan.differences.datum import datum
from nigari.plan.differences.difference import DifferenceScope, paths_of
from nigari.plan.differences.object_comparison import compare_block
from nigari.plan.differences.value_comparison import compare
from nigari.plan.model.action_reasons import why
from nigari.plan.model.changes import Action, Change, DeferredChange, Drift, OutputChange, Plan
from nigari.state.model import CheckObject, CheckResult
from nigari.workspace.plans.plan_reasons import PlanReasons

Data = dict[str, object]
_MOST_REASONS: Final = 20
"""The most instances of a block that have reasons of their own."""


class PlanData:
    """Puts the data of a plan together."""

    def __init__(
        self,
        root: ModuleInstance,
        sources: SourceTable,
        secrets: Secrets,
        plan: Plan,
        reasons: PlanReasons | None = None,
    ) -> None:
        self._sources = sources
        self._secrets = secrets
        self._parts = PartTable()
        self._reasons = reasons
        self._reason_table = ReasonTable(sources)
        self._first_reasons: dict[object, list[Data]] = {}
        """The first reasons of each block."""
        self._places = _places(root, sources)
        self._check_places = _check_places(root, sources)
        self._data = self._whole(plan)

    def data(self) -> Data:
        """Everything that is to be shown of the plan."""
        return {
            **self._data,
            "parts": self._secrets.scrubbed_all(self._parts.texts()),
            "reasons": self._secrets.scrubbed_all(self._reason_table.texts()),
        }

    def _whole(self, plan: Plan) -> Data:
        add, change, destroy = plan.counts
        return {
            "mode": plan.mode.value,
            "counts": {
                "add": add,
                "change": change,
                "destroy": destroy,
                "import": plan.imported,
                "forget": plan.forgotten,
            },
            "targeted": plan.targeted,
            "incomplete": plan.is_incomplete,
            "timestamp": plan.timestamp,
            "changes": [self._change(each) for each in plan.changes if each.is_visible],
            "unchanged": sum(1 for each in plan.changes if not each.is_visible),
            "outputs": [
                self._output(each)
                for each in plan.outputs.values()
                if each.action is not Action.NO_OP
            ],
            "drift": [self._drift(each) for each in plan.drift],
            "deferred": [self._deferred(each) for each in plan.deferred],
            "checks": [self._check(each) for each in plan.checks],
        }

    def _deferred(self, deferred: DeferredChange) -> Data:
        return {
            "address": deferred.address,
            "kind": deferred.kind.value,
            "reason": deferred.reason.value,
            "chain": list(deferred.chain),
            "round": deferred.round,
            "change": None if deferred.change is None else self._change(deferred.change),
        }

    def _check(self, check: CheckResult) -> Data:
        scrubbed = self._secrets.scrubbed
        return {
            "kind": check.kind,
            "address": check.block,
            "status": check.status,
            "at": self._check_places.get(check.block),
            "objects": [
                {
                    "address": each.address,
                    "messages": [*map(scrubbed, each.failure_messages)],
                    **self._failed(check.kind, each),
                }
                for each in check.objects
            ],
        }

    def _failed(self, kind: str, checked: CheckObject) -> Data:
        """The conditions of an object that do not hold."""
        if self._reasons is None or checked.status not in ("fail", "error"):
            return {}
        number = self._reason_table.number(self._reasons.check(kind, checked.address))
        return {} if number is None else {"reason": number}

    def _change(self, change: Change) -> Data:
        before = null(change.after.type) if change.action is Action.READ else change.before
        scope = DifferenceScope(paths_of(change.replace_paths))
        compared = compare_block(datum(before), datum(change.after), change.schema.block, scope)
        address = change.address
        found: Data = {
            "address": str(address),
            "action": "replace" if change.action.is_replace else change.action.value,
            "module": str(address.module),
            "type": address.item.resource.type,
            "mode": address.item.resource.mode.value,
            "provider": str(change.provider),
            "diff": self._parts.entries(compared),
        }
        if change.action.is_replace:
            found["steps"] = list(change.action.steps)
        words = {
            "why": why(change),
            "deposed": change.deposed,
            "moved": str(change.previous_address) if change.is_moved else "",
            "imported": change.imported_as,
            "at": self._place(address),
        }
        said = {name: each for name, each in words.items() if each}
        return {**found, **said, **self._reason(change)}

    def _reason(self, change: Change) -> Data:
        """The reasons of a change; of many instances of a block, only the first have their own."""
        if self._reasons is None:
            return {}
        address = change.address
        known = self._first_reasons.setdefault(
            (address.module, address.item.resource, change.action), []
        )
        if len(known) == _MOST_REASONS:
            return known[0]
        number = self._reason_table.number(self._reasons.change(change))
        known.append({} if number is None else {"reason": number, "reason_of": str(address)})
        return {} if number is None else {"reason": number}

    def _drift(self, drift: Drift) -> Data:
        self._secrets.note(drift.before)
        self._secrets.note(drift.after)
        compared = compare_block(datum(drift.before), datum(drift.after), drift.schema.block)
        address = drift.address
        found: Data = {
            "address": str(address),
            "action": drift.action.value,
            "module": str(address.module),
            "type": address.item.resource.type,
            "mode": address.item.resource.mode.value,
            "diff": self._parts.entries(compared),
        }
        if drift.previous_address is not None:
            found["moved"] = str(drift.previous_address)
        place = self._place(address)
        return found if place is None else {**found, "at": place}

    def _place(self, address: AbsResourceInstance) -> Place | None:
        """The range of an object's block, if it still has one."""
        resource = address.item.resource
        found = self._places.get(f"{address.module} {resource}")
        return found or self._places.get(f"{address.module.unkeyed} {resource}")

    def _output(self, output: OutputChange) -> Data:
        self._secrets.note(output.before)
        self._secrets.note(output.after)
        if output.sensitive:
            self._secrets.note_all(output.before)
            self._secrets.note_all(output.after)
            entry = self._parts.number([output.name, ["x", _mark(output.action), 0, 1, 1]])
        else:
            before = None if output.before.is_null else datum(output.before)
            after = None if output.after.is_null else datum(output.after)
            entry = self._parts.entry(output.name, compare(before, after, DYNAMIC))
        found: Data = {"name": output.name, "action": output.action.value, "diff": entry}
        reasons = None if self._reasons is None else self._reasons.output(output)
        number = None if reasons is None else self._reason_table.number(reasons)
        return found if number is None else {**found, "reason": number}


def _mark(action: Action) -> str:
    return {Action.CREATE: "+", Action.DELETE: "-"}.get(action, "~")


def _places(root: ModuleInstance, sources: SourceTable) -> dict[str, Place]:
    """The ranges of resources, by module and name, and by the module without its keys."""
    found: dict[str, Place] = {}
    for instance in each_instance(root):
        for addr, resource in instance.module.resources.items():
            place = sources.place(resource.range)
            if place is not None:
                found[f"{instance.addr} {addr}"] = place
                found.setdefault(f"{instance.addr.unkeyed} {addr}", place)
    return found


def _check_places(root: ModuleInstance, sources: SourceTable) -> dict[str, Place]:
    """The ranges of everything that has conditions, by its name in a state."""
    found: dict[str, Place] = {}
    for instance in each_instance(root):
        module = instance.module
        prefix = "" if instance.addr.is_root else f"{instance.addr.unkeyed}."
        ranges = {str(addr): each.range for addr, each in module.resources.items()}
        ranges |= {f"check.{name}": each.range for name, each in module.checks.items()}
        ranges |= {f"output.{name}": each.range for name, each in module.outputs.items()}
        ranges |= {f"var.{name}": each.range for name, each in module.variables.items()}
        for name, where in ranges.items():
            place = sources.place(where)
            if place is not None:
                found.setdefault(f"{prefix}{name}", place)
    return found
