"""What tests of commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.rich import Rich
from tests.providers_found import find_provider


@pytest.fixture
def rich(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An environment in which the test provider is at hand, without a process of its own.

    The working directory is an empty one.
    """
    find_provider(monkeypatch, Rich)
    monkeypatch.chdir(tmp_path)
    return {"TF_IN_AUTOMATION": "1"}
