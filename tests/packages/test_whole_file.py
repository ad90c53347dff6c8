"""Files that are replaced whole, by several writers and after writers that were killed."""

import fcntl
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from nigari.packages.content.whole_file import write_whole


def test_a_file_is_replaced_and_nothing_else_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content in (b"one", b"", b"three"):
        write_whole(path, content)
        assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
def test_a_file_gets_the_mode_asked_for(tmp_path: Path, mode: int) -> None:
    left = tmp_path / ".file-0.part"
    left.write_bytes(b"half")
    left.chmod(0o777)
    write_whole(tmp_path / "file", b"content", mode)
    assert (tmp_path / "file").stat().st_mode & 0o777 == mode


def left_behind(path: Path) -> None:
    path.write_bytes(b"half")


def a_link(path: Path) -> None:
    other = path.parent / "other"
    other.write_bytes(b"other")
    path.symlink_to(other)


def a_directory(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("make", "stays"), [(left_behind, False), (a_link, True), (a_directory, True)]
)
def test_only_what_a_writer_left_behind_is_removed(
    tmp_path: Path, make: Callable[[Path], None], stays: bool
) -> None:
    unfinished = tmp_path / ".file-0.part"
    make(unfinished)
    write_whole(tmp_path / "file", b"content")
    assert (tmp_path / "file").read_bytes() == b"content"
    assert not (tmp_path / "file").is_symlink()
    assert os.path.lexists(unfinished) == stays
    if (tmp_path / "other").exists():
        assert (tmp_path / "other").read_bytes() == b"other"


def test_what_another_writer_is_at_work_on_stays(tmp_path: Path) -> None:
    unfinished = tmp_path / ".file-0.part"
    with unfinished.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write_whole(tmp_path / "file", b"content")
        assert sorted(os.listdir(tmp_path)) == [".file-0.part", "file"]
    write_whole(tmp_path / "file", b"again")
    assert os.listdir(tmp_path) == ["file"]


def test_of_writers_at_once_one_is_the_last(tmp_path: Path) -> None:
    path = tmp_path / "file"
    contents = [bytes([65 + index]) * 5000 for index in range(8)]
    seen: set[bytes] = set()

    def write(content: bytes) -> None:
        for _ in range(50):
            write_whole(path, content, sync=False)
            seen.add(path.read_bytes())

    threads = [threading.Thread(target=write, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen <= set(contents)
    assert os.listdir(tmp_path) == ["file"]
