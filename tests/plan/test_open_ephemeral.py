"""One ephemeral object and its provider: what is said between them, whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from nigari import cty
from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.parse import parse_resource_instance
from nigari.diagnostics import Diagnostics
from nigari.events import SILENCE
from nigari.hcl.parser import parse_body
from nigari.hcl.source import Source
from nigari.lang.marks import EPHEMERAL, SENSITIVE
from nigari.providers import api
from nigari.providers.base import ProviderBase, problem
from nigari.running import ephemeral_objects as open_ephemeral
from nigari.running.ephemeral_objects import EphemeralObjects
from nigari.running.resource_stack import ResourceStack
from nigari.schema.block import Attribute, Block
from nigari.schema.provider import Schema

SCHEMA = Schema(
    Block(
        {
            "name": Attribute(cty.STRING, optional=True),
            "secret": Attribute(cty.STRING, computed=True, sensitive=True),
        }
    )
)
CONFIG = cty.object_value({"name": cty.string("n"), "secret": cty.null(cty.STRING)})
RESULT = cty.object_value({"name": cty.string("n"), "secret": cty.string("s")})
BODY = parse_body(Source("main.tf", ""), Diagnostics())


class Lender(ProviderBase):
    """Gives what it was told to give, after a while, and writes down what it is asked."""

    def __init__(self, result: cty.Value = RESULT, renewals: int = 0, takes: float = 0) -> None:
        self.asked: list[str] = []
        self._result = result
        self._renewals = renewals
        self._takes = takes
        self.closes = True
        self.has_renewed = asyncio.Event()

    async def validate_ephemeral(self, type_name: str, config: cty.Value) -> api.Response:
        return api.Response()

    async def open_ephemeral(self, type_name: str, config: cty.Value) -> api.OpenEphemeralResponse:
        await asyncio.sleep(self._takes)
        self.asked.append("open")
        return api.OpenEphemeralResponse(self._result, b"0", self._next())

    async def renew_ephemeral(
        self, type_name: str, private: bytes | None
    ) -> api.RenewEphemeralResponse:
        assert private is not None
        self.asked.append(f"renew {private.decode()}")
        if self._renewals == 0:
            self.has_renewed.set()
        return api.RenewEphemeralResponse(str(int(private) + 1).encode(), self._next())

    async def close_ephemeral(self, type_name: str, private: bytes | None) -> api.Response:
        assert private is not None
        self.asked.append(f"close {private.decode()}")
        if not self.closes:
            await asyncio.sleep(60)
        return api.Response()

    def _next(self) -> datetime | None:
        self._renewals -= 1
        return None if self._renewals < 0 else datetime.now(UTC) + timedelta(milliseconds=1)


def address() -> AbsResourceInstance:
    found = parse_resource_instance("ephemeral.lender_lease.a", Diagnostics())
    assert found is not None
    return found


Opening = Callable[[], Awaitable[cty.Value | None]]


def use(
    provider: api.Provider,
    work: Callable[[Opening, EphemeralObjects], Awaitable[None]],
) -> Diagnostics:
    diags = Diagnostics()

    async def run() -> None:
        objects = EphemeralObjects(ResourceStack(), diags, SILENCE)
        await work(lambda: objects.open(provider, address(), SCHEMA, CONFIG, BODY), objects)

    asyncio.run(run())
    return diags


def test_the_value_is_ephemeral_and_its_secrets_are_sensitive() -> None:
    found: list[cty.Value | None] = []

    async def work(open_: Opening, objects: EphemeralObjects) -> None:
        found.append(await open_())
        await objects.close_all()

    assert not use(Lender(), work).has_errors
    value = found[0]
    assert value is not None
    plain, marks = value.unmark()
    assert marks == {EPHEMERAL}
    assert plain.attribute("secret") == cty.string("s").mark(SENSITIVE)
    assert plain.attribute("name") == cty.string("n")


def test_the_last_renewal_says_what_is_told_when_closing() -> None:
    provider = Lender(renewals=3)

    async def work(open_: Opening, objects: EphemeralObjects) -> None:
        await open_()
        await provider.has_renewed.wait()
        await objects.close_all()

    use(provider, work)
    assert provider.asked == ["open", "renew 0", "renew 1", "renew 2", "close 3"]


def test_closed_even_if_nobody_waited_for_it_to_open() -> None:
    provider = Lender(takes=0.05)

    async def work(open_: Opening, objects: EphemeralObjects) -> None:
        opening = asyncio.ensure_future(open_())
        await asyncio.sleep(0.01)
        opening.cancel()
        await asyncio.wait((opening,))
        await objects.close_all()

    use(provider, work)
    assert provider.asked == ["open", "close 0"]


@pytest.mark.parametrize(
    "result",
    [cty.null(RESULT.type), cty.unknown(RESULT.type), cty.string("x")],
    ids=["null", "unknown", "of another type"],
)
def test_a_result_that_makes_no_sense_is_closed_at_once(result: cty.Value) -> None:
    provider = Lender(result)

    async def work(open_: Opening, objects: EphemeralObjects) -> None:
        assert await open_() is None

    told = use(provider, work)
    assert [each.summary for each in told] == ["Invalid object from the provider"]
    assert provider.asked == ["open", "close 0"]


def test_what_fails_to_open_is_not_closed() -> None:
    class Refusing(Lender):
        async def open_ephemeral(
            self, type_name: str, config: cty.Value
        ) -> api.OpenEphemeralResponse:
            return api.OpenEphemeralResponse(RESULT, diagnostics=problem("No", "Not today."))

    provider = Refusing()

    async def work(open_: Opening, objects: EphemeralObjects) -> None:
        assert await open_() is None
        await objects.close_all()

    assert [each.summary for each in use(provider, work)] == ["No"]
    assert provider.asked == []


def test_patience_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_ephemeral, "_PATIENCE", 0.05)
    provider = Lender()
    provider.closes = False

    async def work(open_: Opening, objects: EphemeralObjects) -> None:
        await open_()
        await objects.close_all()

    assert [each.summary for each in use(provider, work)] == ["Ephemeral resource not closed"]
