"""`nigari plan` and `apply` beside `tofu`'s with a state on a server that is 20 ms away.

Both are asked for the time that they take and for the number of requests that they make. There are
no cases for servers that are not on this machine, and none at all without the real programs
(`make peers`).
"""

import atexit
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from benchmarks.harness import Case, Work
from scripts.peers import cache
from tests.backends.world.distant import DISTANT, Distant

_PEERS: Final = cache()
_OWN: Final = (sys.executable, "-m", "nigari")
_DELAY: Final = 0.02
_RESOURCES: Final = 'resource "terraform_data" "a" {\n  count = 1000\n  input = count.index\n}\n'
_KINDS: Final = ("http", "s3", "gcs", "pg")


def cases() -> list[Case]:
    """All comparisons."""
    tofu = _PEERS / "bin" / "tofu"
    if not tofu.is_file():
        return []
    stack = ExitStack()
    atexit.register(stack.close)
    root = Path(tempfile.mkdtemp(prefix="nigari-bench-"))
    found: list[Case] = []
    for kind in _KINDS:
        directory = root / kind
        directory.mkdir()
        try:
            distant = stack.enter_context(DISTANT[kind](root, _DELAY))
        except pytest.skip.Exception:
            continue
        found += _compared(_Bench(directory, str(tofu), distant), kind)
    return found


class _Bench:
    """A directory whose state is far away."""

    def __init__(self, directory: Path, tofu: str, distant: Distant) -> None:
        (directory / "main.tf").write_text(_RESOURCES + distant.block)
        self._directory = directory
        settings = directory / "cli.tofurc"
        settings.write_text("")
        self._environ = {**os.environ, "TF_CLI_CONFIG_FILE": str(settings), **distant.environ}
        self._distance = distant.distance
        self.forget = distant.forget
        self.tofu = tofu
        self.run(tofu, "init")()

    def run(self, *command: str) -> Work:
        def run() -> None:
            subprocess.run(
                command,
                cwd=self._directory,
                env=self._environ,
                check=True,
                stdout=subprocess.DEVNULL,
            )

        return run

    def requests(self, *command: str) -> Work:
        run = self.run(*command)

        def count() -> float:
            before = self._distance.requests
            run()
            return float(self._distance.requests - before)

        return count


def _compared(bench: _Bench, where: str) -> list[Case]:
    """Applying comes first: what it leaves is what is planned with."""
    found: list[Case] = []
    for command, prepare in ((("apply", "-auto-approve"), bench.forget), (("plan",), None)):
        name = f"{command[0]} 1,000 resources, {where} 20 ms away"
        ours, peer = (*_OWN, *command), (bench.tofu, *command)
        found.append(
            Case(name, bench.run(*ours), "tofu", bench.run(*peer), 1.0, 1.0, prepare=prepare)
        )
        found.append(
            Case(
                f"{name}, requests",
                bench.requests(*ours),
                "tofu",
                bench.requests(*peer),
                1.0,
                1.0,
                prepare=prepare,
                gauge="requests",
            )
        )
    return found
