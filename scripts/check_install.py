"""Installs the pure wheel of dist/ as users do, without a compiler, and follows the quick start.

    python -m scripts.check_install

Prints how long it took and how large it is.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "quick-start.md"


def follow(directory: Path, programs: Path) -> None:
    """Write the file of the quick start, and run its commands; each has to succeed."""
    text = PAGE.read_text(encoding="utf-8")
    (configuration,) = re.findall(r"```hcl\n# main.tf\n(.*?)```", text, re.DOTALL)
    (directory / "main.tf").write_text(configuration)
    environ = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(directory), "LC_ALL": "C.UTF-8"}
    for command in re.findall(r"^\$ (.+)$", text, re.MULTILINE):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=directory,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            sys.exit(f"$ {command}\n{done.stdout}{done.stderr}")


def main() -> None:
    """Install, measure and follow."""
    wheels = list((ROOT / "dist").glob("nigari-*-py3-none-any.whl"))
    if not wheels:
        sys.exit("there is no pure wheel in dist/: run `make distributions`")
    with tempfile.TemporaryDirectory(prefix="nigari-install-") as folder:
        venv.create(folder, with_pip=True)
        programs = Path(folder, "bin")
        begun = time.monotonic()
        # A dependency without a wheel would need a compiler.
        pip = [
            str(programs / "pip"),
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--only-binary=:all:",
        ]
        newest = max(wheels, key=os.path.getmtime)
        subprocess.run([*pip, str(newest)], check=True, env={**os.environ, "CC": "false"})
        took = time.monotonic() - begun
        size = sum(path.stat().st_size for path in Path(folder, "lib").rglob("*") if path.is_file())
        work = Path(folder, "work")
        work.mkdir()
        begun = time.monotonic()
        follow(work, programs)
        print(
            f"{newest.name}: {newest.stat().st_size / 1e6:.1f} MB, installed in {took:.0f} s, "
            f"{size / 1e6:.0f} MB with dependencies and pip; the quick start took {time.monotonic() - begun:.0f} s"
        )


if __name__ == "__main__":
    main()
