"""The provider of the stories: a small world in a directory, the same for whoever works on it.

Objects are files. An identifier is made from the name an object was created with and how often that
name was used, so that two programs that do the same get the same. Every call that reads or changes
something is written to a journal, and a list in the directory says which calls must fail. The
directory is below the one in which the plugin runs, or below another one that `live_below` names, and
may be emptied at any time.
"""

from __future__ import annotations

import json
import os
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

from nigari import cty
from nigari.diagnostics import Severity
from nigari.providers import api
from nigari.providers.python import (
    BLOCK,
    KEEP,
    REPLACE,
    SENSITIVE,
    WRITE_ONLY,
    Computed,
    Provider,
    ProviderError,
)

SOURCE: Final = "hashicorp/world"
DIRECTORY: Final = "world"
OBJECTS: Final = f"{DIRECTORY}/objects"
FACTS: Final = f"{DIRECTORY}/facts"
JOURNAL: Final = f"{DIRECTORY}/journal"
FAILURES: Final = f"{DIRECTORY}/failures"
REFUSED: Final = "refused"
"""A value that no object may have, which the provider says when it validates."""
_FAILED, _HALF, _REFUSED, _MISSING = SUMMARIES = (
    "Told to fail",
    "Half done",
    "Value refused",
    "Nothing to import",
)
"""What the provider says when something goes wrong."""
_LONGEST_NAME: Final = 100
_COUNTS: Final = f"{DIRECTORY}/counts"

_root = Path()


@dataclass
class Settings:
    """The arguments of a provider block."""

    label: str | None = None


class World(Provider):
    """A provider whose calls may also fail after they have done their work."""

    async def apply(self, request: api.ApplyRequest) -> api.ApplyResponse:
        response = await super().apply(request)
        if request.planned.is_null or response.diagnostics:
            return response
        name = response.state.attribute("name").as_string()
        operation = "create" if request.prior.is_null else "update"
        if f"half {operation} {name}" not in _failures():
            return response
        told = api.ProviderDiagnostic(Severity.ERROR, _HALF, f"{operation} of {name}.")
        return api.ApplyResponse(response.state, response.private, diagnostics=(told,))

    async def configure(self, config: cty.Value, may_defer: bool = False) -> api.Response:
        response = await super().configure(config)
        label = config.attribute("label")
        _journal("configure", label.as_string() if label.is_known and not label.is_null else "-")
        return response


provider: Final = World("world", Settings)


def live_below(directory: Path) -> None:
    """Have the world below a directory, for the rest of this process."""
    global _root  # noqa: PLW0603 - a process has one world
    _root = directory


def inhabitant() -> World:
    """A provider that is configured on its own."""
    return copy(provider)


@dataclass
class Part:
    """A nested block of an object."""

    key: str
    value: str | None = None


@provider.resource("thing")
@dataclass
class Thing:
    """An object of the world."""

    name: str
    value: str | None = None
    force: Annotated[str | None, REPLACE] = None
    secret: Annotated[str | None, SENSITIVE] = None
    hint: Annotated[str | None, WRITE_ONLY] = None
    note: str = "plain"
    tags: dict[str, str | None] | None = None
    part: Annotated[list[Part], BLOCK] = field(default_factory=list)
    id: Computed[Annotated[str, KEEP]] = ""
    result: Computed[str] = ""

    def validate(self) -> None:
        if self.value == REFUSED:
            raise ProviderError(_REFUSED, f"{self.name} may not have it.", "value")

    def create(self, settings: Settings) -> None:
        _may_fail("create", self.name)
        self.id = _new_identifier(self.name)
        self._store("create")

    def read(self, settings: Settings) -> bool:
        _may_fail("read", self.name)
        _journal("read", self.id)
        path = _object(self.id)
        if not path.is_file():
            return False
        for name, found in _stored(path).items():
            setattr(self, name, found)
        return True

    def update(self, settings: Settings, prior: Thing) -> None:
        _may_fail("update", self.name)
        self.id = prior.id
        self._store("update")

    def delete(self, settings: Settings) -> None:
        _may_fail("delete", self.name)
        _journal("delete", self.id)
        _object(self.id).unlink(missing_ok=True)

    @classmethod
    def import_object(cls, settings: Settings, id: str) -> Thing:
        _may_fail("import", id)
        _journal("import", id)
        path = _object(id)
        if not path.is_file():
            raise ProviderError(_MISSING, f"There is no {id}.")
        stored: dict[str, Any] = _stored(path)
        return cls(**stored, id=id)

    def _store(self, operation: str) -> None:
        self.result = f"{self.value}!"
        _journal(operation, self.id, self.name, self.value or "", self.secret or "")
        stored = {name: getattr(self, name) for name in STORED}
        _object(self.id).write_text(json.dumps(stored, default=vars))


STORED: Final = ("name", "value", "force", "secret", "note", "tags", "part", "result")
"""The attributes that an object consists of."""


@provider.data_source("fact")
@dataclass
class Fact:
    """Something that is so, and may be otherwise tomorrow."""

    key: str | None = None
    """May be null, which is known only while applying."""
    value: Computed[str] = ""

    def read(self, settings: Settings) -> None:
        key = self.key or ""
        _may_fail("look", key)
        _journal("look", key)
        path = Path(_root, FACTS, key[:_LONGEST_NAME].replace("/", "%"))
        self.value = path.read_text() if path.is_file() else f"nothing about {key}"


@provider.ephemeral_resource("token")
@dataclass
class Token:
    """Something that is open for a while."""

    key: str
    value: Computed[str] = ""

    def open(self, settings: Settings) -> None:
        _may_fail("open", self.key)
        _journal("open", self.key)
        self.value = f"token of {self.key}"

    def close(self, settings: Settings) -> None:
        _journal("close", self.key)


@provider.function
def shout(text: str) -> str:
    """Give the text in capitals."""
    return text.upper()


def _stored(path: Path) -> dict[str, object]:
    """What an object in the world consists of."""
    found = json.loads(path.read_text())
    return {**found, "part": [Part(**each) for each in found["part"]]}


def _object(identifier: str) -> Path:
    return Path(_root, OBJECTS, identifier.replace("/", "%"))


def _new_identifier(name: str) -> str:
    Path(_root, _COUNTS).mkdir(parents=True, exist_ok=True)
    Path(_root, OBJECTS).mkdir(parents=True, exist_ok=True)
    path = Path(_root, _COUNTS, name.replace("/", "%"))
    number = int(path.read_text()) + 1 if path.is_file() else 1
    path.write_text(str(number))
    return f"{name}#{number}"


def _failures() -> list[str]:
    path = Path(_root, FAILURES)
    return path.read_text().splitlines() if path.is_file() else []


def _may_fail(operation: str, name: str) -> None:
    if f"{operation} {name}" in _failures():
        _journal("fail", operation, name)
        raise ProviderError(_FAILED, f"{operation} of {name}.")


def _journal(*words: str) -> None:
    Path(_root, DIRECTORY).mkdir(exist_ok=True)
    descriptor = os.open(_root / JOURNAL, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, (json.dumps(words) + "\n").encode())
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    provider.serve()
