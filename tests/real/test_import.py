"""`import` and blocks that are written for what is imported, beside the real program."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.import_cases import ENOUGH, NOT_ENOUGH
from tests.cli.process import nigari
from tests.providers.identities import import_served
from tests.real import program
from tests.real.beside import Place, settings_file

pytestmark = pytest.mark.real

WRITTEN = """\
terraform {
  required_providers {
    random = { source = "hashicorp/random" }
    time   = { source = "hashicorp/time" }
  }
}
provider "random" {
  alias = "other"
}
import {
  to       = random_string.s
  id       = "abcDEF"
  provider = random.other
}
import {
  to = random_password.p
  id = "hush"
}
import {
  to = time_static.t
  id = "2020-02-12T06:36:13Z"
}
import {
  to = terraform_data.d
  id = "x"
}
"""

IMPORTED = """\
resource "terraform_data" "a" {
  count = 2
}
resource "random_password" "p" {
  length = 3
}
"""


@pytest.fixture
def places(tmp_path: Path) -> tuple[Place, Place]:
    settings = settings_file(tmp_path / "settings.tfrc")
    return Place(tmp_path / "theirs", settings), Place(tmp_path / "ours", settings)


def _ours(place: Place, *args: str) -> int:
    settings = {"TF_CLI_CONFIG_FILE": place.environ["TF_CLI_CONFIG_FILE"]}
    return nigari(*args, cwd=place.path, settings=settings).code


def _blocks(text: str) -> list[str]:
    return sorted(re.findall(r"^resource .*?^}$", text, re.MULTILINE | re.DOTALL))


def test_written_blocks(places: tuple[Place, Place]) -> None:
    theirs, ours = places
    for place in places:
        place.write({"main.tf": WRITTEN})
    flags = ("plan", "-generate-config-out=made.tf")
    assert theirs.run(program("tofu"), *flags)[0] == 0
    assert _ours(ours, *flags) == 0
    made = [_blocks((place.path / "made.tf").read_text()) for place in places]
    assert len(made[0]) == 4
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("address", "id_"),
    [
        ("terraform_data.a[0]", "x"),
        ("random_password.p", "abc"),
        ("terraform_data.a[7]", "x"),
        ("terraform_data.a", "x"),
        ("terraform_data.b", "x"),
        ("data.terraform_data.b", "x"),
        ("module.m.terraform_data.b", "x"),
        ("terraform_data.a[", "x"),
        ("random_password.q", ""),
    ],
)
def test_command(places: tuple[Place, Place], address: str, id_: str) -> None:
    theirs, ours = places
    for place in places:
        place.write({"main.tf": IMPORTED})
    status, said = theirs.run(program("tofu"), "import", address, id_)
    assert _ours(ours, "import", address, id_) == status, said
    found = [json.loads(place.state())["resources"] for place in places]
    for each in found[0] + found[1]:
        for instance in each["instances"]:
            instance["attributes"].pop("bcrypt_hash", None)
    assert found[0] == found[1]


def test_by_identity_of_a_provider_in_python(tmp_path: Path) -> None:
    import_served(tmp_path, str(program("tofu")))


@pytest.mark.parametrize("text", [*ENOUGH.values(), *NOT_ENOUGH.values()])
def test_what_an_import_wants(text: str, places: tuple[Place, Place]) -> None:
    """OpenTofu imports into the same configurations."""
    (theirs, _), tofu = places, program("tofu")
    (theirs.path / "main.tf").write_text(text)
    theirs.run(tofu, "init")
    code, said = theirs.run(tofu, "import", "-input=false", "terraform_data.a", "given")
    assert (code == 0) is (text in ENOUGH.values()), said
