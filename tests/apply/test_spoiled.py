"""Whatever a provider answers: its operation fails with a diagnostic, and the rest goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.apply.journal import wait_until
from tests.apply.spoiled import PLUGIN
from tests.plugins import overriding, write_plugin

_HEAD = """\
terraform {
  required_providers {
    spoiled = { source = "hashicorp/spoiled" }
  }
}
"""
_THINGS = """\
resource "spoiled_thing" "good" { name = "good" }
resource "spoiled_thing" "bad" { name = "bad" }
resource "terraform_data" "after" { input = spoiled_thing.bad.id }
resource "terraform_data" "other" { input = "x" }
"""
_LATE_DATA = 'data "spoiled_answer" "d" { name = "bad${terraform_data.other.id}" }\n'
_LATE_LEASE = """\
ephemeral "spoiled_lease" "l" { name = "bad${terraform_data.other.id}" }
resource "terraform_data" "user" {
  provisioner "local-exec" { command = ": ${ephemeral.spoiled_lease.l.size}" }
}
"""
_LATE_CALL = 'output "o" { value = provider::spoiled::twice(length(terraform_data.other.id)) }\n'
_IMPORT = 'import {\n  to = spoiled_thing.bad\n  id = "bad"\n}\n'


class _Place:
    """A directory with the provider whose answers are spoiled."""

    def __init__(self, path: Path) -> None:
        self.path = path
        write_plugin(path / "plugins", "spoiled", PLUGIN)
        settings = overriding(path / "settings.tfrc", "hashicorp/spoiled", path / "plugins")
        self.environ = {**os.environ, **settings}

    def spoil(self, method: str, manner: str, only: str = "bad") -> None:
        wanted = {"method": method, "manner": manner, "only": only}
        (self.path / "spoil.json").write_text(json.dumps(wanted))

    def write(self, text: str) -> None:
        (self.path / "main.tf").write_text(_HEAD + text)

    def start(self, *args: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "nigari", *args],
            cwd=self.path,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *args: str) -> tuple[int, str]:
        process = self.start(*args)
        said, _ = process.communicate(timeout=120)
        assert "Traceback" not in said, said
        assert "never retrieved" not in said, said
        assert "nigari has made a mistake" not in said, said
        assert "Unexpected failure" not in said, said
        return process.returncode, " ".join(said.split())

    def stored(self) -> set[str]:
        data = json.loads((self.path / "terraform.tfstate").read_text())
        return {each["name"] for each in data["resources"]}


@pytest.fixture
def place(tmp_path: Path) -> _Place:
    return _Place(tmp_path)


@pytest.mark.parametrize(
    ("manner", "told", "is_kept"),
    [
        ("garbage", "Value does not match the provider's schema", False),
        ("wrong type", "Value does not match the provider's schema", False),
        ("nan", "Value does not match the provider's schema", False),
        ("infinity", "Infinite number in the provider's response", True),
        ("unknown part", "part of it is still unknown", True),
        ("unknown", "although the plan had a value", False),
        ("no message", "Unreadable response from the provider", False),
        ("refuse", "Provider plugin error", False),
        ("empty", "there is no object after the change", False),
    ],
)
def test_a_creation(place: _Place, manner: str, told: str, is_kept: bool) -> None:
    place.write(_THINGS)
    place.spoil("ApplyResourceChange", manner)
    status, said = place.run("apply", "-auto-approve")
    assert status == 1
    assert told in said
    assert place.stored() == {"good", "other"} | ({"bad"} if is_kept else set())


@pytest.mark.parametrize(
    ("method", "more", "manner", "told"),
    [
        ("ReadDataSource", _LATE_DATA, "infinity", "Infinite number"),
        ("ReadDataSource", _LATE_DATA, "unknown part", "is wholly unknown"),
        ("ReadDataSource", _LATE_DATA, "no message", "Unreadable response"),
        ("OpenEphemeralResource", _LATE_LEASE, "no time", "Invalid time"),
        ("OpenEphemeralResource", _LATE_LEASE, "unknown", "is wholly unknown"),
        ("CallFunction", _LATE_CALL, "nan", "Value does not match"),
        ("CallFunction", _LATE_CALL, "infinity", "returned an infinite number"),
        ("CallFunction", _LATE_CALL, "unknown", "returned an unknown value"),
        ("CallFunction", _LATE_CALL, "no message", "Unreadable response"),
    ],
)
def test_what_is_asked_while_applying(
    place: _Place, method: str, more: str, manner: str, told: str
) -> None:
    place.write(_THINGS + more)
    place.spoil(method, manner, only="")
    status, said = place.run("apply", "-auto-approve")
    assert status == 1
    assert told in said
    assert place.stored() >= {"good", "bad", "after", "other"}


@pytest.mark.parametrize(
    ("method", "text", "manner", "told"),
    [
        ("PlanResourceChange", _THINGS, "infinity", "Infinite number"),
        ("PlanResourceChange", _THINGS, "unknown", "Invalid plan from the provider"),
        ("ImportResourceState", _THINGS + _IMPORT, "unknown part", "is wholly unknown"),
        ("ImportResourceState", _THINGS + _IMPORT, "other type", "does not have a resource type"),
        ("GetProviderSchema", _THINGS, "deep schema", "Unusable provider schema"),
        ("GetProviderSchema", _THINGS, "malformed schema", "Unusable provider schema"),
        ("GetProviderSchema", _THINGS, "no message", "Unreadable response"),
        ("ConfigureProvider", _THINGS, "no message", "Unreadable response"),
        ("ValidateResourceConfig", _THINGS, "no message", "Unreadable response"),
    ],
)
def test_while_planning(place: _Place, method: str, text: str, manner: str, told: str) -> None:
    place.write(text)
    place.spoil(method, manner, only="bad" if "Resource" in method else "")
    status, said = place.run("plan")
    assert status == 1
    assert told in said


@pytest.mark.parametrize(
    ("method", "manner", "told"),
    [
        ("ReadResource", "unknown", "is wholly unknown"),
        ("ReadResource", "unknown part", "is wholly unknown"),
        ("ReadResource", "infinity", "Infinite number"),
        ("UpgradeResourceState", "unknown part", "is wholly unknown"),
        ("UpgradeResourceState", "nothing", "is null"),
    ],
)
def test_what_exists(place: _Place, method: str, manner: str, told: str) -> None:
    place.write(_THINGS)
    assert place.run("apply", "-auto-approve")[0] == 0
    state = place.path / "terraform.tfstate"
    if method == "UpgradeResourceState":
        text = state.read_text()
        state.write_text(text.replace('"schema_version": 1', '"schema_version": 0'))
    before = state.read_text()
    place.spoil(method, manner)
    status, said = place.run("apply", "-auto-approve")
    assert status == 1
    assert told in said
    assert state.read_text() == before


@pytest.mark.parametrize("method", ["ApplyResourceChange", "ReadDataSource", "CallFunction"])
def test_no_answer_and_two_interruptions(place: _Place, method: str) -> None:
    more = {"ReadDataSource": _LATE_DATA, "CallFunction": _LATE_CALL}
    place.write(_THINGS + more.get(method, ""))
    place.spoil(method, "hang", only="bad" if method == "ApplyResourceChange" else "")
    process = place.start("apply", "-auto-approve")
    wait_until((place.path / "hanging").exists)
    for seconds in (0.3, 30):
        process.send_signal(signal.SIGINT)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            continue
    said, _ = process.communicate()
    assert process.returncode == 1, said
    assert "never retrieved" not in said
    assert "Interrupted" in said
    assert "other" in place.stored()


def test_an_update_of_which_nothing_is_said(place: _Place) -> None:
    place.write(_THINGS)
    assert place.run("apply", "-auto-approve")[0] == 0
    place.write(_THINGS.replace('{ name = "bad" }', '{\n  name = "bad"\n  n    = 5\n}'))
    place.spoil("ApplyResourceChange", "unknown")
    assert place.run("apply", "-auto-approve")[0] == 1
    assert place.stored() == {"good", "bad", "after", "other"}


_PICKY = """\
from dataclasses import dataclass
from nigari.providers.python import Provider

