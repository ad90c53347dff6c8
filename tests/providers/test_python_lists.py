"""Lists of existing objects from a provider in Python, directly and through the plugin protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nigari import cty
from nigari.providers import api
from nigari.providers.client import PluginProvider
from nigari.providers.launch import launch
from nigari.providers.python import Provider
from tests.providers.launching import environment, script
from tests.providers.shelf import shelf_provider

Work = Callable[[api.Provider], Awaitable[list[api.ListEvent]]]
Ask = Callable[[Work], list[api.ListEvent]]

_SERVE = """
    from tests.providers.shelf import shelf_provider
    shelf_provider().serve()
"""


@pytest.fixture(params=["directly", "as a plugin"])
def ask(request: pytest.FixtureRequest, tmp_path: Path) -> Ask:
    def directly(work: Work) -> list[api.ListEvent]:
        async def run() -> list[api.ListEvent]:
            return await work(shelf_provider())

        return asyncio.run(run())

    def as_plugin(work: Work) -> list[api.ListEvent]:
        async def run() -> list[api.ListEvent]:
            provider = PluginProvider(await launch(script(tmp_path, _SERVE), "p", environment()))
            try:
                return await work(provider)
            finally:
                await provider.close()

        return asyncio.run(run())

    return directly if request.param == "directly" else as_plugin


async def _request(provider: api.Provider, kind: str, **given: object) -> api.ListRequest:
    include = bool(given.pop("include_resource", False))
    schema = (await provider.schema()).schema
    assert schema is not None
    attributes = schema.list_resources[kind].block.attributes
    config = cty.object_value(
        {
            name: cty.convert(cty.Value.of(given.get(name)), of.implied_type)
            for name, of in attributes.items()
        }
    )
    return api.ListRequest(kind, config, 100, include)


def _listing(kind: str, most: int = 100, **given: object) -> Work:
    async def work(provider: api.Provider) -> list[api.ListEvent]:
        found: list[api.ListEvent] = []
        events = provider.list_resources(await _request(provider, kind, **given))
        async with aclosing(events):
            async for event in events:
                found.append(event)
                if len(found) == most:
                    break
        return found

    return work


def _shown(events: list[api.ListEvent]) -> list[Any]:
    return [
        (
            each.display_name,
            None if each.identity is None else each.identity.to_python(),
            None if each.resource is None else each.resource.to_python(),
            [
                f"{one.severity.value}: {one.summary} {one.detail}".strip()
                for one in each.diagnostics
            ],
        )
        for each in events
    ]


_EMMA: tuple[object, ...] = ("The novel Emma", {"title": "Emma"}, None, [])


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (
            _listing("shelf_book", containing="m"),
            [_EMMA, ("The novel Middlemarch", {"title": "Middlemarch"}, None, [])],
        ),
        (
            _listing("shelf_book", containing="Em", include_resource=True),
            [("The novel Emma", {"title": "Emma"}, {"title": "Emma", "pages": 4}, [])],
        ),
        (_listing("shelf_book", most=1), [_EMMA]),
        (
            _listing("shelf_book", stumbles_at="Middlemarch"),
            [_EMMA, ("", None, None, ["error: Dropped Middlemarch fell off the shelf."])],
        ),
        (
            _listing("shelf_book", containing="Em", doubts=True),
            [("The novel Emma", {"title": "Emma"}, None, ["warning: Dusty Emma"])],
        ),
        (
            _listing("shelf_lamp"),
            [("left", {"place": "left"}, None, []), ("right", {"place": "right"}, None, [])],
        ),
    ],
)
def test_objects_are_listed(ask: Ask, work: Work, expected: list[object]) -> None:
    assert _shown(ask(work)) == expected


def test_queries_are_validated(ask: Ask) -> None:
    async def work(provider: api.Provider) -> list[api.ListEvent]:
        wrong = await provider.validate_list(await _request(provider, "shelf_book", containing="?"))
        right = await provider.validate_list(await _request(provider, "shelf_book"))
        return [api.ListEvent(diagnostics=each.diagnostics) for each in (wrong, right)]

    wrong, right = ask(work)
    assert [each.summary for each in wrong.diagnostics] == ["No question marks"]
    assert wrong.diagnostics[0].path == (cty.GetAttr("containing"),)
    assert not right.diagnostics


def test_an_unknown_type_is_an_error(ask: Ask) -> None:
    async def work(provider: api.Provider) -> list[api.ListEvent]:
        request = api.ListRequest("shelf_cat", cty.EMPTY_OBJECT, 1)
        return [event async for event in provider.list_resources(request)]

    assert [each.diagnostics[0].summary for each in ask(work)] == ["Unknown list resource type"]


def test_a_query_needs_a_resource_type_with_an_identity() -> None:
    provider = Provider("demo")

    @dataclass
    class Things:
        pass

    with pytest.raises(TypeError, match="needs a resource type with an identity"):
        provider.list_resource("thing")(Things)


def test_a_list_method_that_is_no_generator_is_an_error() -> None:
    provider = shelf_provider()

    @provider.list_resource("book")
    @dataclass
    class Books:
        def list(self, config: object) -> list[str]:
            return ["Emma"]

    [event] = asyncio.run(_all(_listing("shelf_book"), provider))
    assert "must be a generator" in event.diagnostics[0].detail


async def _all(work: Work, provider: api.Provider) -> list[api.ListEvent]:
    return await work(provider)
