"""Ephemeral resources, write-only arguments and what modules tell, in a provider in Python.

Each is asked for directly and through the plugin protocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, TypeVar

import pytest

from nigari import cty
from nigari.providers import api
from nigari.providers.client import PluginProvider
from nigari.providers.launch import launch
from nigari.providers.python import WRITE_ONLY, Computed, Provider, ProviderError
from tests.plan.vault import vault_provider
from tests.providers.launching import environment, script

T = TypeVar("T")
Ask = Callable[[Callable[[api.Provider], Awaitable[T]]], T]

_SERVE = """
    from tests.plan.vault import vault_provider
    vault_provider(lambda text: None).serve()
"""


@pytest.fixture(params=["directly", "as a plugin"])
def ask(request: pytest.FixtureRequest, tmp_path: Path) -> Ask[object]:
    """Asks the provider, in this process or in one of its own."""

    def directly(work: Callable[[api.Provider], Awaitable[object]]) -> object:
        async def run() -> object:
            provider = vault_provider(lambda text: None)
            await provider.configure(cty.null(cty.DYNAMIC))
            return await work(provider)

        return asyncio.run(run())

    def as_plugin(work: Callable[[api.Provider], Awaitable[object]]) -> object:
        async def run() -> object:
            plugin = await launch(script(tmp_path, _SERVE), "vault", environment())
            provider = PluginProvider(plugin)
            try:
                empty = cty.object_value({"token": cty.null(cty.STRING)})
                assert not (await provider.configure(empty)).diagnostics
                return await work(provider)
            finally:
                await provider.close()

        return asyncio.run(run())

    return directly if request.param == "directly" else as_plugin


async def _config(provider: api.Provider, kind: str, of: str, **given: object) -> cty.Value:
    schema = (await provider.schema()).schema
    assert schema is not None
    kinds = {"ephemeral": schema.ephemeral_resources, "resource": schema.resources}
    types = kinds[kind][of].block.implied_type.attributes
    return cty.object_value(
        {
            key: cty.convert(cty.Value.of(given[key]), type_) if key in given else cty.null(type_)
            for key, type_ in types.items()
        }
    )


def test_opened_renewed_closed(ask: Ask[object]) -> None:
    async def work(provider: api.Provider) -> None:
        config = await _config(provider, "ephemeral", "vault_lease", name="l", renewed_every=60)
        assert not (await provider.validate_ephemeral("vault_lease", config)).diagnostics
        opened = await provider.open_ephemeral("vault_lease", config)
        assert not opened.diagnostics
        assert opened.result.attribute("secret").as_string() == "secret of l"
        assert opened.renew_at is not None
        assert opened.renew_at > datetime.now(UTC) + timedelta(seconds=30)
        renewed = await provider.renew_ephemeral("vault_lease", opened.private)
        assert not renewed.diagnostics
        assert renewed.renew_at is not None
        closed = await provider.close_ephemeral("vault_lease", renewed.private)
        assert not closed.diagnostics
        again = await provider.close_ephemeral("vault_lease", renewed.private)
        assert [each.summary for each in again.diagnostics] == ["Ephemeral object not open"]

    ask(work)


def test_several_are_open_at_a_time(ask: Ask[object]) -> None:
    async def work(provider: api.Provider) -> None:
        names = ("a", "b")
        configs = [await _config(provider, "ephemeral", "vault_lease", name=n) for n in names]
        opened = [await provider.open_ephemeral("vault_lease", each) for each in configs]
        assert opened[0].private != opened[1].private
        for each in opened:
            assert each.renew_at is None
            assert not (await provider.close_ephemeral("vault_lease", each.private)).diagnostics

    ask(work)


@pytest.mark.parametrize("fails", ["open", "renew", "close"])
def test_what_is_raised_becomes_a_diagnostic(ask: Ask[object], fails: str) -> None:
    async def work(provider: api.Provider) -> None:
        given = {"name": "l", "fails": fails, "renewed_every": 60}
        config = await _config(provider, "ephemeral", "vault_lease", **given)
        opened = await provider.open_ephemeral("vault_lease", config)
        told = opened.diagnostics
        if fails == "open":
            assert told[0].path == (cty.GetAttr("name"),)
        else:
            told += (await provider.renew_ephemeral("vault_lease", opened.private)).diagnostics
            told += (await provider.close_ephemeral("vault_lease", opened.private)).diagnostics
        wanted = {"open": "No lease", "renew": "Not renewed", "close": "Not closed"}
        assert [each.summary for each in told] == [wanted[fails]]

    ask(work)


def test_types_that_are_not_there(ask: Ask[object]) -> None:
    async def work(provider: api.Provider) -> None:
        told = (await provider.open_ephemeral("vault_other", cty.EMPTY_OBJECT)).diagnostics
        assert api.has_errors(told)

    ask(work)


def test_write_only_arguments_reach_the_provider_and_nobody_else(ask: Ask[object]) -> None:
    async def work(provider: api.Provider) -> None:
        config = await _config(provider, "resource", "vault_thing", name="t", password="hush")
        nothing = cty.null(config.type)
        planned = await provider.plan(api.PlanRequest("vault_thing", nothing, config, config))
        assert not planned.diagnostics
        assert planned.planned.attribute("password").is_null
        made = await provider.apply(
            api.ApplyRequest("vault_thing", nothing, planned.planned, config)
        )
        assert not made.diagnostics
        assert made.state.attribute("password").is_null
        assert made.state.attribute("id").as_string() == "id-t"

    ask(work)


def test_functions_are_listed(ask: Ask[object]) -> None:
    async def work(provider: api.Provider) -> None:
        answer = await provider.functions()
        assert not answer.diagnostics
        assert list(answer.functions) == ["twice"]

    ask(work)


def test_the_time_until_a_renewal_has_one_form() -> None:
    provider = Provider("demo")
    closed: list[str] = []

    @provider.ephemeral_resource("wrong")
    @dataclass
    class Wrong:
        name: str

        def open(self, config: object) -> object:
            return 5

        def close(self, config: object) -> None:
            closed.append(self.name)

    async def run() -> api.OpenEphemeralResponse:
        config = cty.object_value({"name": cty.string("w")})
        return await provider.open_ephemeral("demo_wrong", config)

    told = asyncio.run(run()).diagnostics
    assert [each.summary for each in told] == ["Wrong value from the provider"]
    assert closed == ["w"]


def test_write_only_fields_may_be_required_or_not() -> None:
    provider = Provider("demo")

    @provider.resource("thing")
    @dataclass
    class Thing:
        needed: Annotated[str, WRITE_ONLY]
        maybe: Annotated[str, WRITE_ONLY] = ""
        id: Computed[str] = ""

        def create(self, config: object) -> None:
            if not self.maybe:
                raise ProviderError("Too little")
            self.id = "x"

        def delete(self, config: object) -> None:
            pass

    schema = asyncio.run(provider.schema()).schema
    assert schema is not None
    found = schema.resources["demo_thing"].block.attributes
    assert (found["needed"].required, found["needed"].write_only) == (True, True)
    assert (found["maybe"].optional, found["maybe"].computed) == (True, False)
