"""A plugin in a process of its own that says itself what it leaves for later."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

import nigari
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


@pytest.fixture
def harbour(tmp_path: Path) -> nigari.Session:
    write_plugin(tmp_path / "plugins", "tide", _PLUGIN)
    settings = overriding(tmp_path / "settings.tfrc", "hashicorp/tide", tmp_path / "plugins")
    (tmp_path / "main.tf").write_text(_MAIN)
    return nigari.open(tmp_path, environ={"PATH": os.environ["PATH"], **settings})


def test_without_the_option_it_is_an_error(harbour: nigari.Session) -> None:
    with pytest.raises(nigari.SessionError, match="Low tide"):
        harbour.plan()


def test_the_plugin_decides(harbour: nigari.Session) -> None:
    left = harbour.plan(allow_deferral=True).deferred
    assert {each.address: each.reason for each in left} == {
        "data.tide_level.l": "resource_config_unknown",
        "tide_ship.each[*]": "instance_count_unknown",
        "tide_ship.s": "absent_prereq",
    }
    assert sum(round_.plan.summary.add for round_ in harbour.rounds()) == 5
    assert harbour.plan().is_empty
