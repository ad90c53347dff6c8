"""Snapshots of a state in the local backend: serial, lineage, backups, locks, refusals."""

import asyncio
import errno
import json
import os
from pathlib import Path

import pytest

from nigari.backends.local import LocalBackend, LocalPaths, LocalStorage, cannot_lock
from nigari.backends.lock_options import LockOptions
from nigari.backends.locking import LockConflict, LockInfo, new_lock
from nigari.backends.snapshots import Snapshots
from nigari.cty import string
from nigari.diagnostics import Diagnostics
from nigari.record import replace
from nigari.state.encryption import Encryption, no_encryption
from nigari.state.files import parse_state
from nigari.state.model import EMPTY_STATE, OutputState, State, StateFile
from tests.state.encryption_blocks import config

ENCRYPTED = Encryption(config(), Diagnostics())


def snapshots(directory: Path, paths: LocalPaths | None = None, name: str = "default") -> Snapshots:
    backend = LocalBackend(directory, paths or LocalPaths())
    return Snapshots(backend.storage(name), no_encryption().state)


def state(word: str) -> State:
    return State(outputs={"word": OutputState(string(word))})


def write(store: Snapshots, word: str) -> None:
    diags = Diagnostics()
    assert asyncio.run(store.write(state(word), diags)), list(diags)


def stored(path: Path) -> StateFile:
    file = parse_state(path.read_bytes(), Diagnostics())
    assert file is not None
    return file


def word(path: Path) -> str:
    return stored(path).state.outputs["word"].value.as_string()


def names(directory: Path) -> list[str]:
    return sorted(each.name for each in directory.iterdir())


def summaries(diags: Diagnostics) -> list[str]:
    return [each.summary for each in diags]


class TestSerialAndLineage:
    """Snapshots of one state share a lineage and are counted."""

    def test_the_first_snapshot(self, tmp_path: Path) -> None:
        write(snapshots(tmp_path), "a")
        file = stored(tmp_path / "terraform.tfstate")
        assert file.serial == 1
        assert len(file.lineage) == 36

    def test_each_change_counts_once(self, tmp_path: Path) -> None:
        store = snapshots(tmp_path)
        for each in ("a", "b", "b", "c"):
            write(store, each)
        write(snapshots(tmp_path), "c")
        assert stored(tmp_path / "terraform.tfstate").serial == 3

    def test_the_lineage_stays(self, tmp_path: Path) -> None:
        write(snapshots(tmp_path), "a")
        before = stored(tmp_path / "terraform.tfstate").lineage
        write(snapshots(tmp_path), "b")
        assert stored(tmp_path / "terraform.tfstate").lineage == before


class TestBetween:
    """States that follow each other while an operation goes on."""

    def between(self, store: Snapshots, word: str) -> None:
        assert asyncio.run(store.write_between(state(word), False, Diagnostics()))

    def test_they_are_there_at_once_and_count_as_one(self, tmp_path: Path) -> None:
        store, path = snapshots(tmp_path), tmp_path / "terraform.tfstate"
        for serial, words in enumerate(("abc", "de"), start=1):
            for each in words:
                self.between(store, each)
                assert (word(path), stored(path).serial) == (each, serial)
            write(store, words)
            assert (word(path), stored(path).serial) == (words, serial)

    def test_the_last_one_is_settled(self, tmp_path: Path) -> None:
        store = snapshots(tmp_path)
        for each in "ab":
            self.between(store, each)
        assert len(names(tmp_path)) == 3
        write(store, "b")
        assert names(tmp_path) == ["terraform.tfstate"]
        assert stored(tmp_path / "terraform.tfstate").serial == 1
        assert (tmp_path / "terraform.tfstate").read_bytes().endswith(b"}\n\n")

    def test_the_backup_is_of_what_was_before_all_of_them(self, tmp_path: Path) -> None:
        write(snapshots(tmp_path), "old")
        store = snapshots(tmp_path)
        for each in "ab":
            self.between(store, each)
        write(store, "c")
        assert word(tmp_path / "terraform.tfstate.backup") == "old"

    def test_nothing_new_is_not_stored(self, tmp_path: Path) -> None:
        write(snapshots(tmp_path), "old")
        before = (tmp_path / "terraform.tfstate").stat().st_mtime_ns
        self.between(snapshots(tmp_path), "old")
        assert names(tmp_path) == ["terraform.tfstate"]
        assert (tmp_path / "terraform.tfstate").stat().st_mtime_ns == before


