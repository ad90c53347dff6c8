"""Where providers are downloaded to: nothing stays, whoever was killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nigari.packages.content.download_pool import DownloadPool

_DOWNLOADING = """
import asyncio, pathlib, sys
from nigari.packages.content.download_pool import DownloadPool

async def main():
    async with DownloadPool(pathlib.Path(sys.argv[1])).directory() as directory:
        (directory / "half").write_text("x")
        print(directory, flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


def _use(directory: Path) -> Path:
    async def work() -> Path:
        pool = DownloadPool(directory)
        try:
            async with pool.directory() as found:
                (found / "archive").write_text("x")
                return found
        finally:
            pool.close()

    return asyncio.run(work())


def test_nothing_stays(tmp_path: Path) -> None:
    assert _use(tmp_path / "data").is_relative_to(tmp_path / "data")
    assert os.listdir(tmp_path) == []
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "other").touch()
    _use(tmp_path / "data")
    assert os.listdir(tmp_path / "data") == ["other"]


@pytest.mark.parametrize("number", [signal.SIGKILL, 0])
def test_only_what_nobody_uses_any_more_is_removed(tmp_path: Path, number: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _DOWNLOADING, tmp_path], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        theirs = Path(other.stdout.readline().strip())
        if number:
            other.send_signal(number)
            other.wait()
        assert (theirs / "half").exists()
        _use(tmp_path)
        assert (theirs / "half").exists() is (number == 0)
        other.kill()
