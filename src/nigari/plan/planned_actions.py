"""Invocations of actions while planning: those that changes trigger, and those that the user asks for.

They are planned once all changes are known, since no change depends on an action: what an action does
is not part of any state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nigari.addrs.absolute import Abs, AbsResourceInstance, instance_of
from nigari.addrs.keys import InstanceKey
from nigari.addrs.resource import ACTION, MANAGED, ResourceInstance
from nigari.addrs.targets import Target
from nigari.config.blocks.action_trigger import ActionTrigger, TriggerEvent
from nigari.config.blocks.resource import Resource
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Severity
from nigari.diagnostics.advice import advice
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import InstanceData
from nigari.eval.core.scope import evaluate
from nigari.eval.core.worklist import DONE, Need, Node
from nigari.eval.nodes.action_triggers import as_condition, is_triggered_by
from nigari.hcl.suggestion import did_you_mean
from nigari.plan.model.changes import Action, Change, Reason
from nigari.plan.model.invocations import Invocation, Trigger
from nigari.plan.nodes.plan_run import PlanRun
from nigari.plan.nodes.resources import PlannedResource
from nigari.plan.objects.prior_object import current_value
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.record import replace
from nigari.running.action_node import ActionNode, action_key, key_data, without_ephemeral
from nigari.running.provider_node import ProviderNode
from nigari.running.provider_run import frame_at
from nigari.running.requests import AskProvider, about_block
from nigari.schema.config_block import CONFIG
from nigari.schema.provider import Schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_CREATING: Final = (TriggerEvent.BEFORE_CREATE, TriggerEvent.AFTER_CREATE)
_UPDATING: Final = (TriggerEvent.BEFORE_UPDATE, TriggerEvent.AFTER_UPDATE)


def events_of(change: Change) -> list[TriggerEvent]:
    """List the events that a change leads to."""
    action, found = change.action, list[TriggerEvent]()
    if change.deposed:
        return found
    if action is Action.CREATE or action.is_replace:
        found.extend(_CREATING)
    if action is Action.UPDATE:
        found.extend(_UPDATING)
    if action.destroys:
        found.extend((TriggerEvent.BEFORE_DESTROY, TriggerEvent.AFTER_DESTROY))
    return found


def triggered_nodes(run: PlanRun) -> Iterator[ActionsNode]:
    """Yield the nodes of all triggers that the changes of a plan set off, in the order of addresses."""
    if not run.blocks.has_actions:
        return
    for change in sorted(run.record.changes.values(), key=lambda each: each.address.sort_key()):
        address, events = change.address, events_of(change)
        if address.item.resource.mode is not MANAGED or not events:
            continue
        frame = frame_at(run.root, address.module)
        resource = None if frame is None else frame.module.resources.get(address.item.resource)
        if frame is None or resource is None:
            continue
        for number, trigger in enumerate(resource.lifecycle.action_triggers):
            wanted = [each for each in trigger.events if each in events]
            if wanted:
                yield _TriggerNode(run, frame, change, trigger, number, wanted)


class ActionsNode(Node):
    """Something that invokes actions: a trigger, or the user."""

    def __init__(self) -> None:
        super().__init__()
        self._invocations: list[_InvocationNode] | None = None

    def fail(self) -> None:
        """Nothing depends on its result."""

    def planned(self) -> Iterator[Invocation]:
        """Yield the invocations that were planned, in the order in which they will run."""
        for each in self._invocations or ():
            if each.result is not None:
                yield each.result


class _TriggerNode(ActionsNode):
    """A trigger of one change: its condition, and then its actions."""

    def __init__(
        self,
        run: PlanRun,
        frame: Frame,
        change: Change,
        trigger: ActionTrigger,
        number: int,
        events: Sequence[TriggerEvent],
    ) -> None:
        super().__init__()
        self._run = run
        self._frame = frame
        self._change = change
        self._trigger = trigger
        self._number = number
        self._events = events

    @property
    def label(self) -> str:
        return f"the actions of {self._change.address}"

    @property
    def _data(self) -> InstanceData:
        address = self._change.address
        node = self._frame.resources.get(address.item.resource)
        if isinstance(node, PlannedResource) and address.item.key in node.instances:
            return node.instances[address.item.key].data
        return key_data(address.item.key)

    def step(self) -> Sequence[Need]:
        if self._invocations is None:
            holds = self._holds()
            if isinstance(holds, list):
                return holds
            self._invocations = list(self._planned()) if holds else []
            return self._invocations
        return ()

    def _holds(self) -> bool | list[Need]:
        """Check the condition, which may hold if it is not known yet."""
        condition = self._trigger.condition
        if condition is None:
            return True
        compiled = self._frame.instance.compiled.expression(condition)
        diags, errors = self._run.diags, self._run.diags.error_count
        value = evaluate(self._frame, compiled, self._data, self._change.after)
        if not isinstance(value, Value):
            return value
        found = None if diags.error_count > errors else as_condition(value, condition, diags)
        return found is not None and (not found.is_known or found.unmark()[0].as_bool())

    def _planned(self) -> Iterator[_InvocationNode]:
        trigger, change, diags = self._trigger, self._change, self._run.diags
        for event in self._events:
            for index, action in enumerate(trigger.actions):
                key = action_key(action, self._data, diags)
                node = self._frame.resources.get(action.addr)
                if not isinstance(node, ActionNode):
                    continue
                planned = Trigger(event, self._number, index, trigger.on_failure)
                value = change.before if event.is_destroy else change.after
                is_orphan = change.reason is not Reason.NONE and not change.action.is_replace
                yield _InvocationNode(
                    run=self._run,
                    action=node,
                    key=key,
                    caller=change.address,
                    value=value,
                    trigger=planned,
                    is_orphan=is_orphan,
                )


class _InvocationNode(Node):
    """One invocation: the configuration, the provider, and what that says of it."""

    def __init__(
        self,
        run: PlanRun,
        action: ActionNode,
        key: InstanceKey,
        caller: AbsResourceInstance | None,
        value: Value | None,
        trigger: Trigger | None = None,
        is_orphan: bool = False,
    ) -> None:
        super().__init__()
        self._run = run
        self._action = action
        self._caller = caller
        self._value = value
        self._trigger = trigger
        self._is_orphan = is_orphan
        self._address = Abs(action.frame.instance.addr, ResourceInstance(action.resource.addr, key))
        self._config: Value | None = None
        self._provider: ProviderNode | None = None
        self._schema: Schema | None = None
        self._effect: AskProvider | None = None
        self.result: Invocation | None = None

    @property
    def label(self) -> str:
        return str(self._address)

    def fail(self) -> None:
        """Nothing depends on its result."""

    def step(self) -> Sequence[Need]:
        action = self._action
        if action.state != DONE:
            return (action,)
        if self._effect is not None:
            return ()
        if self._config is None:
            needs = self._evaluate()
            if needs or self._config is None:
                return needs
        if self._provider is None:
            data = replace(action.data[self._address.item.key], caller=self._value)
            found = self._run.providers.for_instance(action.frame, action.resource, data)
            if isinstance(found, list):
                return found
            if found is None:
                return ()
            self._provider = found
        if self._provider.state != DONE:
            return (self._provider,)
        if self._provider.provider is None:
            return ()
        self._effect = AskProvider(self)
        return (self._effect,)

    def _evaluate(self) -> Sequence[Need]:
        action, key, reported = self._action, self._address.item.key, Diagnostics()
        schema = self._schema = self._run.schema_of(action.frame, action.resource)
        if schema is None:
            return ()
        if key not in action.data:
            if action.deferral is None:
                self._report_missing(reported)
            self._report(reported)
            return ()
        found = action.config(key, schema, self._value, reported, {})
        if not isinstance(found, Value):
            return found
        if not reported.has_errors and not self._has_problem(found, reported):
            self._config = found.attribute(CONFIG)
        self._report(reported)
        return ()

    def _has_problem(self, found: Value, reported: Diagnostics) -> bool:
        """Report a configuration that this invocation cannot have."""
        is_destroy = self._trigger is not None and self._trigger.event.is_destroy
        config = found.attribute(CONFIG)
        if not config.is_wholly_known and (is_destroy or self._trigger is None):
            why = (
                "An action that runs when an object is destroyed must be known before that"
                if is_destroy
                else "It may refer to resources that do not exist yet: apply the configuration first"
            )
            reported.error(
                "Unknown configuration of an action",
                f"The configuration of {self._address} depends on values that are known only after "
                f"apply. {why}.",
                self._action.resource.range,
            )
            return True
        if is_destroy and without_ephemeral(config) != config:
            reported.error(
                "Ephemeral value in an action at destroy",
                f"The configuration of {self._address} is stored in the plan, since the action runs "
                "when an object is destroyed. So it cannot have ephemeral values.",
                self._action.resource.range,
            )
            return True
        return False

    def _report_missing(self, reported: Diagnostics) -> None:
        reported.error(
            "Trigger of an instance that does not exist",
            f"{self._action.resource.addr} has no instance {self._address.item}, which "
            f"{self._caller} triggers.",
            self._action.resource.range,
        )

    async def perform(self) -> None:
        """Have the provider check the invocation."""
        provider, config = self._provider, self._config
        assert provider is not None
        assert config is not None
        assert self._schema is not None
        running = provider.running_for(self._address)
        plain, _ = config.unmark_deep()
        answer = await running.plan_action(self._address.item.resource.type, plain)
        reported = Diagnostics()
        body, block = self._action.resource.body, self._schema.block
        found = about_block(answer.diagnostics)
        reported.extend(located(found, block, body, str(self._address)))
        if answer.deferred is not None and not reported.has_errors:
            reported.error(
                "Deferred action",
                f"The provider of {self._address} cannot plan the action yet. Apply what its "
                "configuration refers to first.",
                self._action.resource.range,
            )
        if not api.has_errors(answer.diagnostics) and answer.deferred is None:
            self.result = Invocation(
                self._address,
                provider.address,
                self._schema,
                without_ephemeral(config),
                self._caller,
                self._trigger,
            )
        self._report(reported)

    def _report(self, reported: Diagnostics) -> None:
        """Report what is wrong; that an orphan's action cannot run does not keep it from going."""
        if not self._is_orphan or not reported.has_errors:
            reported.name_since(0, str(self._address))
            self._run.diags.extend(reported)
            return
        for each in reported:
            self._run.diags.append(replace(each, severity=Severity.WARNING))
        self._run.diags.warning(
            "Action without an object",
            f"{self._caller} is not declared any more, and {self._address} cannot be planned for it. "
            "The object will be destroyed without the action.",
            address=str(self._caller),
        )


