"""What methods of a Python provider can say: failures, warnings, plans, limits, and the log."""

import asyncio
import io
import json
import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated

import pytest

from nigari import cty
from nigari.diagnostics import Severity
from nigari.plan.objects.proposed_object import proposed_new
from nigari.providers import api
from nigari.providers.python import (
    BLOCK,
    UNKNOWN,
    Computed,
    Deferred,
    Provider,
    ProviderError,
    Timeouts,
    warn,
)
from nigari.providers.serve import CallerHandler
from nigari.providers.testing import Harness
from nigari.providers.wire import protocol6_pb2 as pb
from nigari.providers.wire.service import ProviderService
from nigari.providers.wire.values import encode
from nigari.schema.block import Block
from nigari.schema.coerce import coerce

TYPE = "demo_thing"


@dataclass
class Rule:
    port: int


@dataclass
class Thing:
    name: str
    size: int = 1
    rules: list[Rule] = field(default_factory=list)
    id: Computed[str] = ""
    label: Computed[str] = ""

    def create(self, config: object) -> None:
        if self.name == "early":
            raise ProviderError("Too early")
        if self.name == "said":
            raise ProviderError("Half done", exists=True)
        self.id = "id"
        if self.name == "nothing":
            raise ProviderError("Undone", exists=False)
        if self.name == "late":
            raise ConnectionError("gone")
        if self.name == "odd":
            self.label = 5  # type: ignore[assignment]
        if self.name == "open":
            self.label = UNKNOWN
        warn("Slow", "It took long.", attribute="rules[0].port")

    def update(self, config: object, prior: "Thing") -> None:
        prior.size = self.size
        if self.name == "stuck":
            raise ProviderError("Stuck")

    def delete(self, config: object) -> None:
        self.label = "half gone"
        raise ProviderError("Stays")

    def validate(self) -> None:
        if self.name == "bad":
            raise ExceptionGroup(
                "",
                [
                    ProviderError("One", attribute="name"),
                    ProviderError("Two", "Too.", attribute='rules[1].port["k"]'),
                    ValueError("three"),
                ],
            )


def provider_of(owner: type, timeouts: Timeouts | None = None) -> tuple[Provider, Block]:
    provider = Provider("demo")
    provider.resource("thing", timeouts=timeouts)(owner)
    schema = asyncio.run(provider.schema()).schema
    assert schema is not None
    return provider, schema.resources[TYPE].block


def planned(
    owner: type, prior: cty.Value | None, given: dict[str, object]
) -> tuple[api.PlanResponse, cty.Value]:
    provider, block = provider_of(owner)
    config = coerce(block, cty.Value.of(given))
    before = cty.null(block.implied_type) if prior is None else prior
    request = api.PlanRequest(TYPE, before, proposed_new(block, before, config), config)
    return asyncio.run(provider.plan(request)), config


def applied(
    owner: type,
    prior: cty.Value | None,
    given: dict[str, object] | None,
    timeouts: Timeouts | None = None,
) -> api.ApplyResponse:
    provider, block = provider_of(owner, timeouts)
    null = cty.null(block.implied_type)
    before = null if prior is None else prior
    if given is None:
        return asyncio.run(provider.apply(api.ApplyRequest(TYPE, before, null, null)))
    plan, config = planned(owner, prior, given)
    assert plan.diagnostics == ()
    request = api.ApplyRequest(TYPE, before, plan.planned, config)
    return asyncio.run(provider.apply(request))


FAILURES: list[tuple[str, str, str | None]] = [
    ("early", "Too early", None),
    ("late", "Operation failed", "id"),
    ("said", "Half done", ""),
    ("nothing", "Undone", None),
    ("odd", "Wrong value from the provider", "id"),
    ("open", "Wrong value from the provider", "id"),
]