class TestPut:
    """Snapshots from elsewhere: `state push`."""

    OLD = StateFile(state("old"), "lineage", 5)

    @pytest.mark.parametrize(
        ("pushed", "refusal"),
        [
            (StateFile(state("new"), "lineage", 6), None),
            (StateFile(state("old"), "lineage", 5), None),
            (StateFile(state("new"), "", 1), None),
            (StateFile(state("new"), "lineage", 5), "Conflicting state"),
            (StateFile(state("new"), "lineage", 4), "Older snapshot"),
            (StateFile(state("new"), "another", 9), "Unrelated state"),
        ],
    )
    def test_rules(self, tmp_path: Path, pushed: StateFile, refusal: str | None) -> None:
        diags = Diagnostics()
        assert asyncio.run(snapshots(tmp_path).put(self.OLD, force=False, diags=diags))
        before = (tmp_path / "terraform.tfstate").read_bytes()
        accepted = asyncio.run(snapshots(tmp_path).put(pushed, force=False, diags=diags))
        assert summaries(diags) == ([] if refusal is None else [refusal])
        if accepted:
            assert stored(tmp_path / "terraform.tfstate").serial == pushed.serial
        else:
            assert (tmp_path / "terraform.tfstate").read_bytes() == before
            assert asyncio.run(snapshots(tmp_path).put(pushed, force=True, diags=diags))

    def test_an_empty_state_may_always_be_replaced(self, tmp_path: Path) -> None:
        diags = Diagnostics()
        empty = replace(self.OLD, state=EMPTY_STATE, lineage="another", serial=99)
        assert asyncio.run(snapshots(tmp_path).put(empty, force=False, diags=diags))
        assert asyncio.run(snapshots(tmp_path).put(self.OLD, force=False, diags=diags))


class TestBackup:
    """What was stored before the first change of a run is kept."""

    def test_kept_once_per_run(self, tmp_path: Path) -> None:
        write(snapshots(tmp_path), "a")
        assert not (tmp_path / "terraform.tfstate.backup").exists()
        store = snapshots(tmp_path)
        write(store, "b")
        write(store, "c")
        assert word(tmp_path / "terraform.tfstate.backup") == "a"

    def test_nothing_changed(self, tmp_path: Path) -> None:
        write(snapshots(tmp_path), "a")
        write(snapshots(tmp_path), "a")
        assert not (tmp_path / "terraform.tfstate.backup").exists()

    def test_elsewhere_or_nowhere(self, tmp_path: Path) -> None:
        write(snapshots(tmp_path), "a")
        write(snapshots(tmp_path, LocalPaths(backup="kept")), "b")
        assert word(tmp_path / "kept") == "a"
        write(snapshots(tmp_path, LocalPaths(backup="-")), "c")
        assert names(tmp_path) == ["kept", "terraform.tfstate"]

    def test_no_backup_no_write(self, tmp_path: Path) -> None:
        write(snapshots(tmp_path), "a")
        (tmp_path / "taken").mkdir()
        diags = Diagnostics()
        store = snapshots(tmp_path, LocalPaths(backup="taken"))
        assert not asyncio.run(store.write(state("b"), diags))
        assert summaries(diags) == ["No access to the backup of the state"]
        assert word(tmp_path / "terraform.tfstate") == "a"


class TestPaths:
    """Which files there are."""

    def test_configured(self, tmp_path: Path) -> None:
        paths = LocalPaths(path="deep/er/x.tfstate", workspace_dir="spaces")
        write(snapshots(tmp_path, paths), "a")
        write(snapshots(tmp_path, paths, "w"), "b")
        assert word(tmp_path / "deep" / "er" / "x.tfstate") == "a"
        assert word(tmp_path / "spaces" / "w" / "terraform.tfstate") == "b"

    def test_read_here_and_write_there(self, tmp_path: Path) -> None:
        write(snapshots(tmp_path), "a")
        paths = LocalPaths(state="terraform.tfstate", state_out="out.tfstate")
        store = snapshots(tmp_path, paths)
        assert asyncio.run(store.read(Diagnostics()))
        write(store, "b")
        assert word(tmp_path / "terraform.tfstate") == "a"
        assert word(tmp_path / "out.tfstate") == "b"
        assert stored(tmp_path / "out.tfstate").serial == 2


