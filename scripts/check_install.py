"""Installs what is in dist/ in each way that users do, without a compiler, and follows the quick start and the demo.

    python -m scripts.check_install [--python PROGRAM] [WAY...]

Prints a table: the processor time of each way and of its first steps, which another load of the machine changes little,
and the size of the result. Installers run
in environments of their own, with an empty home directory and nothing but the system's programs on the path.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "quick-start.md"


@dataclass(frozen=True, slots=True)
class Installed:
    """An installation: its program, its Python, and everything that belongs to it."""

    program: Path
    python: Path
    directory: Path


@dataclass(frozen=True, slots=True)
class World:
    """An empty home directory in which something is installed."""

    home: Path
    python: str

    @property
    def environ(self) -> Mapping[str, str]:
        """Nothing of the caller's but how to reach the package index; a dependency without a wheel would fail."""
        passed = ("PIP_", "SSL_", "UV_", "HTTP", "http", "NO_PROXY", "no_proxy")
        index = {key: value for key, value in os.environ.items() if key.startswith(passed)}
        path = f"{self.home / 'bin'}:/usr/bin:/bin"
        return {**index, "PATH": path, "HOME": str(self.home), "CC": "false", "LC_ALL": "C.UTF-8"}

    def run(self, *words: str | Path, cwd: Path | None = None) -> str:
        """The output of a program that has to succeed."""
        command = [str(word) for word in words]
        done = subprocess.run(
            command,
            cwd=cwd or self.home,
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            sys.exit(f"$ {' '.join(command)}\n{done.stdout}{done.stderr}")
        return done.stdout

    def environment(self, name: str) -> Path:
        """The programs of a new virtual environment."""
        self.run(self.python, "-m", "venv", self.home / name)
        return self.home / name / "bin"


def with_pip(world: World, distribution: Path) -> Installed:
    """Into a virtual environment."""
    programs = world.environment("environment")
    world.run(programs / "pip", "install", "--quiet", *_only_wheels(distribution), distribution)
    return Installed(programs / "nigari", programs / "python", programs.parent)


def with_pipx(world: World, distribution: Path) -> Installed:
    """As a program with an environment of its own."""
    tools = world.environment("tools")
    world.run(tools / "pip", "install", "--quiet", "pipx")
    arguments = " ".join(_only_wheels(distribution))
    world.run(tools / "pipx", "install", "--quiet", f"--pip-args={arguments}", str(distribution))
    world.run("test", "-e", ".local/share/man/man1/nigari-plan.1")
    environment = world.home / ".local" / "share" / "pipx" / "venvs" / "nigari"
    return Installed(world.home / ".local/bin/nigari", environment / "bin/python", environment)


def with_uv(world: World, distribution: Path) -> Installed:
    """As a program with an environment of its own."""
    tools = world.environment("tools")
    world.run(tools / "pip", "install", "--quiet", "uv")
    options = ("--no-build", "--python", world.python)
    world.run(tools / "uv", "tool", "install", "--quiet", *options, distribution)
    environment = world.home / ".local" / "share" / "uv" / "tools" / "nigari"
    return Installed(world.home / ".local/bin/nigari", environment / "bin/python", environment)


def _only_wheels(distribution: Path) -> tuple[str, ...]:
    """Of an archive of sources, only the dependencies need wheels."""
    wheels = "--only-binary=:all:"
    return (wheels,) if distribution.suffix == ".whl" else (wheels, "--no-binary=nigari")


WAYS: Final[Mapping[str, tuple[Callable[[World, Path], Installed], str]]] = {
    "pip": (with_pip, "nigari-*-py3-none-any.whl"),
    "pipx": (with_pipx, "nigari-*-py3-none-any.whl"),
    "uv": (with_uv, "nigari-*-py3-none-any.whl"),
    "sdist": (with_pip, "nigari-*.tar.gz"),
    "core": (with_pip, "nigari_core-*-py3-none-any.whl"),
}


def follow_quick_start(world: World, installed: Installed) -> None:
    """Write the file of the quick start, and run its commands; each has to succeed."""
    text = PAGE.read_text(encoding="utf-8")
    (configuration,) = re.findall(r"```hcl\n# main.tf\n(.*?)```", text, re.DOTALL)
    directory = world.home / "work"
    directory.mkdir()
    (directory / "main.tf").write_text(configuration)
    (world.home / "bin").mkdir()
    (world.home / "bin" / "nigari").symlink_to(installed.program)
    for command in re.findall(r"^\$ (.+)$", text, re.MULTILINE):
        world.run("bash", "-c", command, cwd=directory)


def follow_demo(world: World, installed: Installed) -> None:
    """Run the demo, in which two commands are meant to fail."""
    shown = world.run(installed.python, ROOT / "examples" / "demo.py")
    if "Destroy complete!" not in shown:
        sys.exit(shown)


def evaluate(world: World, installed: Installed) -> None:
    """What the library alone can do."""
    (world.home / "main.tf").write_text('locals {\n  a = upper("b")\n}\n')
    world.run(installed.program, "validate")
    if world.run(installed.program, "eval", "local.a") != '"B"\n':
        sys.exit("a wrong result")


def seconds(act: Callable[[], object]) -> str:
    """The processor time that something takes in its processes."""
    begun = os.times()
    act()
    done = os.times()
    spent = done.children_user - begun.children_user + done.children_system - begun.children_system
    return f"{spent:.1f} s"


def row(way: str, python: str) -> str:
    """Install in one way, follow, and measure."""
    install, pattern = WAYS[way]
    found = sorted((ROOT / "dist").glob(pattern), key=os.path.getmtime)
    if not found:
        sys.exit(f"there is no {pattern} in dist/: run `make distributions`")
    with tempfile.TemporaryDirectory(prefix="nigari-install-") as folder:
        world = World(Path(folder), python)
        installations: list[Installed] = []
        cells = [seconds(lambda: installations.append(install(world, found[-1])))]
        (installed,) = installations
        paths = (each for each in installed.directory.rglob("*") if not each.is_symlink())
        size = sum(each.stat().st_size for each in paths if each.is_file())
        cells.append(f"{size / 1e6:.0f} MB")
        cells.append(seconds(lambda: world.run(installed.program, "version")))
        if way == "core":
            cells += [seconds(lambda: evaluate(world, installed)), "–"]
        else:
            cells.append(seconds(lambda: follow_quick_start(world, installed)))
            cells.append(seconds(lambda: follow_demo(world, installed)))
    return f"| {way} | {' | '.join(cells)} |"


def main() -> None:
    """Print a row for each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ways", nargs="*", choices=[*WAYS, []], metavar="WAY")
    parser.add_argument("--python", default=getattr(sys, "_base_executable", sys.executable))
    given = parser.parse_args()
    print("| way | install | size | `nigari version` | quick start | demo |")
    print("| --- | --- | --- | --- | --- | --- |")
    for way in given.ways or WAYS:
        print(row(way, given.python), flush=True)


if __name__ == "__main__":
    main()
