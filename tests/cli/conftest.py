"""What tests of commands share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.rich import Rich
from tests.packages.module_world import ModuleWorld
from tests.providers_found import find_provider


@pytest.fixture
def rich(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An environment in which the test provider is at hand, without a process of its own.

    The working directory is an empty one.
    """
    find_provider(monkeypatch, Rich)
    monkeypatch.chdir(tmp_path)
    return {"TF_IN_AUTOMATION": "1"}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[ModuleWorld]:
    """Servers that have modules, on this machine."""
    with ModuleWorld(tmp_path / "world") as made:
        yield made


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """An empty directory for a configuration."""
    directory = tmp_path / "work"
    directory.mkdir()
    return directory
