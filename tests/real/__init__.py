"""Finds the real programs that tests marked `real` compare with.

`make peers` builds them into a cache outside the repository; a program that is not there skips
the test that asks for it.
"""

from pathlib import Path
from typing import Final

import pytest

from scripts.peers import cache

PEERS: Final = cache()


def program(name: str) -> Path:
    """Give the path of `tofu`, `terraform-provider-time`, … or skip the test."""
    path = PEERS / "bin" / name
    if not path.is_file():
        pytest.skip(f"{name} is not in {PEERS}: run `make peers` (it needs Go)")
    return path
