"""Validating a configuration with the providers that it needs, as plugins that look at it.

One unconfigured plugin per provider tells its schema and gives its opinion of configurations.
Where no plugin is needed, nothing is started.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from nigari.addrs.provider import Provider
from nigari.diagnostics import Diagnostics
from nigari.eval.core.worklist import Effect
from nigari.eval.static.run import StaticRun
from nigari.eval.validate.run import ProviderValidation, ValidateRun
from nigari.running.driver import Driver
from nigari.running.provider_pool import ProviderPool
from nigari.running.requests import ProviderRequest, validate_with_provider
from nigari.workspace.configuration.builtin import has_store
from nigari.workspace.configuration.validation_cycles import report_cycles
from nigari.workspace.plugins.providers import InstalledProviders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.addrs.values import ProviderFunction
    from nigari.cty.function import Function
    from nigari.eval.core.instances import Frame
    from nigari.eval.core.worklist import Need
    from nigari.lang.references import Reference
    from nigari.running.function_calls import FunctionCalls


_AT_ONCE: Final = 10


async def validate_with_plugins(
    run: StaticRun,
    needed: Collection[Provider],
    installed: InstalledProviders,
    diags: Diagnostics,
) -> None:
    """Look at a whole configuration, with whatever the providers that it needs say."""
    installed.has_store = has_store(run.root.instance)
    pool = ProviderPool(installed.start)
    try:
        await pool.load(sorted(needed), diags)
        diags.extend(installed.problems)
        if diags.has_errors:
            return
        running = {each: await pool.open(each, diags) for each in sorted(needed)}
        check = ValidateRun(run, pool)
        check.find_function = _Functions(pool, check.diags).find

        async def perform(effect: Effect) -> None:
            if isinstance(effect, ProviderRequest):
                await effect.perform()
                return
            assert isinstance(effect, ProviderValidation)
            provider = running.get(effect.provider)
            check.tell(
                effect, () if provider is None else await validate_with_provider(provider, effect)
            )

        await Driver(check.work, perform, _AT_ONCE).run()
        diags.extend(check.diags)
        report_cycles(run.root.instance, pool, diags)
    finally:
        await pool.close_all()


class _Functions:
    """Functions that providers offer. Few configurations call any."""

    def __init__(self, pool: ProviderPool, diags: Diagnostics) -> None:
        self._pool = pool
        self._diags = diags

    @cached_property
    def _calls(self) -> FunctionCalls:
        from nigari.running.function_calls import FunctionCalls

        return FunctionCalls(self._pool, None, self._diags)

    def find(
        self,
        frame: Frame,
        function: ProviderFunction,
        reference: Reference,
        needs: list[Need],
        diags: Diagnostics,
    ) -> Function:
        """A function by its name; what is wrong with that is reported."""
        return self._calls.function(frame, function, reference, needs, diags)
