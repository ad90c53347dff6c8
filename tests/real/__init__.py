"""Finds the real programs that tests marked `real` compare with.

`make peers` builds them into a cache outside the repository; a program that is not there skips
the test that asks for it.
"""

import os
from pathlib import Path
from typing import Final

import pytest

PEERS: Final = Path(
    os.environ.get("NIGARI_PEERS") or Path.home() / ".cache" / "nigari-peers"
).expanduser()


def program(name: str) -> Path:
    """Give the path of `tofu`, `terraform-provider-time`, … or skip the test."""
    path = PEERS / "bin" / name
    if not path.is_file():
        pytest.skip(f"{name} is not in {PEERS}: run `make peers` (it needs Go)")
    return path
