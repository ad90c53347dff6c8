"""A working directory in which the real `tofu` runs."""

import asyncio
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from nigari.backends.local import LocalBackend, LocalPaths
from nigari.backends.snapshots import Snapshots
from nigari.diagnostics import Diagnostics
from nigari.state.encryption import StateLayer, no_encryption
from tests.real import program


class TofuDirectory:
    """A directory with a configuration and a local state."""

    def __init__(self, path: Path, configuration: str = "") -> None:
        self.path = path
        self.tofu = program("tofu")
        (path / "main.tf").write_text(configuration)
        (path / "cli.tofurc").write_text("")

    @property
    def state(self) -> Path:
        return self.path / "terraform.tfstate"

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        own = {"TF_CLI_CONFIG_FILE": str(self.path / "cli.tofurc"), "TF_IN_AUTOMATION": "1"}
        return {**kept, **own, **(more or {})}

    def start(self, *arguments: str, **more: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [self.tofu, *arguments],
            cwd=self.path,
            env=self.environment(more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def try_run(self, *arguments: str, **more: str) -> tuple[int, str]:
        with self.start(*arguments, **more) as process:
            output, _ = process.communicate()
        return process.returncode, output

    def run(self, *arguments: str, **more: str) -> str:
        code, output = self.try_run(*arguments, **more)
        assert code == 0, output
        return output

    def apply(self, *arguments: str, **more: str) -> None:
        if not (self.path / ".terraform").exists():
            self.run("init", **more)
        self.run("apply", "-auto-approve", *arguments, **more)

    def snapshots(self, layer: StateLayer | None = None) -> Snapshots:
        """The state as Nigari sees it."""
        backend = LocalBackend(self.path, LocalPaths())
        return Snapshots(backend.storage("default"), layer or no_encryption().state)

    def read(self, layer: StateLayer | None = None) -> Snapshots:
        """The state as Nigari reads it, without errors."""
        snapshots = self.snapshots(layer)
        diags = Diagnostics()
        assert asyncio.run(snapshots.read(diags)), list(diags)
        return snapshots
