"""The apply context: what operations share, the open providers and the state as it grows.

Deliberately unknown here: the operations, which are in `create_update`, `destroy` and `data_sources`.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence

from nigari.addrs.absolute import (
    Abs,
    AbsResource,
    AbsResourceInstance,
    instance_of,
    resource_of,
)
from nigari.addrs.module import ModuleAddr
from nigari.addrs.provider import AbsProviderInstance
from nigari.addrs.resource import DATA
from nigari.apply.apply_run import ApplyRun
from nigari.apply.listener import ApplyListener
from nigari.apply.provisioners.provisioner import Machine
from nigari.apply.state_writer import StateWriter
from nigari.cty.paths import path_text
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.plan.model.changes import Action, Change, EphemeralInstance, Plan, Reason
from nigari.plan.model.check_results import Noted
from nigari.plan.model.invocations import Invocation
from nigari.plan.objects.provider_checks import ProviderFault
from nigari.plan.order.block_graph import BlockGraph
from nigari.plan.order.block_settings import BlockSettings
from nigari.providers import api
from nigari.running.provider_node import ProviderNode
from nigari.state.draft import StateDraft
from nigari.state.model import StoredObject


class OperationFailed(Exception):
    """A failed operation whose diagnostics have been reported; `left` is the object that exists
    anyway, if any.
    """

    def __init__(self, left: Value | None = None) -> None:
        super().__init__()
        self.left: Value | None = left


class ApplyContext:
    """Everything that operations on resources share."""

    def __init__(
        self,
        run: ApplyRun,
        plan: Plan,
        blocks: BlockGraph,
        settings: BlockSettings,
        view: ApplyListener,
        machine: Machine,
    ) -> None:
        self.run = run
        self.machine = machine
        self.plan = plan
        self.draft: StateDraft = StateDraft(plan.refreshed_state)
        # OpenTofu: data sources are not destroyed, only removed from the state
        # (dataResourceExecute).
        for address in plan.ended_data:
            self.draft.remove_instance(address)
        self.draft.remove_empty_resources()
        self._forget_outdated()
        self.settings = settings
        self.view = view
        self.providers: dict[str, ProviderNode] = {}
        """Open providers by address."""
        self.deposed: dict[AbsResourceInstance, str] = {}
        """Keys of the objects deposed by this apply."""
        self.conditions: list[Noted] = []
        """Outcomes of the resources' conditions."""
        self.provisioning: set[asyncio.Future[None]] = set()
        """Running provisioners."""
        self.keeper: StateWriter | None = None
        """Stores the state during the apply; None until the apply begins."""
        self.triggered: Mapping[AbsResourceInstance, Sequence[Invocation]] = plan.triggered
        self.blocks = blocks
        self._addresses = {str(each.provider): each.provider for each in plan.changes}
        self._addresses.update((str(each.provider), each.provider) for each in plan.ephemeral)
        self._addresses.update((str(each.provider), each.provider) for each in plan.invocations)

    def _forget_outdated(self) -> None:
        """Remove objects from the state that will be read again, because their values are outdated."""
        for change in self.plan.changes:
            # A data source of a check keeps its object, because its read may fail
            # without consequences.
            if change.action is Action.READ and change.reason is not Reason.CHECK_NESTED:
                self.draft.set_current(change.address, None, change.provider)

    @property
    def diags(self) -> Diagnostics:
        return self.run.diags

    async def store(self) -> None:
        """Store the state now, before a long operation."""
        if self.keeper is not None:
            await self.keeper.note(math.inf)

    def provider_address(self, text: str) -> AbsProviderInstance:
        """The provider instance that a text names."""
        return self._addresses[text]

    def provider(self, subject: Change | EphemeralInstance | Invocation) -> api.Provider:
        """The provider that is needed for an instance or an action, which is open by now."""
        # The graph opens providers before operations that use them, so a missing one has
        # failed, and reported why.
        node = self.providers.get(str(subject.provider))
        if node is None or node.provider is None:
            raise OperationFailed
        return node.running_for(subject.address)

    def current(self, address: AbsResourceInstance) -> StoredObject:
        """Return the current object of an instance that has one."""
        state = self.draft.instance(address)
        assert state is not None
        assert state.current is not None
        return state.current

    def dependencies(self, change: Change) -> tuple[AbsResource, ...]:
        """Return the resources that an object depends on in the current configuration."""
        block = self.blocks.resource_block(resource_of(change.address))
        return tuple(sorted(self.blocks.resources_before(block), key=str))

    def is_created_first(self, change: Change) -> bool:
        """Return whether the replacement is created before the old object is destroyed."""
        address = change.address
        return self.settings.is_declared_first(address.module, address.item.resource)

    def skips_destroy(self, change: Change) -> bool:
        """Return whether an object that is no longer wanted is only forgotten."""
        address = change.address
        return self.settings.skips_destroy(address.module, address.item.resource)

    def renew_dependencies(self) -> None:
        """Update the dependencies and lifecycle settings of unchanged objects."""
        for change in self.plan.changes:
            # OpenTofu refreshes dependencies and lifecycle settings in the state even
            # if an object does not change: a later destroy without configuration
            # knows only these.
            if change.action is Action.NO_OP:
                self._renew(change)

    def _renew(self, change: Change) -> None:
        state = self.draft.instance(change.address)
        if state is None or state.current is None:
            return
        renewed = state.current.with_lifecycle(
            self.dependencies(change),
            self.is_created_first(change),
            self.skips_destroy(change),
        )
        self.draft.renew(change.address, renewed, change.provider)

    def keep_data(self, undestroyed: set[str]) -> None:
        """Retain data that a destroy would forget, if objects that still exist depend on it."""
        needed: dict[AbsResource, set[ModuleAddr]] = {}
        for change in self.plan.changes:
            state = self.draft.instance(change.address)
            if state is None or str(change.address) not in undestroyed:
                continue
            for stored in (state.current, *state.deposed.values()):
                for each in () if stored is None else stored.dependencies:
                    # Dependencies name whole resources in modules without
                    # keys (ConfigResource), so every instance that may be
                    # meant is kept.
                    if each.item.mode is DATA:
                        needed.setdefault(each, set()).add(change.address.module)
        for resource in self.plan.previous_state.resources.values() if needed else ():
            address = resource.address
            users = needed.get(Abs(address.module.unkeyed, address.item), ())
            if not any(_may_need(user, address.module) for user in users):
                continue
            for key, instance in resource.instances.items():
                at = instance_of(address, key)
                if self.draft.instance(at) is None:
                    self.draft.set_current(at, instance.current, resource.manager_of(key))

    def report_faults(self, change: Change, faults: list[ProviderFault]) -> None:
        """Report the faults of a provider."""
        for fault in faults:
            where = path_text(fault.path).removeprefix(".")
            self.diags.error(
                "Inconsistent result of a change",
                f"After changing {change.address}, the provider "
                f"{change.provider.item.provider.display} returned something other than it had "
                f"planned{', at ' + where if where else ''}: {fault.text}. This is a bug in the "
                "provider.",
                address=str(change.address),
            )


def _may_need(user: ModuleAddr, module: ModuleAddr) -> bool:
    """Return whether blocks of one module instance may depend on those of another.

    Other instances of the same module never count.
    """
    for (name, key), (its_name, its_key) in zip(user.steps, module.steps, strict=False):
        if name != its_name:
            return True
        if key != its_key:
            return False
    return True
