"""An apply that waits in the middle, for tests of what happens to its state meanwhile."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

_CONFIGURATION: Final = """
resource "terraform_data" "quick" { input = "made" }
resource "terraform_data" "slow" {
  depends_on = [terraform_data.quick]
  provisioner "local-exec" {
    command = "touch started; while [ ! -e go ] && [ -e main.tf ]; do sleep 0.05; done"
  }
}
"""
_PATIENCE: Final = 180.0


class SlowApply:
    """A directory with a backend, after init."""

    def __init__(self, path: Path, block: str, environ: Mapping[str, str] | None = None) -> None:
        self.path = path
        self._environ = {"TF_CLI_CONFIG_FILE": str(path / "cli.tofurc"), **(environ or {})}
        (path / "main.tf").write_text(block + _CONFIGURATION)
        (path / "cli.tofurc").write_text("")
        self.done("init")

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "nigari", *arguments],
            cwd=self.path,
            env={**os.environ, **self._environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str) -> tuple[int, str]:
        """The exit status of a command, and what it says, in one line."""
        with self.start(*arguments) as process:
            output = ended(process)
        return process.returncode, output

    def done(self, *arguments: str) -> str:
        """What a command says that succeeds."""
        code, output = self.run(*arguments)
        assert code == 0, output
        return output

    @contextlib.contextmanager
    def applying(self) -> Iterator[subprocess.Popen[str]]:
        """While an apply waits for its second object; it has ended when the context has."""
        with self.start("apply", "-auto-approve") as process:
            deadline = time.monotonic() + _PATIENCE
            while not (self.path / "started").exists():
                assert process.poll() is None, process.communicate()[0]
                assert time.monotonic() < deadline
                time.sleep(0.02)
            yield process
            process.communicate(timeout=_PATIENCE)

    def go(self) -> None:
        """Let the apply make its second object."""
        (self.path / "go").touch()


def ended(process: subprocess.Popen[str]) -> str:
    """What a process has said when it has ended, in one line."""
    output, _ = process.communicate(timeout=_PATIENCE)
    return " ".join(output.split())
