"""Providers in Python that are started from a nursery are what they are when they are started."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nigari import cty
from nigari.providers import api, nursery
from nigari.providers.client import PluginProvider
from nigari.providers.launch import connect
from nigari.providers.nursery import Nurseries, use_nurseries
from nigari.providers.start import start

_SOURCES = Path(__file__).parents[2] / "src"
_PROVIDER = f"""#!{sys.executable}
import os, sys
sys.path[:0] = [{str(_SOURCES)!r}]
from dataclasses import dataclass
from nigari.providers.python import Computed, Provider

provider = Provider("here")


@provider.data_source("place")
@dataclass
class Place:
    directory: Computed[str] = ""
    setting: Computed[str] = ""
    parent: Computed[int] = 0

    def read(self, settings: object) -> None:
        self.directory = os.getcwd()
        self.setting = os.environ.get("SETTING", "")
        self.parent = os.getppid()


if __name__ == "__main__":
    provider.serve()
"""


@pytest.fixture
def nurseries(monkeypatch: pytest.MonkeyPatch) -> Iterator[Nurseries]:
    found = use_nurseries()
    yield found
    found.close()
    monkeypatch.setattr(nursery, "_nurseries", None)


def _program(directory: Path, text: str = _PROVIDER) -> str:
    path = directory / "terraform-provider-here"
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


async def _place(program: str, directory: Path, setting: str) -> dict[str, object]:
    environment = {**os.environ, "SETTING": setting}
    client = PluginProvider(await connect(start([program], "here", environment, str(directory))))
    try:
        await client.schema()
        nothing = cty.object_value(
            {
                "directory": cty.null(cty.STRING),
                "setting": cty.null(cty.STRING),
                "parent": cty.null(cty.NUMBER),
            }
        )
        answer = await client.read_data(api.ReadDataRequest("here_place", nothing))
        found = answer.state.to_python()
        assert isinstance(found, dict)
        return found
    finally:
        await client.close()


def test_each_plugin_has_its_own_directory_and_environment(
    tmp_path: Path, nurseries: Nurseries
) -> None:
    program = _program(tmp_path)
    places = [tmp_path / "one", tmp_path / "two"]
    for each in places:
        each.mkdir()

    async def both() -> list[dict[str, object]]:
        return [await _place(program, each, each.name) for each in places]

    one, two = asyncio.run(both())
    assert (one["directory"], one["setting"]) == (str(places[0]), "one")
    assert (two["directory"], two["setting"]) == (str(places[1]), "two")
    # Both came out of the same program.
    assert one["parent"] == two["parent"]


def test_a_plugin_ends_with_who_wanted_it(tmp_path: Path, nurseries: Nurseries) -> None:
    program = _program(tmp_path)
    born = nurseries.start((program,), dict(os.environ), str(tmp_path))
    assert born is not None
    out, err = born.outputs
    assert out.readline().startswith(b"1|6|unix|")
    begun = time.monotonic()
    born.kill()
    assert time.monotonic() - begun < 20
    assert born.wait() == -9
    assert not os.path.exists(born.directory)
    out.close()
    err.close()


def test_siblings_end_in_any_order(tmp_path: Path, nurseries: Nurseries) -> None:
    program = _program(tmp_path)
    found = [nurseries.start((program,), dict(os.environ), str(tmp_path)) for _ in range(3)]
    born = [each for each in found if each is not None]
    assert len(born) == 3
    for each in born:
        assert each.outputs[0].readline().startswith(b"1|6|unix|")
    for each in (born[0], born[2], born[1]):
        each.kill()
        assert each.wait() == -9
        for stream in each.outputs:
            stream.close()


@pytest.mark.parametrize(
    "text",
    [
        _PROVIDER.replace("import os, sys", "import os, sys, threading, time").replace(
            "provider = ",
            "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\nprovider = ",
        ),
        "#!/bin/sh\necho something else\n",
    ],
    ids=["threads of its own", "no provider in Python"],
)
def test_what_has_no_nursery_is_started_as_usual(
    tmp_path: Path, nurseries: Nurseries, text: str
) -> None:
    program = _program(tmp_path, text)
    assert nurseries.start((program,), dict(os.environ), str(tmp_path)) is None
    started = start([program], "here", dict(os.environ), str(tmp_path))
    line = started.program.outputs[0].readline()
    assert line.startswith((b"1|6|", b"something else"))
    started.program.kill()
    for each in started.program.outputs:
        each.close()
