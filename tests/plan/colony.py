"""Providers whose objects give away something only when they are there, run inside this process.

What a site wants, it has: `parts` is known only after apply, and with it whatever is repeated for
each of them. An instance of the provider sees only what is on its server; one that does not know
its server yet sees nothing. The strict one must be told its server.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

import pytest

from nigari.cty.values import Value
from nigari.providers import api
from nigari.providers.python import KEEP, REPLACE, Computed, Deferred, Provider, ProviderError
from tests.providers_found import find_providers

SOURCE = "example.com/test/colony"
STRICT = "example.com/test/strict"
REQUIRED = f"""\
terraform {{
  required_providers {{
    colony = {{ source = "{SOURCE}" }}
    strict = {{ source = "{STRICT}" }}
  }}
}}
"""


@dataclass
class Settings:
    server: str | None = None


@dataclass
class StrictSettings:
    server: str


@dataclass
class Colony:
    """All servers, and what was done there."""

    objects: dict[tuple[str, str], dict[str, object]] = field(default_factory=dict)
    journal: list[str] = field(default_factory=list)
    reads: int = 0
    """How often a data source was read."""

    def names(self, server: str) -> list[str]:
        return sorted(name for where, name in self.objects if where == server)


class _Watched(Provider):
    """A provider that notes how it is configured, also with what is not known yet."""

    def __init__(self, name: str, settings: type, colony: Colony) -> None:
        super().__init__(name, settings)
        self._colony = colony

    async def configure(self, config: Value, may_defer: bool = False) -> api.Response:
        if not config.is_wholly_known:
            self._colony.journal.append("configure (unknown)")
            return api.Response()
        return await super().configure(config)


def _server(settings: Settings | StrictSettings | None) -> str:
    return "nowhere" if settings is None else settings.server or "main"


def _make(name: str, settings_type: type, colony: Colony) -> Provider:
    provider = _Watched(name, settings_type, colony)

    @provider.resource("site")
    @dataclass
    class Site:
        name: Annotated[str, REPLACE]
        wants: list[str] | None = None
        note: str | None = None
        id: Computed[Annotated[str, KEEP]] = ""
        parts: Computed[list[str] | None] = None
        server: Computed[Annotated[str, KEEP]] = ""

        def create(self, settings: object) -> None:
            assert settings is None or isinstance(settings, Settings | StrictSettings)
            if self.note == "broken":
                raise ProviderError("Broken", "It does not work.")
            self.server = _server(settings)
            self.id, self.parts = f"id-{self.name}", list(self.wants or ())
            colony.journal.append(f"create {self.server} {self.name}")
            colony.objects[self.server, self.name] = {"note": self.note, "wants": self.wants}

        def read(self, settings: object) -> bool:
            assert settings is None or isinstance(settings, Settings | StrictSettings)
            found = colony.objects.get((_server(settings), self.name))
            if found is None:
                return False
            note, wants = found["note"], found["wants"]
            assert note is None or isinstance(note, str)
            assert wants is None or isinstance(wants, list)
            self.note, self.wants, self.parts = note, wants, list(wants or ())
            return True

        def update(self, settings: object, prior: object) -> None:
            self.create(settings)

        def delete(self, settings: object) -> None:
            assert settings is None or isinstance(settings, Settings | StrictSettings)
            colony.journal.append(f"delete {_server(settings)} {self.name}")
            del colony.objects[_server(settings), self.name]

        @classmethod
        def import_object(cls, settings: object, id: str) -> Site:
            assert settings is None or isinstance(settings, Settings | StrictSettings)
            server = _server(settings)
            wants = colony.objects[server, id]["wants"]
            assert wants is None or isinstance(wants, list)
            return cls(id, wants, None, f"id-{id}", wants, server)

    @provider.resource("shy")
    @dataclass
    class Shy:
        name: str
        id: Computed[Annotated[str, KEEP]] = ""

        def plan(self, settings: object, prior: object) -> None:
            if (_server(None if settings is None else settings), self.name) not in colony.objects:  # type: ignore[arg-type]
                raise Deferred("Too early", f"There is no site {self.name} yet.")

        def create(self, settings: object) -> None:
            self.id = f"shy-{self.name}"

        def read(self, settings: object) -> bool:
            return True

        def delete(self, settings: object) -> None:
            """It is gone then."""

    @provider.data_source("census")
    @dataclass
    class Census:
        name: str | None = None
        found: Computed[list[str] | None] = None
        reading: Computed[int] = 0

        def read(self, settings: object) -> None:
            assert settings is None or isinstance(settings, Settings | StrictSettings)
            colony.reads += 1
            self.reading = colony.reads
            self.found = [
                each for each in colony.names(_server(settings)) if self.name in (None, each)
            ]

    @provider.function
    def shout(text: str) -> str:
        return text.upper()

    @provider.ephemeral_resource("pass")
    @dataclass
    class Pass:
        name: str
        word: Computed[str] = ""

        def open(self, settings: object) -> None:
            colony.journal.append(f"open {self.name}")
            self.word = f"word of {self.name}"

    return provider


def install(monkeypatch: pytest.MonkeyPatch) -> Colony:
    """Have the providers found, and say what becomes of it all."""
    colony = Colony()
    makes: dict[str, Callable[[], api.Provider]] = {
        SOURCE: lambda: _make("colony", Settings, colony),
        STRICT: lambda: _make("strict", StrictSettings, colony),
    }
    find_providers(monkeypatch, makes)
    return colony
