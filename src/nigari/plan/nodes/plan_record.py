"""The record of a plan in the making: what nodes have found out, for the plan that comes of it.

Changes, drift, what is left for later, what the prior objects are now, how conditions went. Nothing
is looked up here, and nothing is decided about single objects.
"""

from __future__ import annotations

from collections.abc import Callable

from nigari.addrs.absolute import AbsResourceInstance, resource_of
from nigari.addrs.provider import AbsProviderInstance
from nigari.cty.values import Value, null
from nigari.eval.core.causes import UnknownCause
from nigari.plan.model.changes import Change, Drift, EphemeralInstance
from nigari.plan.model.check_results import Noted
from nigari.plan.model.invocations import Invocation
from nigari.plan.objects.prior_object import PriorObject
from nigari.plan.order.block_graph import BlockGraph
from nigari.plan.order.block_settings import BlockSettings
from nigari.running.deferrals import Deferral
from nigari.running.provider_objects import with_schema_marks
from nigari.schema.provider import Schema
from nigari.state.draft import StateDraft
from nigari.state.model import State
from nigari.state.objects import encode


class PlanRecord:
    """The results so far."""

    def __init__(
        self,
        prior: State,
        settings: BlockSettings,
        blocks: BlockGraph,
        is_refresh_only: bool,
        previous_address: Callable[[AbsResourceInstance], AbsResourceInstance | None],
    ) -> None:
        self.changes: dict[tuple[AbsResourceInstance, str], Change] = {}
        """By address, and the key of the deposed object where it is about one."""
        self.deferred: dict[UnknownCause, Change] = {}
        """As much as can be said of the resources that are left for later."""
        self.drift: list[Drift] = []
        self.refreshed: StateDraft = StateDraft(prior)
        """The state as it is now."""
        self.conditions: list[Noted] = []
        self.ephemeral_instances: list[EphemeralInstance] = []
        self.invocations: tuple[Invocation, ...] = ()
        self._prior = prior
        self._settings = settings
        self._blocks = blocks
        self._is_refresh_only = is_refresh_only
        self._previous_address = previous_address

    def note_change(self, change: Change) -> None:
        """Make a change part of the plan."""
        self.changes[change.address, change.deposed] = _with_marked_prior(change)

    def note_deferred(self, deferral: Deferral, change: Change | None) -> None:
        """Leave an object for a later round, with what can be said of it by now."""
        if change is not None:
            self.deferred[deferral.cause] = _with_marked_prior(change)

    def note_refreshed(
        self,
        address: AbsResourceInstance,
        before: PriorObject,
        now: PriorObject | None,
        schema: Schema,
        provider: AbsProviderInstance,
        deposed: str = "",
    ) -> None:
        """Remember what a prior object is now."""
        stored = None if now is None else now.stored
        if deposed:
            self.refreshed.set_deposed(address, deposed, stored, provider)
            return
        previous = self._previous_address(address)
        known = self._prior.instance(address)
        if known is None or stored is not known.current:
            self.refreshed.set_current(address, stored, provider)
        if now is before:
            if self._is_refresh_only and previous is not None:
                value = with_schema_marks(now.value, schema)
                self.drift.append(Drift(address, value, value, schema, provider, previous))
            return
        value = null(schema.block.implied_type) if now is None else now.value
        if before.value.unmark_deep()[0] != value.unmark_deep()[0]:
            old, new = (with_schema_marks(each, schema) for each in (before.value, value))
            self.drift.append(Drift(address, old, new, schema, provider, previous))

    def note_lifecycle(self, address: AbsResourceInstance, provider: AbsProviderInstance) -> None:
        """Take over what the configuration now says of an object.

        What it depended on when it was made counts as well, until something is applied.
        """
        block = resource_of(address)
        state = self.refreshed.instance(address)
        if state is None or state.current is None:
            return
        known = state.current
        needed = self._blocks.resources_before(self._blocks.resource_block(block))
        renewed = known.with_lifecycle(
            tuple(sorted({*known.dependencies, *needed}, key=str)),
            self._settings.is_declared_first(block.module, block.item),
            self._settings.skips_destroy(block.module, block.item),
        )
        self.refreshed.renew(address, renewed, provider)

    def note_triggers(
        self,
        address: AbsResourceInstance,
        digests: tuple[str, ...],
        provider: AbsProviderInstance,
    ) -> None:
        """Remember the values in `replace_triggered_by` of an object that stays as it is."""
        state = self.refreshed.instance(address)
        if state is not None and state.current is not None:
            self.refreshed.renew(address, state.current.with_triggers(digests), provider)

    def note_imported(
        self, address: AbsResourceInstance, found: PriorObject, provider: AbsProviderInstance
    ) -> None:
        """Remember an object that is taken over."""
        self.refreshed.set_current(address, found.stored, provider)

    def note_data(
        self,
        address: AbsResourceInstance,
        value: Value,
        schema: Schema,
        provider: AbsProviderInstance,
    ) -> None:
        """Remember what a data source says."""
        self.refreshed.set_current(address, encode(value, schema), provider)

    def note_unread(self, address: AbsResourceInstance, provider: AbsProviderInstance) -> None:
        """Forget what a data source said, because it is not known what to ask it."""
        self.refreshed.set_current(address, None, provider)

    def note_ephemeral(self, instance: EphemeralInstance) -> None:
        """Remember that an ephemeral object may be needed."""
        self.ephemeral_instances.append(instance)

    def note_conditions(self, noted: Noted) -> None:
        """Remember how the conditions of an object went."""
        self.conditions.append(noted)


def _with_marked_prior(change: Change) -> Change:
    """The change, whose prior object is as sensitive as its schema says. Other programs don't store
    that, or didn't use to.
    """
    before = with_schema_marks(change.before, change.schema)
    return change if before is change.before else change.with_prior(before)
