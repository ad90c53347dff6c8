"""A state in a file: whole contents, locks, and writes that were cut short."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from nigari.backends.checksum_trailer import boot_identity, sealed
from nigari.backends.disk import write_beside
from nigari.backends.state_path import AlreadyLocked, StatePath

OLD = b'{"old": 1}\n'
NEW = b'{"new": "' + b"x" * 100_000 + b'"}\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "terraform.tfstate"


def names(directory: Path) -> list[str]:
    return sorted(each.name for each in directory.iterdir())


@contextmanager
def running(code: str, path: Path) -> Iterator[None]:
    """Another process that has printed its first line; killed in the end."""
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()


def test_no_file_reads_as_nothing(path: Path) -> None:
    assert StatePath(path).read() == b""
    assert names(path.parent) == []


@pytest.mark.parametrize("locked", [True, False])
@pytest.mark.parametrize("before", [None, OLD, NEW], ids=["none", "short", "long"])
@pytest.mark.parametrize("after", [OLD, NEW], ids=["short", "long"])
def test_what_is_written_is_read(
    path: Path, locked: bool, before: bytes | None, after: bytes
) -> None:
    if before is not None:
        path.write_bytes(before)
    state = StatePath(path)
    if locked:
        state.lock()
    state.write(after)
    assert state.read() == after
    state.unlock()
    assert path.read_bytes() == after
    assert names(path.parent) == [path.name]


@pytest.mark.parametrize("locked", [True, False])
def test_what_is_written_between_is_read(path: Path, locked: bool) -> None:
    path.write_bytes(OLD)
    state = StatePath(path)
    if locked:
        state.lock()
    for content in (NEW, OLD, NEW, OLD):
        state.write_between(content, lasting=False)
        assert state.read() == content
        assert StatePath(path).read() == content
        assert json.loads(path.read_bytes()) == json.loads(content)
    state.write(NEW)
    state.unlock()
    assert path.read_bytes() == NEW
    assert names(path.parent) == [path.name]


def test_a_write_keeps_the_inode(path: Path) -> None:
    path.write_bytes(OLD)
    inode = path.stat().st_ino
    state = StatePath(path)
    state.lock()
    state.write_between(NEW, lasting=True)
    state.write(NEW)
    state.unlock()
    assert path.stat().st_ino == inode


def test_a_lock_without_a_write_leaves_no_file(path: Path) -> None:
    state = StatePath(path)
    state.lock()
    assert path.exists()
    state.unlock()
    assert names(path.parent) == []


def test_an_empty_file_that_someone_has_open_stays(path: Path) -> None:
    state = StatePath(path)
    state.lock()
    code = (
        "import sys, time; f = open(sys.argv[1], 'r+'); print('open', flush=True); time.sleep(60)"
    )
    with running(code, path):
        state.unlock()
        assert path.exists()


def test_directories_are_made(tmp_path: Path) -> None:
    state = StatePath(tmp_path / "a" / "b" / "s")
    state.write(OLD)
    assert state.read() == OLD


class TestOneProcess:
    """fcntl locks belong to the process, so the process must keep its own order."""

    def test_a_second_lock_is_refused(self, path: Path) -> None:
        first, second = StatePath(path), StatePath(path)
        first.lock()
        with pytest.raises(AlreadyLocked):
            second.lock()
        first.unlock()
        second.lock()
        second.unlock()

    def test_reading_elsewhere_keeps_the_lock(self, path: Path) -> None:
        path.write_bytes(OLD)
        first, second = StatePath(path), StatePath(path)
        first.lock()
        assert second.read() == OLD
        second.write(NEW)
        assert is_locked_for_others(path)
        first.unlock()
        assert not is_locked_for_others(path)


def is_locked_for_others(path: Path) -> bool:
    code = (
        "import fcntl, sys\n"
        "f = open(sys.argv[1], 'r+')\n"
        "try: fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
        "except OSError: sys.exit(3)\n"
    )
    return subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == 3


def test_a_lock_of_another_process_is_seen(path: Path) -> None:
    code = (
        "import fcntl, sys, time\n"
        "f = open(sys.argv[1], 'a+')\n"
        "fcntl.lockf(f, fcntl.LOCK_EX)\n"
        "print('locked', flush=True)\n"
        "time.sleep(60)\n"
    )
    with running(code, path), pytest.raises(AlreadyLocked):
        StatePath(path).lock()
    state = StatePath(path)
    state.lock()
    state.unlock()


class TestCutShort:
    """What is found after a writer died."""

    def pending(self, path: Path) -> Path:
        return path.with_name(".terraform.tfstate.pending")

    def test_before_the_mark_the_old_state_counts(self, path: Path) -> None:
        path.write_bytes(OLD)
        self.pending(path).write_bytes(sealed(NEW))
        assert StatePath(path).read() == OLD

    def test_after_the_mark_the_new_state_counts(self, path: Path) -> None:
        path.write_bytes(b"#" + NEW[1:500] + OLD[1:])
        self.pending(path).write_bytes(sealed(NEW))
        assert StatePath(path).read() == NEW

    def test_the_next_lock_finishes_the_write(self, path: Path) -> None:
        path.write_bytes(b"#" + NEW[1:500])
        inode = path.stat().st_ino
        self.pending(path).write_bytes(sealed(NEW))
        state = StatePath(path)
        state.lock()
        state.recover()
        state.unlock()
        assert path.read_bytes() == NEW
        assert path.stat().st_ino == inode
        assert names(path.parent) == [path.name]

    def test_the_next_lock_discards_a_write_that_did_not_begin(self, path: Path) -> None:
        path.write_bytes(OLD)
        self.pending(path).write_bytes(sealed(NEW))
        path.with_name(".terraform.tfstate.pending.part").write_bytes(b"half")
        state = StatePath(path)
        state.lock()
        state.recover()
        state.unlock()
        assert path.read_bytes() == OLD
        assert names(path.parent) == [path.name]

    def test_a_mark_without_a_sibling_is_left_alone(self, path: Path) -> None:
        path.write_bytes(b"# foreign")
        state = StatePath(path)
        state.lock()
        state.recover()
        assert state.read() == b"# foreign"
        state.unlock()
        assert path.read_bytes() == b"# foreign"


class TestMachineWentDown:
    """What is found if what was not synced is a mixture of old and new."""

    MIXED = sealed(NEW)[:5000] + b"?" + sealed(NEW)[5001:]

    @pytest.fixture(autouse=True)
    def copy(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path.write_bytes(b"{}")
        state = StatePath(path)
        state.lock()
        state.write_between(OLD, lasting=True)
        state.write_between(NEW, lasting=False)
        state.unlock()
        assert names(path.parent) == [
            ".terraform.tfstate.lasting",
            ".terraform.tfstate.pending",
            "terraform.tfstate",
        ]
        monkeypatch.setattr("nigari.backends.state_path.boot_identity", lambda: "another")

    def read(self, path: Path) -> bytes:
        """What a reader sees, and whoever holds the lock next."""
        seen = StatePath(path).read()
        state = StatePath(path)
        state.lock()
        state.recover()
        assert state.read() == seen
        state.unlock()
        assert path.read_bytes() == seen
        assert names(path.parent) == [path.name]
        return seen

    def test_what_is_whole_counts(self, path: Path) -> None:
        assert self.read(path) == NEW

    @pytest.mark.parametrize(
        "torn",
        [MIXED, sealed(NEW)[:4096], sealed(NEW)[:-9] + bytes(9), b"", b"#" + MIXED[1:]],
        ids=["mixed", "short", "zeros", "empty", "marked"],
    )
    def test_in_place_of_what_is_torn_counts_what_was_synced(self, path: Path, torn: bytes) -> None:
        path.write_bytes(torn)
        assert self.read(path) == OLD

    def test_what_another_program_wrote_counts(self, path: Path) -> None:
        path.write_bytes(b'{\n  "version": 4\n}\n')
        assert self.read(path) == b'{\n  "version": 4\n}\n'

    def test_what_somebody_has_removed_stays_so(self, path: Path) -> None:
        path.unlink()
        state = StatePath(path)
        assert state.read() == b""
        state.lock()
        state.recover()
        assert state.read() == b""
        state.unlock()
        assert names(path.parent) == []

    def test_a_machine_that_runs_has_everything(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("nigari.backends.state_path.boot_identity", boot_identity)
        edited = sealed(NEW).replace(b"new", b"own")
        path.write_bytes(edited)
        assert self.read(path) == edited

    def test_without_a_boot_identity_every_write_is_synced(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("nigari.backends.state_path.boot_identity", lambda: "")
        StatePath(path).write_between(OLD, lasting=False)
        assert path.read_bytes() == OLD
        assert names(path.parent) == [path.name]


WRITER = """
import itertools, sys
from pathlib import Path
from nigari.backends.state_path import StatePath
state = StatePath(Path(sys.argv[1]))
state.lock()
print("ready", flush=True)
for i in itertools.count():
    state.WRITE(b'{"n": %d, "fill": "' % i + bytes([97 + i % 26]) * (1 << 20) * (1 + i % 3) + b'"}\\n')
