"""Plugin programs to launch: scripts, and the environment of a test."""

import os
import sys
import textwrap
from pathlib import Path


def script(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "plugin.py"
    path.write_text(textwrap.dedent(text))
    return [sys.executable, str(path)]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
