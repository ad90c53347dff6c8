"""Plans for Python programs: what will change, and why, as values that never change.

A `Plan` wraps the plan that was worked out together with the session that made it, so that it can
be saved, shown as JSON and applied. How plans are made is in `locked`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from os import PathLike, fspath
from tempfile import TemporaryDirectory

from nigari.arguments import check_path, check_text
from nigari.cty.paths import path_text
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostic, Diagnostics, JsonValue
from nigari.plan.model import changes
from nigari.plan.model.action_reasons import why
from nigari.plan.model.invocations import Invocation
from nigari.record import ReadOnly, record
from nigari.workspace.context.asyncio_bridge import run_to_end
from nigari.workspace.context.options import GivenVariables, SessionOptions
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.plans.change_reasons import ChangeReasons
from nigari.workspace.plans.show_plan import ShownPlan
from nigari.workspace.session.failure import SessionError
from nigari.workspace.session.made_plan import MadePlan, load_plan
from nigari.workspace.session.session import Session


@record
class Summary:
    """Counts of a plan's changes."""

    add: int
    change: int
    destroy: int
    import_: int = 0
    forget: int = 0
    invoke: int = 0
    """The number of actions that run."""

    def __str__(self) -> str:
        parts = [f"{self.add} to add, {self.change} to change, {self.destroy} to destroy"]
        if self.import_:
            parts.insert(0, f"{self.import_} to import")
        if self.forget:
            parts.append(f"{self.forget} to forget")
        if self.invoke:
            parts.append(f"{self.invoke} to invoke")
        return ", ".join(parts)


@record
class PlannedChange:
    """Planned change of one object."""

    address: str
    action: str
    """`create`, `update`, `replace`, `delete`, `read`, `forget` or, for an object that only gets
    another address or is only imported, `no-op`.
    """
    steps: tuple[str, ...]
    """The same as in `show -json`: a replacement has two steps, in their order."""
    reason: str
    """The reason by the name that `show -json` gives it; empty if there is none."""
    why: str
    """The reason in words; empty where it goes without saying."""
    before: Value
    """Null where there is no object."""
    after: Value
    """Null where there will be none; unknown in parts that are known only after apply."""
    replaced_because: tuple[str, ...]
    """The attributes that cannot be changed without another object."""
    type: str
    module: str
    """The address of the module instance; empty for the root module."""
    provider: str
    deposed: str
    previous_address: str
    """The previous address, if it differs."""
    imported_as: str

    @property
    def is_replacement(self) -> bool:
        """Return whether the object is replaced."""
        return self.action == "replace"

    @property
    def destroys(self) -> bool:
        """Return whether the object is destroyed."""
        return "delete" in self.steps

    def __repr__(self) -> str:
        return f"<{self.action} {self.address}{f', {self.why}' if self.why else ''}>"


@record
class PlannedAction:
    """Planned invocation of an action."""

    address: str
    config: Value
    """The arguments, unknown in parts that are known only after apply."""
    event: str
    """The event that triggers it, such as `after_create`; empty if it was asked for by its address."""
    caller: str
    """The resource instance that triggers it, or that `caller` stands for; empty if there is none."""


@record
class Deferred:
    """Something that a plan leaves for a later one."""

    address: str
    """In which `[*]` stands for instances that are not known yet."""
    kind: str
    """`resource`, `module call`, `provider`, `import`, `output` or `check`."""
    reason: str
    """By the name that `show -json` gives it."""
    waits_for: tuple[str, ...]
    """From the nearest to what is known only after apply."""
    earliest_round: int
    """The earliest round that may apply it, counted from this plan."""


