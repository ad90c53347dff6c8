"""Small providers for OpenTofu's end-to-end tests: `python -m tests.real.e2e_providers NAME`.

They have what the configurations of those tests use of providers that are not built here.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Annotated, Final

from nigari.providers.python import BLOCK, WRITE_ONLY, Computed, Provider, ProviderError

TEMPLATE: Final = Provider("template")
HTTP: Final = Provider("http")
FUNCTIONS: Final = Provider("testfunctions")
SLEEP: Final = Provider("sleep")
VSPHERE: Final = Provider("vsphere")
MOCK: Final = Provider("tfcoremock")


@TEMPLATE.data_source("file")
@dataclass
class TemplateFile:
    """A template whose variables are replaced."""

    template: str
    vars: dict[str, str] | None = None
    rendered: Computed[str] = ""

    def read(self, config: object) -> None:
        text = self.template
        for name, value in (self.vars or {}).items():
            text = text.replace(f"${{{name}}}", value)
        self.rendered = text


@HTTP.data_source("http")
@dataclass
class Page:
    """Is always mocked."""

    url: str
    response_body: Computed[str] = ""

    def read(self, config: object) -> None:
        raise ProviderError("Not mocked", "Nothing may be asked for.")


@FUNCTIONS.function
def echo(value: object) -> object:
    """What is given."""
    return value


@FUNCTIONS.function
def error() -> str:
    """Fails."""
    raise ValueError("told to fail")


@SLEEP.resource("sleeper")
@dataclass
class Sleeper:
    """Takes a secret."""

    string_wo: Annotated[str | None, WRITE_ONLY] = None
    string_wo_version: int | None = None
    id: Computed[str] = ""

    def create(self, config: object) -> None:
        self.id = "made"

    def delete(self, config: object) -> None: ...


@dataclass
class Interface:
    network_id: str
    key: Computed[int] = 0


@VSPHERE.resource("virtual_machine")
@dataclass
class Machine:
    """Is always mocked."""

    name: str
    resource_pool_id: str
    network_interface: Annotated[list[Interface], BLOCK] = field(default_factory=list)
    id: Computed[str] = ""

    def create(self, config: object) -> None:
        raise ProviderError("Not mocked", "Nothing may be made.")

    def delete(self, config: object) -> None: ...


@MOCK.resource("simple_resource")
@dataclass
class Simple:
    """Nothing but what is set."""

    string: str | None = None
    id: Computed[str] = ""

    def create(self, config: object) -> None:
        self.id = "made"

    def update(self, config: object, prior: Simple) -> None:
        self.id = prior.id

    def delete(self, config: object) -> None: ...


if __name__ == "__main__":
    {each.name: each for each in (TEMPLATE, HTTP, FUNCTIONS, SLEEP, VSPHERE, MOCK)}[
        sys.argv[1]
    ].serve()
