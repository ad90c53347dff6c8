"""Unpacking archives: every form, and nothing outside the directory or beyond the limits."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import random
import re
import stat
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from nigari.packages.content import zip_content
from nigari.packages.content.unpacking import (
    ArchiveError,
    Limits,
    form_of_content,
    form_of_name,
    is_single_file,
    unpack_archive,
)
from tests.packages.archives import Entry, files, packed, write

FORMS = ("zip", "tar", "tar.gz", "tar.bz2", "tar.xz")


def unpacked(tmp_path: Path, form: str, entries: list[Entry], limits: Limits | None = None) -> Path:
    target = tmp_path / "target"
    target.mkdir()
    unpack_archive(write(tmp_path / "archive", form, entries), form, target, limits)
    return target


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("/a/b.zip", "zip"),
        ("b.tar.gz", "tar.gz"),
        ("b.tgz", "tar.gz"),
        ("b.tar.bz2", "tar.bz2"),
        ("b.tar.tbz2", "tar.bz2"),
        ("b.tar.xz", "tar.xz"),
        ("b.txz", "tar.xz"),
        ("b.tar", "tar"),
        ("b.zip/c", ""),
        ("zip", ""),
        ("b.gz", ""),
    ],
)
def test_forms_by_name(name: str, form: str) -> None:
    assert form_of_name(name) == form


def test_single_files_are_told_apart() -> None:
    assert is_single_file("/a/b.gz")
    assert not is_single_file("/a/b.tar.gz")


@pytest.mark.parametrize("form", FORMS)
def test_every_form(form: str, tmp_path: Path) -> None:
    entries: list[Entry] = [
        ("dir", "sub", ""),
        ("file", "main.tf", "# main\n"),
        ("program", "sub/run.sh", "#!/bin/sh\n"),
        ("link", "sub/again.tf", "../main.tf"),
        ("link", "folder", "sub"),
        ("link", "nowhere", "not/there"),
    ]
    target = unpacked(tmp_path, form, entries)
    assert (target / "main.tf").read_text() == "# main\n"
    assert (target / "sub" / "again.tf").read_text() == "# main\n"
    assert os.readlink(target / "folder") == "sub"
    assert (target / "nowhere").is_symlink()
    assert stat.S_IMODE((target / "sub" / "run.sh").stat().st_mode) == 0o755
    assert stat.S_IMODE((target / "main.tf").stat().st_mode) == 0o644
    if form != "tar":
        assert form_of_content(tmp_path / "archive") == form


def test_hard_links_are_copies(tmp_path: Path) -> None:
    target = unpacked(tmp_path, "tar", [("file", "a", "1"), ("hard", "b/c", "a")])
    assert (target / "b" / "c").read_text() == "1"
    assert (target / "a").stat().st_nlink == 1


def test_of_two_entries_of_one_name_the_later_counts(tmp_path: Path) -> None:
    entries: list[Entry] = [("link", "a", "b"), ("file", "b", "1"), ("file", "a", "2")]
    target = unpacked(tmp_path, "tar", entries)
    assert (target / "b").read_text() == "1"
    assert (target / "a").read_text() == "2"


ESCAPES: list[list[Entry]] = [
    [("file", "../x", "1")],
    [("file", "a/../../x", "1")],
    [("file", "..\\x", "1")],
    [("link", "a", "/etc")],
    [("link", "a", "../..")],
    [("file", "b/c", "1"), ("link", "a", "b/../../x")],
    [("link", "a", ".."), ("file", "a/x", "1")],
    [("link", "a", "b"), ("file", "a/x", "1")],
    [("dir", "d/e", ""), ("link", "l", "d/e"), ("link", "m", "l/../../..")],
    [("link", "x/y", "../../z"), ("file", "f", "1")],
    [("link", "sub", "."), ("link", "sub/up", "..")],
]


@pytest.mark.parametrize("form", ["zip", "tar.gz"])
@pytest.mark.parametrize("entries", ESCAPES)
def test_nothing_leaves_the_directory(form: str, entries: list[Entry], tmp_path: Path) -> None:
    with pytest.raises(ArchiveError):
        unpacked(tmp_path, form, entries)
    assert sorted(os.listdir(tmp_path)) == ["archive", "target"]


def test_whole_paths_are_below_the_directory(tmp_path: Path) -> None:
    target = unpacked(tmp_path, "tar", [("file", "/etc/x", "1")])
    assert (target / "etc" / "x").read_text() == "1"


@pytest.mark.parametrize("form", ["zip", "tar"])
def test_what_is_neither_file_nor_link_is_refused(form: str, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="neither a file"):
        unpacked(tmp_path, form, [("fifo", "pipe", "")])


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([("hard", "b", "a")], "no file"),
        ([("hard", "b", "../../../etc/passwd")], "outside"),
        ([("link", "a", "/etc/passwd"), ("hard", "b", "a")], "no file"),
        ([("dir", "a", ""), ("file", "a", "1")], "both a file and a directory"),
        ([], "empty"),
        ([("dir", "a", "")], "empty"),
    ],
)
def test_tar_archives_that_make_no_sense(entries: list[Entry], said: str, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match=said):
        unpacked(tmp_path, "tar", entries)


@pytest.mark.parametrize("form", ["zip", "tar"])
@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a", "a/b"], '"a/b" clashes with another'),
        (["a/b", "a"], '"a" clashes with another'),
        (["a", "a/b/c"], '"a/b/c" clashes with another'),
        (["x" * 300], '…" has a name that is too long'),
    ],
)
def test_names_that_the_file_system_refuses(
    form: str, names: list[str], said: str, tmp_path: Path
) -> None:
    with pytest.raises(ArchiveError, match=re.escape(said)):
        unpacked(tmp_path, form, files(dict.fromkeys(names, "")))


def test_many_entries_share_one_file_handle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening and making directories for each of 150,000 empty files took most of the time."""
    made: list[object] = []
    make = os.makedirs

    def counted(path: str, **given: bool) -> None:
        made.append(path)
        make(path, **given)

    monkeypatch.setattr(os, "makedirs", counted)
    monkeypatch.setattr(zip_content, "open", None, raising=False)
    target = unpacked(
        tmp_path, "zip", files(dict.fromkeys((f"a/b/{number}" for number in range(50)), ""))
    )
    assert len(list((target / "a" / "b").iterdir())) == 50
    assert len(made) == len(["a/b", "a"])


