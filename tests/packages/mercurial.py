"""Mercurial repositories with modules."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def hg(path: Path, *arguments: str, program: str | Path = "hg") -> str:
    environ = {**os.environ, "HGUSER": "a", "HGPLAIN": "1", "HGRCPATH": ""}
    command = [program, *arguments]
    done = subprocess.run(
        command, cwd=path, env=environ, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
