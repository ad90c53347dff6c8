"""Plans: changes of resource instances and outputs, as data that never changes.

Nothing here knows how a change was worked out, how it is carried out or how it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from types import MappingProxyType

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.addrs.provider import AbsProviderInstance
from nigari.addrs.resource import DATA
from nigari.cty.paths import Path
from nigari.cty.values import Value
from nigari.plan.model.invocations import Invocation
from nigari.record import record
from nigari.running.deferrals import DeferralReason, DeferredKind
from nigari.schema.provider import Schema
from nigari.state.model import CheckResult, State


class Action(Enum):
    """The action on an object; the value is its name in JSON."""

    NO_OP = "no-op"
    CREATE = "create"
    READ = "read"
    UPDATE = "update"
    DELETE = "delete"
    DELETE_THEN_CREATE = "delete-create"
    CREATE_THEN_DELETE = "create-delete"
    FORGET = "forget"
    FORGET_THEN_CREATE = "forget-create"

    @property
    def is_replace(self) -> bool:
        """Return whether the object is replaced."""
        return self in _REPLACING

    @property
    def destroys(self) -> bool:
        """Return whether the object is destroyed."""
        return self is Action.DELETE or (
            self in _REPLACING and self is not Action.FORGET_THEN_CREATE
        )

    @property
    def kind(self) -> str:
        """One word, which does not tell the order of the steps of a replacement."""
        return "replace" if self in _REPLACING else self.value

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps in their order, in the words of `show -json`."""
        return _STEPS.get(self, (self.value,))


_REPLACING = frozenset(
    (Action.DELETE_THEN_CREATE, Action.CREATE_THEN_DELETE, Action.FORGET_THEN_CREATE)
)
_STEPS = {
    Action.DELETE_THEN_CREATE: ("delete", "create"),
    Action.CREATE_THEN_DELETE: ("create", "delete"),
    Action.FORGET_THEN_CREATE: ("forget", "create"),
}


class Reason(Enum):
    """The reason of an action that needs one; the value is its name in JSON."""

    NONE = ""
    TAINTED = "replace_because_tainted"
    CANNOT_UPDATE = "replace_because_cannot_update"
    REQUESTED = "replace_by_request"
    TRIGGERED = "replace_by_triggers"
    NO_RESOURCE = "delete_because_no_resource_config"
    NO_MODULE = "delete_because_no_module"
    WRONG_REPETITION = "delete_because_wrong_repetition"
    COUNT_INDEX = "delete_because_count_index"
    EACH_KEY = "delete_because_each_key"
    DISABLED = "delete_because_enabled_false"
    NO_MOVE_TARGET = "delete_because_no_move_target"
    KEPT_BY_CONFIG = "forgot_because_lifecycle_destroy_in_config"
    KEPT_BY_STATE = "forgot_because_lifecycle_destroy_in_state"
    PART_OF = "forgot_because_part_of_destroyed_object"
    CONFIG_UNKNOWN = "read_because_config_unknown"
    DEPENDENCY_PENDING = "read_because_dependency_pending"
    CHECK_NESTED = "read_because_check_nested"


