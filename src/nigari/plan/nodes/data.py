"""Data sources while planning: read now if everything is known, else when the plan is applied.

While everything is destroyed, only what providers need is read.

The data source of a check is read while planning and again when the plan is applied. That it
cannot be read is a warning, and the check has failed.
"""

from __future__ import annotations

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.keys import InstanceKey
from nigari.config.blocks.resource import Resource
from nigari.cty.marks import mark_with_paths, unmark_deep_with_paths
from nigari.cty.paths import unknown_as_null
from nigari.cty.values import Value, null, unknown
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.eval.core.module_tree import InstanceData
from nigari.eval.nodes.resource import ephemeral_argument
from nigari.events import Listener
from nigari.lang.marks import EPHEMERAL
from nigari.plan.model.changes import Action, Change, Reason
from nigari.plan.nodes.pending import DeferrableInstance, DeferrableResource
from nigari.plan.objects.prior_object import current_value
from nigari.plan.objects.proposed_object import planned_unknown
from nigari.plan.objects.provider_deferral import ProviderDefers
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.record import record, replace
from nigari.running.deferrals import DeferralReason
from nigari.running.provider_objects import is_sound, with_schema_marks
from nigari.schema.marked_paths import without_collection_marks
from nigari.schema.provider import Schema


class DataResource(DeferrableResource):
    """A data source of one module instance."""

    __slots__ = ()

    def instance(self, key: InstanceKey, data: InstanceData) -> DataInstance:
        return DataInstance(self, key, data)

    def as_stored(self, values: dict[InstanceKey, Value]) -> dict[InstanceKey, Value]:
        if self.resource.repetition.is_single:
            return values
        unread = {
            key
            for key, each in self.instances.items()
            if isinstance(each, DataInstance) and each.is_unread
        }
        last = max(
            (key for key in values if key not in unread and isinstance(key, int)), default=-1
        )
        return {
            key: value
            for key, value in values.items()
            if key not in unread or (isinstance(key, int) and key < last)
        }


class DataInstance(DeferrableInstance):
    """One instance of a data source."""

    __slots__ = ("is_unread",)

    def __init__(self, owner: DataResource, key: InstanceKey, data: InstanceData) -> None:
        super().__init__(owner, key, data)
        self.is_unread: bool = False
        """True if too little is known to read it, now or later."""

    async def perform(self) -> None:
        """Read the data source, or plan to."""
        run, resource = self.owner.run, self.owner.resource
        assert self.config is not None
        reason = Reason.NONE
        if not self.config.is_wholly_known:
            reason = Reason.CONFIG_UNKNOWN
        elif self.has_pending:
            reason = Reason.DEPENDENCY_PENDING
        may_defer = run.deferrals is not None and not resource.in_check
        source = DataSource(
            provider=self.running,
            address=self.address,
            schema=self.schema,
            resource=resource,
            meta=self.meta,
            may_defer=may_defer,
            listener=run.listener,
        )
        if self.is_waiting and not run.options.is_refresh_only:
            self.postpone(change=self._reading(self._planned, reason))
            return
        if self.provider is not None and self.provider.is_partial:
            self.postpone_as(DeferralReason.PROVIDER)
            return
        if reason is not Reason.NONE:
            await self.defer(source, self.config, reason)
            return
        kept = None if run.kept is None else run.kept.data(self.address, self.config)
        if kept is not None and not resource.in_check:
            self._store(kept)
            return
        try:
            value = await source.read(self.config, run.diags, run.unread)
        except ProviderDefers as deferring:
            self.postpone_as(deferring.reason)
            return
        if resource.in_check:
            self._plan_reading(value, Reason.CHECK_NESTED)
        elif value is None:
            self.fail()
        elif not value.is_wholly_known:
            # What others plan is known in parts; the whole is read once they have applied it.
            self._plan_reading(value, Reason.DEPENDENCY_PENDING)
        else:
            if run.kept is not None:
                run.kept.keep_data(self.address, self.config, value)
            self._store(value)

    async def defer(self, source: DataSource, config: Value, reason: Reason) -> None:
        """Have the data source read later, if the provider agrees with what is known by now."""
        run, resource = self.owner.run, self.owner.resource
        if resource.in_check or await source.is_valid(config, run.diags):
            self._plan_reading(None, reason)
        else:
            self.fail()

    def _store(self, value: Value) -> None:
        self.value = with_schema_marks(value, self.schema)
        self.owner.run.record.note_data(self.address, value, self.schema, self.provider_address)

    def _plan_reading(self, found: Value | None, reason: Reason) -> None:
        """Have the data source read when the plan is applied."""
        if found is None:
            found = self._planned
        if reason is Reason.CHECK_NESTED:
            self._store(unknown_as_null(found))
        elif self.owner.run.options.is_refresh_only:
            self.is_unread = True
            self.value = unknown(self.schema.block.implied_type)
            self.owner.run.record.note_unread(self.address, self.provider_address)
            return
        self.value: Value = with_schema_marks(found, self.schema)
        if not self.owner.run.options.is_refresh_only:
            self.note(self._reading(self.value, reason))

    @property
    def _planned(self) -> Value:
        """The known part of the result before the data source is read."""
        assert self.config is not None
        block = self.schema.block
        plain, marks = unmark_deep_with_paths(self.config)
        return mark_with_paths(
            planned_unknown(block, plain), without_collection_marks(block, marks)
        )

    def _reading(self, planned: Value, reason: Reason) -> Change:
        return Change(
            address=self.address,
            action=Action.READ,
            before=null(self.schema.block.implied_type),
            after=planned,
            provider=self.provider_address,
            schema=self.schema,
            reason=reason,
            previous_address=self.owner.run.previous_address(self.address),
        )


