"""Finds why a plan does what it does: for each change where the new values come from.

Everything is worked out from the plan, the configuration that it was made from and the states that
it holds, so it works for a saved plan, too. No provider is asked. How it is shown is not decided
here; sensitive values keep their marks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nigari.addrs.absolute import AbsResourceInstance, resource_of
from nigari.addrs.keys import InstanceKey, key_text
from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.config.blocks.resource import Resource
from nigari.config.core.declared import Repetition
from nigari.cty.errors import CtyError
from nigari.cty.paths import GetAttr, Path, path_text
from nigari.cty.types import DYNAMIC
from nigari.cty.values import Value, null
from nigari.diagnostics import Diagnostics
from nigari.eval.core.compile import CompiledBody
from nigari.eval.core.inputs import Inputs
from nigari.eval.core.instances import Frame, ResourceNode, ValueNode
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.eval.core.scope import expanded_body
from nigari.eval.core.worklist import Node
from nigari.eval.nodes.variable import RootVariable, fitted
from nigari.hcl.body import Body
from nigari.lang.marks import SENSITIVE
from nigari.lang.references import Reference, parse_reference
from nigari.plan.engine import PlanOutcome
from nigari.plan.inspection.plan_inspection import PlanInspection, PlannedObjects
from nigari.plan.model.action_reasons import why
from nigari.plan.model.changes import Action, Change, Drift, OutputChange, PlanMode, Reason
from nigari.plan.show.changed_arguments import ChangedArgument, changed_arguments
from nigari.plan.show.grouped_changes import Filter
from nigari.record import replace
from nigari.running.provider_objects import with_schema_marks
from nigari.schema.decode import decoder_spec
from nigari.workspace.explain.explanation import Explanation, ExplanationBuilder
from nigari.workspace.explain.queries import ValueQueries, compiled_origin
from nigari.workspace.plans.change_reasons import ArgumentReason, ChangeReasons, Missing
from nigari.workspace.plans.check_reasons import checked_at, failed_rules, rules_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_ENDING: Final = (Action.DELETE, Action.FORGET)
_NOTHING: Final[Inputs] = {}


class PlannedQueries(ValueQueries):
    """A plan's configuration for those who look at it, with what is known of the time before."""

    __slots__ = ("_remembered",)

    def __init__(
        self, run: PlanInspection, sources: Mapping[str, bytes], remembered: Inputs = _NOTHING
    ) -> None:
        super().__init__(run, sources)
        self._remembered = remembered

    def earlier(self, node: ValueNode) -> Value | None:
        if isinstance(node, PlannedObjects):
            return node.stored_value()
        if not isinstance(node, RootVariable) or node.variable.name not in self._remembered:
            return None
        value = self._remembered[node.variable.name].resolve(node.variable, Diagnostics())
        try:
            return None if value is None else node.marked(fitted(node.variable, value))
        except CtyError:
            return None

    def fate(self, node: ResourceNode, key: InstanceKey) -> str:
        if not isinstance(node, PlannedObjects):
            return ""
        changes = node.changes
        if key in changes:
            return changes[key].action.kind
        found = {each.action.kind for each in changes.values()} - {Action.NO_OP.value}
        return found.pop() if len(found) == 1 else "change" if found else ""


