"""Locks on files, also where the file system has none."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import nigari
from nigari.file_lock import FileLock, lock_file, take_lock
from tests.cli.process import inside

NONE = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EIO)


def without_locks(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refuse)
    monkeypatch.setattr(fcntl, "lockf", refuse)


def test_a_lock_is_held_once(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with lock_file(path) as found:
        assert found is FileLock.HELD
        with lock_file(path, waits=False) as other:
            assert other is FileLock.TAKEN
        assert path.exists(), "whoever does not have the lock leaves it alone"
    assert not path.exists()


def test_waiting_for_a_lock(tmp_path: Path) -> None:
    path, waited, order = tmp_path / "lock", threading.Event(), list[str]()

    def second() -> None:
        with lock_file(path, waited.set) as found:
            assert found is FileLock.HELD
            order.append("second")

    thread = threading.Thread(target=second)
    with lock_file(path):
        thread.start()
        assert waited.wait(10)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]
    assert list(tmp_path.iterdir()) == []


def test_many_that_take_turns(tmp_path: Path) -> None:
    """The file is removed again and again, and still no two have it."""
    path, inside_now, most = tmp_path / "lock", 0, 0

    def work() -> None:
        nonlocal inside_now, most
        for _ in range(30):
            with lock_file(path):
                inside_now += 1
                most = max(most, inside_now)
                inside_now -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert (most, list(tmp_path.iterdir())) == (1, [])


def test_shared_locks(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("w") as one, path.open("w") as two, path.open("w") as three:
        assert take_lock(one.fileno(), shared=True) is FileLock.HELD
        assert take_lock(two.fileno(), shared=True) is FileLock.HELD
        assert take_lock(three.fileno()) is FileLock.TAKEN


@pytest.mark.parametrize("code", NONE)
def test_no_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    without_locks(monkeypatch, code)
    with lock_file(tmp_path / "lock") as found:
        assert found is FileLock.UNSUPPORTED
    assert list(tmp_path.iterdir()) == []


CONFIGURATION = """
module "m" {
  source = "./m"
}
resource "terraform_data" "a" {}
"""


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NIGARI_CACHE_DIR", str(tmp_path / "cache"))
    work = tmp_path / "work"
    (work / "m").mkdir(parents=True)
    (work / "m/main.tf").write_text('output "a" {\n  value = 1\n}\n')
    (work / "main.tf").write_text(CONFIGURATION)
    monkeypatch.chdir(work)
    return work


@pytest.mark.parametrize("code", NONE)
def test_init_without_locks(directory: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    without_locks(monkeypatch, code)
    done = inside("init")
    assert done.code == 0, done.err
    assert (done.err + done.out).count("File system without locks") == 1
    assert not list(directory.rglob("*lock"))
    with nigari.open(directory) as session:
        (warning,) = session.init().warnings
        assert warning.summary == "File system without locks"


def test_no_lock_file_stays(directory: Path) -> None:
    done = inside("init")
    assert (done.code, done.err) == (0, "")
    assert not list(directory.rglob("*lock"))


@pytest.mark.parametrize("code", NONE)
@pytest.mark.parametrize("is_json", [False, True])
def test_fleets_without_locks(
    directory: Path, monkeypatch: pytest.MonkeyPatch, code: int, is_json: bool
) -> None:
    options = ("-json",) if is_json else ()
    Path("fleet.hcl").write_text('unit "a" {\n  directory = "m"\n}\n')
    without_locks(monkeypatch, code)
    assert inside("fleet", "init").code == 0
    done = inside("fleet", "apply", "-auto-approve", *options)
    assert done.code == 0, done.err
    assert (done.err + done.out).count("File system without locks") == 1
    assert not list(directory.rglob("lock"))


def test_a_fleet_that_is_applied_twice(directory: Path) -> None:
    from nigari.fleet.runs.journal import exclusive

    Path("fleet.hcl").write_text('unit "a" {\n  directory = "m"\n}\n')
    assert inside("fleet", "init").code == 0
    with exclusive(str(directory)) as found:
        assert found is FileLock.HELD
        done = inside("fleet", "apply", "-auto-approve")
        assert done.code == 1
        assert "Another apply is running" in done.err
    assert inside("fleet", "apply", "-auto-approve").code == 0
    assert not list(directory.rglob("lock"))


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch])
def test_other_failures_are_reported(directory: Path, make: Callable[[Path], None]) -> None:
    """A lock file that cannot be made is not one that cannot be locked."""
    store = directory / ".terraform/modules/.store"
    store.parent.mkdir(parents=True)
    if make is Path.touch:
        make(store)
    else:
        make(store)
        make(store / ".lock")
    done = inside("init")
    assert done.code == 1
    assert "Cannot write to the working directory" in done.err


def test_no_module_locks_files_itself() -> None:
    source = Path(nigari.__file__).parent
    found = [
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if re.search(
            r"\b(flock|lockf|LockFileEx|msvcrt\.locking)\b", path.read_text(encoding="utf-8")
        )
    ]
    assert found == ["system_calls.py"]