class NeededData(DataResource):
    """A data source that a provider needs while everything is destroyed: it is read whatever the
    user singled out, since what it said the last time may be outdated.
    """

    __slots__ = ()

    def is_looked_at(self, key: InstanceKey) -> bool:
        return True

    def instance(self, key: InstanceKey, data: InstanceData) -> DataInstance:
        return NeededInstance(self, key, data)


class NeededInstance(DataInstance):
    """One instance of such a data source; nothing will make known what is not known now."""

    __slots__ = ()

    async def defer(self, source: DataSource, config: Value, reason: Reason) -> None:
        run = self.owner.run
        self.value: Value = current_value(run.prior.instance(self.address), self.schema)


@record
class DataSource:
    """A data source that is to be read, now or while the plan is applied."""

    provider: api.Provider
    address: AbsResourceInstance
    schema: Schema
    resource: Resource
    meta: Value | None
    may_defer: bool = False
    """True if the provider may defer it."""
    listener: Listener = Listener()
    """Hears of the reading once the configuration is accepted."""

    async def is_valid(self, config: Value, diags: Diagnostics) -> bool:
        """Return whether the provider accepts the configuration, parts of which may be unknown."""
        type_name, body = self.resource.addr.type, self.resource.body
        plain, marks = unmark_deep_with_paths(config)
        stored = [path for path, found in marks if EPHEMERAL in found]
        if stored:
            diags.extend(
                ephemeral_argument(str(self.address), self.schema.block, body, path)
                for path in stored
            )
            return False
        reported = (await self.provider.validate_data(type_name, plain)).diagnostics
        diags.extend(located(reported, self.schema.block, body, str(self.address)))
        return not api.has_errors(reported)

    async def read(
        self, config: Value, diags: Diagnostics, unread: dict[AbsResourceInstance, str]
    ) -> Value | None:
        """Read the data source and mark the result as its configuration is marked.

        Returns None after reporting an error. Errors in the data source of a check are only
        warnings, and are noted as the reason why it could not be read.
        """
        reported = Diagnostics()
        value = await self._read(config, reported)
        if self.resource.in_check:
            errors = [each for each in reported if each.severity is Severity.ERROR]
            if errors:
                unread[self.address] = "\n\n".join(_text(each) for each in errors)
            checked = self._checked
            diags.extend(
                replace(each, severity=Severity.WARNING, is_check=True, checked=checked)
                if each.severity is Severity.ERROR
                else each
                for each in reported
            )
        else:
            diags.extend(reported)
        return value

    @property
    def _checked(self) -> str:
        """The address of the check that the data source is in."""
        return f"{self.address.module}.check.{self.resource.in_check}".removeprefix(".")

    async def _read(self, config: Value, diags: Diagnostics) -> Value | None:
        if not await self.is_valid(config, diags):
            return None
        self.listener.read_started(self.address)
        value: Value | None = None
        try:
            value = await self._answer(config, diags)
        finally:
            self.listener.read_finished(self.address, value)
        return value

    async def _answer(self, config: Value, diags: Diagnostics) -> Value | None:
        plain, marks = unmark_deep_with_paths(config)
        where = str(self.address)
        request = api.ReadDataRequest(
            self.resource.addr.type, plain, self.meta, where, self.may_defer
        )
        answer = await self.provider.read_data(request)
        if answer.deferred is not None and self.may_defer:
            raise ProviderDefers(answer.deferred)
        block, body = self.schema.block, self.resource.body
        diags.extend(located(answer.diagnostics, block, body, str(self.address)))
        if api.has_errors(answer.diagnostics):
            return None
        is_open = answer.is_planned and not answer.state.is_wholly_known
        if not is_open and not is_sound(answer.state, self.schema, self.address, "read", diags):
            return None
        return mark_with_paths(answer.state, marks)


def _text(reported: Diagnostic) -> str:
    return f"{reported.summary}: {reported.detail}" if reported.detail else reported.summary
