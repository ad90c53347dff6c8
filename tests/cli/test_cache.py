"""`nigari cache`: what is kept, whether it is whole, and removing it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from nigari.packages.content.package_tree import Found, PackageOrigin
from nigari.packages.modules.shared_store import SharedStore
from tests.cli.process import Done, inside


@pytest.fixture
def store(tmp_path: Path) -> SharedStore:
    made = SharedStore(tmp_path / "modules")
    assert made.is_usable()
    for name in ("one", "two"):
        files = made.staging()
        (files / "main.tf").write_text(name)
        found = Found(made.add(files), PackageOrigin(f"rev-{name}"))
        made.remember(name, f"git::https://example.com/{name}.git", found)
    made.close()
    return made


def cache(store: SharedStore, *arguments: str) -> Done:
    done = inside("cache", *arguments, settings={"NIGARI_CACHE_DIR": str(store.directory.parent)})
    return Done(done.code, done.out, " ".join(done.err.split()))


def age(store: SharedStore, name: str, days: int) -> None:
    (package,) = [each for each in store.packages() if name in each.sources[0]]
    then = time.time() - days * 86400
    os.utime(store.directory / "packages" / package.id / "list.json", (then, then))


def test_list(store: SharedStore) -> None:
    age(store, "one", 3)
    done = cache(store, "list")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].endswith("3 B, used today")
    assert lines[1] == "  git::https://example.com/two.git rev-two"
    assert lines[2].endswith("used 3 days ago")
    assert lines[4] == f"2 packages, 6 B, in {store.directory}"


def test_list_for_programs(store: SharedStore) -> None:
    events = [json.loads(line) for line in cache(store, "list", "-json").out.splitlines()]
    packages = [event["package"] for event in events if event.get("type") == "cached_package"]
    assert sorted(each["sources"][0].split()[1] for each in packages) == ["rev-one", "rev-two"]


def test_verify_and_prune(store: SharedStore) -> None:
    assert cache(store, "verify").code == 0
    (package,) = [each for each in store.packages() if "one" in each.sources[0]]
    (store.directory / "packages" / package.id / "files" / "main.tf").write_text("changed")
    done = cache(store, "verify")
    assert done.code == 1
    assert "1 of 2 packages" in done.err
    assert "1 package removed" in cache(store, "prune").out
    assert cache(store, "verify").code == 0
    assert not store.knows("one")
    assert store.knows("two")


def test_prune_by_age(store: SharedStore) -> None:
    age(store, "one", 40)
    assert "1 package removed" in cache(store, "prune").out
    assert "0 packages removed" in cache(store, "prune").out
    assert "1 package removed" in cache(store, "prune", "-all").out
    assert store.packages() == []


def test_prune_waits_for_nobody(store: SharedStore) -> None:
    assert store.is_usable()
    done = cache(store, "prune", "-all")
    assert done.code == 1
    assert "Another nigari is using the packages" in done.err
    store.close()


def test_nothing_is_kept() -> None:
    done = inside("cache", "list", settings={"NIGARI_CACHE_DIR": "off"})
    assert done.code == 0
    assert "No packages are cached" in done.out


def test_days_must_be_a_number(store: SharedStore) -> None:
    assert "must be a number of days" in cache(store, "prune", "-days=soon").err