@pytest.mark.parametrize(("name", "summary", "identifier"), FAILURES)
def test_what_exists_after_a_failed_creation(
    name: str, summary: str, identifier: str | None
) -> None:
    made = applied(Thing, None, {"name": name})
    assert [each.summary for each in made.diagnostics if each.severity is Severity.ERROR] == [
        summary
    ]
    if identifier is None:
        assert made.state.is_null
    else:
        assert made.state.attribute("id") == cty.string(identifier)
        assert made.state.is_wholly_known


def test_results_that_an_update_does_not_set_stay() -> None:
    @dataclass
    class Piece:
        size: int
        serial: Computed[str] = ""

    @dataclass
    class Whole:
        name: str
        piece: Piece
        pieces: list[Piece] = field(default_factory=list)
        by_name: dict[str, Piece] = field(default_factory=dict)
        id: Computed[str] = ""
        turns: Computed[int] = 0

        def create(self, config: object) -> None:
            self.id = "id"
            for each in (self.piece, *self.pieces, *self.by_name.values()):
                each.serial = f"s{each.size}"

        def update(self, config: object, prior: "Whole") -> None:
            self.turns += 1

        def delete(self, config: object) -> None: ...

    provider = Provider("demo")
    provider.resource("whole")(Whole)
    with Harness(provider) as demo:
        first = {"piece": {"size": 1}, "pieces": [{"size": 2}], "by_name": {"x": {"size": 3}}}
        made = demo.apply("demo_whole", name="a", **first)
        planned = demo.plan(made, name="b", **first)
        assert planned["id"] is UNKNOWN
        changed = demo.apply(made, name="b", **first)
        assert (changed["id"], changed["turns"]) == ("id", 1)
        assert changed["piece"]["serial"] == "s1"
        assert changed["pieces"][0]["serial"] == "s2"
        assert changed["by_name"]["x"]["serial"] == "s3"
        other = demo.apply(changed, name="b", piece={"size": 1}, pieces=[{"size": 9}])
        assert other["pieces"][0]["serial"] == ""


def test_what_is_left_after_a_failed_update_and_deletion() -> None:
    state = applied(Thing, None, {"name": "a"}).state
    made = applied(Thing, state, {"name": "stuck", "size": 5})
    assert (made.state.attribute("name"), made.state.attribute("size")) == (
        cty.string("a"),
        cty.number(5),
    )
    left = applied(Thing, state, None)
    assert left.state.attribute("label") == cty.string("half gone")
    assert left.diagnostics[0].summary == "Stays"


def test_warnings_and_several_errors_have_paths() -> None:
    (told,) = applied(Thing, None, {"name": "a", "rules": [{"port": 1}]}).diagnostics
    assert (told.severity, told.summary, told.detail) == (
        Severity.WARNING,
        "Slow",
        "It took long.",
    )
    assert told.path is not None
    assert cty.path_text(told.path) == ".rules[0].port"
    provider, block = provider_of(Thing)
    config = coerce(block, cty.Value.of({"name": "bad"}))
    found = asyncio.run(provider.validate_resource(TYPE, config)).diagnostics
    assert [(d.summary, d.path and cty.path_text(d.path)) for d in found] == [
        ("One", ".name"),
        ("Two", '.rules[1].port["k"]'),
        ("Operation failed", None),
    ]


def test_a_warning_outside_of_a_provider_is_a_python_warning() -> None:
    with pytest.warns(UserWarning, match="Slow: It took long"):
        Thing("a").create(None)


@dataclass
class Tag:
    key: str
    upper: Computed[str] = ""


@dataclass
class Hashed:
    content: str
    size: int = 1
    tags: list[Tag] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    digest: Computed[str] = ""
    id: Computed[str] = ""

    def plan(self, config: object, prior: "Hashed | None") -> Iterable[str] | None:
        self.digest = UNKNOWN if self.content is UNKNOWN else self.content.upper()
        for tag in self.tags:
            tag.upper = UNKNOWN if tag.key is UNKNOWN else tag.key.upper()
        if self.content == "wrong":
            raise ProviderError("Wrong content", attribute="content")
        if prior is not None and self.size < prior.size:
            warn("It shrinks", attribute="size")
            return ["size"]
        return None

    def create(self, config: object) -> None:
        self.id = "id"

    def update(self, config: object, prior: "Hashed") -> None:
        self.id = "id"

    def delete(self, config: object) -> None: ...


