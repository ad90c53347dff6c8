"""A provider that lends secrets and writes down everything it is asked to do.

It runs inside this process, where tests look at what it has noted, or as a plugin that notes it in
a file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import pytest

from nigari.providers import api
from nigari.providers.python import (
    KEEP,
    SENSITIVE,
    WRITE_ONLY,
    Computed,
    Provider,
    ProviderError,
)
from tests.providers_found import find_provider

SOURCE = "example.com/test/vault"
REQUIRED = f"""\
terraform {{
  required_providers {{
    vault     = {{ source = "{SOURCE}" }}
    terraform = {{ source = "terraform.io/builtin/terraform" }}
  }}
}}
"""

Note = Callable[[str], None]


@dataclass
class Settings:
    token: Annotated[str | None, SENSITIVE] = None


@dataclass
class Meta:
    module: str | None = None


def vault_provider(note: Note) -> Provider:
    """The provider; whatever it does is noted."""
    provider = Provider("vault", Settings, Meta)

    def told(settings: Settings | None, meta: Meta | None) -> str:
        token = "" if settings is None or settings.token is None else f" as {settings.token}"
        module = "" if meta is None or meta.module is None else f" for {meta.module}"
        return token + module

    @provider.ephemeral_resource("lease")
    @dataclass
    class Lease:
        name: str
        fails: str | None = None
        renewed_every: float | None = None
        secret: Computed[Annotated[str, SENSITIVE]] = ""
        renewals: Computed[int] = 0

        def open(self, settings: Settings | None) -> timedelta | None:
            if self.fails == "open":
                raise ProviderError("No lease", "There is none left.", attribute="name")
            note(f"open {self.name}{told(settings, None)}")
            self.secret = f"secret of {self.name}"
            every = self.renewed_every
            return None if every is None else timedelta(seconds=every)

        def renew(self, settings: Settings | None) -> timedelta | None:
            note(f"renew {self.name}")
            if self.fails == "renew":
                raise ProviderError("Not renewed")
            return timedelta(seconds=self.renewed_every or 0)

        def close(self, settings: Settings | None) -> None:
            note(f"close {self.name}")
            if self.fails == "close":
                raise ProviderError("Not closed")

    @provider.resource("thing")
    @dataclass
    class Thing:
        name: str
        password: Annotated[str | None, WRITE_ONLY] = None
        version: int | None = None
        takes: float = 0
        id: Computed[Annotated[str, KEEP]] = ""

        def create(self, settings: Settings | None, meta: Meta | None = None) -> None:
            note(f"create {self.name} with {self.password}{told(settings, meta)}")
            time.sleep(self.takes)
            if self.name == "broken":
                raise ProviderError("Broken thing")
            self.id = f"id-{self.name}"

        def read(self, settings: Settings | None, meta: Meta | None = None) -> bool:
            note(f"read {self.name}{told(settings, meta)}")
            if self.name == "unreadable":
                raise ProviderError("Unreadable thing")
            return True

        def update(self, settings: Settings | None, prior: Thing, meta: Meta | None = None) -> None:
            note(f"update {self.name} with {self.password}{told(settings, meta)}")

        def delete(self, settings: Settings | None, meta: Meta | None = None) -> None:
            note(f"delete {self.name}{told(settings, meta)}")

    @provider.data_source("look")
    @dataclass
    class Look:
        name: str
        found: Computed[str] = ""

        def read(self, settings: Settings | None, meta: Meta | None = None) -> None:
            note(f"look {self.name}{told(settings, meta)}")
            if self.name == "slow":
                time.sleep(2)
            if self.name == "nothing":
                raise ProviderError("Not found", "There is none.")
            self.found = f"found {self.name}"

    @provider.function
    def twice(text: str) -> str:
        """Give the text two times."""
        note(f"twice {text}")
        if text == "bad":
            raise ProviderError("Bad text", "It is refused.")
        return text + text

    return provider


@dataclass
class Vault:
    """What has been done with instances of the provider."""

    notes: list[str] = field(default_factory=list)
    running: int = 0

    def taken(self) -> list[str]:
        """The notes since they were last looked at."""
        notes, self.notes = self.notes, []
        return notes

    def provider(self) -> api.Provider:
        self.running += 1
        provider = vault_provider(self.notes_append)
        vault = self

        async def close() -> None:
            vault.running -= 1

        provider.close = close  # type: ignore[method-assign]
        return provider

    def notes_append(self, text: str) -> None:
        self.notes.append(text)


def install(monkeypatch: pytest.MonkeyPatch) -> Vault:
    """Have the provider found in this process."""
    vault = Vault()
    find_provider(monkeypatch, vault.provider, SOURCE)
    return vault


def serve() -> None:
    """Be a plugin that appends its notes to the file that the environment names."""
    path = Path(os.environ["VAULT_NOTES"])

    def note(text: str) -> None:
        with path.open("a") as file:
            file.write(text + "\n")

    vault_provider(note).serve()