class PlanReasons:
    """Answers why a plan changes something."""

    def __init__(
        self,
        outcome: PlanOutcome,
        sources: Mapping[str, bytes],
        remembered: Inputs = _NOTHING,
    ) -> None:
        static, plan = outcome.inputs.static, outcome.plan
        given = outcome.inputs.run_settings
        settings = replace(static.static_settings, inputs=given.inputs, functions=given.functions)
        compiled = static.root.instance.compiled
        run = PlanInspection(compiled, settings, plan, outcome.inputs.pool)
        run.evaluate(())
        # What is wrong with the configuration has been reported while planning.
        run.diags.take()
        self._run = run
        self._plan = plan
        self._evaluation = PlannedQueries(run, sources, remembered)
        self._drift = {each.address: each for each in plan.drift}

    def changes(self, shows: Filter | None = None) -> Iterator[ChangeReasons]:
        """The reasons of everything that is done, in the order of the plan; outputs last."""
        for change in self._plan.changes:
            if change.is_visible and (shows is None or shows(change)):
                yield self.change(change)
        if shows is None:
            for output in self._plan.outputs.values():
                if output.action is not Action.NO_OP:
                    yield self.output(output)

    def about(self, address: str) -> tuple[ChangeReasons, ...]:
        """The reasons of what is done with what an address names: a resource or module with all
        of its instances, an output, or an argument of one of them.
        """
        if address.startswith("output."):
            output = self._plan.outputs.get(address.removeprefix("output."))
            is_changed = output is not None and output.action is not Action.NO_OP
            return (self.output(output),) if output is not None and is_changed else ()
        visible = [change for change in self._plan.changes if change.is_visible]
        found = [each for each in visible if _is_below(str(each.address), address)]
        if found:
            return tuple(self.change(each) for each in found)
        parts = [
            _only(self.change(each), address.removeprefix(f"{each.address}."))
            for each in visible
            if address.startswith(f"{each.address}.")
        ]
        return tuple(each for each in parts if each.arguments)

    def change(self, change: Change) -> ChangeReasons:
        """Return why an object is changed."""
        frame, missing = self._find(change.address.module)
        resource = None
        if frame is not None:
            resource = frame.module.resources.get(change.address.item.resource)
        reason = ChangeReasons(
            str(change.address),
            _kind(change),
            change.reason.value,
            self._why(change),
            range=None if resource is None else resource.range,
            deposed=change.deposed,
        )
        if change.deposed or self._plan.mode is PlanMode.DESTROY:
            return reason
        if frame is None:
            return replace(reason, missing=missing)
        if change.action in _ENDING:
            return replace(reason, missing=self._missing(frame, resource, change.address))
        if resource is None:
            return reason
        data = self._data(frame, resource, change.address.item.key)
        return replace(
            reason,
            arguments=tuple(self._arguments(change, frame, resource, data)),
            triggers=self._triggers(change, frame, resource, data),
        )

    def _why(self, change: Change) -> str:
        if self._plan.mode is PlanMode.DESTROY and change.action is Action.DELETE:
            return "because everything is to be destroyed"
        if change.deposed:
            return "because it is left over from a replacement that was not completed"
        parts = [why(change)]
        if change.is_moved:
            parts.append(f"moved from {change.previous_address}")
        if change.imported_as:
            parts.append(f"imported by {change.imported_as}")
        return ", ".join(part for part in parts if part)

    def output(self, change: OutputChange) -> ChangeReasons:
        """Return why a root output changes."""
        name = f"output.{change.name}"
        node = self._run.root.outputs.get(change.name)
        before, after = change.before, change.after
        if change.sensitive:
            before, after = before.mark(SENSITIVE), after.mark(SENSITIVE)
        if node is None or self._plan.mode is PlanMode.DESTROY:
            is_end = self._plan.mode is PlanMode.DESTROY
            missing = None if is_end else Missing("output", name)
            why = "because everything is to be destroyed" if is_end else ""
            return ChangeReasons(name, change.action.kind, "", why, missing=missing)
        found = replace(ExplanationBuilder(self._evaluation).node(node), name="value", value=after)
        argument = ArgumentReason("value", before, after, "configuration", found)
        return ChangeReasons(name, change.action.kind, "", "", (argument,), range=node.range)

    def check(self, kind: str, address: str) -> ChangeReasons:
        """Return why an object's conditions fail."""
        reasons = ChangeReasons(address, kind, "", "")
        found = checked_at(kind, address)
        frame = None if found is None else self._find(found[0])[0]
        if found is None or frame is None:
            return reasons
        _, instance, name = found
        resource = None
        if instance is not None:
            resource = frame.module.resources.get(instance.item.resource)
        data = NO_INSTANCE_DATA
        if instance is not None and resource is not None:
            data = self._data(frame, resource, instance.item.key)
        rules = rules_of(kind, frame, instance, name)
        failed = failed_rules(self._evaluation, frame, rules, data)
        return replace(reasons, arguments=tuple(failed))

    # -- objects that are no longer wanted ----------------------------------------------------

    def _find(self, module: ModuleAddr) -> tuple[Frame | None, Missing | None]:
        """The module instance at an address, or what there is not of it."""
        frame, at = self._run.root, ROOT_MODULE
        for name, key in module.steps:
            call = frame.calls.get(name)
            if call is None:
                return None, Missing("module", str(at.child(name, None)))
            at = at.child(name, key)
            instances = self._evaluation.module_instances(call)
            if key not in instances:
                found = self._decided(frame, call.call.repetition)
                return None, Missing("module instance", str(at), _keys(instances), found)
            frame = instances[key]
        return frame, None

    def _missing(
        self, frame: Frame, resource: Resource | None, address: AbsResourceInstance
    ) -> Missing | None:
        if resource is None:
            return Missing("resource", str(resource_of(address)))
        instances = self._evaluation.resource_instances(frame, resource).instances
        if address.item.key in instances:
            return None
        found = self._decided(frame, resource.repetition)
        return Missing("instance", str(address), _keys(instances), found)

    def _decided(self, frame: Frame, repetition: Repetition) -> Explanation | None:
        """Explain the argument that determines the instances."""
        for name in ("count", "for_each", "enabled"):
            expr = getattr(repetition, name)
            if expr is not None:
                origin = compiled_origin(frame, expr)
                return ExplanationBuilder(self._evaluation).expression(name, origin, expr.range)
        return None

    # -- arguments ----------------------------------------------------------------------------

    def _data(self, frame: Frame, resource: Resource, key: InstanceKey) -> InstanceData:
        instances = self._evaluation.resource_instances(frame, resource).instances
        return instances.get(key, NO_INSTANCE_DATA)

    def _arguments(
        self, change: Change, frame: Frame, resource: Resource, data: InstanceData
    ) -> Iterator[ArgumentReason]:
        schema = change.schema
        compiled = frame.instance.compiled.body(resource.body, decoder_spec(schema.block))
        body = self._expanded(frame, compiled, data)
        before = null(DYNAMIC) if change.action is Action.READ else change.before
        before = with_schema_marks(before, schema) if not before.is_null else before
        after = with_schema_marks(change.after, schema)
        drift = self._drift.get(change.address)
        for found in changed_arguments(schema.block, resource.body, body, before, after):
            yield self._argument(change, found, frame, data, drift)

    def _expanded(self, frame: Frame, compiled: CompiledBody, data: InstanceData) -> Body:
        """A body with the blocks that its `dynamic` blocks make."""
        while isinstance(found := expanded_body(frame, compiled, data), list):
            self._evaluation.evaluate([need for need in found if isinstance(need, Node)])
        return found

    def _argument(
        self,
        change: Change,
        found: ChangedArgument,
        frame: Frame,
        data: InstanceData,
        drift: Drift | None,
    ) -> ArgumentReason:
        path = path_text(found.path).removeprefix(".")
        before, after = _both_secret(found.before, found.after)
        source = "configuration"
        if found.expr is None and not found.references:
            is_absent = after.is_null and not before.is_null
            source = "removed" if is_absent else "configuration" if found.range else "provider"
        return ArgumentReason(
            path=path,
            before=before,
            after=after,
            source=source,
            explanation=self._explained(path, found, after, frame, data)
            if found.is_written
            else None,
            forces_replacement=any(
                found.path[: len(each)] == each[: len(found.path)] for each in change.replace_paths
            ),
            changed_outside=drift is not None and _differs(drift, found.path),
        )

    def _explained(
        self, path: str, found: ChangedArgument, after: Value, frame: Frame, data: InstanceData
    ) -> Explanation:
        builder = ExplanationBuilder(self._evaluation, follows_keys=False)
        explanation = Explanation(path, after, found.range, (), ())
        if found.expr is not None:
            origin = compiled_origin(frame, found.expr, data)
            explanation = builder.expression(path, origin, found.range)
        if found.references:
            more = builder.references(frame, data, found.references)
            explanation = replace(explanation, parts=(*explanation.parts, *more))
        chains = () if after.is_wholly_known else explanation.chains
        return replace(explanation, value=after, chains=chains)

    # -- what else causes a change ------------------------------------------------------------

    def _triggers(
        self, change: Change, frame: Frame, resource: Resource, data: InstanceData
    ) -> tuple[Explanation, ...]:
        references: list[Reference] = []
        if change.reason is Reason.TRIGGERED and change.action.is_replace:
            lifecycle = resource.lifecycle
            for expr in (*lifecycle.replace_triggered_by, *lifecycle.replacing_values):
                references += frame.instance.compiled.expression(expr).references
        elif change.reason is Reason.DEPENDENCY_PENDING:
            found = [parse_reference(each, Diagnostics()) for each in resource.depends_on]
            references += [each for each in found if each is not None]
        explained = ExplanationBuilder(self._evaluation).references(frame, data, references)
        return tuple(each for each in explained if each.fate not in ("", Action.NO_OP.value))


