"""A provider in a process of its own that keeps a journal, and a directory to apply with it.

The journal says which calls began and which ended, with what came of them: it is what really
happened, whatever a state says.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from nigari.backends.state_path import StatePath
from tests.plugins import overriding, write_plugin

_PLUGIN: Final = """\
import asyncio, json, os, uuid
from dataclasses import dataclass
from typing import Annotated
from nigari.providers.python import KEEP, Computed, Provider, ProviderError

@dataclass
class Settings:
    journal: str
    pause: float = 0.0

provider = Provider("journal", Settings)

def note(settings, **entry):
    line = json.dumps({"pid": os.getpid(), **entry}) + "\\n"
    descriptor = os.open(settings.journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, line.encode())
    os.close(descriptor)

@provider.resource("entry")
@dataclass
class Entry:
    name: str
    value: str = ""
    manner: str = ""
    id: Computed[Annotated[str, KEEP]] = ""

    async def create(self, settings):
        await self._change(settings, uuid.uuid4().hex)

    async def update(self, settings, prior):
        await self._change(settings, prior.id)

    async def _change(self, settings, id):
        note(settings, event="begin", id=id)
        if self.manner == "fail":
            raise ProviderError("No such luck", "It does not want to.")
        if self.manner == "crash":
            os._exit(3)
        if self.manner == "hang":
            await asyncio.sleep(600)
        await asyncio.sleep(settings.pause)
        note(settings, event="end", id=id, name=self.name, value=self.value)
        self.id = id
        if self.manner == "lie":
            self.value = "something else"

    def read(self, settings):
        return True

    async def delete(self, settings):
        note(settings, event="begin", id=self.id)
        if self.manner == "undying":
            raise ProviderError("Not that way", "It stays.")
        note(settings, event="gone", id=self.id)

provider.serve()
"""

MANY: Final = """\
variable "value" {{ default = "0" }}
provider "journal" {{
  journal = "journal.txt"
  pause   = {pause}
}}
resource "journal_entry" "e" {{
  count = {count}
  name  = "e${{count.index}}"
  value = var.value
}}
"""


@dataclass
class World:
    """What exists according to the journal."""

    objects: dict[str, str] = field(default_factory=dict)
    """The values of all objects, by id."""
    begun: set[str] = field(default_factory=set)
    """The objects for which a call began and did not end."""
    processes: set[int] = field(default_factory=set)
    calls: int = 0


class Yard:
    """A working directory with the journal's provider."""

    def __init__(self, path: Path, environ: Mapping[str, str] | None = None) -> None:
        self.path = path
        self._said = path / "said.txt"
        plugins = path / "plugins"
        write_plugin(plugins, "journal", _PLUGIN)
        settings = overriding(path / "settings.tfrc", "hashicorp/journal", plugins)
        self.environ = {**(environ or os.environ), **settings}

    def write(self, text: str) -> None:
        (self.path / "main.tf").write_text(text)

    def start(self, *args: str) -> subprocess.Popen[bytes]:
        """Begin a command of ours; what it says goes into a file, which never makes it wait."""
        with self._said.open("w") as file:
            return subprocess.Popen(
                [sys.executable, "-m", "nigari", *args],
                cwd=self.path,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )

    def finish(self, process: subprocess.Popen[bytes], seconds: float = 60) -> tuple[int, str]:
        """Wait for a command; its exit status and what it said."""
        try:
            return process.wait(seconds), self._said.read_text()
        except BaseException:
            process.kill()
            raise

    def run(self, *args: str) -> tuple[int, str]:
        """Run a command of ours to its end."""
        return self.finish(self.start(*args))

    def apply(self, *args: str) -> tuple[int, str]:
        return self.run("apply", "-auto-approve", *args)

    def world(self) -> World:
        """What the journal says."""
        world = World()
        path = self.path / "journal.txt"
        lines = path.read_text().splitlines() if path.exists() else []
        for line in lines:
            entry = json.loads(line)
            world.processes.add(entry["pid"])
            if entry["event"] == "begin":
                world.begun.add(entry["id"])
                continue
            world.begun.discard(entry["id"])
            world.calls += 1
            if entry["event"] == "end":
                world.objects[entry["id"]] = entry["value"]
            else:
                world.objects.pop(entry["id"], None)
        return world

    def stored(self) -> dict[str, str]:
        """The values of the objects in the state, by id."""
        data = json.loads(StatePath(self.path / "terraform.tfstate").read() or '{"resources": []}')
        return {
            each["attributes"]["id"]: each["attributes"]["value"]
            for resource in data["resources"]
            for each in resource["instances"]
        }


def wait_until(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    """Wait for something that happens soon."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    """Whether there is such a process, other than as a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Press Ctrl-C."""
    process.send_signal(signal.SIGINT)