class Change:
    """The planned change to one object of a resource instance.

    Written by hand because a plan may have very many of them. Never assigned to after construction.
    """

    __slots__ = (
        "action",
        "address",
        "after",
        "before",
        "deposed",
        "identity",
        "imported_as",
        "imported_identity",
        "previous_address",
        "private",
        "provider",
        "reason",
        "replace_paths",
        "schema",
    )

    def __init__(
        self,
        address: AbsResourceInstance,
        action: Action,
        before: Value,
        after: Value,
        provider: AbsProviderInstance,
        schema: Schema,
        reason: Reason = Reason.NONE,
        replace_paths: tuple[Path, ...] = (),
        private: bytes = b"",
        deposed: str = "",
        previous_address: AbsResourceInstance | None = None,
        identity: Value | None = None,
        imported_as: str = "",
        imported_identity: Value | None = None,
    ) -> None:
        self.address: AbsResourceInstance = address
        self.action: Action = action
        self.before: Value = before
        """Null where there is no object."""
        self.after: Value = after
        """Null where there will be none."""
        self.provider: AbsProviderInstance = provider
        self.schema: Schema = schema
        self.reason: Reason = reason
        self.replace_paths: tuple[Path, ...] = replace_paths
        """The paths that cannot change without a replacement."""
        self.private: bytes = private
        """Data that the provider gets back when the change is applied."""
        self.deposed: str = deposed
        """The key of a deposed object; empty for the current one."""
        self.previous_address: AbsResourceInstance = previous_address or address
        self.identity: Value | None = identity
        self.imported_as: str = imported_as
        """The import ID of an existing object; empty for all others."""
        self.imported_identity: Value | None = imported_identity
        """The same as a value, where it is an identity and no id."""

    def imported(self, text: str, identity: Value | None) -> Change:
        """The same change of an object that is taken over by what it is known by."""
        return self._copy(self.before, self.schema, text, identity)

    def with_schema(self, schema: Schema) -> Change:
        """The same change, once the schema of its resource is known."""
        return self._copy(self.before, schema, self.imported_as, self.imported_identity)

    def with_prior(self, before: Value) -> Change:
        """The same change of a prior object with other marks."""
        return self._copy(before, self.schema, self.imported_as, self.imported_identity)

    def _copy(
        self, before: Value, schema: Schema, imported_as: str, imported_identity: Value | None
    ) -> Change:
        return Change(
            address=self.address,
            action=self.action,
            before=before,
            after=self.after,
            provider=self.provider,
            schema=schema,
            reason=self.reason,
            replace_paths=self.replace_paths,
            private=self.private,
            deposed=self.deposed,
            previous_address=self.previous_address,
            identity=self.identity,
            imported_as=imported_as,
            imported_identity=imported_identity,
        )

    @property
    def is_moved(self) -> bool:
        return self.previous_address != self.address

    @property
    def is_visible(self) -> bool:
        """Return whether there is anything to show, even if it is only a new address."""
        return self.action is not Action.NO_OP or self.is_moved or bool(self.imported_as)

    def __repr__(self) -> str:
        return f"<Change {self.action.value} {self.address}>"


@record
class EphemeralInstance:
    """An ephemeral object that may have to be open while a plan is applied."""

    address: AbsResourceInstance
    provider: AbsProviderInstance
    schema: Schema


@record
class OutputChange:
    """The change of a root output value."""

    name: str
    action: Action
    before: Value
    after: Value
    sensitive: bool = False


@record
class Drift:
    """A change of an object outside, since it was last stored."""

    address: AbsResourceInstance
    before: Value
    after: Value
    """Null where the object is gone, and the same as before where it has only moved."""
    schema: Schema
    provider: AbsProviderInstance
    previous_address: AbsResourceInstance | None = None
    """The address of the object before it moved, if it did."""

    @property
    def action(self) -> Action:
        """The action that the same change would have in a plan."""
        if self.after.is_null:
            return Action.DELETE
        is_same = self.before.unmark_deep()[0] == self.after.unmark_deep()[0]
        return Action.NO_OP if is_same else Action.UPDATE


@record
class DeferredChange:
    """Something that a plan leaves for a later round, and what that waits for."""

    address: str
    """In which `[*]` stands for instances that are not known yet."""
    kind: DeferredKind
    reason: DeferralReason
    chain: tuple[str, ...]
    """The chain of dependencies, from the nearest to the value that is known only after apply."""
    round: int
    """The earliest round that can do it, where this plan is the first."""
    change: Change | None = None
    """As much as can be said of a resource; None for anything else."""
    settled: tuple[InstanceKey, ...] = ()
    """The instances that there are in any case, and which do not wait."""


class PlanMode(Enum):
    """The mode of a plan."""

    NORMAL = "normal"
    DESTROY = "destroy"
    REFRESH_ONLY = "refresh-only"