class Held(LocalStorage):
    """A storage whose lock somebody on this machine has, until it is removed or tried often enough."""

    def __init__(self, directory: Path, operation: str, is_alive: bool) -> None:
        super().__init__(directory, "terraform.tfstate", "terraform.tfstate", "")
        info = new_lock(operation)
        self.holder: LockInfo | None = (
            info if is_alive else replace(info, info="process 1 (started 1)")
        )
        self.tries_left = -1

    async def lock(self, info: LockInfo, diags: Diagnostics) -> LockInfo | LockConflict | None:
        self.tries_left -= 1
        if self.holder is None or self.tries_left == -1:
            return info
        return LockConflict(self.holder)

    async def force_unlock(self, lock_id: str, diags: Diagnostics) -> bool:
        self.holder = None
        return True


class TestLock:
    """Who holds the lock is told; the file beside the state says it."""

    def test_information(self, tmp_path: Path) -> None:
        store, diags = snapshots(tmp_path), Diagnostics()
        assert asyncio.run(store.lock("apply", LockOptions(), diags))
        info = json.loads((tmp_path / ".terraform.tfstate.lock.info").read_text())
        assert list(info) == ["ID", "Operation", "Info", "Who", "Version", "Created", "Path"]
        assert (info["Operation"], info["Path"]) == ("apply", "terraform.tfstate")
        assert info["Created"].endswith("Z")
        assert (tmp_path / ".terraform.tfstate.lock.info").stat().st_mode & 0o777 == 0o600
        assert asyncio.run(store.unlock(diags))
        assert names(tmp_path) == []

    def test_conflict(self, tmp_path: Path) -> None:
        one, two, diags = snapshots(tmp_path), snapshots(tmp_path), Diagnostics()
        assert asyncio.run(one.lock("apply", LockOptions(), diags))
        assert not asyncio.run(two.lock("plan", LockOptions(timeout_seconds=0.3), diags))
        assert summaries(diags) == ["Error acquiring the state lock"]
        assert "apply" in diags[0].detail
        assert asyncio.run(two.lock("plan", LockOptions(is_wanted=False), diags))
        assert asyncio.run(one.unlock(diags))
        assert asyncio.run(two.lock("plan", LockOptions(), diags))
        assert asyncio.run(two.unlock(diags))

    @pytest.mark.parametrize(
        ("operation", "is_alive", "is_taken_over"),
        [("move", False, True), ("move", True, False), ("apply", False, False)],
    )
    def test_taken_over(
        self, tmp_path: Path, operation: str, is_alive: bool, is_taken_over: bool
    ) -> None:
        store, diags = (
            Snapshots(Held(tmp_path, operation, is_alive), no_encryption().state),
            Diagnostics(),
        )
        assert asyncio.run(store.lock("move", LockOptions(), diags, True)) is is_taken_over
        assert summaries(diags) == [] if is_taken_over else ["Error acquiring the state lock"]

    def test_waiting(self, tmp_path: Path) -> None:
        held = Held(tmp_path, "apply", True)
        held.tries_left = 1
        options = LockOptions(timeout_seconds=60)
        store = Snapshots(held, no_encryption().state)
        assert asyncio.run(store.lock("apply", options, Diagnostics()))

    def test_secrets_of_the_holder(self, tmp_path: Path) -> None:
        diags = Diagnostics()
        store = Snapshots(Held(tmp_path, "https://me:pass@host/x", True), no_encryption().state)
        assert not asyncio.run(store.lock("apply", LockOptions(), diags))
        assert "pass" not in diags[0].detail
        assert "host/x" in diags[0].detail

    def test_force_unlock(self, tmp_path: Path) -> None:
        diags = Diagnostics()
        storage = LocalBackend(tmp_path, LocalPaths()).storage("default")
        (tmp_path / ".terraform.tfstate.lock.info").write_text('{"ID": "dead"}')
        assert not asyncio.run(storage.force_unlock("other", diags))
        assert summaries(diags) == ["Wrong lock ID"]
        assert asyncio.run(storage.force_unlock("dead", diags))
        assert names(tmp_path) == []

    def test_force_unlock_of_the_living(self, tmp_path: Path) -> None:
        store, diags = snapshots(tmp_path), Diagnostics()
        assert asyncio.run(store.lock("apply", LockOptions(), diags))
        lock_id = json.loads((tmp_path / ".terraform.tfstate.lock.info").read_text())["ID"]
        storage = LocalBackend(tmp_path, LocalPaths()).storage("default")
        assert not asyncio.run(storage.force_unlock(lock_id, diags))
        assert summaries(diags) == ["Lock in use"]
        assert asyncio.run(store.unlock(diags))

    def test_a_lock_that_cannot_be_told_is_not_taken(self, tmp_path: Path) -> None:
        (tmp_path / ".terraform.tfstate.lock.info").mkdir()
        store, diags = snapshots(tmp_path), Diagnostics()
        assert not asyncio.run(store.lock("apply", LockOptions(), diags))
        assert summaries(diags) == ["Cannot lock the state"]

    @pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
    def test_a_file_system_without_locks(self, number: int) -> None:
        text = cannot_lock("s", OSError(number, os.strerror(number))).detail
        assert "This file system cannot lock files" in text
        assert "write access" not in text