def _kind(change: Change) -> str:
    """Return the planned action in one word, including a mere change of address."""
    if change.action is not Action.NO_OP:
        return change.action.kind
    return "move" if change.is_moved else "import"


def _is_below(path: str, outer: str) -> bool:
    return path == outer or path.startswith((f"{outer}.", f"{outer}["))


def _only(reasons: ChangeReasons, path: str) -> ChangeReasons:
    """The same for one argument."""
    kept = [
        each
        for each in reasons.arguments
        if _is_below(each.path, path) or _is_below(path, each.path)
    ]
    return replace(reasons, arguments=tuple(kept))


def _keys(instances: Mapping[InstanceKey, object]) -> tuple[str, ...]:
    return tuple(key_text(key) for key in instances if key is not None)


def _both_secret(before: Value, after: Value) -> tuple[Value, Value]:
    """Both values with the marks of either: a secret is one before it is declared to be."""
    marks = before.unmark_deep()[1] | after.unmark_deep()[1]
    if SENSITIVE in marks:
        return before.mark(SENSITIVE), after.mark(SENSITIVE)
    return before, after


def _differs(drift: Drift, path: Path) -> bool:
    """Return whether a part of an object was changed outside."""
    return _at(drift.before, path) != _at(drift.after, path)


def _at(value: Value, path: Path) -> Value | None:
    plain = value.unmark_deep()[0]
    for step in path:
        if not plain.is_known or plain.is_null:
            return None
        key = step.name if isinstance(step, GetAttr) else getattr(step, "key", None)
        try:
            plain = plain[key]
        except (KeyError, IndexError, TypeError):
            return None
    return plain
