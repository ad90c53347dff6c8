"""What a provider in Python calls its objects, and taking them over by that."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest

from nigari import cty
from nigari.providers import api
from nigari.providers.python import IDENTITY, REPLACE, Computed, Provider
from tests.providers.identities import import_served

hall = Provider("hall")


@hall.resource("piece")
@dataclass
class Piece:
    room: Annotated[str, IDENTITY, REPLACE]
    shelf: Annotated[str | None, IDENTITY, REPLACE] = None
    title: str = ""

    def create(self, config: None) -> None: ...

    def update(self, config: None, prior: object) -> None: ...

    def delete(self, config: None) -> None: ...

    def read(self, config: None) -> bool:
        return True

    @classmethod
    def import_object(cls, config: None, id: str) -> Piece:
        return cls(id)

    @classmethod
    def import_identity(cls, config: None, room: str, shelf: str | None = None) -> Piece:
        return cls(room, shelf, "as found")


@hall.resource("visitor")
@dataclass
class Visitor:
    name: str
    ticket: Computed[Annotated[int, IDENTITY]] = 0

    def create(self, config: None) -> None:
        self.ticket = 5

    def delete(self, config: None) -> None: ...


def _identity(room: str, shelf: str | None = None) -> cty.Value:
    shelved = cty.null(cty.STRING) if shelf is None else cty.string(shelf)
    return cty.object_value({"room": cty.string(room), "shelf": shelved})


def _told(diagnostics: Iterable[api.ProviderDiagnostic]) -> list[str]:
    return [f"{each.summary}: {each.detail}" for each in diagnostics]


def test_schema() -> None:
    schema = asyncio.run(hall.schema()).schema
    assert schema is not None
    identity = schema.resources["hall_piece"].identity
    assert identity is not None
    assert identity.attributes == {"room": cty.STRING, "shelf": cty.STRING}
    assert identity.required_for_import == {"room"}
    assert identity.optional_for_import == {"shelf"}
    ticket = schema.resources["hall_visitor"].identity
    assert ticket is not None
    assert ticket.required_for_import == {"ticket"}


@pytest.mark.parametrize("shelf", ["s", None])
def test_import(shelf: str | None) -> None:
    request = api.ImportRequest("hall_piece", identity=_identity("r", shelf))
    (found,) = asyncio.run(hall.import_state(request)).resources
    assert found.state.to_python() == {"room": "r", "shelf": shelf, "title": "as found"}
    assert found.identity == _identity("r", shelf)


def test_import_by_id_tells_the_identity() -> None:
    (found,) = asyncio.run(hall.import_state(api.ImportRequest("hall_piece", "r"))).resources
    assert found.identity == _identity("r")


def test_import_that_is_not_offered() -> None:
    identity = cty.object_value({"ticket": cty.number(5)})
    answer = asyncio.run(hall.import_state(api.ImportRequest("hall_visitor", identity=identity)))
    assert _told(answer.diagnostics) == [
        "Import not supported: Objects of hall_visitor cannot be imported by identity."
    ]


def test_what_is_not_known_while_planning_is_known_afterwards() -> None:
    type_ = cty.ObjectType({"name": cty.STRING, "ticket": cty.NUMBER})
    config = cty.object_value({"name": cty.string("n"), "ticket": cty.null(cty.NUMBER)})
    wanted = api.PlanRequest("hall_visitor", cty.null(type_), config, config)
    planned = asyncio.run(hall.plan(wanted))
    assert planned.identity is None
    made = asyncio.run(
        hall.apply(api.ApplyRequest("hall_visitor", cty.null(type_), planned.planned, config))
    )
    assert made.identity == cty.object_value({"ticket": cty.number(5)})


def test_served(tmp_path: Path) -> None:
    import_served(tmp_path, sys.executable, "-m", "nigari")
