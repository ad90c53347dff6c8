"""`init` from registries on loopback: providers, and modules that many calls share.

The servers are a process of their own and the same for both programs. Nothing is installed or
cached before a sample. Without the real programs (`make peers`) there are no cases.
"""

import atexit
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from benchmarks.harness import Case
from scripts.peers import cache

_PROVIDERS: Final = 20
_PROVIDER_SIZE: Final = 30_000_000
"""Bytes of one provider's program, which is made of real ones: it shrinks as they do."""
_MODULES: Final = 50
_CALLS: Final = 1000


def cases() -> list[Case]:
    """All comparisons."""
    tofu = cache() / "bin" / "tofu"
    if not tofu.is_file():
        return []
    base = Path(tempfile.mkdtemp(prefix="nigari-bench-"))
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=_serve, args=(base / "world", theirs), daemon=True)
    server.start()
    environment, providers, modules = ours.recv()
    atexit.register(server.terminate)
    return [
        _case(
            f"init of {_PROVIDERS} providers of {_PROVIDER_SIZE // 10**6} MB",
            _configuration(base / "providers", _required(providers)),
            tofu,
            environment,
            1.5,
        ),
        _case(
            f"init of {_CALLS} calls of {_MODULES} registry modules",
            _configuration(base / "modules", _calls(modules)),
            tofu,
            environment,
            5,
        ),
    ]


def _case(
    name: str, directory: Path, tofu: Path, environment: dict[str, str], wanted: float
) -> Case:
    home = Path(environment["HOME"])
    environ = {**os.environ, **environment, "PYTHONPATH": os.pathsep.join(sys.path)}

    def clear() -> None:
        shutil.rmtree(directory / ".terraform", ignore_errors=True)
        (directory / ".terraform.lock.hcl").unlink(missing_ok=True)
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()

    def init(*command: str) -> Callable[[], None]:
        def run() -> None:
            subprocess.run(
                [*command, "init"], cwd=directory, env=environ, capture_output=True, check=True
            )

        return run

    ours, theirs = init(sys.executable, "-m", "nigari"), init(str(tofu))
    return Case(name, ours, "tofu", theirs, wanted, wanted, prepare=clear)


def _configuration(directory: Path, text: str) -> Path:
    directory.mkdir()
    (directory / "main.tf").write_text(text)
    return directory


def _required(host: str) -> str:
    lines = [
        f'    p{index} = {{\n      source = "{host}/acme/p{index}"\n    }}\n'
        for index in range(_PROVIDERS)
    ]
    return f"terraform {{\n  required_providers {{\n{''.join(lines)}  }}\n}}\n"


def _calls(host: str) -> str:
    calls = [
        f'module "c{index}" {{\n  source  = "{host}/acme/m{index % _MODULES}/any"\n'
        '  version = "1.0.0"\n}\n'
        for index in range(_CALLS)
    ]
    return "".join(calls)


def _serve(directory: Path, answers: Connection) -> None:
    """Publish everything, say where, and answer until the process is ended."""
    from nigari.packages.base.platforms import current_platform
    from tests.net_world.registry import Key, Registry
    from tests.net_world.server import Server
    from tests.packages.module_world import ModuleWorld

    with ModuleWorld(directory) as modules:
        for index in range(_MODULES):
            modules.publish(f"acme/m{index}/any", "1.0.0")
        registry, key = Registry("localhost"), Key()
        for index in range(_PROVIDERS):
            registry.publish("acme", f"p{index}", "1.0.0", key, (current_platform(),), _program())
        certificate = modules.authority.certificate(["localhost"])
        with Server(registry.handle, certificate) as server:
            environment = {**modules.environ(), "CHECKPOINT_DISABLE": "1"}
            answers.send((environment, f"localhost:{server.port}", modules.host))
            answers.recv()


def _program() -> bytes:
    programs = sorted((cache() / "bin").glob("terraform-provider-*"))
    content = b"".join(each.read_bytes() for each in programs[:2])
    return content[:_PROVIDER_SIZE]
