"""The store that all directories of a user share: whole packages only, whoever is killed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nigari.packages.content.module_fetch import FetchError
from nigari.packages.content.package_tree import Found, Package, PackageOrigin
from nigari.packages.modules.shared_store import SharedStore, older_than, shared_directory

FILLING = """
import sys, time
from pathlib import Path
from nigari.packages.modules.shared_store import SharedStore
store = SharedStore(Path(sys.argv[1]))
assert store.is_usable()
while True:
    files = store.staging()
    (files / "sub").mkdir()
    for n in range(50):
        (files / "sub" / f"{n}.tf").write_text(str(n))
    (files / "main.tf").write_text(sys.argv[2])
    package = store.add(files)
    print(package.id, flush=True)
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SharedStore]:
    made = SharedStore(tmp_path / "store")
    assert made.is_usable()
    yield made
    made.close()


def put(store: SharedStore, content: str = "1") -> Package:
    files = store.staging()
    (files / "main.tf").write_text(content)
    return store.add(files)


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({"HOME": "/h"}, "/h/.cache/nigari/modules"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "/c"}, "/c/nigari/modules"),
        ({"HOME": "/h", "NIGARI_CACHE_DIR": "/n"}, "/n/modules"),
        ({"HOME": "/h", "NIGARI_CACHE_DIR": "off"}, None),
        ({"HOME": "relative"}, None),
        ({}, None),
    ],
)
def test_where_it_is(environ: dict[str, str], path: str | None) -> None:
    assert shared_directory(environ) == (None if path is None else Path(path))


def test_packages_are_found_by_address_and_revision(store: SharedStore) -> None:
    found = Found(put(store), PackageOrigin("r1", "there", "sub"))
    assert not store.knows("x")
    store.remember("x", "shown", found)
    assert store.knows("x")
    again = store.find("x", "r1")
    assert again is not None
    assert again.origin == found.origin
    assert again.package.path == found.package.path
    assert store.find("x", "r2") is None


def test_the_same_content_is_there_once(store: SharedStore) -> None:
    assert put(store).path == put(store).path
    assert len(store.packages()) == 1


@pytest.mark.parametrize("damage", ["changed", "missing", "more", "mode", "list", "no list"])
def test_damage_is_seen_and_repaired(damage: str, store: SharedStore) -> None:
    package = put(store)
    file, listed = package.path / "main.tf", package.path.parent / "list.json"
    match damage:
        case "changed":
            file.write_text("2")
        case "missing":
            file.unlink()
        case "more":
            (package.path / "evil.tf").write_text("")
        case "mode":
            file.chmod(0o755)
        case "list":
            listed.write_text(listed.read_text().replace("main.tf", "name.tf"))
        case "no list":
            listed.unlink()
    assert store.find_package(package.id) is None
    assert not store.packages(check=True)[0].is_intact
    assert put(store) == package
    assert store.find_package(package.id) == package


def test_what_leads_out_of_a_package_is_refused(store: SharedStore) -> None:
    files = store.staging()
    (files / "link").symlink_to("/etc/passwd")
    with pytest.raises(FetchError, match="outside"):
        store.add(files)


def test_nothing_is_left_of_what_is_not_finished(store: SharedStore) -> None:
    (store.staging() / "x").write_text("")
    store.close()
    assert list((store.directory / "new").iterdir()) == []


def test_a_store_that_cannot_be_written_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not SharedStore(tmp_path / "file" / "store").is_usable()


def test_only_one_fetches_an_address(store: SharedStore) -> None:
    other = SharedStore(store.directory)
    assert other.is_usable()
    order: list[str] = []

    async def first() -> None:
        async with store.locked("x"):
            order.append("first begins")
            await asyncio.sleep(0.2)
            order.append("first ends")

    async def second() -> None:
        await asyncio.sleep(0.05)
        async with other.locked("x"):
            order.append("second")

    async def both() -> None:
        await asyncio.gather(first(), second())

    asyncio.run(both())
    assert order == ["first begins", "first ends", "second"]
    other.close()


def test_nothing_is_removed_under_the_hands_of_others(store: SharedStore) -> None:
    package = put(store)
    other = SharedStore(store.directory)
    with other.alone() as is_alone:
        assert not is_alone
    store.close()
    with other.alone() as is_alone:
        assert is_alone
        other.remove({package.id})
    assert other.packages() == []


def test_what_was_not_used_for_long_is_known(store: SharedStore) -> None:
    old, new = put(store, "old"), put(store, "new")
    then = time.time() - 10 * 86400
    os.utime(old.path.parent / "list.json", (then, then))
    assert older_than(store.packages(), 5) == {old.id}
    assert store.find_package(old.id) is not None
    assert older_than(store.packages(), 5) == set()
    assert older_than(store.packages(), 0) == {old.id, new.id}


def test_nobody_removes_what_another_has_just_begun(tmp_path: Path) -> None:
    directory = tmp_path / "store"
    is_over = threading.Event()

    def open_again_and_again() -> None:
        while not is_over.is_set():
            other = SharedStore(directory)
            assert other.is_usable()
            other.close()

    thread = threading.Thread(target=open_again_and_again)
    thread.start()
    try:
        store = SharedStore(directory)
        assert store.is_usable()
        for _ in range(300):
            files = store.staging()
            (files / "main.tf").write_text("1")
            store.discard(files)
        store.close()
    finally:
        is_over.set()
        thread.join()


def test_whoever_is_killed_leaves_whole_packages_only(tmp_path: Path) -> None:
    directory = tmp_path / "store"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for round_ in range(6):
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", FILLING, str(directory), f"{n}"],
                stdout=subprocess.PIPE,
                text=True,
                env=environ,
            )
            for n in range(2)
        ]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline()
        time.sleep(0.01 * round_)
        for process in processes:
            process.send_signal(signal.SIGKILL)
        for process in processes:
            process.wait()
            with contextlib.suppress(AttributeError):
                process.stdout.close()  # type: ignore[union-attr]
        store = SharedStore(directory)
        assert store.is_usable()
        found = store.packages(check=True)
        assert len(found) == 2
        assert all(each.is_intact and each.files == 51 for each in found)
        assert list((directory / "new").iterdir()) == []
        store.close()