def test_a_class_has_a_say_in_its_plan() -> None:
    tags = [{"key": "a"}, {"key": cty.unknown(cty.STRING)}]
    numbers = [1, cty.unknown(cty.NUMBER)]
    plan, config = planned(Hashed, None, {"content": "x", "tags": tags, "numbers": numbers})
    found = plan.planned
    assert found.attribute("digest") == cty.string("X")
    assert not found.attribute("id").is_known
    first, second = found.attribute("tags").elements()
    assert first.attribute("upper") == cty.string("A")
    assert second.attribute("upper") == cty.unknown(cty.STRING)
    assert second.attribute("key") == cty.unknown(cty.STRING)
    # What is known of an argument stays known.
    assert found.attribute("numbers") == config.attribute("numbers")
    plan, _ = planned(Hashed, None, {"content": cty.unknown(cty.STRING)})
    assert not plan.planned.attribute("digest").is_known
    plan, _ = planned(Hashed, None, {"content": "wrong"})
    assert plan.diagnostics[0].path == (cty.GetAttr("content"),)


def test_a_class_can_ask_for_a_replacement() -> None:
    state = applied(Hashed, None, {"content": "x", "size": 3}).state
    assert state.attribute("digest") == cty.string("X")
    assert planned(Hashed, state, {"content": "x", "size": 3})[0].planned == state
    grows, _ = planned(Hashed, state, {"content": "x", "size": 4})
    assert (grows.requires_replace, grows.diagnostics) == ((), ())
    shrinks, _ = planned(Hashed, state, {"content": "x", "size": 2})
    assert shrinks.requires_replace == ((cty.GetAttr("size"),),)
    assert shrinks.diagnostics[0].summary == "It shrinks"


@dataclass
class Slow:
    name: str
    timeouts: Annotated[Timeouts | None, BLOCK] = None
    id: Computed[str] = ""

    async def create(self, config: object) -> None:
        self.id = "begun"
        await asyncio.sleep(0.05 if self.name == "quick" else 30)

    def delete(self, config: object) -> None:
        time.sleep(0.05)


def test_operations_may_take_only_so_long() -> None:
    made = applied(Slow, None, {"name": "a", "timeouts": {"create": "20ms"}})
    (told,) = made.diagnostics
    assert (told.summary, "0.02 seconds" in told.detail) == ("Timeout", True)
    assert made.state.attribute("id") == cty.string("begun")
    limits = Timeouts(create="20ms", delete="10ms")
    made = applied(Slow, None, {"name": "a"}, limits)
    assert made.diagnostics[0].summary == "Timeout"
    longer: dict[str, object] = {"name": "quick", "timeouts": {"create": "1m", "delete": "10s"}}
    made = applied(Slow, None, longer, limits)
    assert made.diagnostics == ()
    assert applied(Slow, made.state, None, limits).diagnostics == ()
    # To change only a limit changes nothing else, also where there is no way to update.
    plan, config = planned(Slow, made.state, {"name": "quick"})
    assert plan.requires_replace == ()
    provider, _ = provider_of(Slow)
    request = api.ApplyRequest(TYPE, made.state, plan.planned, config)
    answer = asyncio.run(provider.apply(request))
    assert (answer.diagnostics, answer.state) == ((), plan.planned)


@pytest.mark.parametrize("text", ["", "5", "five", "5m!", "0s"])
def test_limits_are_durations(text: str) -> None:
    provider, block = provider_of(Slow)
    config = coerce(block, cty.Value.of({"name": "a", "timeouts": {"create": text}}))
    (told,) = asyncio.run(provider.validate_resource(TYPE, config)).diagnostics
    assert told.path == (cty.GetAttr("timeouts"), cty.GetAttr("create"))


