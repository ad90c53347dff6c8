"""Twenty processes that write one state: one at a time, and no update is lost.

NIGARI_ROUNDS says how many updates there are in all; 1000 take some minutes.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from nigari.backends.open_backend import open_backend
from nigari.backends.protocol import Around
from nigari.diagnostics import Diagnostics
from tests.backends.world import moto, postgres

pytestmark = pytest.mark.real

WRITERS: Final = 20
ROUNDS: Final = int(os.environ.get("NIGARI_ROUNDS", "100"))


def check(type_: str, config: dict[str, object], environ: Mapping[str, str], inside: Path) -> None:
    command = [sys.executable, "-m", "tests.real.writer", type_, json.dumps(config)]
    begin = time.monotonic()
    writers = [
        subprocess.Popen(
            [*command, str(ROUNDS // WRITERS), str(inside)],
            env={**os.environ, **environ},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(WRITERS)
    ]
    written: list[int] = []
    for each in writers:
        output, _ = each.communicate()
        assert each.returncode == 0
        written += json.loads(output)
    took = time.monotonic() - begin
    sys.stderr.write(f"{type_}: {WRITERS} writers, {len(written)} rounds, {took:.1f} s\n")
    assert sorted(written) == list(range(1, ROUNDS // WRITERS * WRITERS + 1))
    assert _last(type_, config, environ)["serial"] == len(written)


def _last(type_: str, config: dict[str, object], environ: Mapping[str, str]) -> dict[str, object]:
    backend = open_backend(type_, config, Around(".", environ), Diagnostics())
    assert backend is not None
    data = asyncio.run(backend.storage("default").read(Diagnostics()))
    found: dict[str, object] = json.loads(data or b"{}")
    assert found["outputs"] == {"count": {"value": found["serial"], "type": "number"}}
    return found


def test_pg(tmp_path: Path) -> None:
    with postgres.running() as server:
        check("pg", {"conn_str": server.conn_str}, {}, tmp_path / "inside")


@pytest.mark.parametrize("uses_table", [False, True], ids=["lock file", "table"])
def test_s3(tmp_path: Path, uses_table: bool) -> None:
    with moto.running() as server:
        config: dict[str, object] = {
            "bucket": server.bucket(),
            "key": "k",
            "endpoints": {"s3": server.url, "dynamodb": server.url},
        }
        config |= {"dynamodb_table": server.table()} if uses_table else {"use_lockfile": True}
        check("s3", config, moto.KEYS, tmp_path / "inside")
