"""Validation of a configuration by an unconfigured provider.

Deliberately unknown here: the configurations, and the time of their validation.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.resource import DATA, EPHEMERAL, MANAGED
from nigari.eval.validate.provider import ValidateProvider
from nigari.eval.validate.run import ProviderValidation
from nigari.providers import api


async def validate_with_provider(
    provider: api.Provider, effect: ProviderValidation
) -> Sequence[api.ProviderDiagnostic]:
    """Have a provider validate a configuration."""
    if isinstance(effect, ValidateProvider):
        return (await provider.validate_provider(effect.config)).diagnostics
    ask = {
        MANAGED: provider.validate_resource,
        DATA: provider.validate_data,
        EPHEMERAL: provider.validate_ephemeral,
    }[effect.mode]
    return (await ask(effect.type_name, effect.config)).diagnostics
