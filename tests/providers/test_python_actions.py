"""Actions of a provider in Python, directly and through the plugin protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import pytest

from nigari import cty
from nigari.providers import api
from nigari.providers.client import PluginProvider
from nigari.providers.launch import launch
from nigari.providers.python import Deferred, Provider
from nigari.schema.placeholders import empty_block
from tests.providers.launching import environment, script
from tests.providers.stage import stage_provider

Work = Callable[[api.Provider], Awaitable[object]]
Ask = Callable[[Work], object]

_SERVE = """
    from pathlib import Path
    from tests.providers.stage import stage_provider
    stage_provider(Path("log")).serve()
"""


@pytest.fixture(params=["directly", "as a plugin"])
def ask(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.chdir(tmp_path)

    def directly(work: Work) -> object:
        async def run() -> object:
            return await work(stage_provider(Path("log")))

        return asyncio.run(run())

    def as_plugin(work: Work) -> object:
        async def run() -> object:
            provider = PluginProvider(await launch(script(tmp_path, _SERVE), "p", environment()))
            try:
                return await work(provider)
            finally:
                await provider.close()

        return asyncio.run(run())

    return directly if request.param == "directly" else as_plugin


async def _config(provider: api.Provider, kind: str, **given: object) -> cty.Value:
    schema = (await provider.schema()).schema
    assert schema is not None
    block = schema.actions[kind].block
    parts = dict(empty_block(block).mapping())
    for name, value in given.items():
        parts[name] = cty.convert(cty.Value.of(value), block.attributes[name].implied_type)
    return cty.object_value(parts)


def _run(kind: str, **given: object) -> Work:
    async def work(provider: api.Provider) -> list[str]:
        found: list[str] = []
        config = await _config(provider, kind, **given)
        async with aclosing(provider.invoke_action(kind, config)) as events:
            async for event in events:
                found.append("end" if event.is_end else event.message)
                found += [f"{each.severity.value}: {each.summary}" for each in event.diagnostics]
        return found

    return work


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (_run("stage_cue", text="hi"), ["saying hi", "done", "end"]),
        (
            _run("stage_cue", text="hi", fails=True),
            ["saying hi", "end", "error: Forgot the line"],
        ),
        (_run("stage_bow"), ["end"]),
        (_run("stage_bow", times=4), ["end", "warning: Dizzy"]),
        (_run("stage_wave"), ["left", "end", "error: Wrong value from the provider"]),
    ],
)
def test_actions_run(ask: Ask, work: Work, expected: list[str]) -> None:
    assert ask(work) == expected


def test_unknown_actions_are_reported(ask: Ask) -> None:
    async def work(provider: api.Provider) -> list[str]:
        nothing = cty.EMPTY_OBJECT
        async with aclosing(provider.invoke_action("stage_nope", nothing)) as events:
            ran = [each async for each in events]
        answers: list[api.Response | api.PlanActionResponse | api.ActionEvent] = [
            await provider.validate_action("stage_nope", nothing),
            await provider.plan_action("stage_nope", nothing),
            *ran,
        ]
        return [each.summary for answer in answers for each in answer.diagnostics]

    assert ask(work) == ["Unknown action type"] * 3


def test_actions_are_validated_and_planned(ask: Ask) -> None:
    async def work(provider: api.Provider) -> list[list[str]]:
        found = []
        for text in ("?", "never", "fine"):
            config = await _config(provider, "stage_cue", text=text)
            validated = await provider.validate_action("stage_cue", config)
            planned = await provider.plan_action("stage_cue", config)
            found.append([each.summary for each in validated.diagnostics + planned.diagnostics])
        return found

    assert ask(work) == [["No question marks"], ["Unspeakable"], []]


def test_unknown_arguments_are_planned(ask: Ask) -> None:
    async def work(provider: api.Provider) -> api.PlanActionResponse:
        config = dict((await _config(provider, "stage_cue", text="x")).mapping())
        config["text"] = cty.unknown(cty.STRING)
        return await provider.plan_action("stage_cue", cty.object_value(config))

    assert ask(work) == api.PlanActionResponse()
    assert Path("log").read_text() == "plan cue unknown\n"


def test_an_action_can_be_deferred() -> None:
    provider = Provider("late")

    @provider.action("job")
    @dataclass
    class Job:
        def plan(self, config: object) -> None:
            raise Deferred("Too early")

        def invoke(self, config: object) -> None: ...

    async def work(may_defer: bool) -> api.PlanActionResponse:
        return await provider.plan_action("late_job", cty.EMPTY_OBJECT, may_defer)

    assert asyncio.run(work(True)).deferred is api.ProviderDeferral.ABSENT_PREREQUISITE
    refused = asyncio.run(work(False))
    assert refused.deferred is None
    assert [each.summary for each in refused.diagnostics] == ["Too early"]


def test_an_action_needs_a_method() -> None:
    provider = Provider("p")

    @dataclass
    class Nothing: ...

    with pytest.raises(TypeError, match="p_nothing: an action needs the method invoke"):
        provider.action("nothing")(Nothing)
