"""Provider requests, as effects that a node depends on, and those that validate by asking."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Protocol

from nigari.addrs.resource import ACTION, DATA, EPHEMERAL, LIST, MANAGED
from nigari.eval.core.worklist import Effect
from nigari.eval.nodes.resource import ValidateConfig
from nigari.eval.validate.provider import ValidateProvider
from nigari.eval.validate.run import ProviderValidation
from nigari.providers import api
from nigari.running.list_requests import about_block, list_request
from nigari.schema.config_block import CONFIG


class ProviderRequest(Effect):
    """A request to a provider."""

    __slots__ = ()

    @abstractmethod
    async def perform(self) -> None:
        """Send the request."""

    @property
    @abstractmethod
    def label(self) -> str:
        """Label of the requesting object in messages."""


class Inquirer(Protocol):
    """A node with a request."""

    @property
    def label(self) -> str:
        """Label of the node in messages."""
        ...

    async def perform(self) -> None:
        """Send the request."""
        ...


class AskProvider(ProviderRequest):
    """Performs the request of a node."""

    __slots__ = ("_node",)

    def __init__(self, node: Inquirer) -> None:
        self._node = node

    @property
    def label(self) -> str:
        return self._node.label

    async def perform(self) -> None:
        await self._node.perform()


async def validate_with_provider(
    provider: api.Provider, effect: ProviderValidation
) -> Sequence[api.ProviderDiagnostic]:
    """Have a provider validate a configuration."""
    if isinstance(effect, ValidateProvider):
        return (await provider.validate_provider(effect.config)).diagnostics
    if effect.mode is LIST:
        return await _validate_list(provider, effect)
    if effect.mode is ACTION:
        config = effect.config.attribute(CONFIG)
        return about_block((await provider.validate_action(effect.type_name, config)).diagnostics)
    ask = {
        MANAGED: provider.validate_resource,
        DATA: provider.validate_data,
        EPHEMERAL: provider.validate_ephemeral,
    }[effect.mode]
    return (await ask(effect.type_name, effect.config)).diagnostics


async def _validate_list(
    provider: api.Provider, effect: ValidateConfig
) -> Sequence[api.ProviderDiagnostic]:
    request = list_request(effect.type_name, effect.config)
    if not isinstance(request, api.ListRequest):
        return request
    return about_block((await provider.validate_list(request)).diagnostics)
