"""A plugin in a process of its own that says itself what it leaves for later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from tests.cli.process import Done, nigari
from tests.plugins import overriding, write_plugin

_PLUGIN: Final = """\
import os
from dataclasses import dataclass
from typing import Annotated
from nigari.providers import api
from nigari.providers.python import KEEP, Computed, Deferred, Provider

provider = Provider("tide")

@provider.resource("flag")
@dataclass
class Flag:
    path: str
    id: Computed[Annotated[str, KEEP]] = ""

    def create(self, settings):
        open(self.path, "w").close()
        self.id = self.path

    def read(self, settings):
        return os.path.exists(self.path)

    def delete(self, settings):
        os.unlink(self.path)

@provider.resource("ship")
@dataclass
class Ship:
    after: str
    id: Computed[Annotated[str, KEEP]] = ""

    def plan(self, settings, prior):
        if not os.path.exists(self.after):
            raise Deferred("Low tide", "Wait for it.")

    def create(self, settings):
        self.id = "ship"

    def read(self, settings):
        return True

    def delete(self, settings):
        pass

@provider.data_source("level")
@dataclass
class Level:
    after: str
    height: Computed[int] = 0

    def read(self, settings):
        if not os.path.exists(self.after):
            raise Deferred("Low tide", reason=api.ProviderDeferral.CONFIG_UNKNOWN)
        self.height = 3

provider.serve()
"""
_MAIN: Final = """\
resource "tide_flag" "f" {
  path = "flag.txt"
}
resource "tide_ship" "s" {
  after = "flag.txt"
}
data "tide_level" "l" {
  after = "flag.txt"
}
resource "tide_ship" "each" {
  count = data.tide_level.l.height
  after = tide_ship.s.after
}
"""


class Harbour:
    def __init__(self, path: Path) -> None:
        self.path = path
        write_plugin(path / "plugins", "tide", _PLUGIN)
        self.settings = overriding(path / "settings.tfrc", "hashicorp/tide", path / "plugins")
        (path / "main.tf").write_text(_MAIN)

    def run(self, *args: str) -> Done:
        return nigari(*args, "-no-color", cwd=self.path, settings=self.settings)


@pytest.fixture
def harbour(tmp_path: Path) -> Harbour:
    return Harbour(tmp_path)


def test_without_the_option_it_is_an_error(harbour: Harbour) -> None:
    done = harbour.run("plan")
    assert done.code == 1
    assert "Low tide" in done.err


def test_the_plugin_decides(harbour: Harbour) -> None:
    done = harbour.run("plan", "-allow-deferral", "-json")
    assert done.code == 0, done.out
    events = [json.loads(line) for line in done.out.splitlines()]
    left = [each["deferred"] for each in events if each["type"] == "deferred_change"]
    assert {each["address"]: each["reason"] for each in left} == {
        "data.tide_level.l": "resource_config_unknown",
        "tide_ship.each[*]": "instance_count_unknown",
        "tide_ship.s": "absent_prereq",
    }
    done = harbour.run("apply", "-allow-deferral", "-auto-approve")
    assert done.code == 0, done.err
    assert "Apply complete! Resources: 5 added" in done.out
    assert harbour.run("plan", "-detailed-exitcode").code == 0
