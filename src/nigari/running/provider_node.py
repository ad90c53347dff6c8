"""A configured provider instance: which arguments it gets, and the process that got them.

What only a state needs any more is configured from what the state remembers, where the
configuration no longer says it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.keys import key_text
from nigari.addrs.provider import AbsProviderInstance
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.eval.core.scope import evaluate, evaluate_body
from nigari.eval.core.worklist import DONE, Need, Node, Stages
from nigari.eval.nodes.provider_keys import report_no_provider_instance
from nigari.eval.nodes.provider_names import FoundConfig
from nigari.hcl.parser import parse_expression
from nigari.hcl.source import Source
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.record import replace
from nigari.running.deferrals import (
    Deferral,
    DeferralReason,
    Deferrals,
    DeferredKind,
    Written,
)
from nigari.running.provider_keys import ExpandedProvider
from nigari.running.provider_pool import ProviderPool
from nigari.running.remembered_config import (
    missing_arguments,
    recalled_config,
    recalled_data,
    remember,
)
from nigari.running.requests import AskProvider
from nigari.running.secret_sources import secret_sources
from nigari.running.unknown_values import is_reported
from nigari.running.without_diagnostics import without_diagnostics
from nigari.schema.block import Block
from nigari.schema.decode import decoder_spec
from nigari.schema.placeholders import empty_block, unknown_block
from nigari.schema.provider import ProviderSchema
from nigari.schema.unknown_arguments import lacks_required
from nigari.state.model import ProviderMemory

_MOST_LISTED: Final = 10


class ProviderNode(Node):
    """A configured provider instance."""

    __slots__ = (
        "_config",
        "_deferrals",
        "_diags",
        "_effect",
        "_expansion",
        "_found",
        "_incomplete",
        "_pool",
        "_recalled_from",
        "_stages",
        "address",
        "asked_at",
        "asked_by",
        "data",
        "deferral",
        "is_partial",
        "memory",
        "provider",
        "schema",
        "user",
    )

    def __init__(
        self,
        found: FoundConfig,
        address: AbsProviderInstance,
        expansion: ExpandedProvider | None,
        pool: ProviderPool,
        memory: ProviderMemory | None,
        diags: Diagnostics,
        deferrals: Deferrals | None = None,
    ) -> None:
        super().__init__()
        self._diags = diags
        self._deferrals = deferrals
        self.deferral: Deferral | None = None
        """Why everything that it manages is left for later."""
        self._incomplete: Deferral | None = None
        self.is_partial: bool = False
        """Whether parts of its configuration are known only after apply, so that what it says of
        objects that exist cannot be trusted. Noted only where such things may be left for later.
        """
        self.address: AbsProviderInstance = address
        """With the keys of the module instance that the block is in."""
        self._found = found
        self._expansion = expansion
        self._pool = pool
        self._config: Value | None = None
        self._effect: AskProvider | None = None
        self._recalled_from: ProviderMemory | None = None
        self.asked_at: Range | None = None
        """Where the configuration asks for this instance; None where only a state does."""
        self.asked_by: str = ""
        """The address of the first object that asks for it, where that is one."""
        self.user: AbsResourceInstance | None = None
        """Something that only the state has and this instance manages."""
        self.memory = memory
        """How it was configured: as the state remembers it, and then as it is now."""
        self.data: InstanceData = NO_INSTANCE_DATA
        self.schema: ProviderSchema | None = pool.of(found.provider)
        self.provider: api.Provider | None = None
        """The running provider; None where it cannot be had, which has been reported."""
        self._stages = Stages(self._choose, self._evaluate, self._open)

    @property
    def label(self) -> str:
        return str(self.address)

    @property
    def range(self) -> Range | None:
        return None if self._found.config is None else self._found.config.range

    def fail(self) -> None:
        self.provider = None

    def step(self) -> Sequence[Need]:
        return self._stages.step()

    def _choose(self) -> Sequence[Need]:
        """Find what `each` and `count` mean for this instance."""
        expansion = self._expansion
        if expansion is None:
            if self._found.is_gone:
                self._recall()
            return ()
        if expansion.state != DONE:
            return (expansion,)
        data = expansion.instances.get(self.address.item.key)
        if data is not None:
            self.data = data
        elif self.asked_at is None and (expansion.is_known or self.memory is not None):
            self._recall()
        elif expansion.deferral is not None:
            self.schema, self.deferral = None, expansion.deferral
        else:
            if expansion.is_known and self.asked_at is not None:
                self._report_no_key(self.asked_at)
            expansion.report_unknown()
            self.schema = None
        return ()

    def _recall(self) -> None:
        """Take `each` and `count` from memory, if there is any."""
        recalled = self.memory
        if recalled is None and self._found.config is not None and self.address.item.key is None:
            # A module that is not enabled any more: nothing in it depended on a key.
            recalled = ProviderMemory(self.address)
        if recalled is None:
            self._report_forgotten()
            self.schema = None
            return
        self._recalled_from = recalled
        self.data = recalled_data(recalled)

    def _evaluate(self) -> Sequence[Need]:
        if self.schema is None:
            return ()
        block = self.schema.provider.block
        config, frame = self._found.config, self._found.frame
        value: Value | list[Need] = empty_block(block)
        if config is not None and config.is_mocked:
            self._config = empty_block(block)
            return ()
        if self._recalled_from is not None:
            frame = without_diagnostics(frame)
        errors = self._diags.error_count
        if config is not None:
            compiled = frame.instance.compiled.body(config.body, decoder_spec(block))
            value = evaluate_body(frame, compiled, self.data)
        if not isinstance(value, Value):
            return value
        if self._recalled_from is not None:
            written = None if config is None else value
            return self._recall_config(block, written, self._recalled_from)
        if self._diags.error_count == errors:
            if self._deferrals is not None and not value.is_wholly_known:
                self._leave_for_later(block, value, self._deferrals)
            self._config = value.unmark_deep()[0] if self.deferral is None else None
            self._remember(block, value)
        return ()

    def _leave_for_later(self, block: Block, value: Value, deferrals: Deferrals) -> None:
        """Decide whether an instance can be configured with what is known by now.

        It cannot without what it must have, nor with what even this round will not make known.
        """
        if is_reported(value):
            return
        before = deferrals.within(value)
        if before or lacks_required(block, value):
            self._wait(before)
        self.is_partial = True

    def _written(self) -> tuple[Written, ...]:
        """The arguments that are not known yet."""
        config, frame = self._found.config, self._found.frame
        if config is None or self.schema is None:
            return ()
        compiled = frame.instance.compiled
        body = compiled.body(config.body, decoder_spec(self.schema.provider.block))
        return (Written(frame, body, self.data),)

    def _wait(self, before: Sequence[Deferral] = ()) -> None:
        """Leave for later whatever the instance manages."""
        self.deferral = self.incomplete(before)
        self.schema = None

    def incomplete(self, before: Sequence[Deferral] = ()) -> Deferral:
        """What those wait for that cannot do with a configuration of which parts are unknown."""
        assert self._deferrals is not None
        if self._incomplete is None:
            config = self.address.item.config
            alias = f".{config.alias}" if config.alias else ""
            name = f"provider.{config.provider.type}{alias}{key_text(self.address.item.key)}"
            self._incomplete = self._deferrals.add(
                DeferredKind.PROVIDER,
                DeferralReason.PROVIDER,
                self.address.module,
                name,
                self.range,
                self._written(),
                before,
            )
        return self._incomplete

    def _recall_config(
        self, block: Block, value: Value | None, memory: ProviderMemory
    ) -> Sequence[Need]:
        """Configure the instance as it was, with secrets from where they came from then."""
        if value is not None:
            value = value.unmark_deep()[0] if value.is_known else unknown_block(block)
        frame, given = without_diagnostics(self._found.frame), dict[str, Value]()
        for name, text in memory.sources.items():
            expr = parse_expression(Source("<state>", text), frame.run.diags)
            found = evaluate(frame, frame.instance.compiled.expression(expr), self.data)
            if not isinstance(found, Value):
                return found
            given[name] = found
        config = recalled_config(block, value, memory, given).unmark_deep()[0]
        missing = missing_arguments(config)
        if missing:
            self._report_missing(missing, memory)
        else:
            self._config = config
        return ()

    def _remember(self, block: Block, value: Value) -> None:
        """Keep in mind what the instance is configured with; a better memory is not given up."""
        if self.memory is None or value.is_wholly_known:
            memory, found = remember(self.address, self.data, block, value), self._found
            if memory.withheld and found.config is not None and found.frame.parent is None:
                sources = secret_sources(found.config, found.frame.module.locals, memory)
                memory = replace(memory, sources=sources)
            self.memory = memory

    def _open(self) -> Sequence[Need]:
        if self._config is None or self._effect is not None:
            return ()
        self._effect = AskProvider(self)
        return (self._effect,)

    async def perform(self) -> None:
        """Start the provider and give it its configuration."""
        assert self._config is not None
        diags = self._diags
        running = await self._pool.open(self._found.provider, diags)
        if running is None:
            return
        config = self._found.config
        if config is not None and config.is_mocked:
            self.provider = self._pool.stand_ins.for_provider(config, running)
            self._pool.is_ready(running)
            return
        told = (await running.validate_provider(self._config)).diagnostics
        if not api.has_errors(told):
            told += (await self._configure(running, self._config)).diagnostics
        if self.is_partial and api.has_errors(told):
            # What is wrong may be right once all of it is known.
            await self._pool.close(running)
            self._wait()
            return
        block = None if self.schema is None else self.schema.provider.block
        body = None if self._found.config is None else self._found.config.body
        diags.extend(located(told, block, body, str(self.address)))
        if api.has_errors(told):
            await self._pool.close(running)
        else:
            self.provider = running
            self._pool.is_ready(running)

    async def _configure(self, running: api.Provider, config: Value) -> api.Response:
        if self._deferrals is None:
            return await running.configure(config)
        return await running.configure(config, may_defer=True)

    # -- what can be wrong --------------------------------------------------------------------

    def _report_no_key(self, where: Range) -> None:
        config = self._found.config
        assert config is not None
        known = () if self._expansion is None else self._expansion.instances
        key = self.address.item.key
        report_no_provider_instance(config, key, known, where, self._diags, self.asked_by)

    @property
    def _need(self) -> str:
        user = "An object in the state" if self.user is None else str(self.user)
        return f"{user} is managed by {self.address}, which is not in the configuration"

    def _report_forgotten(self) -> None:
        """What manages something is neither in the configuration nor remembered."""
        has_key = self.address.item.key is not None
        what, part = ("instance", "key") if has_key else ("configuration", "block")
        self._diags.error(
            f"Provider {what} removed",
            f"{self._need} any more. Nigari can configure it once more if the state remembers "
            "how it was configured, which it does after an apply by nigari but not after one by "
            f"OpenTofu. Restore the {part} and apply once; after that the {part} and its resources "
            "can be removed together. You can also forget the objects with a removed block that has "
            "destroy = false, which needs no provider.",
            self.range,
        )

    def _report_missing(self, missing: list[str], memory: ProviderMemory) -> None:
        came_from = sorted({memory.sources[name] for name in missing if name in memory.sources})
        source = f" ({', '.join(came_from)})" if came_from else ""
        self._diags.error(
            "Provider instance without its secrets",
            f"{self._need} any more. Nigari can configure it once more from what the state "
            f"remembers, except for {', '.join(missing)}. Secrets are not stored in a state, so "
            f"what these arguments come from{source} must still be declared and have a value, which may be "
            "given with -var. Otherwise destroy the resources first, and remove their provider "
            "afterwards.",
            self.range,
        )
