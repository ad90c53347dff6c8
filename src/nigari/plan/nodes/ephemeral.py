"""Ephemeral resources while planning: opened if everything is known, else only while applying.

The plan has only their addresses: those that must be open during the apply are opened again.
"""

from __future__ import annotations

from nigari.addrs.keys import InstanceKey
from nigari.cty.marks import mark_with_paths, unmark_deep_with_paths
from nigari.cty.values import Value
from nigari.eval.core.module_tree import InstanceData
from nigari.lang.marks import EPHEMERAL
from nigari.plan.model.changes import Change, EphemeralInstance
from nigari.plan.nodes.pending import DeferrableInstance, DeferrableResource
from nigari.plan.objects.proposed_object import planned_unknown
from nigari.running.deferrals import DeferralReason
from nigari.running.ephemeral_objects import ephemeral_value


class EphemeralResource(DeferrableResource):
    """An ephemeral resource of one module instance."""

    __slots__ = ()

    def is_looked_at(self, key: InstanceKey) -> bool:
        """Only the instance itself has its value, even if targets leave it out."""
        return True

    def instance(self, key: InstanceKey, data: InstanceData) -> PlannedEphemeral:
        return PlannedEphemeral(self, key, data)


class PlannedEphemeral(DeferrableInstance):
    """One instance of an ephemeral resource."""

    __slots__ = ()

    def fail(self) -> None:
        super().fail()
        self.value = self.value.mark(EPHEMERAL)

    def postpone(
        self,
        reason: DeferralReason = DeferralReason.DEFERRED,
        change: Change | None = None,
        needs_values: bool = False,
    ) -> None:
        super().postpone(reason, change, needs_values)
        self.value = self.value.mark(EPHEMERAL)

    async def perform(self) -> None:
        """Open the object, or leave that for later."""
        run, config = self.owner.run, self.config
        assert config is not None
        if self.is_waiting:
            self.postpone()
            return
        if self.provider is not None and self.provider.is_partial:
            self.postpone_as(DeferralReason.PROVIDER)
            return
        run.record.note_ephemeral(
            EphemeralInstance(self.address, self.provider_address, self.schema)
        )
        if self.has_pending or not config.is_wholly_known:
            plain, marks = unmark_deep_with_paths(config)
            planned = planned_unknown(self.schema.block, plain)
            self.value = ephemeral_value(mark_with_paths(planned, marks), self.schema)
            run.listener.ephemeral_deferred(self.address, config.is_wholly_known)
            return
        body = self.owner.resource.body
        value = await run.ephemeral.open(self.running, self.address, self.schema, config, body)
        if value is None:
            self.fail()
        else:
            self.value: Value = value
