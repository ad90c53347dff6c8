"""Talking to real plugins: many calls at a time, and the whole command `providers schema -json`.

Without the real programs (`make peers`) there are no cases.
"""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.harness import Case
from nigari import cty
from nigari.addrs.provider import default_provider
from nigari.lang.versions import Version
from nigari.packages.content.platforms import current_platform
from nigari.packages.providers.provider_package import unpacked_path
from nigari.providers import api
from nigari.providers.client import PluginProvider
from nigari.providers.launch import launch
from nigari.schema.coerce import coerce
from scripts.peers import cache

_PEERS: Final = cache()
_VERSIONS: Final = {"random": (3, 9, 0), "local": (2, 9, 0), "time": (0, 14, 2)}
_SCHEMA: Final = ("providers", "schema", "-json")
_OWN: Final = "import sys; from nigari.__main__ import main; sys.exit(main())"
"""What the script says that installing the package writes."""
_PLANS: Final = 1000
_AT_A_TIME: Final = 10


def cases() -> list[Case]:
    """All comparisons."""
    plugins = [_PEERS / "bin" / f"terraform-provider-{name}" for name in _VERSIONS]
    tofu = _PEERS / "bin" / "tofu"
    if not all(each.is_file() for each in (*plugins, tofu)):
        return []
    own = [sys.executable, "-c", _OWN, *_SCHEMA]
    theirs = [str(tofu), *_SCHEMA]
    one, all_three = _initialized(tofu, ["random"]), _initialized(tofu, list(_VERSIONS))
    return [
        Case(f"{_PLANS} plans of random_pet", _plans(plugins[0]), work=_PLANS, unit="plans"),
        *(
            Case(
                f"providers schema -json, {what}",
                _run(own, directory),
                "tofu",
                _run(theirs, directory),
                wanted,
                wanted,
                prepare=prepare,
            )
            for what, directory, wanted, prepare in (
                ("one provider", one, 1, None),
                ("three providers", all_three, 1, None),
                ("three, for the first time", all_three, 0, _forget(all_three)),
            )
        ),
    ]


def _plans(plugin: Path) -> Callable[[], None]:
    """Plan against one process, which stays for all rounds."""
    loop = asyncio.new_event_loop()
    provider = PluginProvider(loop.run_until_complete(launch([str(plugin)], "random", os.environ)))
    answer = loop.run_until_complete(provider.schema())
    assert answer.schema is not None
    nothing = coerce(answer.schema.provider.block, cty.EMPTY_OBJECT)
    loop.run_until_complete(provider.configure(nothing))
    block = answer.schema.resources["random_pet"].block
    config = coerce(block, cty.object_value({"length": cty.number(3)}))
    proposed = cty.object_value({**config.mapping(), "id": cty.unknown(cty.STRING)})
    request = api.PlanRequest("random_pet", cty.null(block.implied_type), proposed, config)

    async def run() -> None:
        free = asyncio.Semaphore(_AT_A_TIME)

        async def one() -> None:
            async with free:
                await provider.plan(request)

        await asyncio.gather(*[one() for _ in range(_PLANS)])

    return lambda: loop.run_until_complete(run())


def _initialized(tofu: Path, names: list[str]) -> Path:
    """A directory that uses these providers, made ready by `tofu`."""
    directory = Path(tempfile.mkdtemp(prefix="nigari-bench-"))
    mirror, platform = directory / "mirror", current_platform()
    for name in names:
        version = Version(_VERSIONS[name])
        package = unpacked_path(mirror, default_provider(name), version, platform)
        package.mkdir(parents=True)
        program = f"terraform-provider-{name}"
        shutil.copy2(_PEERS / "bin" / program, package / program)
    (directory / "cli.tofurc").write_text(
        f'provider_installation {{\n  filesystem_mirror {{\n    path = "{mirror}"\n  }}\n}}\n'
    )
    (directory / "main.tf").write_text("".join(f'provider "{name}" {{}}\n' for name in names))
    _run([str(tofu), "init"], directory)()
    return directory


def _run(command: list[str], directory: Path) -> Callable[[], bytes]:
    environment = {**os.environ, "TF_CLI_CONFIG_FILE": str(directory / "cli.tofurc")}
    # Each directory has its own schemas then, which can be forgotten.
    environment["NIGARI_CACHE_DIR"] = "off"

    def run() -> bytes:
        return subprocess.run(
            command, cwd=directory, env=environment, capture_output=True, check=True
        ).stdout

    return run


def _forget(directory: Path) -> Callable[[], None]:
    """Make the next run the first one that asks for schemas."""
    return lambda: shutil.rmtree(directory / ".terraform" / "nigari.schemas", ignore_errors=True)
