"""Objects of the prior state that nothing in the configuration wants any more.

Their providers are found from the state. An orphan is destroyed, or only forgotten where a
`removed` block or the object itself says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.cty.values import Value, null
from nigari.diagnostics import Range
from nigari.eval.instances import Frame, Origin
from nigari.eval.once import DONE, Effect, Need, Node
from nigari.plan.changes import Action, Change, Reason
from nigari.plan.instances import Planning
from nigari.plan.prior import PriorObject, read, upgraded
from nigari.plan.protection import flag, protected
from nigari.plan.provider_instances import ProviderNode
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.schema.provider import Schema
from nigari.state.model import StoredObject


class DestroyObject(Effect):
    """A provider must be asked about an object that is to go."""

    __slots__ = ("node",)

    def __init__(self, node: OrphanNode) -> None:
        self.node = node


class OrphanNode(Node):
    """An object that is to go: the current one of an instance, or a deposed one."""

    __slots__ = (
        "_deposed",
        "_effect",
        "_forgets",
        "_protection",
        "_provider",
        "_reason",
        "_run",
        "_stored",
        "address",
    )

    def __init__(
        self,
        run: Planning,
        address: AbsResourceInstance,
        stored: StoredObject,
        provider: ProviderNode,
        reason: Reason,
        deposed: str = "",
        forgets: bool = False,
        protection: Origin | None = None,
    ) -> None:
        super().__init__()
        self.address = address
        self._run = run
        self._stored = stored
        self._provider = provider
        self._reason = reason
        self._deposed = deposed
        self._forgets = forgets or stored.skip_destroy
        self._protection = protection
        """Where `prevent_destroy` is written, if the resource is still declared."""
        self._effect: DestroyObject | None = None

    @property
    def label(self) -> str:
        return str(self.address)

    @property
    def range(self) -> Range | None:
        return None

    def fail(self) -> None:
        """Nobody asks for its result."""

    def step(self) -> Sequence[Need]:
        if self._provider.state != DONE:
            return (self._provider,)
        if self._protection is not None:
            truth = flag(self._protection, "prevent_destroy")
            if isinstance(truth, list):
                return truth
            if not truth:
                self._protection = None
        if self._effect is None and self._provider.provider is not None:
            self._effect = DestroyObject(self)
            return (self._effect,)
        return ()

    async def perform(self) -> None:
        """See whether the object is still there, and plan its end."""
        run, node = self._run, self._provider
        assert node.provider is not None
        assert node.schema is not None
        type_name = self.address.item.resource.type
        schema = node.schema.resources.get(type_name)
        if schema is None:
            _report_type(self.address, type_name, run)
            return
        prior = await upgraded(node.provider, schema, self.address, self._stored, run.diags)
        if prior is None:
            return
        now: PriorObject | None = prior
        if run.refreshes and not self._forgets:
            errors = run.diags.error_count
            now = await read(node.provider, schema, self.address, prior, None, run.diags)
            if now is None and run.diags.error_count > errors:
                return
        if not self._deposed:
            run.note_refreshed(self.address, prior, now, schema, node.address)
        if now is None or run.is_refresh_only:
            return
        if self._protection is not None and not self._forgets:
            run.diags.append(protected(self.address, self._protection.compiled.expr.range))
            return
        run.note(await self._change(now, schema, node), None)

    async def _change(self, now: PriorObject, schema: Schema, node: ProviderNode) -> Change:
        nothing = null(schema.block.implied_type)
        private = now.private
        if not self._forgets and node.schema is not None and node.schema.plans_destroy:
            private = await self._ask(now, nothing, node)
        return Change(
            self.address,
            Action.FORGET if self._forgets else Action.DELETE,
            now.value,
            nothing,
            node.address,
            schema,
            self._reason,
            private=private,
            deposed=self._deposed,
            previous_address=self._run.previous_address(self.address),
        )

    async def _ask(self, now: PriorObject, nothing: Value, node: ProviderNode) -> bytes:
        assert node.provider is not None
        prior, _ = now.value.unmark_deep()
        answer = await node.provider.plan(
            api.PlanRequest(
                self.address.item.resource.type,
                prior,
                nothing,
                nothing,
                now.private,
                identity=now.identity,
            )
        )
        self._run.diags.extend(located(answer.diagnostics, address=str(self.address)))
        return answer.planned_private


def reason_for(root: Frame, address: AbsResourceInstance) -> Reason:
    """Why nothing in the configuration wants an instance."""
    frame = frame_at(root, address.module)
    if frame is None:
        return Reason.NO_MODULE
    resource = frame.module.resources.get(address.item.resource)
    if resource is None:
        return Reason.NO_RESOURCE
    key: InstanceKey = address.item.key
    repetition = resource.repetition
    if repetition.count is not None:
        return Reason.COUNT_INDEX if isinstance(key, int) else Reason.WRONG_REPETITION
    if repetition.for_each is not None:
        return Reason.EACH_KEY if isinstance(key, str) else Reason.WRONG_REPETITION
    if repetition.enabled is not None and key is None:
        return Reason.DISABLED
    return Reason.WRONG_REPETITION


def frame_at(root: Frame, module: ModuleAddr) -> Frame | None:
    """The module instance at an address, if it is there."""
    frame = root
    for name, key in module.steps:
        call = frame.calls.get(name)
        child = None if call is None else call.frames.get(key)
        if child is None:
            return None
        frame = child
    return frame


def _report_type(address: AbsResourceInstance, type_name: str, run: Planning) -> None:
    run.diags.error(
        "Unknown resource type in the state",
        f"{address} is in the state, and its provider has no resource type {type_name} any more. "
        "Use a version of the provider that has it, or take the object out of the state.",
        address=str(address),
    )
