"""Static values in the files that are edited: what an expression is in each module instance, or why
that is not known.

An expression is evaluated by its text in the module instances of the directory, so that an answer
is possible while the files around it are being changed. Secrets are never shown.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.addrs.keys import DEFERRED
from nigari.config.core.declared import Repetition
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.causes import REPORTED, causes_within
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.hcl.body import Block
from nigari.hcl.parser import parse_expression
from nigari.hcl.source import Source
from nigari.lang.render import value_glimpse
from nigari.language.evaluation import Evaluation
from nigari.language.occurrences import resource_name
from nigari.language.workbench import Workbench
from nigari.record import record
from nigari.workspace.explain.queries import any_instance, compiled_origin, value_origin
from nigari.workspace.views.static_value import StaticValue, known_expression

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_MOST_INSTANCES: Final = 5
_RESOURCES: Final = frozenset(("resource", "data", "ephemeral", "action"))
_NO_VALUES: Final = frozenset(("backend", "cloud", "encryption"))
"""Blocks whose arguments may be secrets without being marked."""


@record
class ValueInInstance:
    """The value of an expression in one instance."""

    instance: str
    """The address of the module instance, and the key of the block's instance; nothing where there
    is only one.
    """
    value: Value
    reasons: tuple[str, ...]
    """The reasons for which it is not known: one chain for each cause."""
    origin: str = ""
    """The source of a variable's value."""

    @property
    def has_failed(self) -> bool:
        """Return whether an error is the reason for having no value."""
        return REPORTED in causes_within(self.value)


def values_of(
    workbench: Workbench, directory: str, text: str, block: Block | None = None
) -> list[ValueInInstance]:
    """The values of an expression in a module, in the instances of a block if one is around it;
    values that are the same everywhere once.
    """
    found: list[ValueInInstance] = []
    for evaluation, frame in workbench.frames(directory):
        for key, data in _instances(evaluation, frame, block):
            address = str(frame.instance.addr)
            instance = f"{address}{key}" if address else key
            known = _evaluated(evaluation, frame, text, data)
            if known is not None:
                reasons = tuple(known.reasons)
                origin = _variable_origin(evaluation, frame, text)
                found.append(ValueInInstance(instance, known.value, reasons, origin))
        if len(found) > _MOST_INSTANCES:
            break
    first = found[:1]
    if all(each.value == first[0].value and each.origin == first[0].origin for each in found):
        return [ValueInInstance("", each.value, each.reasons, each.origin) for each in first]
    return found[:_MOST_INSTANCES]


def static_value(workbench: Workbench, directory: str, text: str) -> Value | None:
    """The value of an expression if it is the same in all instances of a module."""
    found = values_of(workbench, directory, text)
    return found[0].value if len(found) == 1 and not found[0].has_failed else None


def glimpse(value: ValueInInstance, most: int) -> str:
    """A value on one line, or in short why there is none."""
    if not value.value.is_known and value.reasons:
        return f"known after apply: {value.reasons[0]}"
    return value_glimpse(value.value, most)


def shows_values(blocks: tuple[Block, ...]) -> bool:
    """Return whether values may be shown inside these blocks."""
    return not any(each.type in _NO_VALUES for each in blocks)


def _evaluated(
    evaluation: Evaluation, frame: Frame, text: str, data: InstanceData
) -> StaticValue | None:
    """The value of a text as an expression; None where it is none."""
    expr = evaluation.expressions.get(text)
    if expr is None:
        diags = Diagnostics()
        expr = parse_expression(Source("<editor>", text), diags)
        if diags.has_errors:
            return None
        evaluation.expressions[text] = expr
    queries = evaluation.queries
    if queries is None:
        return None
    origin = compiled_origin(frame, expr, data)
    if origin.compiled.problems:
        return None
    with queries.lock, queries.run.reporting_to(Diagnostics()):
        return known_expression(queries, text, origin, REPORTED)


def _instances(
    evaluation: Evaluation, frame: Frame, block: Block | None
) -> Iterator[tuple[str, InstanceData]]:
    """The values of `each` and `count` in the instances of a block, by the written key."""
    queries = evaluation.queries
    declared = None if block is None else _declared(frame, block)
    if queries is None or declared is None or declared[0].is_single:
        yield "", NO_INSTANCE_DATA
        return
    repetition, name, where = declared
    with queries.lock, queries.run.reporting_to(Diagnostics()):
        expansion = queries.expansion(frame, name, repetition, where)
    if not expansion.instances or DEFERRED in expansion.instances:
        yield "", any_instance(frame, repetition)
        return
    for key, data in list(expansion.instances.items())[: _MOST_INSTANCES + 1]:
        yield f"[{_key(key)}]", data


def _key(key: object) -> str:
    return f'"{key}"' if isinstance(key, str) else str(key)


def _declared(frame: Frame, block: Block) -> tuple[Repetition, str, Range] | None:
    """The repetition of a block, its name, and where it is declared."""
    if block.type in _RESOURCES:
        name = resource_name(block)
        for addr, resource in frame.module.resources.items():
            if str(addr) == name:
                return resource.repetition, name, resource.range
    if block.type == "module" and block.labels and block.labels[0] in frame.module.calls:
        call = frame.module.calls[block.labels[0]]
        return call.repetition, f"module.{call.name}", call.range
    return None


def _variable_origin(evaluation: Evaluation, frame: Frame, text: str) -> str:
    """The source of a variable's value, if the text is a variable."""
    root, _, name = text.partition(".")
    if root != "var" or name not in frame.module.variables or evaluation.queries is None:
        return ""
    origin = value_origin(frame, name, evaluation.queries.run.inputs)
    return _ORIGINS.get(origin, origin)


_ORIGINS: Final = {"argument": "the call", "default": "its default", "none": ""}
