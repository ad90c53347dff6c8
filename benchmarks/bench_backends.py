"""`nigari plan` and `apply` beside `tofu`'s with a state on a server that is 20 ms away.

Both are asked for the time that they take and for the number of requests that they make. Without
the real programs (`make peers`) there are no cases.
"""

import atexit
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from benchmarks.harness import Case, Work
from scripts.peers import cache
from tests.backends.world import moto
from tests.backends.world.state_server import StateServer
from tests.net_world.latency import Distance

_PEERS: Final = cache()
_OWN: Final = (sys.executable, "-m", "nigari")
_DELAY: Final = 0.02
_RESOURCES: Final = 'resource "terraform_data" "a" {\n  count = 1000\n  input = count.index\n}\n'


def cases() -> list[Case]:
    """All comparisons."""
    tofu, server = _PEERS / "bin" / "tofu", _PEERS / "bin" / "moto_server"
    if not tofu.is_file():
        return []
    stack = ExitStack()
    atexit.register(stack.close)
    root = Path(tempfile.mkdtemp(prefix="nigari-bench-"))
    found = _compared(_http(stack, root / "http", str(tofu)), "http")
    if server.is_file():
        found += _compared(_s3(stack, root / "s3", str(tofu)), "s3")
    return found


class _Bench:
    """A directory whose state is far away."""

    def __init__(
        self,
        directory: Path,
        tofu: str,
        block: str,
        distance: Distance,
        forget: Callable[[], object],
        environ: dict[str, str],
    ) -> None:
        directory.mkdir()
        (directory / "main.tf").write_text(_RESOURCES + block)
        self._directory = directory
        settings = directory / "cli.tofurc"
        settings.write_text("")
        self._environ = {**os.environ, "TF_CLI_CONFIG_FILE": str(settings), **environ}
        self._distance = distance
        self.forget = forget
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


def _http(stack: ExitStack, directory: Path, tofu: str) -> _Bench:
    server = stack.enter_context(StateServer())
    distance = stack.enter_context(Distance(server.server.port, _DELAY))
    url = f"{distance.url}/state"
    block = server.block(address=url, lock_address=url, unlock_address=url)
    return _Bench(directory, tofu, block, distance, server.states.clear, {})


def _s3(stack: ExitStack, directory: Path, tofu: str) -> _Bench:
    server = stack.enter_context(moto.running())
    distance = stack.enter_context(Distance(server.port, _DELAY))
    bucket = server.bucket()
    far = moto.Moto(distance.port)

    def forget() -> None:
        server.ask("DELETE", f"/{bucket}/a/state")

    block = far.block(bucket, use_lockfile=True)
    return _Bench(directory, tofu, block, distance, forget, dict(moto.KEYS))
