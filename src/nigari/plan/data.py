"""Data sources while planning: read now if everything is known, else when the plan is applied."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from nigari.addrs.absolute import block_of
from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ModuleCall, ModuleCallInstance
from nigari.addrs.resource import MANAGED, ResourceInstance
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.config.declared import Dependencies
from nigari.cty.marks import mark_with_paths, unmark_deep_with_paths
from nigari.cty.paths import Path
from nigari.cty.values import Mark, Value, null
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.eval.expansion import InstanceData
from nigari.eval.instances import Frame, ResourceNode
from nigari.eval.once import DONE, Need, Node, Stages
from nigari.lang.references import parse_reference
from nigari.plan.changes import Action, Change, Reason
from nigari.plan.conditions import Conditions
from nigari.plan.instances import InstanceNode, PlannedResource
from nigari.plan.managed import ManagedInstance, ManagedResource
from nigari.plan.prior import with_schema_marks
from nigari.plan.proposed import planned_unknown
from nigari.plan.provider_checks import type_faults
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.record import replace
from nigari.schema.provider import Schema


class DataResource(PlannedResource):
    """A data source of one module instance."""

    __slots__ = ("has_pending",)

    def step(self) -> Sequence[Need]:
        if not self._is_expanded:
            pending = _pending(self.frame, self.resource.depends_on)
            if isinstance(pending, list):
                return pending
            self.has_pending = pending
        return super().step()

    def instance(self, key: InstanceKey, data: InstanceData) -> DataInstance:
        return DataInstance(self, key, data)


class DataInstance(InstanceNode):
    """One instance of a data source."""

    __slots__ = ("_has_pending", "_stages", "change")

    def __init__(self, owner: DataResource, key: InstanceKey, data: InstanceData) -> None:
        super().__init__(owner, key, data)
        self.change: Change | None = None
        self._has_pending = owner.has_pending
        lifecycle = owner.resource.lifecycle
        stages = [self.evaluate, self.choose_provider, self.ask]
        if lifecycle.preconditions:
            stages.insert(0, self._conditions("precondition").step)
        if lifecycle.postconditions:
            stages.append(self._check_result)
        self._stages = Stages(*stages)

    def step(self) -> Sequence[Need]:
        return self._stages.step()

    def _conditions(self, kind: str, self_value: Value | None = None) -> Conditions:
        lifecycle = self.owner.resource.lifecycle
        rules = lifecycle.preconditions if kind == "precondition" else lifecycle.postconditions
        what = f"{kind.capitalize()} of {self.address}"
        found = Conditions(self.frame, rules, what, self.data, self_value)
        block = str(block_of(self.address))
        self.owner.run.note_conditions("resource", block, str(self.address), found)
        return found

    def _check_result(self) -> Sequence[Need]:
        self._stages = Stages(self._conditions("postcondition", self.value).step)
        return self._stages.step()

    async def perform(self) -> None:
        """Read the data source, or plan to."""
        run, node = self.owner.run, self.provider
        assert node is not None
        assert node.provider is not None
        assert self.config is not None
        resource = self.owner.resource
        config, marks = unmark_deep_with_paths(self.config)
        told = (await node.provider.validate_data(resource.addr.type, config)).diagnostics
        run.diags.extend(located(told, self.schema.block, resource.body, str(self.address)))
        if api.has_errors(told):
            self.fail()
            return
        reason = Reason.NONE
        if not config.is_wholly_known:
            reason = Reason.CONFIG_UNKNOWN
        elif self._has_pending:
            reason = Reason.DEPENDENCY_PENDING
        if reason is not Reason.NONE:
            self._plan_reading(None, config, marks, reason)
            return
        value = await read_data(node.provider, self, config, run.diags)
        if resource.in_check:
            self._plan_reading(value, config, marks, Reason.CHECK_NESTED)
            return
        if value is None:
            self.fail()
            return
        self.value = with_schema_marks(mark_with_paths(value, marks), self.schema)
        run.note_data(self.address, self.value, self.schema, node.address)

    def _plan_reading(
        self,
        found: Value | None,
        config: Value,
        marks: list[tuple[Path, frozenset[Mark]]],
        reason: Reason,
    ) -> None:
        """Have the data source read when the plan is applied."""
        node = self.provider
        assert node is not None
        planned = planned_unknown(self.schema.block, config) if found is None else found
        self.value = with_schema_marks(mark_with_paths(planned, marks), self.schema)
        before = null(self.schema.block.implied_type)
        self.change = Change(
            self.address, Action.READ, before, self.value, node.address, self.schema, reason
        )
        self.owner.run.note(self.change, self.owner.resource)


async def read_data(
    provider: api.Provider, node: DataInstance, config: Value, diags: Diagnostics
) -> Value | None:
    """What a data source says; None after reporting why it says nothing.

    What is wrong with the data source of a check is only a warning.
    """
    resource = node.owner.resource
    answer = await provider.read_data(api.ReadDataRequest(resource.addr.type, config))
    found = located(answer.diagnostics, node.schema.block, resource.body, str(node.address))
    diags.extend(softened(found) if resource.in_check else found)
    if api.has_errors(answer.diagnostics):
        return None
    return checked_data(answer.state, config, node.schema, str(node.address), diags)


def checked_data(
    state: Value, config: Value, schema: Schema, address: str, diags: Diagnostics
) -> Value | None:
    """What was read, if it makes sense."""
    text = ""
    faults = type_faults(schema.block, state)
    if faults:
        text = f"does not fit its schema: {faults[0].text}"
    elif state.is_null:
        text = "is null"
    elif not state.is_wholly_known:
        text = "is not known, although it has been read"
    if text:
        diags.error(
            "Invalid object from the provider",
            f"What the provider read for {address} {text}. This is a fault of the provider.",
        )
        return None
    return state


def softened(found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """The same diagnostics, none of which stops anything."""
    for each in found:
        yield replace(each, severity=Severity.WARNING)


# -- dependencies -----------------------------------------------------------------------------


def _pending(frame: Frame, depends_on: Dependencies) -> bool | list[Need]:
    """Whether anything that must be done before is still to be done."""
    needs: list[Need] = []
    nodes: list[ResourceNode] = []
    at: Frame | None = frame
    written = depends_on
    while at is not None:
        for found in _dependencies(at, written):
            if isinstance(found, ResourceNode):
                nodes.append(found)
            if found.state != DONE:
                needs.append(found)
        call = at.instance.call
        written = () if call is None else call.depends_on or ()
        at = at.parent
    return needs or any(_changes(node) for node in nodes)


def _dependencies(frame: Frame, depends_on: Dependencies) -> Iterator[Node]:
    """Resources that a `depends_on` names, and calls whose instances are not known yet."""
    for traversal in depends_on:
        reference = parse_reference(traversal, Diagnostics())
        subject = None if reference is None else reference.subject
        if isinstance(subject, ResourceInstance):
            subject = subject.resource
        if isinstance(subject, ResourceAddr) and subject in frame.resources:
            yield frame.resources[subject]
        if isinstance(subject, ModuleCallInstance):
            subject = subject.call
        if isinstance(subject, ModuleCall) and subject.name in frame.calls:
            yield from _in_call(frame, subject.name)


def _in_call(frame: Frame, name: str) -> Iterator[Node]:
    call = frame.calls[name]
    yield call
    for child in call.frames.values():
        yield from child.resources.values()
        for inner in child.calls:
            yield from _in_call(child, inner)


def _changes(node: ResourceNode) -> bool:
    if not isinstance(node, ManagedResource) or node.resource.addr.mode is not MANAGED:
        return False
    return any(
        isinstance(each, ManagedInstance)
        and each.change is not None
        and each.change.action is not Action.NO_OP
        for each in node.instances.values()
    )