def test_links_that_go_in_circles_are_refused_or_kept_inside(tmp_path: Path) -> None:
    target = unpacked(tmp_path, "tar", [("link", "a", "b"), ("link", "b", "a")])
    assert os.readlink(target / "a") == "b"


@pytest.mark.parametrize("form", FORMS)
def test_limits(form: str, tmp_path: Path) -> None:
    many: list[Entry] = [("file", f"f{n}", "") for n in range(20)]
    with pytest.raises(ArchiveError, match="more than 10 entries"):
        unpacked(tmp_path, form, many, Limits(entries=10))


@pytest.mark.parametrize("form", FORMS)
def test_size_limit(form: str, tmp_path: Path) -> None:
    large: list[Entry] = [("file", "a", "x" * (3 << 20))]
    with pytest.raises(ArchiveError, match="more than 2 MiB"):
        unpacked(tmp_path, form, large, Limits(size=2 << 20))


@pytest.mark.parametrize("form", ["zip", "tar.gz", "tar.bz2", "tar.xz"])
def test_bombs(form: str, tmp_path: Path) -> None:
    bomb: list[Entry] = [("file", "a", "\0" * (8 << 20))]
    with pytest.raises(ArchiveError, match="times its size"):
        unpacked(tmp_path, form, bomb, Limits(small=1 << 20, ratio=100))


@pytest.mark.parametrize("form", ["zip", "tar.gz", "tar.bz2", "tar.xz"])
@pytest.mark.parametrize("damage", ["short", "changed", "other"])
def test_damage(form: str, damage: str, tmp_path: Path) -> None:
    content = packed(form, [("file", f"f{n}", os.urandom(900).hex()) for n in range(20)])
    middle = len(content) // 2
    wrong = {
        "short": content[:middle],
        "changed": content[:middle] + bytes(64) + content[middle + 64 :],
        "other": b"<html>Please log in.</html>",
    }[damage]
    archive = tmp_path / "archive"
    archive.write_bytes(wrong)
    (tmp_path / "target").mkdir()
    with pytest.raises(ArchiveError, match="damaged"):
        unpack_archive(archive, form, tmp_path / "target")


