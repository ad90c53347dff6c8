"""Conditions that belong to no resource: of variables, outputs and checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from nigari.addrs.absolute import Abs, AbsResourceInstance
from nigari.addrs.resource import ResourceInstance
from nigari.config.blocks.resource import Resource
from nigari.config.blocks.variable import Variable
from nigari.config.core.declared import CheckRule
from nigari.diagnostics import Range, Severity
from nigari.eval.core.instances import Frame
from nigari.eval.core.worklist import DONE, Need, Node, Stages
from nigari.eval.nodes.check_node import CheckNode
from nigari.eval.nodes.conditions import Conditions
from nigari.eval.nodes.variable import ArgumentVariable
from nigari.plan.model.check_results import Noted


def module_conditions(frame: Frame, unread: Mapping[AbsResourceInstance, str]) -> list[Noted]:
    """Everything in a module instance that must hold, each with what it is about.

    The check of a data source that could not be read has failed; the reason is reported here.
    """
    module = frame.module
    found: list[Noted] = []
    for variable in module.variables.values():
        if variable.validations:
            rules, where = variable.validations, _given_at(frame, variable)
            found.append(
                _noted(frame, "var", variable.name, rules, "Invalid value for variable", where)
            )
    for output in module.outputs.values():
        if output.preconditions:
            rules = output.preconditions
            found.append(_noted(frame, "output", output.name, rules, "Precondition failed"))
    for check in module.checks.values():
        noted = _noted(frame, "check", check.name, check.asserts, "Check failed")
        if check.data is not None:
            noted[3].follow(partial(_data_failure, frame, check.data, unread))
        found.append(noted)
    return found


def _data_failure(
    frame: Frame, data: Resource, unread: Mapping[AbsResourceInstance, str]
) -> str | list[Need]:
    """The reason for which a check has failed before it is evaluated, if it has."""
    node = frame.resources[data.addr]
    if node.state != DONE:
        return [node]
    address = Abs(frame.instance.addr, ResourceInstance(data.addr, None))
    return unread.get(address, "")


def _given_at(frame: Frame, variable: Variable) -> Range:
    """The range of a variable's value: in the call, or in its declaration."""
    node = frame.variables.get(variable.name)
    if isinstance(node, ArgumentVariable) and node.argument is not None:
        return node.argument.expr.range
    return variable.range


def condition_nodes(frame: Frame, found: Iterable[Noted]) -> Iterator[Node]:
    """Nodes that look at conditions."""
    for _, _, address, conditions in found:
        label = frame.label(f"conditions of {address}")
        yield CheckNode(label, Stages(conditions.step), about=frame.about)


def _noted(
    frame: Frame,
    kind: str,
    name: str,
    rules: Sequence[CheckRule],
    summary: str,
    place: Range | None = None,
) -> Noted:
    addr, local = frame.instance.addr, f"{kind}.{name}"
    is_check = kind == "check"
    conditions = Conditions(
        frame,
        rules,
        summary,
        severity=Severity.WARNING if is_check else Severity.ERROR,
        place=place,
        address="" if addr.is_root else f"{addr}.{local}",
        is_check=is_check,
        checked=local if addr.is_root else f"{addr}.{local}",
    )
    if addr.is_root:
        return kind, local, local, conditions
    return kind, f"{addr.unkeyed}.{local}", f"{addr}.{local}", conditions
