"""Failed conditions: which rules an object has, where they are and what their conditions come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.module import ModuleAddr
from nigari.addrs.parse import parse_resource_instance
from nigari.config.core.declared import CheckRule
from nigari.cty.types import DYNAMIC
from nigari.cty.values import null
from nigari.diagnostics import Diagnostics
from nigari.eval.core.causes import REPORTED
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import InstanceData
from nigari.plan.model.check_results import value_at
from nigari.workspace.explain.explanation import Explanation, ExplanationBuilder
from nigari.workspace.explain.queries import ValueQueries, compiled_origin
from nigari.workspace.plans.change_reasons import ArgumentReason


def checked_at(
    kind: str, address: str
) -> tuple[ModuleAddr, AbsResourceInstance | None, str] | None:
    """The module of an object with conditions, and the object: a resource instance, or a name."""
    if kind == "resource":
        found = parse_resource_instance(address, Diagnostics())
        return None if found is None else (found.module, found, "")
    try:
        module, name = value_at(address)
    except ValueError:
        return None
    return module, None, name.partition(".")[2]


def rules_of(
    kind: str, frame: Frame, instance: AbsResourceInstance | None, name: str
) -> Sequence[CheckRule]:
    """The rules of an object; none where the configuration no longer has it."""
    module = frame.module
    if instance is not None:
        resource = module.resources.get(instance.item.resource)
        lifecycle = None if resource is None else resource.lifecycle
        return () if lifecycle is None else (*lifecycle.preconditions, *lifecycle.postconditions)
    if kind == "check":
        return module.checks[name].asserts if name in module.checks else ()
    if kind == "output":
        return module.outputs[name].preconditions if name in module.outputs else ()
    return module.variables[name].validations if name in module.variables else ()


def failed_rules(
    evaluation: ValueQueries, frame: Frame, rules: Sequence[CheckRule], data: InstanceData
) -> Iterator[ArgumentReason]:
    """Yield the origins of failed conditions. Conditions that name `self` cannot be evaluated here."""
    for rule in rules:
        origin = compiled_origin(frame, rule.condition, data)
        value = evaluation.value("condition", origin, REPORTED)
        plain = value.unmark_deep()[0]
        if plain.is_known and not plain.is_null and plain.data is True:
            continue
        parts = ExplanationBuilder(evaluation).references(frame, data, origin.compiled.references)
        found = Explanation("condition", value, rule.condition.range, (), parts)
        yield ArgumentReason("condition", null(DYNAMIC), value, "configuration", found)