# -- actions that the user invokes ---------------------------------------------------------------


def invoked_nodes(run: PlanRun, invoked: Sequence[Target]) -> list[ActionsNode]:
    """Return the nodes of the actions that the user invokes; unknown ones are reported."""
    nodes: list[ActionsNode] = []
    for target in invoked:
        found = [
            node
            for frame in run.frames()
            for addr, node in frame.resources.items()
            if addr.mode is ACTION and target.touches(Abs(frame.instance.addr, addr))
        ]
        if not found:
            _report_unknown(target, run)
        nodes += [_InvokedNode(run, node, target) for node in found if isinstance(node, ActionNode)]
    return nodes


class _InvokedNode(ActionsNode):
    """An action block that the user invokes, of which there may be several instances."""

    def __init__(self, run: PlanRun, action: ActionNode, target: Target) -> None:
        super().__init__()
        self._run = run
        self._action = action
        self._target = target

    @property
    def label(self) -> str:
        return str(self._target)

    def step(self) -> Sequence[Need]:
        action, run = self._action, self._run
        if action.state != DONE:
            return (action,)
        if self._invocations is not None:
            return ()
        whole = Abs(action.frame.instance.addr, action.resource.addr)
        keys = [key for key in action.data if self._target.covers(instance_of(whole, key))]
        callers = list(self._callers())
        self._invocations = [
            _InvocationNode(run=run, action=action, key=key, caller=caller, value=value)
            for key in keys
            for caller, value in callers
        ]
        if not keys:
            _report_unknown(self._target, run)
        return self._invocations

    def _callers(self) -> Iterator[tuple[AbsResourceInstance | None, Value | None]]:
        """Yield the instances that `caller` may stand for, if the action refers to it."""
        action, run = self._action, self._run
        block = run.blocks.block(action.frame.instance.addr, str(action.resource.addr))
        if not run.blocks.refers_to_caller(block):
            yield None, None
            return
        for resource in action.frame.module.resources.values():
            if is_triggered_by(action.resource.addr, resource):
                yield from self._instances(resource)

    def _instances(
        self, resource: Resource
    ) -> Iterator[tuple[AbsResourceInstance | None, Value | None]]:
        run, frame = self._run, self._action.frame
        whole = Abs(frame.instance.addr, resource.addr)
        schema = run.schema_of(frame, resource)
        state = run.record.refreshed.resource(whole)
        stored = {} if state is None else state.instances
        found = False
        for key in sorted(stored, key=str):
            if stored[key].current is None or schema is None:
                continue
            found, address = True, instance_of(whole, key)
            targets = run.options.targets
            if not targets or any(each.covers(address) for each in targets):
                yield address, current_value(stored[key], schema)
        if not found:
            run.diags.error(
                "No caller for the action",
                f"{self._target} refers to caller, and no instance of {whole}, which triggers it, "
                "exists. Apply the configuration first.",
                self._action.resource.range,
            )


def _report_unknown(target: Target, run: PlanRun) -> None:
    known = [
        str(Abs(frame.instance.addr, addr))
        for frame in run.frames()
        for addr in frame.resources
        if addr.mode is ACTION
    ]
    run.diags.error(
        "Unknown action",
        f"The option {advice().option('-invoke')} names {target}, but the configuration has no such "
        f"action.{did_you_mean(str(target), known)}",
    )
