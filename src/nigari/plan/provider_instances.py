"""Which provider instance a resource instance uses, and the configured instances themselves.

A name leads from a module to where it is configured: in the module itself, or with a caller who
passes it or from whom it is inherited. A key may be written at the resource or at one of the calls
on the way; it is an ordinary expression of that place.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.absolute import Abs
from nigari.addrs.keys import InstanceKey, key_text
from nigari.addrs.module import ROOT_MODULE
from nigari.addrs.provider import (
    AbsProviderConfig,
    AbsProviderInstance,
    LocalProviderConfig,
    Provider,
)
from nigari.addrs.provider import ProviderConfig as ProviderConfigAddr
from nigari.config.provider_config import ProviderConfig
from nigari.config.resource import Resource
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import STRING
from nigari.cty.values import Value
from nigari.diagnostics import Range
from nigari.eval.expansion import (
    NO_INSTANCE_DATA,
    InstanceData,
    expand_count,
    expand_for_each,
)
from nigari.eval.instances import Frame, ModuleInstance, Origin
from nigari.eval.once import Effect, Need, Node, Stages
from nigari.eval.scope import evaluate, evaluate_body, evaluate_origin
from nigari.lang.marks import EPHEMERAL, SENSITIVE
from nigari.plan.provider_names import find_block, local_name
from nigari.plan.provider_pool import ProviderPool
from nigari.plan.unknown_values import is_reported
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.record import record
from nigari.schema.decode import decoder_spec
from nigari.schema.placeholders import empty_block
from nigari.schema.provider import ProviderSchema


@record
class FoundConfig:
    """Where a provider name leads, in one phase."""

    frame: Frame
    """The module that has the configuration."""
    config: ProviderConfig | None
    """The block; None where there is none and an empty one is meant."""
    address: AbsProviderConfig
    key: Origin | None = None
    """The key that a call on the way gives."""

    @property
    def provider(self) -> Provider:
        return self.address.item.provider


def find_config(frame: Frame, name: str, alias: str = "") -> FoundConfig:
    """The configuration that a name means in a module."""
    found = find_block(frame.instance, name, alias)
    key: Origin | None = None
    if found.key is not None:
        caller = _ancestor(frame, found.key.caller)
        key = Origin(caller, caller.instance.compiled.expression(found.key.expr), found.key.data)
    return FoundConfig(_ancestor(frame, found.instance), found.config, found.address, key)


def _ancestor(frame: Frame, instance: ModuleInstance) -> Frame:
    while frame.instance is not instance:
        assert frame.parent is not None
        frame = frame.parent
    return frame


class ConfigureProvider(Effect):
    """A provider instance must be started and configured."""

    __slots__ = ("node",)

    def __init__(self, node: ProviderNode) -> None:
        self.node = node


class ProviderNode(Node):
    """A configured provider instance."""

    __slots__ = (
        "_config",
        "_effect",
        "_found",
        "_key",
        "_pool",
        "_stages",
        "address",
        "asked_at",
        "data",
        "provider",
        "schema",
    )

    def __init__(self, found: FoundConfig, key: InstanceKey, pool: ProviderPool) -> None:
        super().__init__()
        self.address: AbsProviderInstance = Abs(
            found.address.module, found.address.item.instance(key)
        )
        self._found = found
        self._key = key
        self._pool = pool
        self._config: Value | None = None
        self._effect: ConfigureProvider | None = None
        self.asked_at: Range | None = None
        """Where the configuration asks for this instance; None where only a state does."""
        self.data = NO_INSTANCE_DATA
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
        config, frame = self._found.config, self._found.frame
        if config is None or not config.is_expanded:
            return ()
        expr = config.for_each or config.count
        assert expr is not None
        value = evaluate(frame, frame.instance.compiled.expression(expr))
        if not isinstance(value, Value):
            return value
        grow = expand_for_each if config.for_each is not None else expand_count
        expansion = grow(value, expr.range, frame.run.diags)
        data = expansion.instances.get(self._key)
        if expansion.deferred_by is not None:
            self._report_unknown(expr.range, value)
        elif data is not None:
            self.data = data
            return ()
        elif expansion.instances or not frame.run.diags.has_errors:
            self._report_gone(config)
        self.schema = None
        return ()

    def _evaluate(self) -> Sequence[Need]:
        if self.schema is None:
            return ()
        block = self.schema.provider.block
        config, frame = self._found.config, self._found.frame
        if config is None:
            self._config = empty_block(block)
            return ()
        errors = frame.run.diags.error_count
        compiled = frame.instance.compiled.body(config.body, decoder_spec(block))
        value = evaluate_body(frame, compiled, self.data)
        if not isinstance(value, Value):
            return value
        if frame.run.diags.error_count == errors:
            self._config = value.unmark_deep()[0]
        return ()

    def _open(self) -> Sequence[Need]:
        if self._config is None or self._effect is not None:
            return ()
        self._effect = ConfigureProvider(self)
        return (self._effect,)

    async def perform(self) -> None:
        """Start the provider and give it its configuration."""
        assert self._config is not None
        diags = self._found.frame.run.diags
        running = await self._pool.open(self._found.provider, diags)
        if running is None:
            return
        told = (await running.validate_provider(self._config)).diagnostics
        if not api.has_errors(told):
            told += (await running.configure(self._config)).diagnostics
        block = None if self.schema is None else self.schema.provider.block
        body = None if self._found.config is None else self._found.config.body
        diags.extend(located(told, block, body, str(self.address)))
        if api.has_errors(told):
            await self._pool.close(running)
        else:
            self.provider = running

    def _report_unknown(self, where: Range, value: Value) -> None:
        if not is_reported(value):
            self._found.frame.run.diags.error(
                "Unknown provider instances",
                f"Which instances {self._found.address} has is known only after something else "
                "has been applied, so none of them can be used now.",
                where,
            )

    def _report_gone(self, config: ProviderConfig) -> None:
        if self.asked_at is not None:
            self._found.frame.run.diags.error(
                "No such provider instance",
                f"{config.addr} has no instance {key_text(self._key)}: its "
                f"{'count' if config.count is not None else 'for_each'} does not give this key.",
                self.asked_at,
            )
            return
        self._found.frame.run.diags.error(
            "No such provider instance",
            f"{self._found.address} has no instance {key_text(self._key)}, which is still needed "
            "for what it manages. Keep the key until those resources have been destroyed, or move "
            "them to another instance first.",
            config.range,
        )


class ProviderInstances:
    """The provider instances of one run, each made when it is first asked for."""

    def __init__(self, pool: ProviderPool) -> None:
        self._pool = pool
        self._nodes: dict[tuple[Frame, AbsProviderInstance], ProviderNode] = {}
        self._found: dict[tuple[Frame, str, str], FoundConfig] = {}

    def config_for(self, frame: Frame, resource: Resource) -> FoundConfig:
        """The configuration that a resource block names."""
        ref = resource.provider
        name, alias = (resource.provider_name, "") if ref is None else (ref.name, ref.alias)
        found = self._found.get((frame, name, alias))
        if found is None:
            found = self._found[frame, name, alias] = find_config(frame, name, alias)
        return found

    def for_instance(
        self, frame: Frame, resource: Resource, data: InstanceData
    ) -> ProviderNode | list[Need] | None:
        """The provider instance of a resource instance, what is needed first to tell, or nothing
        where the key is wrong, which is then reported.
        """
        found = self.config_for(frame, resource)
        ref = resource.provider
        origin = found.key
        if ref is not None and ref.key is not None:
            compiled = frame.instance.compiled.expression(ref.key)
            origin = Origin(frame, compiled, data)
        if origin is None:
            return self.node(found, None)
        key = _key(origin)
        if isinstance(key, list):
            return key
        if key is None:
            return None
        config = found.config
        is_counted = config is not None and config.count is not None
        node = self.node(found, _as_index(key) if is_counted else key)
        node.asked_at = node.asked_at or origin.compiled.expr.range
        return node

    def for_address(self, root: Frame, address: AbsProviderInstance) -> ProviderNode:
        """The provider instance that a state names.

        Its module may be gone, and so may its block: then the nearest caller that has one for the
        same provider serves, as it would for a module without one.
        """
        frame, alias = root, address.item.config.alias
        for name, _ in address.module.steps:
            call = frame.calls.get(name)
            child = next(iter(call.frames.values()), None) if call is not None else None
            if child is None:
                break
            frame = child
        provider = address.item.provider
        config = _own_config(frame, provider, alias)
        while config is None and frame.parent is not None:
            frame = frame.parent
            config = _own_config(frame, provider, alias)
        where = ROOT_MODULE if frame.parent is None else frame.instance.addr.unkeyed
        found = FoundConfig(frame, config, Abs(where, ProviderConfigAddr(provider, alias)))
        return self.node(found, address.item.key)

    def node(self, found: FoundConfig, key: InstanceKey) -> ProviderNode:
        """The instance with this key."""
        address = Abs(found.address.module, found.address.item.instance(key))
        node = self._nodes.get((found.frame, address))
        if node is None:
            node = self._nodes[found.frame, address] = ProviderNode(found, key, self._pool)
        return node


def _own_config(frame: Frame, provider: Provider, alias: str) -> ProviderConfig | None:
    name = local_name(frame.module, provider)
    if name is None:
        return None
    return frame.module.provider_configs.get(LocalProviderConfig(name, alias))


def _key(origin: Origin) -> str | list[Need] | None:
    value = evaluate_origin(origin)
    if not isinstance(value, Value):
        return value
    diags, where = origin.frame.run.diags, origin.compiled.expr.range
    value, marks = value.unmark()
    problem = ""
    if SENSITIVE in marks or EPHEMERAL in marks:
        problem = "It comes from a sensitive or ephemeral value, and keys are shown and stored."
    elif not value.is_known:
        if is_reported(value):
            return None
        problem = "It is known only after something else has been applied."
    elif value.is_null:
        problem = "It is null."
    else:
        try:
            return convert(value, STRING).as_string()
        except CtyError as error:
            problem = f"It cannot be a key: {error.message}."
    diags.error(
        "Invalid provider instance key",
        f"The key says which instance of the provider configuration to use. {problem}",
        where,
    )
    return None


def _as_index(key: str) -> InstanceKey:
    return int(key) if key.isdigit() else key