def test_what_a_constructor_refuses_is_reported_where_it_is() -> None:
    @dataclass
    class Even:
        number: int

        def __post_init__(self) -> None:
            if self.number % 2:
                raise ValueError("only even numbers")

    @dataclass
    class Picky:
        parts: list[Even] = field(default_factory=list)

        def create(self, config: object) -> None: ...

        def delete(self, config: object) -> None: ...

    provider, block = provider_of(Picky)
    config = coerce(block, cty.Value.of({"parts": [{"number": 2}, {"number": 3}]}))
    (told,) = asyncio.run(provider.validate_resource(TYPE, config)).diagnostics
    assert told.detail == "Only even numbers."
    assert told.path is not None
    assert cty.path_text(told.path) == ".parts[1]"


@pytest.mark.parametrize(
    ("level", "name"),
    [
        (5, "trace"),
        (logging.DEBUG, "debug"),
        (logging.INFO, "info"),
        (logging.WARNING, "warn"),
        (logging.CRITICAL, "error"),
    ],
)
def test_what_is_logged_is_a_line_for_the_caller(level: int, name: str) -> None:
    stream = io.StringIO()
    logger = logging.getLogger("my.provider")
    logger.setLevel(1)
    logger.handlers = [CallerHandler(stream)]
    try:
        raise ValueError("no")
    except ValueError:
        logger.log(level, "Hello %s", "you", extra={"count": 3}, exc_info=True)
    (text,) = stream.getvalue().splitlines()
    line = json.loads(text)
    assert "ValueError: no" in line.pop("error")
    del line["@timestamp"]
    assert line == {
        "@level": name,
        "@message": "Hello you",
        "@module": "my.provider",
        "count": 3,
    }


@dataclass
class Later:
    name: str
    id: Computed[str] = ""

    def plan(self, config: object, prior: object) -> None:
        warn("Slow")
        raise Deferred("No cluster", "It is made later.")

    def read(self, config: object) -> bool:
        raise Deferred("No cluster")

    def create(self, config: object) -> None: ...

    def delete(self, config: object) -> None: ...


Answer = pb.PlanResourceChange.Response | pb.ReadResource.Response | pb.ReadDataSource.Response


def test_what_is_too_early_is_left_for_later_or_refused() -> None:
    provider, block = provider_of(Later)
    provider.data_source("thing")(Later)
    state = coerce(block, cty.Value.of({"name": "a", "id": "i"}))
    null = cty.null(block.implied_type)
    config = coerce(block, cty.Value.of({"name": "a"}))
    service = ProviderService(provider)
    raw = encode(state, block.implied_type)

    async def run(is_allowed: bool) -> list[tuple[int, list[str]]]:
        can = pb.ClientCapabilities(deferral_allowed=is_allowed)
        found: list[Answer] = [
            await service._plan(
                pb.PlanResourceChange.Request(
                    type_name=TYPE,
                    prior_state=encode(null, block.implied_type),
                    proposed_new_state=encode(config, block.implied_type),
                    config=encode(config, block.implied_type),
                    client_capabilities=can,
                )
            ),
            await service._read(
                pb.ReadResource.Request(type_name=TYPE, current_state=raw, client_capabilities=can)
            ),
            await service._read_data(
                pb.ReadDataSource.Request(type_name=TYPE, config=raw, client_capabilities=can)
            ),
        ]
        return [
            (each.deferred.reason, [told.summary for told in each.diagnostics]) for each in found
        ]

    assert asyncio.run(run(True)) == [(3, ["Slow"]), (3, []), (3, [])]
    assert asyncio.run(run(False)) == [
        (0, ["Slow", "No cluster"]),
        (0, ["No cluster"]),
        (0, ["No cluster"]),
    ]
    request = api.PlanRequest(TYPE, null, config, config)
    refused = asyncio.run(provider.plan(request)).diagnostics[1]
    assert "It is made later. Exclude it with -exclude" in refused.detail
