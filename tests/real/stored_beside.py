"""Backends that both programs use at the same time: what a test of each needs."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tests.real import program

WORDS: Final = """
variable "word" { default = "one" }
resource "terraform_data" "a" { input = var.word }
output "word" { value = terraform_data.a.output }
"""
SLOW: Final = """
resource "terraform_data" "slow" {
  triggers_replace = timestamp()
  provisioner "local-exec" { command = "touch started; while [ ! -e go ]; do sleep 0.05; done" }
}
"""
HOLDER: Final = "everything that the holder knows"
SESSION: Final = "the session that has the lock"
WORKSPACE: Final = "the workspace that is locked"
NOTHING: Final = "nothing, since there are no locks"
NONE: Final[Mapping[str, str]] = MappingProxyType({})


class Shared:
    """A backend, and directories of either program whose state is in it."""

    def __init__(
        self,
        path: Path,
        block: str,
        environ: Mapping[str, str] = NONE,
        has_workspaces: bool = True,
    ) -> None:
        self.path = path
        self.block = block
        self.has_workspaces = has_workspaces
        self.first = "default"
        """The workspace that there is from the beginning."""
        self.tells = HOLDER
        """What who is refused learns about a lock."""
        self.peer = "tofu"
        """The real program."""
        self._environ = environ
        (path / "cli.tofurc").write_text("")

    def directory(self, name: str, configuration: str = WORDS) -> Path:
        made = self.path / name
        made.mkdir(exist_ok=True)
        (made / "main.tf").write_text(configuration)
        (made / "backend.tf").write_text(self.block)
        return made

    def tofu(self, directory: Path, *arguments: str) -> tuple[int, str]:
        return self._run(directory, str(program(self.peer)), *arguments)

    def ours(self, directory: Path, *arguments: str) -> tuple[int, str]:
        return self._run(directory, sys.executable, "-m", "nigari", *arguments)

    def both(self, *arguments: str) -> tuple[Path, Path]:
        """A directory of tofu's and one of ours, after init."""
        theirs, ours = self.directory("theirs"), self.directory("ours")
        for code, output in (self.tofu(theirs, "init"), self.ours(ours, "init")):
            assert code == 0, output
        return theirs, ours

    def environ(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        own = {
            "TF_CLI_CONFIG_FILE": str(self.path / "cli.tofurc"),
            "TF_IN_AUTOMATION": "1",
            "TF_CLI_ARGS": "-no-color",
            "NIGARI_DEBUG": "1",
        }
        return {**kept, **own, **self._environ}

    def start(self, directory: Path, *command: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            cwd=directory,
            env=self.environ(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    @contextlib.contextmanager
    def locked(self, by: str) -> Iterator[subprocess.Popen[str]]:
        """The state is locked while one of the programs applies something slow."""
        directory = self.directory("slow", SLOW)
        for name in ("started", "go"):
            (directory / name).unlink(missing_ok=True)
        command = [str(program("tofu"))] if by == "tofu" else [sys.executable, "-m", "nigari"]
        code, output = self._run(directory, *command, "init")
        assert code == 0, output
        with self.start(directory, *command, "apply", "-auto-approve") as process:
            deadline = time.monotonic() + 60
            while not (directory / "started").exists():
                assert process.poll() is None, process.communicate()[0]
                assert time.monotonic() < deadline
                time.sleep(0.02)
            try:
                yield process
            finally:
                (directory / "go").touch()
            output, _ = process.communicate()
            assert process.returncode == 0, output

    def _run(self, directory: Path, *command: str) -> tuple[int, str]:
        with self.start(directory, *command) as process:
            output, _ = process.communicate(timeout=120)
        return process.returncode, output
