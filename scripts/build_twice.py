"""Shows that builds are reproducible: builds the distributions twice, far apart, and compares them byte by byte.

    python -m scripts.build_twice

The two builds are in directories of different names, with another clock, umask, time zone and locale.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
_WORLDS: Final = (
    ("one", "022", {"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1"}),
    ("another-place", "077", {"TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "2"}),
)


def build(commit: str, directory: Path, umask: str, settings: dict[str, str]) -> dict[str, str]:
    """Build from a copy of a commit; the checksum of each distribution by its name."""
    script = (
        f"umask {umask} && mkdir -p '{directory}' && git -C '{ROOT}' archive {commit} | tar -x -m -C '{directory}'"
        f" && cp -r '{ROOT}/src/nigari/explore/static' '{directory}/src/nigari/explore/' 2>/dev/null;"
        f" cd '{directory}' && '{sys.executable}' -m hatchling build -t sdist -t wheel -d dist"
        f" && cd packaging/nigari-core && '{sys.executable}' -m hatchling build -t wheel -d ../../dist"
    )
    subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, **settings},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((directory / "dist").iterdir())
    }


def main() -> None:
    """Build both, print the checksums, and fail if they differ."""
    head = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    # Another commit may be made meanwhile.
    commit = subprocess.run(head, check=True, capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        first, second = (
            build(commit, Path(folder, name), umask, settings) for name, umask, settings in _WORLDS
        )
    for name, checksum in first.items():
        print(f"{checksum}  {name}{'' if second.get(name) == checksum else '  DIFFERENT'}")
    sys.exit(first != second)


if __name__ == "__main__":
    main()
