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
_SETTINGS: Final = 20
"""Variables of one module. With these it has 9 kB in five files, and no two are alike: the usual
modules of public registries have between 5 and 50.
"""


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
    # Nothing of the environment of whoever measures, such as other certificates, or no bytecode.
    environ = {**environment, "PYTHONPATH": os.pathsep.join(sys.path)}
    environ.pop("NIGARI_CACHE_DIR", None)

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
    from nigari.packages.content.platforms import current_platform
    from tests.net_world.registry import Key, Registry
    from tests.net_world.server import Server
    from tests.packages.module_world import ModuleWorld

    with ModuleWorld(directory) as modules:
        for index in range(_MODULES):
            path = f"/packages/m{index}.tar.gz"
            modules.archive(path, "tar.gz", _module(index))
            modules.locations[f"acme/m{index}/any/1.0.0"] = path
        registry, key = Registry("localhost"), Key()
        for index in range(_PROVIDERS):
            registry.publish("acme", f"p{index}", "1.0.0", key, (current_platform(),), _program())
        certificate = modules.authority.certificate(["localhost"])
        with Server(registry.handle, certificate) as server:
            environment = {**modules.environ(), "CHECKPOINT_DISABLE": "1"}
            answers.send((environment, f"localhost:{server.port}", modules.host))
            answers.recv()


def _module(index: int) -> dict[str, str]:
    """The files of a module."""
    things = range(_SETTINGS // 2)
    return {
        "main.tf": "".join(_thing(index, each) for each in things),
        "outputs.tf": "".join(_OUTPUT.format(each=each) for each in things),
        "variables.tf": "".join(_variable(index, each) for each in range(_SETTINGS)),
        "versions.tf": 'terraform {\n  required_version = ">= 1.3"\n}\n',
        "README.md": "# A module\n\n" + "What it does, and how it is used.\n" * 200,
    }


def _variable(index: int, each: int) -> str:
    return f"""variable "setting_{index}_{each}" {{
  description = "Setting {each} of module {index}: how its things are made, and how many there are."
  type        = map(object({{ name = string, size = optional(number, {each}) }}))
  default     = {{}}
}}

"""


def _thing(index: int, each: int) -> str:
    return f"""resource "terraform_data" "thing_{each}" {{
  for_each = var.setting_{index}_{each}
  input = {{
    name = "${{each.key}}-${{each.value.name}}"
    size = each.value.size > {each} ? each.value.size : {each}
    tags = merge({{ Index = "{each}" }}, {{ Module = "{index}" }})
  }}
  triggers_replace = [for k, v in var.setting_{index}_{each + 1} : v.name if v.size != null]
}}

"""


_OUTPUT: Final = """output "thing_{each}" {{
  description = "What thing {each} has become."
  value       = {{ for k, thing in terraform_data.thing_{each} : k => thing.id }}
}}

"""


def _program() -> bytes:
    programs = sorted((cache() / "bin").glob("terraform-provider-*"))
    content = b"".join(each.read_bytes() for each in programs[:2])
    return content[:_PROVIDER_SIZE]
