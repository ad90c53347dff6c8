"""Provider requests: effects that a node depends on, validation by asking, and queries.

The blocks of queries and actions wrap the configuration that a provider defines, so that paths in
diagnostics are translated, too.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from nigari.addrs.resource import ACTION, DATA, EPHEMERAL, LIST, MANAGED
from nigari.cty.marks import unmark_deep_with_paths
from nigari.cty.paths import GetAttr
from nigari.cty.values import Value
from nigari.diagnostics import Severity
from nigari.eval.core.worklist import Effect
from nigari.eval.nodes.resource import ValidateConfig
from nigari.eval.validate.provider import ValidateProvider
from nigari.eval.validate.run import ProviderValidation
from nigari.providers import api
from nigari.providers.api import ListRequest, ProviderDiagnostic, ProviderDiagnostics
from nigari.record import replace
from nigari.schema.config_block import CONFIG
from nigari.schema.list_block import DEFAULT_LIMIT, INCLUDE_RESOURCE, LIMIT
from nigari.typed import Protocol


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


def list_request(
    type_name: str, block: Value, includes_resource: bool = False
) -> ListRequest | ProviderDiagnostics:
    """Build the request of a block, or describe what is wrong with it.

    Unknown arguments have their defaults: such a request can be validated, not made.
    """
    plain, _ = unmark_deep_with_paths(block)
    limit, include = plain.attribute(LIMIT), plain.attribute(INCLUDE_RESOURCE)
    most: object = DEFAULT_LIMIT if limit.is_null or not limit.is_known else limit.as_number()
    if not isinstance(most, int) or most < 0:
        detail = "The limit of a list block is a whole number, and not less than 0."
        return (ProviderDiagnostic(Severity.ERROR, "Invalid limit", detail, (GetAttr(LIMIT),)),)
    wanted = include.is_known and not include.is_null and include.as_bool()
    return ListRequest(type_name, plain.attribute(CONFIG), most, includes_resource or wanted)


def about_block(reported: ProviderDiagnostics) -> ProviderDiagnostics:
    """Let paths into the provider's configuration start at the block."""
    return tuple(
        each if each.path is None else replace(each, path=(GetAttr(CONFIG), *each.path))
        for each in reported
    )
