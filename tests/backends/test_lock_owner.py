"""Whether the process that holds a lock still runs."""

import os
import subprocess
import sys

import pytest

from nigari.backends.locking import (
    LockConflict,
    LockInfo,
    is_running,
    new_lock,
    state_is_locked,
    this_process,
)
from nigari.record import replace


def test_this_process_runs() -> None:
    assert is_running(this_process(), "here", "here") is True


def test_an_ended_process_does_not() -> None:
    ask = "from nigari.backends.locking import this_process; print(this_process())"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert is_running(done.stdout.strip(), "here", "here") is False


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="the system tells less")
@pytest.mark.parametrize(
    ("info", "host", "running"),
    [
        ("process {pid}", "here", True),
        ("process {pid} (started 1)", "here", False),
        ("process {pid} (started 1, boot 0-0)", "here", False),
        ("process {pid}", "elsewhere", None),
        ("process {pid}", "", None),
        ("", "here", None),
        ("consul session: x", "here", None),
    ],
)
def test_what_is_known(info: str, host: str, running: bool | None) -> None:
    assert is_running(info.format(pid=os.getpid()), host, "here") is running


@pytest.mark.parametrize(
    ("lock", "says"),
    [
        (new_lock("apply"), "still running on this machine"),
        (replace(new_lock("apply"), info="process 1 (started 1)"), 'with "nigari force-unlock'),
        (LockInfo("i", "apply", "a@b", info="process 1 (started 1)"), "Wait until"),
    ],
)
def test_what_is_said(lock: LockInfo, says: str) -> None:
    detail = state_is_locked(LockConflict(lock), "somewhere").detail
    assert says in detail
    assert ("this machine" in detail) == (lock.who != "a@b")
