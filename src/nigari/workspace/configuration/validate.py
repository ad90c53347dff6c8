"""Validating a configuration with the providers that it needs, as plugins that look at it.

One unconfigured plugin per provider tells its schema and gives its opinion of configurations.
Where no plugin is needed, nothing is started.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from nigari.addrs.provider import Provider
from nigari.addrs.resource import DATA, EPHEMERAL, MANAGED
from nigari.diagnostics import Diagnostics
from nigari.eval.base.once import Effect
from nigari.eval.static.run import StaticRun
from nigari.eval.validate.provider import ValidateProvider
from nigari.eval.validate.run import Opinion, ValidateRun
from nigari.providers import api
from nigari.running.driver import Driver
from nigari.running.function_calls import FunctionCalls
from nigari.running.provider_pool import ProviderPool
from nigari.running.requests import ProviderRequest
from nigari.workspace.plugins.providers import InstalledProviders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_AT_ONCE: Final = 10


async def validate_with_plugins(
    run: StaticRun,
    needed: Collection[Provider],
    installed: InstalledProviders,
    diags: Diagnostics,
) -> None:
    """Look at a whole configuration, with whatever the providers that it needs say."""
    pool = ProviderPool(installed.start)
    try:
        await pool.load(sorted(needed), diags)
        diags.extend(installed.problems)
        if diags.has_errors:
            return
        running = {each: await pool.open(each, diags) for each in sorted(needed)}
        check = ValidateRun(run, pool)
        check.find_function = FunctionCalls(pool, None, check.diags).function

        async def perform(effect: Effect) -> None:
            if isinstance(effect, ProviderRequest):
                await effect.perform()
                return
            assert isinstance(effect, Opinion)
            provider = running.get(effect.provider)
            check.tell(effect, () if provider is None else await _ask(provider, effect))

        await Driver(check.work, perform, _AT_ONCE).run()
        diags.extend(check.diags)
    finally:
        await pool.close_all()


async def _ask(provider: api.Provider, effect: Opinion) -> Sequence[api.ProviderDiagnostic]:
    """What a provider says of a configuration."""
    if isinstance(effect, ValidateProvider):
        return (await provider.validate_provider(effect.config)).diagnostics
    ask = {
        MANAGED: provider.validate_resource,
        DATA: provider.validate_data,
        EPHEMERAL: provider.validate_ephemeral,
    }[effect.mode]
    return (await ask(effect.type_name, effect.config)).diagnostics
