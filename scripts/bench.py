"""Runs `benchmarks/` beside the libraries it compares with.

Those libraries go into a virtual environment of their own, in the cache of `scripts/peers.py`, so
that they never meet the project's. With `--compiled` the wheel in `dist/` is measured instead of
the sources.
"""

import argparse
import hashlib
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

from scripts.peers import cache

ROOT = Path(__file__).resolve().parents[1]
SERVERS = ("flask", "flask-cors", "moto", "psycopg", "pytest")
"""What the servers of distant states are started and filled with."""
PEERS = ("python-hcl2>=8.1", "pygohcl>=1.2", "pyvider-cty>=0.6", "msgpack>=1.1")


def environment(requirements: list[str], name: str) -> Path:
    """Give the Python of a virtual environment with these installed, made anew when they change."""
    wanted = hashlib.sha256("\n".join([sys.version, *requirements]).encode()).hexdigest()
    folder = cache() / name
    python = folder / "bin" / "python"
    stamp = folder / ".ready"
    if not (stamp.exists() and stamp.read_text() == wanted):
        folder.parent.mkdir(parents=True, exist_ok=True)
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        subprocess.run([*pip, *requirements], check=True)
        stamp.write_text(wanted)
    return python


def main() -> None:
    """Prepare the environment and hand over to `python -m benchmarks`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiled", action="store_true", help="measure the wheel in dist/")
    arguments, rest = parser.parse_known_args()
    settings = dict(os.environ)
    output = "bench.json"
    if arguments.compiled:
        wheels = sorted((ROOT / "dist").glob("nigari-*.whl"), key=lambda path: path.stat().st_mtime)
        if not wheels:
            sys.exit("there is no wheel in dist/: run `make wheel`")
        digest = hashlib.sha256(wheels[-1].read_bytes()).hexdigest()
        python = environment(
            [*PEERS, *servers(), f"nigari[pg] @ file://{wheels[-1]}#sha256={digest}"],
            "compiled",
        )
        output = "bench-compiled.json"
    else:
        python = environment([*PEERS, *servers(), *runtime_requirements()], "bench")
        settings["PYTHONPATH"] = str(ROOT / "src")
    command = [str(python), "-m", "benchmarks", "--json", str(ROOT / "build" / output), *rest]
    sys.exit(subprocess.run(command, cwd=ROOT, env=settings, check=False).returncode)


def runtime_requirements() -> list[str]:
    """Give what nigari itself depends on."""
    return declared()[0]


def servers() -> list[str]:
    """Give what the servers need, in the versions that tests use."""
    _, extras = declared()
    lists = (extras["dev"], extras["pg"])
    return [item for each in lists for item in each if re.split(r"[\[<=>]", item)[0] in SERVERS]


def declared() -> tuple[list[str], dict[str, list[str]]]:
    """Give the dependencies of the project, and those of its extras."""
    import tomllib

    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    return project["dependencies"], project["optional-dependencies"]


if __name__ == "__main__":
    main()