class Plan:
    """A plan that can be inspected, saved and applied."""

    __slots__ = ("_made", "actions", "changes", "deferred", "drift", "outputs", "warnings")

    def __init__(self, made: MadePlan, warnings: tuple[Diagnostic, ...]) -> None:
        self._made = made
        self.warnings: tuple[Diagnostic, ...] = warnings
        """Warnings, which do not prevent the apply."""
        plan = made.plan
        self.changes: tuple[PlannedChange, ...] = tuple(
            _change(each) for each in plan.changes if each.is_visible
        )
        """The planned changes, in the order of addresses."""
        self.actions: tuple[PlannedAction, ...] = tuple(map(_action, plan.invocations))
        """The actions that will run, in their order for each object."""
        self.drift: tuple[str, ...] = tuple(str(each.address) for each in plan.drift)
        """The objects that are not what the state says, for whatever reason."""
        self.outputs: Mapping[str, Value] = ReadOnly(
            {name: each.after for name, each in plan.outputs.items()}
        )
        """The values that root outputs will have, unknown where only apply can tell."""
        self.deferred: tuple[Deferred, ...] = tuple(_deferred(each) for each in plan.left)
        """The deferred changes."""

    @property
    def summary(self) -> Summary:
        """Return the counts of the plan's changes."""
        plan = self._made.plan
        return Summary(*plan.counts, plan.imported, plan.forgotten, len(plan.invocations))

    @property
    def is_empty(self) -> bool:
        """Return whether applying it would change nothing at all."""
        return self._made.plan.changes_nothing

    @property
    def mode(self) -> str:
        """`normal`, `destroy` or `refresh-only`."""
        return self._made.plan.mode.value

    def save(self, path: str | PathLike[str]) -> None:
        """Write the plan to a file, for `nigari apply FILE` and `read_plan`."""
        check_path("the file of a plan", path)
        session = self._made.session
        session.diags.take()
        if not self._made.save(fspath(path)):
            raise SessionError(list(session.diags), session.sources)

    def to_json(self) -> dict[str, JsonValue]:
        """The plan as `show -json` prints it."""
        found = Diagnostics()
        text = run_to_end(self._document(found))
        if text is None:
            raise SessionError(list(found), self._made.session.sources)
        document: dict[str, JsonValue] = json.loads(text)
        return document

    def why(self, address: str = "") -> tuple[ChangeReasons, ...]:
        """Explain a change: the sources of each new argument, down to the
        variables, resources and data; what forces a replacement; what has gone, for a deletion.

        An address names a resource, a module, an output (`output.name`) or an argument of one of
        them; without one, it is everything that is planned. Empty where nothing is.
        """
        check_text("an address", address)
        reasons = self._made.reasons()
        return reasons.about(address) if address else tuple(reasons.changes())

    async def _document(self, diags: Diagnostics) -> str | None:
        try:
            return await ShownPlan(self._made.outcome).document(self._made.saved, diags)
        finally:
            await self._made.context.close()

    def __copy__(self) -> Plan:
        return self

    def __deepcopy__(self, memo: object) -> Plan:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        session = self._made.session
        with TemporaryDirectory() as folder:
            path = os.path.join(folder, "plan")
            self.save(path)
            with open(path, "rb") as file:
                data = file.read()
        return _read_again, (
            session.where,
            session.variables,
            session.options,
            data,
            self.warnings,
        )

    def __repr__(self) -> str:
        return f"<plan: {self.summary}>"

    def _repr_html_(self) -> str:
        from html import escape

        from nigari.diagnostics.html import COLOURS, table

        rows = []
        for change in self.changes:
            colour = COLOURS.get("delete" if change.destroys else change.action, "inherit")
            action = f'<b style="color:{colour}">{escape(change.action)}</b>'
            rows.append((action, f"<code>{escape(change.address)}</code>", escape(change.why)))
        return f"<p>{escape(str(self.summary))}</p>{table(('', 'address', 'why'), rows)}"


def _read_again(
    where: WorkingDirectory,
    variables: GivenVariables,
    options: SessionOptions,
    data: bytes,
    warnings: tuple[Diagnostic, ...],
) -> Plan:
    """A plan that was pickled: as it is saved, it has all that it takes to be applied."""
    session = Session(where, variables, options)
    with TemporaryDirectory() as folder:
        path = os.path.join(folder, "plan")
        with open(path, "wb") as file:
            file.write(data)
        made = run_to_end(load_plan(session, path))
    if made is None:
        raise SessionError(session.diags.in_order(), session.sources)
    return Plan(made, warnings)


def made_plan(plan: Plan) -> MadePlan:
    """Return a plan's internal form, for the session that applies it."""
    if not isinstance(plan, Plan):
        raise TypeError(
            f"a plan is applied, not a {type(plan).__name__}: read_plan reads saved ones"
        )
    return plan._made  # noqa: SLF001 - only sessions need it


def _action(invocation: Invocation) -> PlannedAction:
    trigger, caller = invocation.trigger, invocation.caller
    return PlannedAction(
        str(invocation.address),
        invocation.config,
        "" if trigger is None else trigger.event.value,
        "" if caller is None else str(caller),
    )


def _deferred(deferred: changes.DeferredChange) -> Deferred:
    return Deferred(
        deferred.address,
        deferred.kind.value,
        deferred.reason.value,
        deferred.chain,
        deferred.round,
    )


def _change(change: changes.Change) -> PlannedChange:
    action = change.action
    return PlannedChange(
        address=str(change.address),
        action=action.kind,
        steps=action.steps,
        reason=change.reason.value,
        why=why(change),
        before=change.before,
        after=change.after,
        replaced_because=tuple(path_text(path).removeprefix(".") for path in change.replace_paths),
        type=change.address.item.resource.type,
        module=str(change.address.module),
        provider=str(change.provider),
        deposed=change.deposed,
        previous_address=str(change.previous_address) if change.is_moved else "",
        imported_as=change.imported_as,
    )
