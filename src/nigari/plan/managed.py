"""Managed resources while planning: what each instance is to become."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from nigari.addrs.absolute import block_of
from nigari.addrs.keys import InstanceKey
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.addrs.resource import ResourceInstance
from nigari.config.written_address import decode_address
from nigari.cty.marks import mark_with_paths, unmark_deep_with_paths
from nigari.cty.paths import path_text
from nigari.cty.values import Value, object_value
from nigari.diagnostics import Diagnostics
from nigari.eval.expansion import InstanceData
from nigari.eval.instances import Frame, Origin
from nigari.eval.once import DONE, Need, Stages
from nigari.hcl.expressions import Expression
from nigari.hcl.scope import Scope
from nigari.hcl.traversal import Traversal
from nigari.lang.marks import EPHEMERAL
from nigari.lang.references import parse_reference
from nigari.plan.changes import Action, Change, Reason
from nigari.plan.conditions import Conditions
from nigari.plan.ignored import ignore, ignore_all
from nigari.plan.imports import imported
from nigari.plan.instances import InstanceNode, PlannedResource
from nigari.plan.planned_change import Ignore, Wanted, plan_change
from nigari.plan.prior import PriorObject, read, upgraded
from nigari.plan.protection import flag, protected
from nigari.schema.marked_paths import attribute_at
from nigari.state.model import InstanceState


class ManagedResource(PlannedResource):
    """A managed resource of one module instance."""

    __slots__ = ()

    def instance(self, key: InstanceKey, data: InstanceData) -> ManagedInstance:
        return ManagedInstance(self, key, data)


class ManagedInstance(InstanceNode):
    """One instance of a managed resource."""

    __slots__ = ("_is_protected", "_stages", "_triggers_at", "change", "prior", "replaces")

    def __init__(self, owner: PlannedResource, key: InstanceKey, data: InstanceData) -> None:
        super().__init__(owner, key, data)
        self.change: Change | None = None
        self.prior: PriorObject | None = None
        self.replaces = Reason.NONE
        self._is_protected = False
        self._triggers_at = 0
        lifecycle = owner.resource.lifecycle
        stages = [self.evaluate, self.choose_provider]
        if owner.run.imports.state != DONE:
            stages.append(self._wait_for_imports)
        if lifecycle.preconditions:
            stages.insert(0, self._conditions("precondition").step)
        if lifecycle.prevent_destroy is not None:
            stages.append(self._protect)
        if lifecycle.replace_triggered_by:
            stages.append(self._look_at_triggers)
        stages.append(self.ask)
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
        if self.change is None:
            return ()
        self._stages = Stages(self._conditions("postcondition", self.value).step)
        return self._stages.step()

    def _wait_for_imports(self) -> Sequence[Need]:
        imports = self.owner.run.imports
        return () if imports.state == DONE else (imports,)

    # -- what the lifecycle says --------------------------------------------------------------

    def _protect(self) -> Sequence[Need]:
        expr = self.owner.resource.lifecycle.prevent_destroy
        assert expr is not None
        compiled = self.frame.instance.compiled.expression(expr)
        truth = flag(Origin(self.frame, compiled, self.data), "prevent_destroy")
        if isinstance(truth, list):
            return truth
        self._is_protected = truth
        return ()

    def _look_at_triggers(self) -> Sequence[Need]:
        triggers = self.owner.resource.lifecycle.replace_triggered_by
        while self._triggers_at < len(triggers):
            needs = self._look_at(triggers[self._triggers_at])
            if needs:
                return needs
            self._triggers_at += 1
        return ()

    def _look_at(self, expr: Expression) -> Sequence[Need]:
        """Replace the object if what the expression names is going to change."""
        traversal = trigger_traversal(expr, self.data)
        diags = self.frame.run.diags
        reference = None if traversal is None else parse_reference(traversal, diags)
        subject = None if reference is None else reference.subject
        key: InstanceKey = None
        is_whole = isinstance(subject, ResourceAddr)
        if isinstance(subject, ResourceInstance):
            key = subject.key
            subject = subject.resource
        node = self.frame.resources.get(subject) if isinstance(subject, ResourceAddr) else None
        if not isinstance(node, ManagedResource) or reference is None:
            return ()
        if node.state != DONE:
            return (node,)
        for each, instance in node.instances.items():
            if not isinstance(instance, ManagedInstance) or instance.change is None:
                continue
            if (is_whole or each == key) and _is_triggering(
                instance.change, reference.remaining, self.frame
            ):
                self.replaces = Reason.TRIGGERED
        return ()

    def _ignore(self) -> Ignore | None:
        settings, frame, addr = self.owner.run.settings, self.frame, self.owner.resource.addr
        lifecycle = self.owner.resource.lifecycle
        if lifecycle.ignore_all_changes or settings.ignores_all(frame, addr):
            return partial(ignore_all, self.schema.block)
        ignored = settings.ignored(frame, addr)
        return partial(ignore, ignored) if ignored else None

    # -- the provider -------------------------------------------------------------------------

    async def perform(self) -> None:
        """Find out what there is, and plan what becomes of it."""
        run, node = self.owner.run, self.provider
        assert node is not None
        assert node.provider is not None
        assert self.config is not None
        state = run.prior.instance(self.address)
        imported_as = run.imports.ids.get(self.address, "")
        if (state is None or state.current is None) and imported_as:
            if not await self._import(imported_as):
                self.fail()
                return
        elif state is not None and state.current is not None:
            imported_as = ""
            if not await self._refresh(state):
                self.fail()
                return
        if not self._check_ephemeral() or not self._check_provisioners():
            self.fail()
            return
        resource = self.owner.resource
        forced = run.forced_replacement(self.address)
        wanted = Wanted(
            self.address,
            self.config,
            self.schema,
            node.address,
            resource.body,
            run.settings.creates_first(self.frame, resource.addr),
            Reason.REQUESTED if forced else self.replaces,
            self._ignore(),
            previous_address=run.previous_address(self.address),
        )
        if run.is_refresh_only:
            self._stay(wanted)
            return
        change = await plan_change(node.provider, wanted, self.prior, run.diags)
        if change is not None and self.prior is not None:
            change.imported_as = imported_as
        if change is None:
            self.fail()
            return
        if self._is_protected and change.action.is_replace:
            expr = resource.lifecycle.prevent_destroy
            run.diags.append(protected(self.address, None if expr is None else expr.range))
        self.change = change
        self.value = change.after
        run.note(change, resource)

    def _stay(self, wanted: Wanted) -> None:
        """What an instance is where nothing is to be changed."""
        if self.prior is None:
            self.fail()
            return
        value = self.prior.value
        self.value = value
        self.change = Change(
            self.address, Action.NO_OP, value, value, wanted.provider, wanted.schema
        )
        self.owner.run.note(self.change, self.owner.resource)

    async def _import(self, id_: str) -> bool:
        """Take over an object that exists; False where that failed."""
        run, node = self.owner.run, self.provider
        assert node is not None
        assert node.provider is not None
        found = await imported(node.provider, self.schema, self.address, id_, run.diags)
        if found is None:
            return False
        self.prior = await read(node.provider, self.schema, self.address, found, None, run.diags)
        if self.prior is None:
            run.diags.error(
                "Nothing to import",
                f'The object with the id "{id_}" for {self.address} cannot be read.',
                self.owner.resource.range,
                address=str(self.address),
            )
            return False
        run.note_imported(self.address, self.prior, node.address)
        return True

    async def _refresh(self, state: InstanceState) -> bool:
        """Read the prior object anew; False where that failed."""
        run, node = self.owner.run, self.provider
        assert state.current is not None
        assert node is not None
        assert node.provider is not None
        errors = run.diags.error_count
        prior = await upgraded(node.provider, self.schema, self.address, state.current, run.diags)
        if prior is None:
            return False
        self.prior = prior
        if run.refreshes:
            self.prior = await read(
                node.provider, self.schema, self.address, prior, None, run.diags
            )
            if run.diags.error_count > errors and self.prior is None:
                return False
        run.note_refreshed(self.address, prior, self.prior, self.schema, node.address)
        return True

    def _check_provisioners(self) -> bool:
        """Refuse what cannot be run, before anything is done."""
        resource = self.owner.resource
        unknown = [each for each in resource.provisioners if each.type != "local-exec"]
        for each in unknown:
            self.frame.run.diags.error(
                "Provisioner is not supported yet",
                f'Provisioners of type "{each.type}" cannot be run by this version of the program.',
                each.range,
            )
        return not unknown

    def _check_ephemeral(self) -> bool:
        """Refuse ephemeral values but in write-only arguments, and take the mark off there."""
        assert self.config is not None
        if not self.config.contains_marked:
            return True
        plain, marks = unmark_deep_with_paths(self.config)
        kept = []
        diags = self.frame.run.diags
        errors = diags.error_count
        for path, found in marks:
            if EPHEMERAL not in found:
                kept.append((path, found))
                continue
            attribute = attribute_at(self.schema.block, path)
            if attribute is None or not attribute.write_only:
                diags.error(
                    "Ephemeral value in a resource",
                    f"The argument {path_text(path).removeprefix('.')} of {self.address} is "
                    "stored in the state, so it cannot have an ephemeral value. Only write-only "
                    "arguments can.",
                    self.owner.resource.range,
                )
        self.config = mark_with_paths(plain, kept)
        return diags.error_count == errors


def _is_triggering(change: Change, part: Traversal, frame: Frame) -> bool:
    """Whether a change is one of what a trigger names: the whole object, or a part of it."""
    if change.action in (Action.NO_OP, Action.READ):
        return False
    if not part.steps or change.before.is_null or change.after.is_null:
        return True
    diags = frame.run.diags
    before = part.apply_rel(change.before.unmark_deep()[0], diags)
    after = part.apply_rel(change.after.unmark_deep()[0], diags)
    return before != after


def trigger_traversal(expr: Expression, data: InstanceData) -> Traversal | None:
    """The address that an element of `replace_triggered_by` names, with its key filled in."""
    unheard = Diagnostics()
    written = decode_address(expr, unheard)
    if written is None:
        return None
    names: dict[str, Value] = {}
    if data.each_key is not None:
        names["each"] = object_value({"key": data.each_key})
    if data.count_index is not None:
        names["count"] = object_value({"index": data.count_index})
    keys = [key.value(Scope(names), unheard) for key in written.keys]
    return None if unheard.has_errors else written.with_keys(keys)
