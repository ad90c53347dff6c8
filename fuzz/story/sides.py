"""Sides of a comparison: a directory each, and the program that runs there.

The real program is a process. Ours runs in a fork of this process, in which everything is imported
already: that leaves nothing behind from command to command, as a new process would, and takes a
tenth of the time. It carries out operations in a legal order that is left to chance, the same for
the same story. Each side has a plugin that runs all the time.
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
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Final

import pytest

import nigari
from fuzz.story.configuration import LOG
from fuzz.story.telling import Seen, Step
from fuzz.story.world import (
    DIRECTORY,
    FACTS,
    FAILURES,
    JOURNAL,
    OBJECTS,
    SOURCE,
    World,
    inhabitant,
    live_below,
)
from nigari.workspace.plugins.providers import InstalledProviders
from tests.apply.orders import Watch, by_chance
from tests.plugins import running

EARLY: Final = "Used too early: "
"""Begins a line of ours about a value that was used before all that it depends on was done."""
_SECONDS: Final = 600
"""How long a command may take before it counts as one that hangs; the machine may be busy."""
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


@dataclass(frozen=True)
class Outcome:
    """The results of a command in its directory."""

    state: str
    journal: list[list[str]]
    """The calls of the provider."""
    log: list[str]
    """The lines that provisioners wrote."""


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

    @abstractmethod
    def start(self, command: list[str]) -> None:
        """Start a command line."""

    @abstractmethod
    def finish(self) -> Finished:
        """Wait for the command line that was started last."""

    def begin(self, seed: int) -> None:
        """Have nothing, for the story of a seed."""
        for name in ("work", DIRECTORY):
            shutil.rmtree(self.path / name, ignore_errors=True)
        self.work.mkdir()

    def become(self, other: Side) -> None:
        """Have what the other has."""
        if other is self:
            return
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

    def outcome(self) -> Outcome:
        return Outcome(self.state(), self.journal(), self.log())

    def objects(self) -> dict[str, dict[str, object]]:
        folder = self.path / OBJECTS
        paths = folder.iterdir() if folder.exists() else ()
        return {path.name.replace("%", "/"): json.loads(path.read_text()) for path in paths}

    def seen(self) -> Seen:
        return Seen(json.loads(self.state()), self.objects())


class RealSide(Side):
    """The side of the real program."""

    def __init__(self, path: Path, environment: dict[str, str], tofu: Path) -> None:
        super().__init__(path, environment)
        self._tofu = tofu
        self._process: subprocess.Popen[str] | None = None

    def start(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            [self._tofu, *command],
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self) -> Finished:
        process = self._process
        assert process is not None
        try:
            said, complained = process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            said, complained = process.communicate()
        return Finished(process.returncode, said, complained)


class OurSide(Side):
    """A side of ours."""

    def __init__(self, path: Path, environment: dict[str, str]) -> None:
        super().__init__(path, environment)
        self._chance = random.Random()
        self._child = 0

    def begin(self, seed: int) -> None:
        super().begin(seed)
        self._chance.seed(seed)

    def start(self, command: list[str]) -> None:
        order = self._chance.randrange(_ORDERS)
        sys.stdout.flush()
        self._child = os.fork()
        if self._child:
            return
        status = 70
        try:
            signal.alarm(_SECONDS)
            status = self._run(command, order)
        finally:
            os._exit(status)

    def finish(self) -> Finished:
        _, status = os.waitpid(self._child, 0)
        outputs = [(self.path / name).read_text("utf-8") for name in ("stdout", "stderr")]
        return Finished(os.waitstatus_to_exitcode(status), *outputs)

    def _run(self, command: list[str], order: int) -> int:
        from nigari.cli.main import main

        os.chdir(self.work)
        os.environ.clear()
        os.environ.update(self.environment)
        self._enter()
        for number, name in ((1, "stdout"), (2, "stderr")):
            file = os.open(self.path / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
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

    def _enter(self) -> None:
        """Change this process, which runs one command, before it begins."""


class InnerSide(OurSide):
    """A side of ours with the provider in the process of each command.

    A story then takes a third less processor time. What goes over the wire is left to the comparison with
    the real program.
    """

    def _enter(self) -> None:
        async def attach(*_: object) -> World:
            return inhabitant()

        live_below(self.path)
        pytest.MonkeyPatch().setattr(InstalledProviders, "_attach", attach)


@dataclass(frozen=True)
class Sides:
    """Two sides that are compared."""

    theirs: Side
    ours: Side

    def begin(self, seed: int) -> None:
        for side in (self.theirs, self.ours):
            side.begin(seed)

    def both(self, command: list[str]) -> tuple[Finished, Finished]:
        """Run a command line in both at the same time: what came of theirs, and of ours."""
        for side in (self.theirs, self.ours):
            side.start(command)
        return self.theirs.finish(), self.ours.finish()


MakeSide = Callable[[Path, dict[str, str]], Side]


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
def running_sides(directory: Path, makers: Mapping[str, MakeSide]) -> Iterator[list[Side]]:
    """Make sides below a directory, with their plugins running."""
    with contextlib.ExitStack() as stack:
        sides = []
        for name, make in makers.items():
            path = directory / name
            path.mkdir(parents=True)
            source = f"registry.opentofu.org/{SOURCE}"
            sides.append(make(path, stack.enter_context(running(source, _SERVING, path))))
        yield sides


@contextlib.contextmanager
def two_sides(tofu: Path, directory: Path) -> Iterator[Sides]:
    """Both programs below a directory."""
    makers: dict[str, MakeSide] = {"theirs": partial(RealSide, tofu=tofu), "ours": OurSide}
    with running_sides(directory, makers) as (theirs, ours):
        yield Sides(theirs, ours)
