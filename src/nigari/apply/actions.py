"""Actions while a plan is applied: around the change that triggers them, or because the user asks.

Their configuration is evaluated again, with everything known by then. That of an action at destroy is
the planned one, because what it refers to may have changed already.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from functools import partial

from nigari.addrs.resource import Resource as ResourceAddr
from nigari.apply.apply_run import AppliedResource
from nigari.apply.context import ApplyContext, OperationFailed
from nigari.apply.declared_instance import DeclaredInstance
from nigari.config.blocks.action_trigger import OnFailure, TriggerEvent
from nigari.config.blocks.resource import Resource
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.eval.core.instances import ResourceNode
from nigari.eval.core.scope import evaluate
from nigari.eval.nodes.action_triggers import as_condition
from nigari.plan.model.changes import Change
from nigari.plan.model.invocations import Invocation, Trigger
from nigari.plan.objects.prior_object import current_value
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.record import replace
from nigari.running.action_node import ActionNode
from nigari.running.requests import about_block
from nigari.running.unknown_values import is_reported
from nigari.schema.config_block import CONFIG
from nigari.state.model import ObjectStatus


async def run_before(
    context: ApplyContext, declared: DeclaredInstance, change: Change, planned: Value
) -> None:
    """Run the actions before an object is created or updated."""
    for invocation, trigger in _triggered(context, change, is_before=True):
        if await _holds(context, declared, invocation, trigger, planned):
            await _run_or_fail(context, invocation, planned)


async def run_after(
    context: ApplyContext, declared: DeclaredInstance, change: Change, value: Value
) -> None:
    """Run the actions after an object was created or updated; a failed one may taint the object."""
    for invocation, trigger in _triggered(context, change, is_before=False):
        try:
            if await _holds(context, declared, invocation, trigger, value):
                await _run_or_fail(context, invocation, value)
        except OperationFailed:
            # Terraform: only a new object is tainted, since only creating it can be repeated.
            is_new = trigger.event is TriggerEvent.AFTER_CREATE
            if is_new and trigger.on_failure is OnFailure.TAINT:
                _taint(context, change)
            raise


async def run_around_end(context: ApplyContext, change: Change, event: TriggerEvent) -> None:
    """Run the actions before or after an object is destroyed."""
    for invocation in context.triggered.get(change.address, ()):
        trigger = invocation.trigger
        if trigger is not None and trigger.event is event:
            # Terraform: when everything is destroyed, a failed action does not prevent it.
            is_lenient = context.run.is_destroying
            is_lenient = is_lenient or trigger.on_failure is OnFailure.CONTINUE
            await _invoke_or_fail(context, invocation, invocation.config, is_lenient)


async def run_invoked(context: ApplyContext, address: str) -> bool:
    """Run an action that the user invokes, for each of its callers; False if one of them failed."""
    succeeded = True
    for invocation in context.plan.invoked:
        if str(invocation.address) == address:
            try:
                await _run_or_fail(context, invocation, _caller(context, invocation))
            except OperationFailed:
                succeeded = False
    return succeeded


def _caller(context: ApplyContext, invocation: Invocation) -> Value | None:
    """The stored object of the caller, if there is one."""
    address = invocation.caller
    if address is None:
        return None
    frame = context.run.bare_frame(address.module)
    resource = None if frame is None else frame.module.resources.get(address.item.resource)
    schema = None
    if frame is not None and resource is not None:
        schema = context.run.schema_of(frame, resource)
    return None if schema is None else current_value(context.draft.instance(address), schema)


def _triggered(
    context: ApplyContext, change: Change, is_before: bool
) -> list[tuple[Invocation, Trigger]]:
    """List the invocations before or after a creation or update, with their triggers."""
    found: list[tuple[Invocation, Trigger]] = []
    for each in context.triggered.get(change.address, ()):
        trigger = each.trigger
        if trigger is None or trigger.event.is_destroy:
            continue
        if trigger.event.is_before is is_before:
            found.append((each, trigger))
    return found


async def _holds(
    context: ApplyContext,
    declared: DeclaredInstance,
    invocation: Invocation,
    trigger: Trigger,
    value: Value,
) -> bool:
    """Evaluate the condition of a trigger again, which may have been unknown while planning."""
    node, run = declared.node, context.run
    condition = node.resource.lifecycle.action_triggers[trigger.block_index].condition
    if condition is None:
        return True
    problems = Diagnostics()
    compiled = node.frame.instance.compiled.expression(condition)
    find = partial(evaluate, node.frame, compiled, declared.data, value, diags=problems)
    found = await run.value(find)
    outcome = None if problems.has_errors else as_condition(found, condition, problems)
    if outcome is not None and not outcome.is_known:
        problems.error(
            "Unknown condition of an action",
            "The condition must be known before the action runs. Before an object is created, most "
            "of its attributes are not.",
            condition.range,
        )
    problems.name_since(0, str(invocation.caller))
    context.diags.extend(problems)
    if problems.has_errors or outcome is None:
        raise OperationFailed
    return outcome.unmark()[0].as_bool()


async def _run_or_fail(context: ApplyContext, invocation: Invocation, value: Value | None) -> None:
    """Evaluate the configuration of an invocation for its caller, and run it."""
    trigger = invocation.trigger
    is_lenient = trigger is not None and trigger.on_failure is OnFailure.CONTINUE
    problems = Diagnostics()
    config = await _config(context, invocation, value, problems)
    # Plugin protocol: the configuration that InvokeAction gets has no unknown values.
    if config is not None and not config.is_wholly_known:
        problems.error(
            "Unknown configuration of an action",
            f"The configuration of {invocation.address} is not known when the action runs. An action "
            "before a change cannot refer to results of that change.",
            _block(context, invocation).range,
        )
        config = None
    problems.name_since(0, str(invocation.address))
    _report(context, problems, is_lenient)
    if config is not None:
        await _invoke_or_fail(context, invocation, config, is_lenient)
    elif not is_lenient:
        raise OperationFailed


def _block(context: ApplyContext, invocation: Invocation) -> Resource:
    """Find the block of an action, which the configuration of a plan always has."""
    frame = context.run.bare_frame(invocation.address.module)
    assert frame is not None
    return frame.module.resources[invocation.address.item.resource]


async def _config(
    context: ApplyContext, invocation: Invocation, value: Value | None, problems: Diagnostics
) -> Value | None:
    run, address = context.run, invocation.address
    frame = await run.frame(address.module)
    node = None if frame is None else frame.resources.get(address.item.resource)
    if not isinstance(node, ActionNode):
        return None
    await run.evaluate((node,))
    if address.item.key not in node.data:
        problems.error(
            "Plan does not match its configuration",
            f"{address} does not exist when the plan is applied. Make a new plan.",
            node.resource.range,
        )
        return None
    others = _present(context, node)
    key, schema = address.item.key, invocation.schema
    found = await run.value(lambda: node.config(key, schema, value, problems, others))
    if problems.has_errors or is_reported(found):
        return None
    return found.attribute(CONFIG)


def _present(context: ApplyContext, node: ActionNode) -> dict[ResourceAddr, ResourceNode]:
    """Fresh nodes for the resources that trigger an action and that it names by their address.

    Some of their instances may not have been made yet, so their value must not be final.
    """
    block = context.blocks.block(node.frame.instance.addr, str(node.resource.addr))
    return {
        addr: AppliedResource(node.frame, node.frame.module.resources[addr], context.run)
        for addr in context.blocks.referred_callers(block)
    }


async def _invoke_or_fail(
    context: ApplyContext, invocation: Invocation, config: Value, is_lenient: bool
) -> None:
    """Run an action, and report what the provider says of it."""
    view, type_name = context.view, invocation.address.item.resource.type
    provider = context.provider(invocation)
    view.action_started(invocation)
    reported: api.ProviderDiagnostics = ()
    # InvokeAction is a stream: progress events, and one completed event at its end with the
    # diagnostics.
    async with aclosing(provider.invoke_action(type_name, config.unmark_deep()[0])) as events:
        async for event in events:
            if event.is_end:
                reported = event.diagnostics
                break
            view.action_said(invocation, event.message)
    has_failed = api.has_errors(reported)
    view.action_finished(invocation, _failure(reported) if has_failed else "")
    problems = Diagnostics()
    body = _block(context, invocation).body
    found = about_block(reported)
    problems.extend(located(found, invocation.schema.block, body, str(invocation.address)))
    _report(context, problems, is_lenient)
    if has_failed and not is_lenient:
        raise OperationFailed


def _failure(reported: Sequence[api.ProviderDiagnostic]) -> str:
    """Describe the errors of a provider in a line."""
    errors = [each for each in reported if each.severity is Severity.ERROR]
    texts = [f"{each.summary}: {each.detail}" if each.detail else each.summary for each in errors]
    return "; ".join(texts)


def _report(context: ApplyContext, problems: Diagnostics, is_lenient: bool) -> None:
    for each in problems:
        context.diags.append(_as_warning(each) if is_lenient else each)


def _as_warning(diagnostic: Diagnostic) -> Diagnostic:
    return replace(diagnostic, severity=Severity.WARNING)


def _taint(context: ApplyContext, change: Change) -> None:
    """Have an object replaced by the next apply."""
    state = context.draft.instance(change.address)
    if state is not None and state.current is not None:
        tainted = state.current.with_status(ObjectStatus.TAINTED)
        context.draft.set_current(change.address, tainted, change.provider)
