"""Runs tests with the lowest versions of the dependencies that pyproject.toml allows.

    python -m scripts.lowest_versions [TEST...]

The environment of `make check` has the highest ones.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
TOOLS: Final = (
    "flask",
    "flask-cors",
    "moto[dynamodb,s3]",
    "attrs",
    "hypothesis",
    "packaging",
    "pydantic",
    "pytest",
    "pytest-xdist",
)
TESTS: Final = (
    "tests/cty",
    "tests/hcl",
    "tests/net",
    "tests/state",
    "tests/providers",
    "tests/backends",
    "tests/cli",
)


def lowest(requirement: str) -> str:
    """The requirement with its lower bound as the only version."""
    return re.sub(r">=\s*([\w.]+)", r"==\1", requirement)


def main() -> None:
    """Install the lowest versions into an environment of their own, and run tests there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with tempfile.TemporaryDirectory(prefix="nigari-lowest-") as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder, "bin", "python"))
        pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        subprocess.run([*pip, "--upgrade", "pip"], check=True)
        direct = [lowest(each) for each in project["dependencies"]]
        subprocess.run([*pip, *direct, *TOOLS], check=True)
        subprocess.run([*pip, "--no-deps", "--editable", str(ROOT)], check=True)
        print("testing", *direct, flush=True)
        options = ["-q", "-n", "2", "-p", "no:cacheprovider"]
        tests = sys.argv[1:] or TESTS
        command = [python, "-m", "pytest", *options, *tests]
        sys.exit(subprocess.run(command, cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main()
