"""Settings shared by all tests."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from nigari.audience import set_command_line

# Machines differ in speed and share their cores: a test fails for what it shows, never for how
# long one example took. A longer search is a matter of one setting.
settings.register_profile("check", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", parent=settings.get_profile("check"), max_examples=2000)
# What the machine says about OpenTofu must not decide how a test ends.
for name in [each for each in os.environ if each.startswith("TF_")]:
    del os.environ[name]

settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "check"))

# What is started in the background ignores some signals, and so would every program under test.
for _number, _usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update", action="store_true", help="write what came out into the case files"
    )


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep packages that tests fetch apart from those of whoever runs the tests."""
    monkeypatch.setenv("NIGARI_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "nigari-cache"))


@pytest.fixture(autouse=True)
def at_the_command_line() -> Iterator[None]:
    """Expect the words for the command line; a test for Python programs sets the other audience."""
    before = set_command_line(True)
    yield
    set_command_line(before)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A directory with room for two megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a small disk can be mounted by root only")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)