"""

SETTLED = WRITER.replace("WRITE(", "write(")
BETWEEN = WRITER.replace("WRITE(", "write_between(lasting=i % 30 == 0, content=")
writers = pytest.mark.parametrize("writer", [SETTLED, BETWEEN], ids=["settled", "between"])


def is_whole(content: bytes) -> bool:
    head, _, tail = content.partition(b'"fill": "')
    number = int(head[6:-2])
    return tail == bytes([97 + number % 26]) * (1 << 20) * (1 + number % 3) + b'"}\n'


@writers
def test_killing_a_writer_at_random_moments_leaves_a_whole_state(path: Path, writer: str) -> None:
    chance = random.Random(8)
    for _ in range(50):
        with running(writer, path):
            time.sleep(chance.random() * 0.08)
        seen = StatePath(path).read()
        assert seen == b"" or is_whole(seen)
        state = StatePath(path)
        state.lock()
        state.recover()
        assert state.read() == seen
        state.unlock()


@writers
def test_a_reader_without_the_lock_sees_whole_states(path: Path, writer: str) -> None:
    with running(writer, path):
        seen: set[bytes] = set()
        until = time.monotonic() + 60
        while len(seen) < 20:
            content = StatePath(path).read()
            assert content == b"" or is_whole(content)
            seen.add(content[:12])
            assert time.monotonic() < until


class TestRefused:
    """The system says no: nothing that was there is harmed."""

    def test_read_only_directory(self, path: Path) -> None:
        if os.geteuid() == 0:
            pytest.skip("root may write everywhere")
        path.write_bytes(OLD)
        path.parent.chmod(0o555)
        state = StatePath(path)
        try:
            state.lock()
            with pytest.raises(PermissionError):
                state.write(NEW)
            assert state.read() == OLD
        finally:
            state.unlock()
            path.parent.chmod(0o755)

    def test_read_only_disk(self, small_disk: Path) -> None:
        path = small_disk / "terraform.tfstate"
        path.write_bytes(OLD)
        subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
        state = StatePath(path)
        for refused in (state.lock, lambda: state.write(NEW)):
            with pytest.raises(OSError, match="Read-only"):
                refused()
        assert state.read() == OLD
        assert not state.is_locked

    def test_disk_full(self, small_disk: Path) -> None:
        path = small_disk / "terraform.tfstate"
        state = StatePath(path)
        state.lock()
        state.write(OLD)
        for size in (3_000_000, 1_400_000):  # no room for the sibling; no room for the file
            for write in (state.write, partial(state.write_between, lasting=True)):
                with pytest.raises(OSError, match="No space left"):
                    write(b"{" + b" " * size + b"}")
                assert state.read() == OLD
                assert path.read_bytes() == OLD
        state.write(OLD)
        state.unlock()
        assert names(small_disk) == [path.name]


def test_a_file_beside_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.backup"
    write_beside(path, OLD)
    write_beside(path, NEW)
    assert path.read_bytes() == NEW
    assert names(tmp_path) == ["x.backup"]