FOREIGN = {
    "truncated": b'{"version": 4, "terraform_version": "1.12.6", "resou',
    "foreign": b"hello",
    "foreign json": b'{"a": 1}',
    "future": b'{"version": 5, "terraform_version": "2.0.0"}',
    "encrypted": b'{"encryption_version": "v0", "encrypted_data": "AAAA", "meta": {}}',
    "blank": b"  \n",
    "other provider": b'{"version": 4, "resources": [{"mode": "managed", "type": "a", "name": "b", "instances": [{}]}]}',
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_what_is_not_understood_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "terraform.tfstate"
    path.write_bytes(content)
    store, diags = snapshots(tmp_path), Diagnostics()
    assert asyncio.run(store.lock("apply", LockOptions(), diags))
    assert not asyncio.run(store.read(diags))
    assert not asyncio.run(store.write(state("a"), diags))
    assert not asyncio.run(store.put(StateFile(state("a"), "l", 9), force=True, diags=diags))
    assert asyncio.run(store.unlock(diags))
    assert diags.has_errors
    assert path.read_bytes() == content
    assert names(tmp_path) == ["terraform.tfstate"]


def test_an_empty_file_is_no_state(tmp_path: Path) -> None:
    (tmp_path / "terraform.tfstate").touch()
    store = snapshots(tmp_path)
    assert asyncio.run(store.read(Diagnostics()))
    assert store.file is None
    assert store.state is EMPTY_STATE


def test_a_directory_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "terraform.tfstate").mkdir()
    store, diags = snapshots(tmp_path), Diagnostics()
    assert not asyncio.run(store.read(diags))
    assert summaries(diags) == ["No access to the state file"]


def test_a_new_workspace_is_not_left_locked(tmp_path: Path) -> None:
    diags = Diagnostics()
    assert asyncio.run(snapshots(tmp_path).begin(LockOptions(), diags))
    assert names(tmp_path) == ["terraform.tfstate"]
    assert asyncio.run(snapshots(tmp_path).lock("apply", LockOptions(), diags))


@pytest.mark.parametrize(("encryption", "is_told"), [(no_encryption(), True), (ENCRYPTED, False)])
def test_what_is_encrypted_is_described_to_nobody(
    encryption: Encryption, is_told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(LocalStorage, "describe", told.append)

    async def document(file: StateFile) -> str:
        return file.state.outputs["word"].value.as_string()

    store = Snapshots(LocalBackend(tmp_path, LocalPaths()).storage("default"), encryption.state)
    store.document = document
    write(store, "secret")
    assert told == (["secret"] if is_told else [])
