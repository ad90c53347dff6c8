import os
import time
import zipfile
from pathlib import Path

import pytest

from nigari.packages.providers import checksums
from nigari.packages.providers.checksums import (
    archive_checksum,
    directory_checksum,
    matching,
    package_checksum,
    understood,
    zip_checksum,
)

# Of a directory with the files `a` (content "a") and `sub/b` (content "b"), computed by hand with
# sha256sum: `printf '%s  a\n%s  sub/b\n' …`.
KNOWN = "h1:vVB9ql+al6rz8f3aZlZO5MSmBkz40JJukYtOGv/Nggk="


NAMES = ("a-b", "a", "é", "Z", "a.b")


def directory(base: Path) -> Path:
    root = base / "package"
    (root / "sub").mkdir(parents=True)
    (root / "a").write_text("a")
    (root / "sub" / "b").write_text("b")
    return root


def archive(base: Path, content: dict[str, str]) -> Path:
    path = base / "package.zip"
    with zipfile.ZipFile(path, "w") as package:
        for name, text in content.items():
            package.writestr(name, text)
    return path


def test_packed_and_unpacked_have_the_same_checksum(tmp_path: Path) -> None:
    unpacked = directory(tmp_path)
    packed = archive(tmp_path, {"sub/b": "b", "a": "a"})
    assert directory_checksum(unpacked) == archive_checksum(packed) == KNOWN
    assert package_checksum(unpacked) == package_checksum(packed)


def test_an_empty_package_has_the_checksum_of_nothing(tmp_path: Path) -> None:
    empty = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    (tmp_path / "e").mkdir()
    assert directory_checksum(tmp_path / "e") == empty
    assert archive_checksum(archive(tmp_path, {})) == empty


def test_a_link_to_the_package_counts_as_the_package(tmp_path: Path) -> None:
    unpacked = directory(tmp_path)
    (tmp_path / "link").symlink_to(unpacked)
    assert directory_checksum(tmp_path / "link") == directory_checksum(unpacked)


def test_every_change_changes_the_checksum(tmp_path: Path) -> None:
    unpacked = directory(tmp_path)
    before = directory_checksum(unpacked)
    (unpacked / "a").write_text("A")
    changed = directory_checksum(unpacked)
    (unpacked / "a").rename(unpacked / "c")
    assert len({before, changed, directory_checksum(unpacked)}) == 3


def test_a_link_to_a_directory_inside_cannot_be_summed(tmp_path: Path) -> None:
    unpacked = directory(tmp_path)
    (unpacked / "loop").symlink_to(unpacked)
    with pytest.raises(OSError, match="symbolic link"):
        directory_checksum(unpacked)


def test_names_sort_by_bytes(tmp_path: Path) -> None:
    unpacked = tmp_path / "p"
    unpacked.mkdir()
    for name in NAMES:
        (unpacked / name).write_text(name)
    packed = archive(tmp_path, {name: name for name in NAMES})
    assert directory_checksum(unpacked) == archive_checksum(packed)


def test_matching_by_scheme(tmp_path: Path) -> None:
    unpacked = directory(tmp_path)
    packed = archive(tmp_path, {"a": "a", "sub/b": "b"})
    h1, zh = directory_checksum(unpacked), zip_checksum(packed)
    recorded = ["h1:other", "zh:other", "h9:new", h1, zh]
    assert matching(packed, recorded) == [h1, zh]
    assert matching(unpacked, recorded) == [h1]
    assert understood(recorded) == ["h1:other", "zh:other", h1, zh]


def test_a_file_is_read_once_unless_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: dict[tuple[int, ...], str] = {}
    monkeypatch.setattr(checksums, "_DIGESTS", read)
    program = tmp_path / "package" / "program"
    program.parent.mkdir()
    program.write_bytes(b"one")
    # What was just written may change within the resolution of times, so it is read every time.
    first = checksums.directory_checksum(program.parent)
    assert not read
    monkeypatch.setattr(checksums, "_SETTLED", -1.0)
    assert checksums.directory_checksum(program.parent) == first
    assert len(read) == 1
    linked = tmp_path / "linked" / "program"
    linked.parent.mkdir()
    linked.hardlink_to(program)
    # A link changes the file, too: from then on it is the same in both directories.
    assert checksums.directory_checksum(linked.parent) == first
    assert checksums.directory_checksum(program.parent) == first
    assert len(read) == 2
    time.sleep(0.02)
    program.write_bytes(b"two")
    os.utime(program, ns=(0, 0))
    assert checksums.directory_checksum(linked.parent) != first
