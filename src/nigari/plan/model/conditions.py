"""Conditions of a plan, each with the object that they are about."""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.absolute import AbsResourceInstance, block_of
from nigari.config.core.declared import CheckRule
from nigari.cty.values import Value
from nigari.diagnostics import Severity
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import InstanceData
from nigari.eval.nodes.conditions import Conditions

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
