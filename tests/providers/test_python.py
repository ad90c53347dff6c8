"""A provider in Python, asked directly and through the plugin protocol."""

import asyncio
import runpy
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, cast

import pytest

from nigari import cty
from nigari.providers import api
from nigari.providers.client import PluginProvider
from nigari.providers.launch import launch
from nigari.providers.python import (
    KEEP,
    REPLACE,
    SENSITIVE,
    Computed,
    Provider,
    ProviderError,
    Text,
)
from nigari.schema.block import Attribute, NestedAttributes, Nesting
from nigari.schema.coerce import coerce
from tests.providers.launching import environment, script

EXAMPLE = Path(__file__).parents[2] / "examples" / "python-provider" / "terraform-provider-files"

WRONG_READS: Final = {"nothing": None, "a number": 0, "a text": "gone"}
"""What `read` returns for objects with these names, instead of whether they exist."""


@dataclass
class Part:
    name: str
    weight: float = 1.0


@dataclass
class Everything:
    """All kinds of attributes."""

    name: str
    maybe: str | None = None
    count: int = 3
    ratio: float | None = None
    flag: bool = False
    names: list[str] = field(default_factory=list)
    unique: set[str] | None = None
    tags: dict[str, str] | None = None
    part: Part | None = None
    parts: list[Part] | None = None
    anything: object = None
    secret: Annotated[str | None, SENSITIVE, Text("Hush.")] = None
    fixed: Annotated[str, REPLACE] = "here"
    id: Computed[Annotated[str, KEEP]] = ""
    seen: Computed[int] = 0

    def create(self, config: object) -> None:
        self.id, self.seen = "id-" + self.name, 1

    def read(self, config: object) -> bool:
        self.seen = 2 if self.name in WRONG_READS else self.seen
        return cast("bool", WRONG_READS.get(self.name, self.name != "gone"))

    def update(self, config: object, prior: "Everything") -> None:
        if self.name == "stuck":
            raise ProviderError("It is stuck", "Pull harder.", attribute="name")
        self.seen = prior.seen + 1

    async def delete(self, config: object) -> None:
        if self.name == "undying":
            raise RuntimeError("no")

    def validate(self) -> None:
        if self.count < 0:
            raise ProviderError("Too small", attribute="count")

    @classmethod
    def import_object(cls, config: object, id: str) -> "Everything":
        return cls(name=id, id=id)


def make() -> Provider:
    provider = Provider("demo")
    provider.resource("everything", version=1, upgrade=lambda _v, s: {**s, "count": 9})(Everything)

    @provider.function
    def repeat(text: str, times: int) -> str:
        """Say it again.

        And again.
        """
        if times < 0:
            raise ProviderError("cannot be negative")
        return text * times

    @provider.function
    def total(*numbers: float) -> float:
        return sum(numbers)

    @provider.function
    def length(text: str | None) -> int | None:
        return None if text is None else len(text)

    return provider


TYPE = "demo_everything"
BLOCK = asyncio.run(make().schema()).schema.resources[TYPE].block  # type: ignore[union-attr]
NULL = cty.null(BLOCK.implied_type)


def config(**given: object) -> cty.Value:
    return coerce(BLOCK, cty.object_value({k: cty.Value.of(v) for k, v in given.items()}))


def proposed(prior: cty.Value, wanted: cty.Value) -> cty.Value:
    """As the engine proposes: what is not configured and computed stays as it was."""
    values = {}
    for name, value in wanted.mapping().items():
        attribute = BLOCK.attributes[name]
        if value.is_null and attribute.computed:
            value = cty.null(value.type) if prior.is_null else prior.attribute(name)
        values[name] = value
    return cty.object_value(values)


def plan(provider: api.Provider, prior: cty.Value, wanted: cty.Value) -> api.PlanResponse:
    request = api.PlanRequest(TYPE, prior, proposed(prior, wanted), wanted)
    return asyncio.run(_plan(provider, request))


async def _plan(provider: api.Provider, request: api.PlanRequest) -> api.PlanResponse:
    return await provider.plan(request)


def run_apply(
    provider: api.Provider, prior: cty.Value, planned: cty.Value, wanted: cty.Value
) -> api.ApplyResponse:
    async def run() -> api.ApplyResponse:
        return await provider.apply(api.ApplyRequest(TYPE, prior, planned, wanted))

    return asyncio.run(run())