@dataclass
class Settings:
    token: str = ""

class Picky(Provider):
    async def configure(self, config):
        from nigari.providers.base import problem
        from nigari.providers import api
        if config.attribute("token").is_known:
            return api.Response(problem("Refused token", "It is not liked."))
        return await super().configure(config)

picky = Picky("picky", Settings)

@picky.function
def twice(n: float) -> float:
    return 2 * n

picky.serve()
"""


def test_a_function_of_a_provider_that_refuses_its_configuration(place: _Place) -> None:
    write_plugin(place.path / "picky", "picky", _PICKY)
    overriding(place.path / "settings.tfrc", "hashicorp/picky", place.path / "picky")
    (place.path / "main.tf").write_text("""\
terraform {
  required_providers {
    picky = { source = "hashicorp/picky" }
  }
}
resource "terraform_data" "token" { input = "t" }
resource "terraform_data" "other" {
  provisioner "local-exec" { command = "sleep 0.5" }
}
provider "picky" { token = terraform_data.token.output }
resource "terraform_data" "user" {
  input = provider::picky::twice(length(terraform_data.token.id))
}
output "o" { value = provider::picky::twice(length(terraform_data.token.id)) }
""")
    status, said = place.run("apply", "-auto-approve")
    assert status == 1
    assert said.count("Refused token") == 1
    assert said.count("Error:") == 1
    assert place.stored() == {"token", "other"}


def test_infinite_numbers(place: _Place) -> None:
    text = 'resource "terraform_data" "a" {}\noutput "o" { value = log(0, 10) }\n'
    (place.path / "main.tf").write_text(text)
    status, said = place.run("apply", "-auto-approve")
    assert status == 1
    assert "Infinite number" in said
    assert not (place.path / "errored.tfstate").exists()
    (place.path / "main.tf").write_text('resource "terraform_data" "a" { input = log(0, 10) }\n')
    status, said = place.run("plan")
    assert status == 1
    assert "Infinite number" in said
