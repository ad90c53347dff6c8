"""Provider instances with keys, with real plugins and beside the real program.

Where both accept a configuration, `tests/real/cases` compares them. Here is where we do more, and
what the real program makes of the state that we leave behind.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.real import program
from tests.real.beside import Place, settings_file
from tests.real.iterated_providers import CONFIGURATION, ours, pages, theirs

pytestmark = pytest.mark.real

MEMBER = "nigari_provider_instances"
WITHOUT_ASIA = ["-var", 'regions={"eu":"e","us":"u"}', "-var", 'pages=["eu","us"]']


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = Place(tmp_path / "work", settings_file(tmp_path / "settings.tfrc"))
    found.write({"main.tf": CONFIGURATION})
    return found


def test_the_states_of_both_go_back_and_forth(place: Place) -> None:
    ours(place, "apply", "-auto-approve")
    assert len(json.loads(place.state())[MEMBER]) == 3
    # The real program reads our state and finds nothing to do; it cannot take a key away.
    theirs(place, "plan", "-detailed-exitcode")
    assert "Provider instance not present" in theirs(place, "plan", *WITHOUT_ASIA, code=1)
    # When it writes, the note is gone, and then neither can we.
    theirs(place, "apply", "-auto-approve", "-replace", 'files_text.page["eu"]')
    assert MEMBER not in json.loads(place.state())
    assert "but not after one by OpenTofu" in " ".join(
        ours(place, "plan", *WITHOUT_ASIA, code=1).split()
    )
    # An apply of ours writes it again, although there is nothing else to do.
    assert "0 added, 0 changed, 0 destroyed" in ours(place, "apply", "-auto-approve")
    assert len(json.loads(place.state())[MEMBER]) == 3
    ours(place, "apply", "-auto-approve", *WITHOUT_ASIA)
    assert pages(place) == ["e", "u"]
    theirs(place, "plan", "-detailed-exitcode", *WITHOUT_ASIA)
    theirs(place, "destroy", "-auto-approve", *WITHOUT_ASIA)
    assert pages(place) == []


def test_a_plan_of_one_state_is_a_plan_of_the_other(place: Place) -> None:
    """What the real program has applied can lose a key after one apply of ours."""
    theirs(place, "apply", "-auto-approve")
    ours(place, "refresh")
    ours(place, "apply", "-auto-approve", *WITHOUT_ASIA)
    assert pages(place) == ["e", "u"]


COUNTED = """\
terraform {
  required_providers {
    simple = { source = "example.com/test/simple" }
  }
}
variable "keys" {
  type    = set(string)
  default = ["a", "b", "c"]
}
provider "simple" {
  alias    = "by"
  for_each = { for key in concat(tolist(var.keys), ["unused"]) : key => key }
  i_depend_on = each.value
}
resource "simple_resource" "r" {
  for_each = var.keys
  provider = simple.by[each.key]
  value    = each.key
}
"""


def test_one_process_for_each_instance_that_is_used(tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    log = tmp_path / "started"
    wrapper = plugins / "terraform-provider-simple"
    real = program("terraform-provider-simple")
    wrapper.write_text(f'#!/bin/sh\necho $$ >> "{log}"\nexec "{real}" "$@"\n')
    wrapper.chmod(0o755)
    settings = tmp_path / "settings.tfrc"
    settings.write_text(
        "provider_installation {\n"
        f'  dev_overrides {{ "example.com/test/simple" = "{plugins}" }}\n  direct {{}}\n}}\n'
    )
    place = Place(tmp_path / "work", settings)
    place.write({"main.tf": COUNTED})

    def started(*args: str) -> int:
        log.write_text("")
        ours(place, *args)
        numbers = [int(line) for line in log.read_text().split()]
        assert not any(_is_running(number) for number in numbers)
        return len(numbers)

    assert started("plan", "-var", "keys=[]") == 1
    # Three while planning, of which the first also tells the schema, and three while applying.
    assert started("apply", "-auto-approve") == 6
    assert started("plan") == 3
    assert started("apply", "-auto-approve") == 3
    # One key goes: its instance is started as well, and it alone has something to do.
    assert started("apply", "-auto-approve", "-var", 'keys=["a","b"]') == 4
    assert started("destroy", "-auto-approve", "-var", 'keys=["a","b"]') == 4


def _is_running(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True