def created(provider: api.Provider, **given: object) -> cty.Value:
    planned = plan(provider, NULL, config(**given)).planned
    made = run_apply(provider, NULL, planned, config(**given))
    assert made.diagnostics == ()
    return made.state


def test_attributes_follow_annotations() -> None:
    def optional(type_: cty.Type, has_default: bool = False) -> Attribute:
        return Attribute(type_, optional=True, computed=has_default)

    part = {
        "name": Attribute(cty.STRING, required=True),
        "weight": optional(cty.NUMBER, True),
    }
    assert dict(BLOCK.attributes) == {
        "name": Attribute(cty.STRING, required=True),
        "maybe": optional(cty.STRING),
        "count": optional(cty.NUMBER, True),
        "ratio": optional(cty.NUMBER),
        "flag": optional(cty.BOOL, True),
        "names": optional(cty.ListType(cty.STRING), True),
        "unique": optional(cty.SetType(cty.STRING)),
        "tags": optional(cty.MapType(cty.STRING)),
        "part": Attribute(nested=NestedAttributes(part, Nesting.SINGLE), optional=True),
        "parts": Attribute(nested=NestedAttributes(part, Nesting.LIST), optional=True),
        "anything": optional(cty.DYNAMIC),
        "secret": Attribute(cty.STRING, optional=True, sensitive=True, description="Hush."),
        "fixed": optional(cty.STRING, True),
        "id": Attribute(cty.STRING, computed=True),
        "seen": Attribute(cty.NUMBER, computed=True),
    }
    assert BLOCK.description == "All kinds of attributes."


def test_a_new_object_has_defaults_and_open_results() -> None:
    planned = plan(make(), NULL, config(name="a"))
    assert planned.requires_replace == ()
    assert planned.planned.attribute("count") == cty.number(3)
    assert planned.planned.attribute("names") == cty.list_value(cty.STRING, ())
    assert planned.planned.attribute("id") == cty.unknown(cty.STRING)


def test_every_kind_of_value_survives_creation() -> None:
    given = {
        "name": "a",
        "ratio": 0.5,
        "flag": True,
        "names": ["x", "y"],
        "unique": {"u"},
        "tags": {"k": "v"},
        "part": {"name": "p"},
        "parts": [{"name": "q", "weight": 2}],
        "anything": {"deep": [1, "two"]},
    }
    state = created(make(), **given)
    wanted = config(**given)
    for name in ("name", "ratio", "flag", "names", "unique", "tags", "parts", "anything"):
        assert state.attribute(name) == wanted.attribute(name), name
    assert state.attribute("part").to_python() == {"name": "p", "weight": 1.0}
    assert state.attribute("id") == cty.string("id-a")


def test_nothing_to_do_plans_nothing() -> None:
    provider = make()
    state = created(provider, name="a")
    assert plan(provider, state, config(name="a")).planned == state


def test_an_update_opens_results_except_those_that_keep() -> None:
    provider = make()
    state = created(provider, name="a")
    planned = plan(provider, state, config(name="a", count=5))
    assert planned.requires_replace == ()
    assert planned.planned.attribute("id") == cty.string("id-a")
    assert planned.planned.attribute("seen") == cty.unknown(cty.NUMBER)
    made = run_apply(provider, state, planned.planned, config(name="a", count=5))
    assert made.state.attribute("seen") == cty.number(2)


def test_an_unknown_argument_is_planned_unknown() -> None:
    provider = make()
    wanted = config(name="a", count=cty.unknown(cty.NUMBER))
    assert plan(provider, NULL, wanted).planned.attribute("count") == cty.unknown(cty.NUMBER)


def test_some_changes_replace() -> None:
    provider = make()
    state = created(provider, name="a")
    planned = plan(provider, state, config(name="a", fixed="there"))
    assert planned.requires_replace == ((cty.GetAttr("fixed"),),)
    assert planned.planned.attribute("id") == cty.unknown(cty.STRING)


def test_without_update_every_change_replaces() -> None:
    @dataclass
    class Once:
        name: str

        def create(self, config: object) -> None: ...

        def delete(self, config: object) -> None: ...

    provider = Provider("demo")
    provider.resource("once")(Once)
    one, two = (cty.object_value({"name": cty.string(n)}) for n in "ab")
    answer = asyncio.run(provider.plan(api.PlanRequest("demo_once", one, two, two)))
    assert answer.requires_replace == ((cty.GetAttr("name"),),)


