"""Configured provider instances: their arguments and processes.

An instance that only objects in the state use is configured from the state's record, as far as the
configuration no longer declares it.
"""

from __future__ import annotations

from collections.abc import Sequence

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
from nigari.running.unknown_values import is_reported
from nigari.running.without_diagnostics import without_diagnostics
from nigari.schema.block import Block
from nigari.schema.decode import decoder_spec
from nigari.schema.placeholders import empty_block, unknown_block
from nigari.schema.provider import ProviderSchema
from nigari.state.model import ProviderMemory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

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
        """Deferral of everything that it manages."""
        self._incomplete: Deferral | None = None
        self.is_partial: bool = False
        """True if parts of its configuration are known after apply, so that its answers about
        existing objects are unreliable. Only set if deferrals are allowed.
        """
        self.address: AbsProviderInstance = address
        """Includes the keys of the block's module instance."""
        self._found = found
        self._expansion = expansion
        self._pool = pool
        self._config: Value | None = None
        self._effect: AskProvider | None = None
        self._recalled_from: ProviderMemory | None = None
        self.asked_at: Range | None = None
        """Range of the reference to this instance; None if only the state refers to it."""
        self.asked_by: str = ""
        """Address of the first object that uses it, if there is one."""
        self.user: AbsResourceInstance | None = None
        """An object that only exists in the state and is managed by this instance."""
        self.memory = memory
        """Recorded configuration: first that of the state, then the current one."""
        self.data: InstanceData = NO_INSTANCE_DATA
        self.schema: ProviderSchema | None = pool.of(found.provider)
        self.provider: api.Provider | None = None
        """The running provider; None after a reported failure."""
        self._stages = Stages(self._choose, self._evaluate, self._open)

    def running_for(self, address: AbsResourceInstance) -> api.Provider:
        """Return the running provider, or what replaces it for an instance in a test."""
        assert self.provider is not None
        return self._pool.overrides.for_instance(address, self.provider)

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
        """Determine `each` and `count` of this instance."""
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
        """Take `each` and `count` from the state's record, if there is one."""
        recalled = self.memory
        if recalled is None and self._found.config is not None and self.address.item.key is None:
            # The module is no longer enabled: nothing in it depended on a key.
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
        """Decide whether an instance can be configured with the values known so far.

        It cannot if a required argument is unknown, or one that even this round will not determine.
        """
        from nigari.schema.unknown_arguments import lacks_required

        if is_reported(value):
            return
        before = deferrals.within(value)
        if before or lacks_required(block, value):
            self._wait(before)
        self.is_partial = True

    def _written(self) -> tuple[Written, ...]:
        """The arguments with unknown values."""
        config, frame = self._found.config, self._found.frame
        if config is None or self.schema is None:
            return ()
        compiled = frame.instance.compiled
        body = compiled.body(config.body, decoder_spec(self.schema.provider.block))
        return (Written(frame, body, self.data),)

    def _wait(self, before: Sequence[Deferral] = ()) -> None:
        """Defer everything that the instance manages."""
        self.deferral = self.incomplete(before)
        self.schema = None

    def incomplete(self, before: Sequence[Deferral] = ()) -> Deferral:
        """Create the deferral of work that requires a completely known configuration."""
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
        """Configure the instance as recorded, with sensitive values from their original sources."""
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
        """Record the current configuration, unless the earlier record has more known values."""
        if self.memory is None or value.is_wholly_known:
            memory, found = remember(self.address, self.data, block, value), self._found
            if memory.withheld and found.config is not None and found.frame.parent is None:
                from nigari.running.secret_sources import secret_sources

                sources = secret_sources(found.config, found.frame.module.locals, memory)
                memory = replace(memory, sources=sources)
            self.memory = memory

    def _open(self) -> Sequence[Need]:
        if self._config is None or self._effect is not None:
            return ()
        self._effect = AskProvider(self)
        return (self._effect,)

    async def perform(self) -> None:
        """Start the provider and configure it."""
        assert self._config is not None
        diags = self._diags
        running = await self._pool.open(self._found.provider, diags)
        if running is None:
            return
        config = self._found.config
        if config is not None and config.is_mocked:
            self.provider = self._pool.overrides.for_provider(config, running)
            self._pool.is_ready(running)
            return
        reported = (await running.validate_provider(self._config)).diagnostics
        if not api.has_errors(reported):
            reported += (await self._configure(running, self._config)).diagnostics
        if self.is_partial and api.has_errors(reported):
            # The failure may vanish once the whole configuration is known.
            await self._pool.close(running)
            self._wait()
            return
        block = None if self.schema is None else self.schema.provider.block
        body = None if self._found.config is None else self._found.config.body
        diags.extend(located(reported, block, body, str(self.address)))
        if api.has_errors(reported):
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
        """Report a provider instance that is neither in the configuration nor recorded."""
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
            f"what these arguments come from{source} must have a value, which may be given with "
            "-var even if the variable is not declared any more. Otherwise destroy the resources "
            "first, and remove their provider afterwards.",
            self.range,
        )
