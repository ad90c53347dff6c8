"""What an interrupted init may not leave behind."""

from __future__ import annotations

import os
from pathlib import Path

from tests.packages.module_world import ModuleWorld


def nothing_is_left(world: ModuleWorld, work: Path) -> None:
    assert os.listdir(work) == ["main.tf"]
    cache = world.directory / "cache/modules"
    for part in ("packages", "new", "sources"):
        assert not (cache / part).exists() or os.listdir(cache / part) == []
