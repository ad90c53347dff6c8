"""Conditions that belong to no resource: of variables, outputs and checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from nigari.config.declared import CheckRule
from nigari.config.variable import Variable
from nigari.diagnostics import Range, Severity
from nigari.eval.instances import Frame
from nigari.eval.once import Node, Stages
from nigari.eval.validate import Look
from nigari.eval.variable import ArgumentVariable
from nigari.plan.conditions import Conditions, Noted


def module_conditions(frame: Frame) -> list[Noted]:
    """Everything in a module instance that must hold, each with what it is about."""
    module = frame.module
    found: list[Noted] = []
    for variable in module.variables.values():
        if variable.validations:
            rules, where = variable.validations, _given_at(frame, variable)
            found.append(_noted(frame, "var", variable.name, rules, "Validation", where))
    for output in module.outputs.values():
        if output.preconditions:
            rules = output.preconditions
            found.append(_noted(frame, "output", output.name, rules, "Precondition"))
    found += [
        _noted(frame, "check", check.name, check.asserts, "Assertion")
        for check in module.checks.values()
    ]
    return found


def _given_at(frame: Frame, variable: Variable) -> Range:
    """Where a variable got its value: in the call, or where it is declared."""
    node = frame.variables.get(variable.name)
    if isinstance(node, ArgumentVariable) and node.argument is not None:
        return node.argument.expr.range
    return variable.range


def condition_nodes(frame: Frame, found: Iterable[Noted]) -> Iterator[Node]:
    """Nodes that look at conditions."""
    for _, _, address, conditions in found:
        yield Look(frame.label(f"conditions of {address}"), Stages(conditions.step))


def _noted(
    frame: Frame,
    kind: str,
    name: str,
    rules: Sequence[CheckRule],
    what: str,
    place: Range | None = None,
) -> Noted:
    local = f"{kind}.{name}"
    severity = Severity.WARNING if kind == "check" else Severity.ERROR
    text = f"{what} of {frame.label(local)}"
    conditions = Conditions(frame, rules, text, severity=severity, place=place)
    addr = frame.instance.addr
    if addr.is_root:
        return kind, local, local, conditions
    return kind, f"{addr.unkeyed}.{local}", f"{addr}.{local}", conditions
