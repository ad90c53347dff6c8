"""Talking to a real plugin: many calls at a time, and what `providers schema -json` needs.

Without the real programs (`make peers`) there are no cases.
"""

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.harness import Case
from nigari import cty
from nigari.addrs.provider import default_provider
from nigari.lang.versions import Version
from nigari.packages.provider_package import current_platform, unpacked_path
from nigari.providers import api
from nigari.providers.client import PluginProvider
from nigari.providers.launch import launch
from nigari.schema.coerce import coerce
from nigari.schema.json_form import schemas_json

_PEERS: Final = Path(
    os.environ.get("NIGARI_PEERS") or Path.home() / ".cache" / "nigari-peers"
).expanduser()
_PLANS: Final = 1000
_AT_A_TIME: Final = 10


def cases() -> list[Case]:
    """All comparisons."""
    plugin, tofu = _PEERS / "bin" / "terraform-provider-random", _PEERS / "bin" / "tofu"
    if not (plugin.is_file() and tofu.is_file()):
        return []
    return [
        Case(f"{_PLANS} plans of random_pet", _plans(plugin), work=_PLANS, unit="plans"),
        Case("schema of random as JSON", _schema(plugin), "tofu", _tofu_schema(plugin, tofu), 1),
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


def _schema(plugin: Path) -> Callable[[], str]:
    """Start the plugin, ask, write JSON, end the plugin."""

    async def run() -> str:
        provider = PluginProvider(await launch([str(plugin)], "random", os.environ))
        answer = await provider.schema()
        assert answer.schema is not None
        text = json.dumps(schemas_json({str(default_provider("random")): answer.schema}))
        await provider.close()
        return text

    return lambda: asyncio.run(run())


def _tofu_schema(plugin: Path, tofu: Path) -> Callable[[], bytes]:
    """The same asked of `tofu`, with its own start-up, in a directory made ready for it."""
    directory = Path(tempfile.mkdtemp(prefix="nigari-bench-"))
    mirror, platform = directory / "mirror", current_platform()
    package = unpacked_path(mirror, default_provider("random"), Version((3, 9, 0)), platform)
    package.mkdir(parents=True)
    shutil.copy2(plugin, package / "terraform-provider-random")
    settings = directory / "tofurc"
    settings.write_text(
        f'provider_installation {{\n  filesystem_mirror {{\n    path = "{mirror}"\n  }}\n}}\n'
    )
    (directory / "main.tf").write_text('provider "random" {}\n')
    environment = {**os.environ, "TF_CLI_CONFIG_FILE": str(settings)}

    def run(*arguments: str) -> bytes:
        command = [str(tofu), *arguments]
        return subprocess.run(
            command, cwd=directory, env=environment, capture_output=True, check=True
        ).stdout

    run("init")
    return lambda: run("providers", "schema", "-json")