@pytest.mark.parametrize("seed", range(12))
def test_damage_anywhere_in_the_data(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    content = bytearray(packed("zip", [("file", "f", chance.randbytes(4000).hex())]))
    for _ in range(20):
        content[chance.randrange(100, 3900)] = chance.randrange(256)
    archive = tmp_path / "archive"
    archive.write_bytes(content)
    (tmp_path / "target").mkdir()
    with pytest.raises(ArchiveError, match="damaged"):
        unpack_archive(archive, "zip", tmp_path / "target")


def test_long_headers_are_not_read(tmp_path: Path) -> None:
    header = tarfile.TarInfo("././@PaxHeader")
    header.type = tarfile.XHDTYPE
    header.size = 1 << 32
    archive = tmp_path / "archive"
    archive.write_bytes(gzip.compress(header.tobuf(tarfile.GNU_FORMAT) + bytes(1 << 16)))
    (tmp_path / "target").mkdir()
    with pytest.raises(ArchiveError, match="header that is too long"):
        unpack_archive(archive, "tar.gz", tmp_path / "target")


def test_headers_upon_headers_are_refused(tmp_path: Path) -> None:
    header = tarfile.TarInfo("x")
    header.type = tarfile.XGLTYPE
    header.size = 0
    archive = tmp_path / "archive"
    archive.write_bytes(gzip.compress(header.tobuf() * 20_000))
    (tmp_path / "target").mkdir()
    with pytest.raises(ArchiveError):
        unpack_archive(archive, "tar.gz", tmp_path / "target")


def test_passwords_are_not_guessed(tmp_path: Path) -> None:
    buffer = io.BytesIO(packed("zip", [("file", "a", "1")]))
    content = bytearray(buffer.getvalue())
    # The flag that an entry is encrypted, in both places that tell it.
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    archive = tmp_path / "archive"
    archive.write_bytes(content)
    (tmp_path / "target").mkdir()
    with pytest.raises(ArchiveError, match="damaged"):
        unpack_archive(archive, "zip", tmp_path / "target")


def test_nobody_waits_for_what_is_given_up(tmp_path: Path) -> None:
    archive = write(tmp_path / "archive", "zip", [("file", "a", "1")])
    (tmp_path / "target").mkdir()
    with pytest.raises(ArchiveError, match="interrupted"):
        unpack_archive(archive, "zip", tmp_path / "target", given_up=lambda: True)


def test_overlapping_entries_are_counted_as_often_as_they_are_written(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("a", "\0" * (2 << 20))
        first = package.infolist()[0]
        for n in range(30):
            again = zipfile.ZipInfo(f"b{n}")
            for name in ("header_offset", "CRC", "compress_size", "file_size", "compress_type"):
                setattr(again, name, getattr(first, name))
            package.filelist.append(again)
    archive = tmp_path / "archive"
    archive.write_bytes(buffer.getvalue())
    (tmp_path / "target").mkdir()
    with pytest.raises(ArchiveError):
        unpack_archive(archive, "zip", tmp_path / "target", Limits(small=4 << 20, ratio=100))


@pytest.mark.parametrize("has_isal", [True, False])
def test_digests_of_what_is_unpacked(
    has_isal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are of the files that are there in the end, whatever inflates them."""
    if not has_isal:
        monkeypatch.setitem(sys.modules, "isal", None)
    large = bytes(range(256)) * 3000 + os.urandom(1 << 19)
    with zipfile.ZipFile(tmp_path / "archive", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("program", b"the first of two")
        archive.writestr("empty", b"")
        archive.writestr("stored", b"as it is", zipfile.ZIP_STORED)
        archive.writestr("other", b"another way of packing", zipfile.ZIP_BZIP2)
        archive.writestr("sub/", b"")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("program", large)
    (tmp_path / "target").mkdir()
    digests: dict[str, str] = {}
    unpack_archive(tmp_path / "archive", "zip", tmp_path / "target", digests=digests)
    assert (tmp_path / "target" / "program").read_bytes() == large
    assert digests == {
        name: hashlib.sha256((tmp_path / "target" / name).read_bytes()).hexdigest()
        for name in ("program", "empty", "stored", "other")
    }


@pytest.mark.parametrize("has_isal", [True, False])
@pytest.mark.parametrize(
    ("at", "value"),
    [
        (14, b"\0\0\0\0"),  # the checksum
        (22, b"\x10\0\0\0"),  # a size that is too small
        (22, b"\xff\xff\xff\0"),  # or too large
        (18, b"\x10\0\0\0"),  # packed, it ends early
    ],
)
def test_zip_entries_that_lie(
    at: int, value: bytes, has_isal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_isal:
        monkeypatch.setitem(sys.modules, "isal", None)
    with zipfile.ZipFile(tmp_path / "archive", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("program", os.urandom(1 << 12))
    content = bytearray((tmp_path / "archive").read_bytes())
    in_index = content.index(b"PK\x01\x02") + 2 + at
    content[in_index : in_index + 4] = value
    (tmp_path / "archive").write_bytes(content)
    (tmp_path / "target").mkdir()
    with pytest.raises(ArchiveError, match="damaged"):
        unpack_archive(tmp_path / "archive", "zip", tmp_path / "target")
