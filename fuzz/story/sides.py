"""Two directories with the same in them, one for each program, and how each program is run.

The real program is a process. Ours runs in a fork of this process, in which everything is imported
already: that leaves nothing behind from command to command, as a new process would, and takes a
tenth of the time. It carries out operations in a legal order that is left to chance, the same for
the same story. Both talk to plugins that run all the time, one for each directory.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Final

import pytest

import nigari
from fuzz.story.configuration import LOG
from fuzz.story.telling import Seen, Step
from fuzz.story.world import DIRECTORY, FACTS, FAILURES, JOURNAL, OBJECTS, SOURCE
from tests.apply.orders import Watch, by_chance
from tests.plugins import running

EARLY: Final = "Used too early: "
"""Begins a line of ours about a value that was used before all that it depends on was done."""
_SECONDS: Final = 60
_ORDERS: Final = 1_000_000
_STATE: Final = "terraform.tfstate"
_SERVING: Final = "from fuzz.story.world import provider; provider.serve()"
_WARM: Final = ("grpc.aio", "google.protobuf")
_NOT_IMPORTED: Final = ("nigari.__main__",)


@dataclass(frozen=True)
class Finished:
    """How a command ended and what it printed."""

    status: int
    stdout: str
    stderr: str


class Side:
    """A directory with a working directory and a world in it."""

    def __init__(self, path: Path, environment: dict[str, str]) -> None:
        self.path = path
        self.work = path / "work"
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("TF_", "NIGARI_"))}
        self.environment = {
            **inherited,
            **environment,
            "TF_CLI_ARGS": "-no-color",
            "NIGARI_DEBUG": "1",
            "CHECKPOINT_DISABLE": "1",
        }

    def clear(self) -> None:
        """Have nothing, for a new story."""
        for name in ("work", DIRECTORY):
            shutil.rmtree(self.path / name, ignore_errors=True)
        self.work.mkdir()

    def become(self, other: Side) -> None:
        """Have what the other has."""
        for name in ("work", DIRECTORY):
            shutil.rmtree(self.path / name, ignore_errors=True)
            if (other.path / name).exists():
                shutil.copytree(other.path / name, self.path / name, symlinks=True)

    def prepare(self, step: Step) -> None:
        """Change files and world as a step says, and begin a new journal."""
        for old in self.work.rglob("*.tf"):
            old.unlink()
        for name, text in step.files.items():
            (self.work / name).parent.mkdir(parents=True, exist_ok=True)
            (self.work / name).write_text(text)
        for folder in (OBJECTS, FACTS):
            (self.path / folder).mkdir(parents=True, exist_ok=True)
        for identifier, value in step.objects.items():
            path = self.path / OBJECTS / identifier.replace("/", "%")
            if value is None:
                path.unlink(missing_ok=True)
            else:
                path.write_text(json.dumps(value))
        for key, text in step.facts.items():
            (self.path / FACTS / key).write_text(text)
        (self.path / FAILURES).write_text("\n".join(step.failures))
        self.forget()

    def forget(self) -> None:
        """Begin a new journal."""
        (self.path / JOURNAL).unlink(missing_ok=True)
        (self.work / LOG).unlink(missing_ok=True)

    def state(self) -> str:
        path = self.work / _STATE
        text = path.read_text() if path.exists() else ""
        return text or '{"resources": []}'

    def journal(self) -> list[list[str]]:
        path = self.path / JOURNAL
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def log(self) -> list[str]:
        path = self.work / LOG
        return path.read_text().splitlines() if path.exists() else []

    def objects(self) -> dict[str, dict[str, object]]:
        folder = self.path / OBJECTS
        paths = folder.iterdir() if folder.exists() else ()
        return {path.name.replace("%", "/"): json.loads(path.read_text()) for path in paths}

    def seen(self) -> Seen:
        return Seen(json.loads(self.state()), self.objects())


class Sides:
    """Both directories, and the two programs."""

    def __init__(self, tofu: Path, theirs: Side, ours: Side) -> None:
        self._tofu = tofu
        self._chance = random.Random()
        self.theirs = theirs
        self.ours = ours

    def begin(self, seed: int) -> None:
        """Have nothing, for a new story, whose seed also decides in which orders ours works."""
        self._chance.seed(seed)
        for side in (self.theirs, self.ours):
            side.clear()

    def both(self, command: list[str]) -> tuple[Finished, Finished]:
        """Run a command line in both at the same time: what came of theirs, and of ours."""
        order = self._chance.randrange(_ORDERS)
        theirs = subprocess.Popen(
            [self._tofu, *command],
            cwd=self.theirs.work,
            env=self.theirs.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        child = self._fork(command, order)
        try:
            said, complained = theirs.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            theirs.kill()
            said, complained = theirs.communicate()
        _, status = os.waitpid(child, 0)
        outputs = [(self.ours.path / name).read_text("utf-8") for name in ("stdout", "stderr")]
        ours = Finished(os.waitstatus_to_exitcode(status), *outputs)
        return Finished(theirs.returncode, said, complained), ours

    def _fork(self, command: list[str], order: int) -> int:
        sys.stdout.flush()
        child = os.fork()
        if child:
            return child
        status = 70
        try:
            signal.alarm(_SECONDS)
            status = self._run(command, order)
        finally:
            os._exit(status)

    def _run(self, command: list[str], order: int) -> int:
        from nigari.cli.main import main

        os.chdir(self.ours.work)
        os.environ.clear()
        os.environ.update(self.ours.environment)
        for number, name in ((1, "stdout"), (2, "stderr")):
            file = os.open(self.ours.path / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(file, number)
            stream = os.fdopen(number, "wb", closefd=False)
            setattr(sys, name, TextIOWrapper(stream, "utf-8"))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        watch = Watch(pytest.MonkeyPatch())
        watch.order(by_chance(order))
        status = main(command)
        for each in watch.early:
            sys.stderr.write(f"{EARLY}{each}\n")
        sys.stdout.flush()
        sys.stderr.flush()
        return status


def warm_up() -> None:
    """Import everything that a command may need."""
    for found in pkgutil.walk_packages(nigari.__path__, "nigari."):
        if found.name not in _NOT_IMPORTED:
            importlib.import_module(found.name)
    for name in _WARM:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()


@contextlib.contextmanager
def two_sides(tofu: Path, directory: Path) -> Iterator[Sides]:
    """Both sides below a directory, with their plugins running."""
    with contextlib.ExitStack() as stack:
        sides = []
        for name in ("theirs", "ours"):
            (directory / name).mkdir(parents=True)
            source = f"registry.opentofu.org/{SOURCE}"
            environment = stack.enter_context(running(source, _SERVING, directory / name))
            sides.append(Side(directory / name, environment))
        yield Sides(tofu, *sides)