def test_an_error_names_its_attribute_and_keeps_the_object() -> None:
    provider = make()
    state = created(provider, name="a")
    wanted = config(name="stuck")
    made = run_apply(provider, state, plan(provider, state, wanted).planned, wanted)
    (diagnostic,) = made.diagnostics
    assert (diagnostic.summary, diagnostic.detail) == ("It is stuck", "Pull harder.")
    assert diagnostic.path == (cty.GetAttr("name"),)
    assert made.state == state


def test_deletion_and_its_failure(caplog: pytest.LogCaptureFixture) -> None:
    provider = make()
    state = created(provider, name="a")
    assert run_apply(provider, state, NULL, NULL) == api.ApplyResponse(NULL)
    state = created(provider, name="undying")
    made = run_apply(provider, state, NULL, NULL)
    assert made.state == state
    assert made.diagnostics[0].detail == "RuntimeError: no."
    assert "Traceback" in caplog.text


def test_reading_and_one_that_is_gone() -> None:
    provider = make()
    state = created(provider, name="a")
    assert asyncio.run(provider.read(api.ReadRequest(TYPE, state))).state == state
    state = created(provider, name="gone")
    assert asyncio.run(provider.read(api.ReadRequest(TYPE, state))).state.is_null


@pytest.mark.parametrize(
    ("name", "returned"),
    [
        ("nothing", "nothing"),
        ("a number", "a value of type int"),
        ("a text", "a value of type str"),
    ],
)
def test_a_read_that_does_not_say_whether_the_object_exists(name: str, returned: str) -> None:
    provider = make()
    state = created(provider, name=name)
    answer = asyncio.run(provider.read(api.ReadRequest(TYPE, state, b"kept")))
    assert (answer.state, answer.private) == (state, b"kept")
    (told,) = answer.diagnostics
    assert told.summary == "Wrong result of a read method"
    assert told.detail.startswith(
        f"The read method of {TYPE} returned {returned}. It must return True"
    )
    assert "False if it is gone" in told.detail


def test_import_and_upgrade() -> None:
    provider = make()
    (imported,) = asyncio.run(provider.import_state(api.ImportRequest(TYPE, "x"))).resources
    assert imported.state.attribute("name") == cty.string("x")
    old = api.UpgradeRequest(TYPE, 0, b'{"name": "a", "dropped": 1}')
    state = asyncio.run(provider.upgrade(old)).state
    assert (state.attribute("count"), state.attribute("id").is_null) == (cty.number(9), True)
    newer = asyncio.run(provider.upgrade(api.UpgradeRequest(TYPE, 2, b"{}")))
    assert "version 2" in newer.diagnostics[0].detail


def test_validation_runs_when_all_is_known() -> None:
    provider = make()

    def told(**given: object) -> api.ProviderDiagnostics:
        return asyncio.run(provider.validate_resource(TYPE, config(**given))).diagnostics

    assert told(name="a") == ()
    assert told(name="a", count=-1)[0].path == (cty.GetAttr("count"),)
    assert told(name=cty.unknown(cty.STRING), count=-1) == ()
    assert "whole number" in told(name="a", count=1.5)[0].detail


CALLS: list[tuple[str, list[object], cty.Value]] = [
    ("repeat", ["ab", 2], cty.string("abab")),
    ("total", [], cty.number(0)),
    ("total", [1, 2.5], cty.number(3.5)),
    ("length", ["abc"], cty.number(3)),
    ("length", [cty.null(cty.STRING)], cty.null(cty.NUMBER)),
    ("repeat", [cty.unknown(cty.STRING), 2], cty.unknown(cty.STRING)),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), CALLS)
def test_functions(name: str, arguments: list[object], expected: cty.Value) -> None:
    given = [cty.Value.of(argument) for argument in arguments]
    answer = asyncio.run(make().call_function(name, given))
    assert answer == api.CallResponse(expected)


def test_function_failures() -> None:
    provider = make()
    answer = asyncio.run(provider.call_function("repeat", [cty.string("a"), cty.number(-1)]))
    assert answer.failure == api.FunctionFailure("cannot be negative")
    answer = asyncio.run(provider.call_function("repeat", [cty.string("a"), cty.number(0.5)]))
    assert answer.failure is not None
    assert answer.failure.argument == 1
    assert asyncio.run(provider.call_function("nothing", [])).failure is not None


