"""Both programs in one directory, one command after the other, and what each said.

The directory is shared: nothing is applied, and each program has a data directory of its own. Our
program runs in a copy of this process, so that starting Python is paid for once.
Deliberately unknown: what may differ.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from nigari.cli.main import main as nigari_main
from scripts.peers import cache
from tests.outside.inputs import addresses, write_values
from tests.outside.plugins import UNANSWERED

_LIMIT: Final = 120
_LOCAL_BACKEND: Final = 'terraform {\n  backend "local" {}\n}\n'
Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None


@dataclass
class Said:
    """What one command said: its exit status, its diagnostics, and its document."""

    status: int
    places: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    summaries: list[str] = field(default_factory=list)
    text: str = ""
    errors: str = ""

    def document(self) -> dict[str, Json]:
        data = json.loads(self.text)
        return data if isinstance(data, dict) else {}


@dataclass
class Beside:
    """What both programs said, by command."""

    theirs: dict[str, Said] = field(default_factory=dict)
    ours: dict[str, Said] = field(default_factory=dict)


class Programs:
    """The two programs, with an environment in which no provider needs to be installed."""

    def __init__(self, attached: Mapping[str, object], scratch: Path) -> None:
        self._tofu = str(cache() / "bin" / "tofu")
        self._scratch = scratch
        settings = scratch / "settings.tfrc"
        settings.touch()
        self._environ = {
            **os.environ,
            "TF_REATTACH_PROVIDERS": json.dumps(attached),
            "TF_CLI_CONFIG_FILE": str(settings),
            "TF_IN_AUTOMATION": "1",
            "TF_INPUT": "0",
            "NIGARI_DEBUG": "1",
            "CHECKPOINT_DISABLE": "1",
            **UNANSWERED,
            "GIT_ALLOW_PROTOCOL": "file",
        }

    def run(self, directory: Path) -> Beside:
        """Everything in one directory."""
        scratch = self._scratch / f"run-{os.getpid()}"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        found = Beside()
        with local_backend(directory):
            options = write_values(directory, scratch / "values.tfvars.json")
            for ours in (False, True):
                said = found.ours if ours else found.theirs
                for name, arguments in _commands(scratch, options, ours):
                    if name == "show" and said["plan"].status != 0:
                        continue
                    said[name] = self.command(directory, scratch, arguments, ours=ours)
            for address in addresses(directory):
                arguments = ["explain", "-json", *options, address]
                found.ours[f"explain {address}"] = self.command(
                    directory, scratch, arguments, ours=True
                )
        return found

    def command(
        self,
        directory: Path,
        scratch: Path,
        arguments: Sequence[str],
        *,
        ours: bool,
        limit: float = _LIMIT,
        has_own_data: bool = True,
    ) -> Said:
        """What one of the programs says to a command."""
        name = "ours" if ours else "theirs"
        environ = dict(self._environ)
        if has_own_data:
            environ["TF_DATA_DIR"] = str(scratch / name)
        outputs = scratch / f"{name}.out", scratch / f"{name}.err"
        with outputs[0].open("wb") as out, outputs[1].open("wb") as err:
            if ours:
                files = out.fileno(), err.fileno()
                status = _forked(arguments, directory, environ, files, limit)
            else:
                status = _started(
                    [self._tofu, *arguments], directory, environ, (out.fileno(), err.fileno())
                )
        text, errors = (each.read_text(errors="replace") for each in outputs)
        said = Said(status, text=text, errors=errors)
        for diagnostic in _diagnostics(arguments[0], text):
            place = diagnostic.get("range") or {}
            line = (place.get("start") or {}).get("line", 0)
            said.places[str(diagnostic["severity"]), str(place.get("filename", "")), line] += 1
            summary = f"{diagnostic['severity']}: {place.get('filename')}:{line}: "
            said.summaries.append(
                f"{summary}{diagnostic['summary']}: {diagnostic.get('detail', '')}"
            )
        return said


def _commands(scratch: Path, options: list[str], ours: bool) -> Iterator[tuple[str, list[str]]]:
    plan = str(scratch / ("ours.plan" if ours else "theirs.plan"))
    yield "init", ["init", "-json", "-input=false", *options]
    yield "validate", ["validate", "-json", *options]
    yield "plan", ["plan", "-json", "-input=false", "-lock=false", f"-out={plan}", *options]
    yield "show", ["show", "-json", plan]
    if ours:
        yield "config", ["config", "-json", *options]


@contextlib.contextmanager
def local_backend(directory: Path) -> Iterator[None]:
    """Keep the state of a directory local, whatever its configuration says."""
    has_one = any(
        word in file.read_bytes()
        for pattern in ("*.tf", "*.tofu", "*.tf.json")
        for file in directory.glob(pattern)
        if file.is_file()
        for word in (b"\n  backend ", b"\n  cloud ", b'"backend"')
    )
    override = directory / "outside_override.tf"
    if has_one:
        override.write_text(_LOCAL_BACKEND)
    try:
        yield
    finally:
        override.unlink(missing_ok=True)


def _started(
    command: Sequence[str], directory: Path, environ: Mapping[str, str], outputs: tuple[int, int]
) -> int:
    try:
        return subprocess.run(
            command,
            cwd=directory,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=outputs[0],
            stderr=outputs[1],
            timeout=_LIMIT,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        return -1


def _forked(
    arguments: Sequence[str],
    directory: Path,
    environ: Mapping[str, str],
    outputs: tuple[int, int],
    limit: float,
) -> int:
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(outputs[0], 1)
            os.dup2(outputs[1], 2)
            # The buffers of this process are not the child's to write.
            sys.stdout = os.fdopen(1, "w")
            sys.stderr = os.fdopen(2, "w")
            os.chdir(directory)
            os.environ.clear()
            os.environ.update(environ)
            status = nigari_main(list(arguments))
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        except BaseException:  # noqa: BLE001 - whatever it is, it must not go on as the harness
            os.write(2, traceback.format_exc().encode())
            os._exit(99)
    return _waited(child, limit)


def _waited(child: int, limit: float) -> int:
    until = time.monotonic() + limit
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


def _diagnostics(command: str, text: str) -> Iterator[dict[str, dict[str, dict[str, int]]]]:
    if command == "validate":
        with contextlib.suppress(ValueError):
            yield from json.loads(text).get("diagnostics", ())
        return
    for line in text.splitlines():
        with contextlib.suppress(ValueError):
            event = json.loads(line)
            if isinstance(event, dict) and event.get("type") == "diagnostic":
                yield event["diagnostic"]
