"""A provider in Python whose `read` does not say whether the object exists: the state keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest

import nigari
from nigari.providers.python import KEEP, Computed, Provider
from tests.providers_found import find_providers

MAIN = """\
terraform {
  required_providers {
    shelf = { source = "example.com/test/shelf" }
  }
}
resource "shelf_book" "a" {}
"""


def _provider(is_forgetful: list[bool]) -> Provider:
    provider = Provider("shelf")

    @provider.resource("book")
    @dataclass
    class Book:
        id: Computed[Annotated[str, KEEP]] = ""

        def create(self, config: object) -> None:
            self.id = "a"

        def read(self, config: object) -> bool | None:
            return None if is_forgetful else True

        def delete(self, config: object) -> None: ...

    return provider


@pytest.mark.parametrize("work", ["plan", "apply", "refresh", "destroy"])
def test_the_object_stays_in_the_state(
    work: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_forgetful: list[bool] = []
    find_providers(monkeypatch, {"": lambda: _provider(is_forgetful)})
    (tmp_path / "main.tf").write_text(MAIN)
    session = nigari.open(tmp_path)
    session.init()
    session.apply()
    stored = (tmp_path / "terraform.tfstate").read_bytes()
    is_forgetful.append(True)
    with pytest.raises(nigari.SessionError, match="read method of shelf_book returned nothing"):
        getattr(nigari.open(tmp_path), work)()
    assert (tmp_path / "terraform.tfstate").read_bytes() == stored