def _no_dataclass() -> None:
    Provider("x").resource("y")(object)


def _odd_type() -> None:
    @Provider("x").resource("y")
    @dataclass
    class Odd:
        what: complex


def _default_argument() -> None:
    @Provider("x").function
    def f(a: str = "") -> str:
        return a


def _no_annotation() -> None:
    @Provider("x").function
    def f(a) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001
        return str(a)


@pytest.mark.parametrize("mistake", [_no_dataclass, _odd_type, _default_argument, _no_annotation])
def test_mistakes_in_a_definition_are_told_at_once(mistake: Callable[[], None]) -> None:
    with pytest.raises(TypeError):
        mistake()


SERVED = """
    from tests.providers.test_python import make
    make().serve()
"""


def test_served_it_is_the_same(tmp_path: Path) -> None:
    async def run() -> None:
        plugin = await launch(script(tmp_path, SERVED), "demo", environment())
        served, local = PluginProvider(plugin), make()
        try:
            theirs, ours = (await served.schema()).schema, (await local.schema()).schema
            assert theirs is not None
            assert ours is not None
            assert dict(theirs.resources) == dict(ours.resources)
            assert dict(theirs.functions) == dict(ours.functions)
            wanted = config(name="a", parts=[{"name": "p"}], anything=[1, "x"])
            request = api.PlanRequest(TYPE, NULL, proposed(NULL, wanted), wanted)
            planned = await served.plan(request)
            assert planned == await local.plan(request)
            make_it = api.ApplyRequest(TYPE, NULL, planned.planned, wanted)
            made = await served.apply(make_it)
            assert made == await local.apply(make_it)
            assert (await served.read(api.ReadRequest(TYPE, made.state))).state == made.state
            changed = config(name="stuck")
            request = api.PlanRequest(TYPE, made.state, proposed(made.state, changed), changed)
            assert await served.plan(request) == await local.plan(request)
            bad = await served.validate_resource(TYPE, config(name="a", count=-1))
            assert bad.diagnostics[0].path == (cty.GetAttr("count"),)
            imported = await served.import_state(api.ImportRequest(TYPE, "x"))
            assert imported == await local.import_state(api.ImportRequest(TYPE, "x"))
            old = api.UpgradeRequest(TYPE, 0, b'{"name": "a"}')
            assert await served.upgrade(old) == await local.upgrade(old)
            for name, arguments, expected in CALLS:
                given = [cty.Value.of(argument) for argument in arguments]
                assert (await served.call_function(name, given)).result == expected
            unknown = await served.read(api.ReadRequest("demo_nothing", made.state))
            assert "demo_nothing" in unknown.diagnostics[0].detail
            moved = await served.move_state(api.MoveRequest("p", "t", 0, TYPE))
            assert moved.diagnostics
            opened = await served.open_ephemeral("demo_nothing", cty.EMPTY_OBJECT)
            assert opened.diagnostics
            await served.stop()
        finally:
            await served.close()

    asyncio.run(run())


def test_the_example_manages_files(tmp_path: Path) -> None:
    provider = runpy.run_path(str(EXAMPLE))["provider"]

    async def run() -> None:
        settings = cty.object_value({"directory": cty.string(str(tmp_path / "d"))})
        assert (await provider.configure(settings)).diagnostics == ()
        block = (await provider.schema()).schema.resources["files_text"].block
        null = cty.null(block.implied_type)
        wanted = coerce(block, cty.object_value({"name": cty.string("a")}))
        request = api.PlanRequest("files_text", null, wanted, wanted)
        planned = (await provider.plan(request)).planned
        made = await provider.apply(api.ApplyRequest("files_text", null, planned, wanted))
        assert made.diagnostics == ()
        (tmp_path / "d" / "a").write_text("changed")
        seen = await provider.read(api.ReadRequest("files_text", made.state))
        assert seen.state.attribute("content") == cty.string("changed")
        await provider.apply(api.ApplyRequest("files_text", made.state, null, null))
        assert not (tmp_path / "d" / "a").exists()
        assert (await provider.read(api.ReadRequest("files_text", made.state))).state.is_null

    asyncio.run(run())
