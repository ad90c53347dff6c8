"""All of `nigari.providers.python` and both `testing` modules, as a user's program has it: type checkers
read this file, and it runs as well.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, assert_type

import pytest

import nigari.testing
from nigari.providers import python as providers
from nigari.providers import testing
from nigari.providers.python import Computed, Provider, ProviderError


@dataclass
class Account:
    region: str = "eu"
    token: Annotated[str | None, providers.SENSITIVE] = None


@dataclass
class Rule:
    port: int


provider = Provider("notes", config=Account)


@provider.resource("note", timeouts=providers.Timeouts(create="10m"))
@dataclass
class Note:
    title: Annotated[str, providers.REPLACE, providers.Text("What it is about.")]
    rules: Annotated[list[Rule], providers.BLOCK] = field(default_factory=list[Rule])
    pair: Annotated[list[Rule], providers.Blocks(most=2)] = field(default_factory=list[Rule])
    token: Annotated[str | None, providers.WRITE_ONLY] = None
    size: Computed[int] = 0
    number: Annotated[str, providers.COMPUTED, providers.KEEP, providers.IDENTITY] = ""

    def create(self, config: Account) -> None:
        if self.title == "bad":
            raise ProviderError("A bad title")
        providers.warn("A note", attribute="title")
        self.size, self.number = len(self.title), "1"

    def delete(self, config: Account) -> None: ...


@provider.action("remind")
@dataclass
class Remind:
    text: str

    def invoke(self, config: Account) -> Iterator[str]:
        yield self.text


@provider.list_resource("note")
@dataclass
class Notes:
    containing: str = ""

    def list(self, config: Account) -> Iterator[providers.Listed]:
        yield providers.Listed(Note(self.containing), "a note")


@provider.resource("later")
@dataclass
class Later:
    name: str

    def plan(self, config: Account, prior: object) -> None:
        if self.name == providers.UNKNOWN:
            raise providers.Deferred("the name is not known")

    def create(self, config: Account) -> None: ...

    def delete(self, config: Account) -> None: ...


@provider.function
def shout(text: str) -> str:
    return text.upper()


def test_a_provider_in_process() -> None:
    assert_type(shout("a"), str)
    with testing.Harness(provider) as harness:
        planned: testing.Planned = harness.plan("notes_note", title="abc")
        assert planned["size"] is testing.UNKNOWN
        told: Sequence[testing.ProviderDiagnostic] = planned.warnings
        assert not told
        made: testing.Object = harness.apply(planned)
        data: dict[str, Any] = made.data
        assert (data["size"], harness.call("shout", "a")) == (3, "A")
        with pytest.raises((testing.Failed, testing.Broken)):
            harness.apply("notes_note", title="bad")


def test_a_module(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        'resource "terraform_data" "a" {\n  input = var.a\n}\nvariable "a" {}\n', encoding="utf-8"
    )
    mocked = nigari.testing.Mocked("terraform", resources={"terraform_data": {"id": "1"}})
    tested = nigari.testing.module(tmp_path, {"a": "x"}, mocks=[mocked])
    assert_type(tested, nigari.testing.ModuleUnderTest)
    with tested as module:
        result: nigari.testing.Result = module.plan()
        assert result.actions["terraform_data.a"] == "create"
        outputs: dict[str, object] = dict(result.outputs)
        assert nigari.testing.UNKNOWN not in outputs.values()
