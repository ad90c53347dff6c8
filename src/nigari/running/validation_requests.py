"""Validation of a configuration by an unconfigured provider.

Deliberately unknown here: the configurations, and the time of their validation.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.resource import DATA, EPHEMERAL, LIST, MANAGED
from nigari.eval.nodes.resource import ValidateConfig
from nigari.eval.validate.provider import ValidateProvider
from nigari.eval.validate.run import ProviderValidation
from nigari.providers import api
from nigari.running.list_requests import about_block, list_request


async def validate_with_provider(
    provider: api.Provider, effect: ProviderValidation
) -> Sequence[api.ProviderDiagnostic]:
    """Have a provider validate a configuration."""
    if isinstance(effect, ValidateProvider):
        return (await provider.validate_provider(effect.config)).diagnostics
    if effect.mode is LIST:
        return await _validate_list(provider, effect)
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