@record
class Plan:
    """Everything that is to be done, and what that was worked out from."""

    mode: PlanMode
    changes: tuple[Change, ...]
    """In the order of addresses; also those where nothing is to be done."""
    outputs: Mapping[str, OutputChange]
    drift: tuple[Drift, ...]
    previous_state: State
    """As it was stored."""
    refreshed_state: State
    """After moves, and as the providers see it now."""
    checks: tuple[CheckResult, ...] = ()
    targeted: bool = False
    timestamp: str = ""
    """The value of `plantimestamp`, if the plan was saved."""
    ephemeral: tuple[EphemeralInstance, ...] = ()
    """In the order of addresses."""
    modules: Mapping[ModuleAddr, tuple[str, ...]] = MappingProxyType({})
    """The instances of called modules whose outputs were worked out, and which are not null."""
    generated: Mapping[str, str] = MappingProxyType({})
    """Blocks that were written for what is imported without any, by address."""
    is_incomplete: bool = False
    """True if an error occurred, so that the plan can be shown but not applied."""
    deferred: tuple[DeferredChange, ...] = ()
    """The deferred changes, in the order of addresses."""
    ended_data: tuple[AbsResourceInstance, ...] = ()
    """Data that providers need while a destroy is applied, and that is forgotten by it."""
    invocations: tuple[Invocation, ...] = ()
    """The actions that will run, in the order in which those of one change follow each other."""

    @property
    def counts(self) -> tuple[int, int, int]:
        """The number of objects that are added, changed and destroyed."""
        added = changed = destroyed = 0
        for change in self.changes:
            action = change.action
            if action is Action.NO_OP:
                continue
            if action is Action.CREATE or action is Action.FORGET_THEN_CREATE:
                added += 1
            elif action is Action.UPDATE:
                changed += 1
            elif action is Action.DELETE:
                destroyed += 1
            elif action.is_replace:
                added += 1
                destroyed += 1
        return added, changed, destroyed

    @property
    def imported(self) -> int:
        """The number of imported objects."""
        return sum(1 for change in self.changes if change.imported_as)

    @property
    def forgotten(self) -> int:
        """The number of forgotten objects."""
        actions = (Action.FORGET, Action.FORGET_THEN_CREATE)
        return sum(1 for change in self.changes if change.action in actions)

    @property
    def invoked(self) -> tuple[Invocation, ...]:
        """The actions that run because the user asks for it, and not because of a change."""
        return tuple(each for each in self.invocations if each.trigger is None)

    @property
    def triggered(self) -> Mapping[AbsResourceInstance, Sequence[Invocation]]:
        """The actions that changes trigger, by the address of the change."""
        found: dict[AbsResourceInstance, list[Invocation]] = {}
        for each in self.invocations:
            if each.trigger is not None and each.caller is not None:
                found.setdefault(each.caller, []).append(each)
        return found

    @property
    def left_behind(self) -> int:
        """The number of forgotten objects that still exist when the plan has been applied."""
        parts = sum(1 for change in self.changes if change.reason is Reason.PART_OF)
        return self.forgotten - parts

    @property
    def has_output_changes(self) -> bool:
        return any(each.action is not Action.NO_OP for each in self.outputs.values())

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to show."""
        if any(change.is_visible for change in self.changes) or self.has_output_changes:
            return False
        if self.invocations:
            return False
        return not (self.mode is PlanMode.REFRESH_ONLY and self.drift)

    @property
    def left(self) -> tuple[DeferredChange, ...]:
        """The changes for later rounds; none if only the state is refreshed."""
        return () if self.mode is PlanMode.REFRESH_ONLY else self.deferred

    @property
    def rounds(self) -> int:
        """The least number of rounds until nothing is deferred."""
        return max((each.round for each in self.left), default=1)

    def forgotten_data(self) -> Iterator[AbsResourceInstance]:
        """The data that a destroy takes out of the state."""
        if self.mode is PlanMode.DESTROY:
            for address, _ in self.previous_state.instances():
                is_data = address.item.resource.mode is DATA
                if is_data and self.refreshed_state.instance(address) is None:
                    yield address
            yield from self.ended_data

    @property
    def changes_nothing(self) -> bool:
        """Return whether it is empty, and applying it adds nothing to the state that is not shown."""
        if not self.is_empty:
            return False
        if self.mode is not PlanMode.REFRESH_ONLY:
            return not any(self.forgotten_data())
        for address, instance in self.refreshed_state.instances():
            known = self.previous_state.instance(address)
            if known is None or known.current is None or instance.current is None:
                continue
            if known.current.unshown != instance.current.unshown:
                return False
        return True
