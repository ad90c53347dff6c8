"""Providers as Python programs see them: what modules require, and how they configure it.

A view has the values of a block as far as they are known before anything runs. Configurations that
a caller passes are shown under the names that the module has for them. No provider is started.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.keys import DEFERRED, InstanceKey, key_from_value, key_text
from nigari.addrs.provider import LocalProviderConfig
from nigari.config.core.declared import Repetition
from nigari.config.core.provider_ref import ProviderRef
from nigari.diagnostics import Range
from nigari.eval.core.expansion import Expansion
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import InstanceData
from nigari.eval.nodes.provider_config import ProviderConfigNode, provider_of
from nigari.record import record
from nigari.workspace.explain.queries import (
    ValueQueries,
    any_instance,
    compiled_origin,
    missing_instances,
    provider_behind,
)
from nigari.workspace.views.blocks import BlockView, Reader, repetition_of
from nigari.workspace.views.parts import InnerPart, Step, way_to_module
from nigari.workspace.views.static_value import StaticValue, text_of


@record
class ProviderRequirement:
    """An entry of `required_providers`."""

    name: str
    """The provider's name in the module."""
    source: str
    """The provider, as its whole address."""
    version: StaticValue | None
    """The version constraint; None if there is none."""
    aliases: tuple[str, ...]
    """The configurations that the module wants from its caller."""
    range: Range


def required_providers(evaluation: ValueQueries, frame: Frame) -> dict[str, ProviderRequirement]:
    """Return a module's provider requirements, by local name."""
    found: dict[str, ProviderRequirement] = {}
    for name, each in frame.module.required_providers.items():
        version: StaticValue | None = None
        if each.version is not None:
            what = f"version of the required provider {name}"
            version = Reader(evaluation, frame).known(what, each.version)
        source = str(provider_of(frame.module, name))
        aliases = tuple(str(alias) for alias in each.configuration_aliases)
        found[name] = ProviderRequirement(name, source, version, aliases, each.range)
    return found


class ProviderView(InnerPart):
    """A module's own or passed provider configuration: the block, which represents all instances, or one of them."""

    __slots__ = ("_data", "_evaluation", "_frame", "_local", "_node", "key", "passed")

    def __init__(
        self,
        evaluation: ValueQueries,
        frame: Frame,
        local: LocalProviderConfig,
        node: ProviderConfigNode | None,
        passed: str = "",
        key: InstanceKey = None,
        data: InstanceData | None = None,
    ) -> None:
        self._evaluation = evaluation
        self._frame = frame
        self._local = local
        self._node = node
        self._data = data
        self.passed: str = passed
        """The caller's name of a passed configuration; empty for a module's own."""
        self.key: InstanceKey = key
        """The key of the instance; None for the block, and where the block is not repeated."""

    def _identity(self) -> object:
        return self._frame, self._local, self.key, self._data is None

    def _way(self) -> tuple[ValueQueries, tuple[Step, ...]]:
        steps = (*way_to_module(self._frame), ("providers", str(self._local)))
        if self._data is not None:
            steps += (("instances", self.key),)
        return self._evaluation, steps

    def __repr__(self) -> str:
        return f"<provider {self.address}>"

    @property
    def address(self) -> str:
        """The configuration, or its instance, as the module names it: `aws.west["eu"]`."""
        return f"{self._local}{key_text(self.key)}"

    @property
    def name(self) -> str:
        """The provider's name in the module."""
        return self._local.name

    @property
    def alias(self) -> str:
        """The alias; nothing for the default configuration."""
        return self._local.alias

    @property
    def provider(self) -> str:
        """The provider, as its whole address."""
        return str(provider_of(self._frame.module, self._local.name))

    @property
    def range(self) -> Range | None:
        """Return the range of the block's header; None if the passed configuration has no block."""
        return None if self._node is None else self._node.config.range

    @property
    def repetition(self) -> StaticValue | None:
        """The value of `for_each` or `count`; None where the block is not repeated."""
        reader = self._reader()
        return None if reader is None else repetition_of(reader, self._path, self._repetition)

    @property
    def instances(self) -> Mapping[InstanceKey, ProviderView]:
        """The instances by key; if the keys are unknown, one with a deferred key represents all."""
        if self._data is not None:
            return {self.key: self}
        return {
            key: ProviderView(
                evaluation=self._evaluation,
                frame=self._frame,
                local=self._local,
                node=self._node,
                passed=self.passed,
                key=key,
                data=data,
            )
            for key, data in _instances(self._evaluation, self._node).items()
        }

    @property
    def arguments(self) -> Mapping[str, StaticValue]:
        """The arguments that are written in the block, with their values."""
        reader, node = self._reader(), self._node
        return (
            {} if reader is None or node is None else reader.arguments(node.config.body, self._path)
        )

    @property
    def blocks(self) -> tuple[BlockView, ...]:
        """The nested blocks that are written in the block; in JSON they look like arguments."""
        reader, node = self._reader(), self._node
        return () if reader is None or node is None else reader.blocks(node.config.body, self._path)

    @property
    def _path(self) -> str:
        return f"provider.{self.address}"

    @property
    def _repetition(self) -> Repetition:
        config = None if self._node is None else self._node.config
        return Repetition() if config is None else Repetition(config.count, config.for_each)

    def _reader(self) -> Reader | None:
        node = self._node
        if node is None:
            return None
        if self._data is not None:
            return Reader(self._evaluation, node.frame, self._data)
        instances = _instances(self._evaluation, self._node)
        data = instances.get(None) or instances.get(DEFERRED)
        expansion = Expansion(instances)
        missing = missing_instances(expansion, node.frame, self._path, node.config.range)
        data = data or any_instance(node.frame, self._repetition, missing)
        return Reader(self._evaluation, node.frame, data, missing)


def _instances(
    evaluation: ValueQueries, node: ProviderConfigNode | None
) -> Mapping[InstanceKey, InstanceData]:
    if node is None:
        return {}
    evaluation.evaluate([node])
    return node.instances


def provider_views(evaluation: ValueQueries, frame: Frame) -> dict[str, ProviderView]:
    """The configurations that a module has, and those that its caller passes, as it names them."""
    nodes = evaluation.run.providers
    found = {
        str(local): ProviderView(evaluation, frame, local, node)
        for local, node in nodes[frame].items()
    }
    call = frame.instance.call
    for each in () if call is None else call.providers:
        local = each.in_child.config
        if str(local) not in found:
            behind = provider_behind(frame, local)
            node = None if behind is None else nodes[behind[0]][behind[1]]
            found[str(local)] = _passed(evaluation, frame, local, each.in_parent, node)
    return found


def _passed(
    evaluation: ValueQueries,
    frame: Frame,
    local: LocalProviderConfig,
    reference: ProviderRef,
    node: ProviderConfigNode | None,
) -> ProviderView:
    """Return the caller's configuration: a whole one, or the instance with a key."""
    passed = reference_text(reference)
    view = ProviderView(evaluation, frame, local, node, passed)
    caller = frame.parent
    if reference.key is None or caller is None:
        return view
    origin = compiled_origin(caller, reference.key, frame.instance.data)
    key = key_from_value(evaluation.value(f"key of {passed}", origin).unmark()[0])
    instances = _instances(evaluation, node)
    chosen = instances.get(DEFERRED if key is None else key)
    if chosen is None:
        return view
    return ProviderView(evaluation, frame, local, node, passed, data=chosen)


def reference_text(reference: ProviderRef) -> str:
    """A reference to a provider configuration as it is written."""
    key = reference.key
    text = str(reference.config)
    return text if key is None else f"{text}[{text_of(key)}]"
