"""Providers in Python that are started from a fork server are what they are when they are started."""

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
from nigari.providers import api, fork_server
from nigari.providers.client import PluginProvider
from nigari.providers.fork_server import ForkServers, use_fork_servers
from nigari.providers.launch import connect
from nigari.providers.start import LaunchError, start

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
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[ForkServers]:
    found = use_fork_servers()
    yield found
    found.close()
    monkeypatch.setattr(fork_server, "_servers", None)


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
    tmp_path: Path, servers: ForkServers
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


def test_a_plugin_ends_with_who_wanted_it(tmp_path: Path, servers: ForkServers) -> None:
    program = _program(tmp_path)
    forked = servers.start((program,), dict(os.environ), str(tmp_path))
    assert forked is not None
    out, err = forked.outputs
    assert out.readline().startswith(b"1|6|unix|")
    begun = time.monotonic()
    forked.kill()
    assert time.monotonic() - begun < 20
    assert forked.wait() == -9
    assert not os.path.exists(forked.directory)
    out.close()
    err.close()


def test_siblings_end_in_any_order(tmp_path: Path, servers: ForkServers) -> None:
    program = _program(tmp_path)
    found = [servers.start((program,), dict(os.environ), str(tmp_path)) for _ in range(3)]
    forked = [each for each in found if each is not None]
    assert len(forked) == 3
    for each in forked:
        assert each.outputs[0].readline().startswith(b"1|6|unix|")
    for each in (forked[0], forked[2], forked[1]):
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
def test_what_has_no_fork_server_is_started_as_usual(
    tmp_path: Path, servers: ForkServers, text: str
) -> None:
    program = _program(tmp_path, text)
    assert servers.start((program,), dict(os.environ), str(tmp_path)) is None
    started = start([program], "here", dict(os.environ), str(tmp_path))
    line = started.program.outputs[0].readline()
    assert line.startswith((b"1|6|", b"something else"))
    started.program.kill()
    for each in started.program.outputs:
        each.close()


def test_a_plugin_that_fails_before_its_handshake_shows_why(
    servers: ForkServers, tmp_path: Path
) -> None:
    failing = _PROVIDER.replace(
        "if __name__",
        "import tempfile\ndef fail(**_):\n    raise OSError('no way out')\n\n"
        "tempfile.mkdtemp = fail\nif __name__",
    )
    program = _program(tmp_path, failing)

    async def run() -> str:
        started = start([program], "here", dict(os.environ))
        assert isinstance(started.program, fork_server.ForkedProgram)
        with pytest.raises(LaunchError) as caught:
            await connect(started)
        return caught.value.diagnostic.detail

    assert "OSError: no way out" in asyncio.run(run())
