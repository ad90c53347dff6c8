"""States with objects whose provider OpenTofu cannot store: it must not use another one for them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.real.beside import Place, settings_file
from tests.real.iterated_providers import ours, pages, theirs

pytestmark = pytest.mark.real

WANTS = 'terraform {\n  required_providers {\n    files = { source = "hashicorp/files" }\n  }\n}\n'
BLOCKS = "".join(
    f'provider "files" {{\n  alias     = "{name}"\n  directory = "out/{name}"\n}}\n'
    for name in ("eu", "us")
)
PAGES = "".join(
    f'resource "files_text" "{name}" {{\n  provider = files.{name}\n  name     = "page.txt"\n}}\n'
    for name in ("eu", "us")
)
AFTER = """\
resource "files_text" "page" {
  for_each = toset(["us"])
  provider = files.us
  name     = "page.txt"
}
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = Place(tmp_path / "work", settings_file(tmp_path / "settings.tfrc"))
    found.write({"main.tf": WANTS + BLOCKS + PAGES})
    return found


def test_opentofu_neither_reads_nor_destroys_what_has_another_provider(place: Place) -> None:
    ours(place, "apply", "-auto-approve")
    for name in ("us", "eu"):
        ours(place, "state", "mv", f"files_text.{name}", f'files_text.page["{name}"]')
    place.write({"main.tf": WANTS + BLOCKS + AFTER})
    before = place.state()
    assert theirs(place, "state", "list").split() == [
        f'files_text.page["{n}"]' for n in ("eu", "us")
    ]
    for command in (
        ["plan"],
        ["apply", "-auto-approve", "-refresh=false"],
        ["destroy", "-auto-approve"],
    ):
        assert 'state of files_text.page["eu"]' in " ".join(theirs(place, *command, code=1).split())
    assert pages(place) == ["eu", "us"]
    assert json.loads(place.state())["resources"] == json.loads(before)["resources"]
    ours(place, "apply", "-auto-approve", "-refresh=false")
    assert pages(place) == ["us"]
    theirs(place, "plan", "-detailed-exitcode")
