"""Conditions with the objects that they are about, and their results as a state stores them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from nigari.addrs.absolute import AbsResourceInstance, block_of
from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.addrs.parse import parse_module
from nigari.config.core.declared import CheckRule
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Severity
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import InstanceData, ModuleInstance
from nigari.eval.nodes.conditions import ConditionResult, Conditions
from nigari.record import record
from nigari.state.model import CheckObject, CheckResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_ORDER = ("error", "fail", "unknown", "pass")

VALUES: Final = ("output", "var")
"""The kinds of those that have conditions and are values, which others may need."""


def value_at(address: str) -> tuple[ModuleAddr, str]:
    """The module instance of a variable, output or check, and its name there; a `ValueError` for the
    address of anything else.
    """
    module, _, kind = address.rpartition(".")[0].rpartition(".")
    name = f"{kind}.{address.rpartition('.')[2]}"
    found = parse_module(module, Diagnostics()) if module else ROOT_MODULE
    if found is None or kind not in (*VALUES, "check"):
        raise ValueError(f"{address} is no variable, output or check")
    return found, name


@record
class DeclaredCheck:
    """Something in the configuration that has conditions, whether it has instances or not."""

    kind: str
    module: ModuleAddr
    """The variant of the module that it is in."""
    item: str
    data: str = ""
    """The data source that a check reads."""

    @property
    def block(self) -> str:
        """The name in a state, which does not tell instances of a module apart."""
        return self.item if self.module.is_root else f"{self.module.unkeyed}.{self.item}"


def declared_checks(instance: ModuleInstance) -> Iterator[DeclaredCheck]:
    """Everything that has conditions in a module and in those that it calls."""
    module, path = instance.module, instance.variant
    for addr, resource in module.resources.items():
        if resource.lifecycle.preconditions or resource.lifecycle.postconditions:
            yield DeclaredCheck("resource", path, str(addr))
    for output in module.outputs.values():
        if output.preconditions:
            yield DeclaredCheck("output", path, f"output.{output.name}")
    for variable in module.variables.values():
        if variable.validations:
            yield DeclaredCheck("var", path, f"var.{variable.name}")
    for name, check in module.checks.items():
        data = "" if check.data is None else str(check.data.addr)
        yield DeclaredCheck("check", path, f"check.{name}", data)
    for children in instance.children.values():
        for child in {each.variant: each for each in children.values()}.values():
            yield from declared_checks(child)


def check_results(
    noted: Iterable[Noted],
    declared: Iterable[DeclaredCheck] = (),
    is_expanded: Callable[[DeclaredCheck], bool] = lambda _: True,
) -> tuple[CheckResult, ...]:
    """The results of everything that has conditions, by kind and address.

    Nothing is wrong with what is known to have no instances; of what was left out nothing is known.
    """
    objects: dict[tuple[str, str], dict[str, list[ConditionResult]]] = {}
    for kind, block, address, conditions in noted:
        objects.setdefault((kind, block), {}).setdefault(address, []).append(conditions.outcome)
    results = {key: _result(*key, found) for key, found in objects.items()}
    for each in declared:
        status = "pass" if is_expanded(each) else "unknown"
        empty = CheckResult(each.kind, each.block, status)
        known = results.setdefault((each.kind, each.block), empty)
        if status == "unknown" and not known.objects:
            results[each.kind, each.block] = empty
    return tuple(results[key] for key in sorted(results))


def with_read_checks(
    results: Iterable[CheckResult], read: Iterable[tuple[str, str]]
) -> tuple[CheckResult, ...]:
    """The results with checks of which only the data was read, by block and address."""
    objects: dict[str, list[CheckObject]] = {}
    for block, address in read:
        objects.setdefault(block, []).append(CheckObject(address, "unknown"))
    return tuple(
        CheckResult(each.kind, each.block, each.status, tuple(objects[each.block]))
        if each.kind == "check" and each.block in objects and not each.objects
        else each
        for each in results
    )


def without_results(results: Iterable[CheckResult], names: set[str]) -> tuple[CheckResult, ...]:
    """The results, of which those of some blocks or instances are open again."""
    found: list[CheckResult] = []
    for each in results:
        objects = tuple(
            CheckObject(one.address, "unknown") if names & {each.block, one.address} else one
            for one in each.objects
        )
        if objects != each.objects:
            each = CheckResult(each.kind, each.block, _worst([o.status for o in objects]), objects)
        found.append(each)
    return tuple(found)


def open_results(declared: Iterable[DeclaredCheck], is_partial: bool) -> tuple[CheckResult, ...]:
    """Return the results of a destroy: no condition is checked, and only the root's outputs exist.

    In a partial destroy, not even those do.
    """
    found: list[CheckResult] = []
    for each in declared:
        is_there = each.kind == "output" and each.module.is_root and not is_partial
        objects = (CheckObject(each.block, "unknown"),) if is_there else ()
        found.append(CheckResult(each.kind, each.block, "unknown", objects))
    return tuple(sorted(dict.fromkeys(found), key=lambda result: (result.kind, result.block)))


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


def _result(kind: str, block: str, found: dict[str, list[ConditionResult]]) -> CheckResult:
    objects: list[CheckObject] = []
    for address, outcomes in sorted(found.items()):
        status = _worst([each.status for each in outcomes])
        failures = tuple(text for each in outcomes for text in each.failures)
        objects.append(CheckObject(address, status, failures))
    return CheckResult(kind, block, _worst([each.status for each in objects]), tuple(objects))


def _worst(statuses: list[str]) -> str:
    return min(statuses, key=_ORDER.index, default="unknown")


Noted = tuple[str, str, str, Conditions]
"""The kind of an object, its block, its address, and its conditions."""


def resource_conditions(
    frame: Frame,
    address: AbsResourceInstance,
    kind: str,
    rules: Sequence[CheckRule],
    data: InstanceData,
    self_value: Value | None,
    severity: Severity = Severity.ERROR,
) -> Noted:
    """The preconditions or postconditions of a resource instance."""
    summary = f"{kind.capitalize()} failed"
    where = str(address)
    conditions = Conditions(
        frame, rules, summary, data, self_value, severity, address=where, checked=where
    )
    return "resource", str(block_of(address)), str(address), conditions
