"""Directories to initialize, and servers of module packages."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path

from tests.cli.process import Done, inside
from tests.net_world.server import Answer
from tests.packages.module_world import ModuleWorld


def nigari(
    world: ModuleWorld, work: Path, *arguments: str, environ: Mapping[str, str] | None = None
) -> Done:
    # One cache per world, so that tests do not feel each other.
    surroundings = world.environ(NIGARI_CACHE_DIR=str(world.directory / "cache"))
    with contextlib.chdir(work):
        done = inside(*arguments, settings={**surroundings, **(environ or {})})
    return Done(done.code, done.out, " ".join(done.err.split()))


def init(world: ModuleWorld, work: Path, *arguments: str, **environ: str) -> Done:
    return nigari(world, work, "init", "-no-color", *arguments, environ=environ)


def call(name: str, source: str, version: str = "") -> str:
    at = f'  version = "{version}"\n' if version else ""
    return f'module "{name}" {{\n  source = "{source}"\n{at}}}\n'


def write(work: Path, *calls: str) -> None:
    (work / "main.tf").write_text("".join(calls))


def records(work: Path) -> dict[str, dict[str, str]]:
    document = json.loads((work / ".terraform/modules/modules.json").read_text())
    return {each["Key"]: each for each in document["Modules"] if each["Key"]}


def installed(work: Path, name: str, file: str = "main.tf") -> str:
    return Path(work, records(work)[name]["Dir"], file).read_text()


def page(content: str) -> Answer:
    return Answer(200, content.encode(), {"content-type": "text/html"})
