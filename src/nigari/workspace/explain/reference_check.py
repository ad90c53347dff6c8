"""Mistakes in the references of an expression that only a schema or the known instances show.

The static phase takes a resource for one unknown value. Validation looks at references one by one,
and planning finds instances that do not exist; what a user asks about gets both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nigari.addrs.keys import DEFERRED
from nigari.addrs.provider import Provider
from nigari.addrs.resource import Resource, ResourceInstance
from nigari.config.blocks.resource import Resource as ResourceBlock
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, object_value, tuple_value, unknown
from nigari.diagnostics import Diagnostics
from nigari.eval.core.expansion import Expansion
from nigari.eval.core.instances import Frame, Origin, ResourceNode
from nigari.eval.core.scope import check_instance, evaluate_origin
from nigari.eval.core.worklist import DONE, Need
from nigari.eval.nodes.provider_config import provider_of
from nigari.eval.nodes.resource import resource_schema
from nigari.record import replace
from nigari.schema.provider import ProviderSchema
from nigari.workspace.explain.queries import ValueQueries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    FindSchema: TypeAlias = Callable[[Provider], ProviderSchema | None]


class _TypedResource(ResourceNode):
    """A resource whose instances are known, each of an unknown value of its schema's type."""

    __slots__ = ()

    def __init__(
        self, frame: Frame, resource: ResourceBlock, expansion: Expansion, find: FindSchema
    ) -> None:
        super().__init__(frame, resource)
        offered = find(provider_of(frame.module, resource.provider_name))
        schema = None if offered is None else resource_schema(offered, resource.addr)
        if schema is not None:
            self.element: Value = unknown(schema.block.implied_type)
        self.value: Value = self._of_instances(expansion)
        self.state: int = DONE

    def step(self) -> Sequence[Need]:
        return ()

    def _of_instances(self, expansion: Expansion) -> Value:
        repetition, keys = self.resource.repetition, expansion.instances
        if DEFERRED in keys or expansion.is_wrong or repetition.enabled is not None:
            return DYNAMIC_UNKNOWN
        if repetition.count is not None:
            return tuple_value([self.element] * len(keys))
        if repetition.for_each is not None:
            return object_value({str(key): self.element for key in keys})
        return self.element


def check_references(
    evaluation: ValueQueries, origin: Origin, find: FindSchema, diags: Diagnostics
) -> None:
    """Report references of an expression to what resources do not have."""
    frame, errors = origin.frame, diags.error_count
    known: dict[Resource, ResourceNode] = {}
    for reference in origin.compiled.references:
        subject = reference.subject
        addr = subject.resource if isinstance(subject, ResourceInstance) else subject
        block = frame.module.resources.get(addr) if isinstance(addr, Resource) else None
        if block is None:
            continue
        if block.addr not in known:
            expansion = evaluation.resource_instances(frame, block)
            known[block.addr] = _TypedResource(frame, block, expansion, find)
        check_instance(reference, known[block.addr], diags)
    if known and diags.error_count == errors:
        found = Diagnostics()
        evaluate_origin(replace(origin, frame=frame.with_resources(known)), found)
        diags.extend(found)
