"""The store of module packages: one copy of each, checked, repaired, and never half-written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nigari.packages.content.module_fetch import FetchError
from nigari.packages.content.package_tree import Found, PackageOrigin, list_files
from nigari.packages.modules.module_manifest import ModuleRecord
from nigari.packages.modules.module_store import ModuleStore


def put(store: ModuleStore, files: dict[str, str]) -> Found:
    directory = store.staging()
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return store.add(directory, PackageOrigin("r1"))


def install(modules: Path, packages: dict[str, tuple[str, dict[str, str]]]) -> None:
    """Install: name of the link to its source and files."""
    store = ModuleStore(modules)
    with store.locked():
        found = {name: put(store, files) for name, (_, files) in packages.items()}
        records = [
            ModuleRecord(name, source, f"m/{name}") for name, (source, _) in packages.items()
        ]
        sources = {source: found[name] for name, (source, _) in packages.items()}
        store.commit(records, sources, {name: each.package for name, each in found.items()})


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def packages_in(modules: Path) -> list[str]:
    return [name for name in names(modules / ".store") if len(name) == 40]


def test_one_copy_for_the_same_content(tmp_path: Path) -> None:
    modules = tmp_path / "modules"
    install(modules, {"a": ("x", {"main.tf": "1"}), "b": ("y", {"main.tf": "1"})})
    assert len(packages_in(modules)) == 1
    assert (modules / "a").resolve() == (modules / "b").resolve()
    assert (modules / "a" / "main.tf").read_text() == "1"


def test_what_is_there_is_found_by_its_source(tmp_path: Path) -> None:
    modules = tmp_path / "modules"
    install(modules, {"a": ("x", {"main.tf": "1"})})
    store = ModuleStore(modules)
    with store.locked():
        found = store.find("x")
        assert found is not None
        assert found.origin == PackageOrigin("r1")
        assert store.find("y") is None


@pytest.mark.parametrize("damage", ["changed", "missing", "program", "link", "no list", "bad list"])
def test_damage_is_seen(damage: str, tmp_path: Path) -> None:
    modules = tmp_path / "modules"
    install(modules, {"a": ("x", {"main.tf": "1", "sub/b.tf": "2"})})
    file = (modules / "a" / "main.tf").resolve()
    listed = next(path for path in (modules / ".store").iterdir() if path.suffix == ".json")
    match damage:
        case "changed":
            file.write_text("other")
        case "missing":
            file.unlink()
        case "program":
            file.chmod(0o755)
        case "link":
            file.unlink()
            file.symlink_to("sub/b.tf")
        case "no list":
            listed.unlink()
        case "bad list":
            listed.write_text(listed.read_text().replace("main.tf", "name.tf"))
    store = ModuleStore(modules)
    with store.locked():
        assert store.find("x") is None
    install(modules, {"a": ("x", {"main.tf": "1", "sub/b.tf": "2"})})
    store = ModuleStore(modules)
    with store.locked():
        assert store.find("x") is not None


def test_files_that_modules_write_stay(tmp_path: Path) -> None:
    modules = tmp_path / "modules"
    install(modules, {"a": ("x", {"main.tf": "1"})})
    (modules / "a" / "made.zip").write_text("made")
    store = ModuleStore(modules)
    with store.locked():
        found = store.find("x")
        assert found is not None
        store.commit([ModuleRecord("a", "x", "m/a")], {"x": found}, {"a": found.package})
    assert (modules / "a" / "made.zip").read_text() == "made"


def test_nothing_is_left_of_a_run_that_fails(tmp_path: Path) -> None:
    modules = tmp_path / "data" / "modules"
    store = ModuleStore(modules)
    with store.locked():
        put(store, {"main.tf": "1"})
    assert not (tmp_path / "data").exists()


def test_what_is_no_longer_used_goes(tmp_path: Path) -> None:
    modules = tmp_path / "modules"
    install(modules, {"a": ("x", {"main.tf": "1"}), "b": ("y", {"main.tf": "2"})})
    install(modules, {"b": ("y", {"main.tf": "2"})})
    assert names(modules) == [".store", "b", "modules.json"]
    assert len(packages_in(modules)) == 1


def test_leavings_of_a_killed_run_go(tmp_path: Path) -> None:
    modules = tmp_path / "modules"
    (modules / ".store" / ".new-1234" / "x").mkdir(parents=True)
    (modules / ".store" / ".old-1234").mkdir()
    install(modules, {"a": ("x", {"main.tf": "1"})})
    assert [name for name in names(modules / ".store") if name.startswith(".")] == []


def test_a_list_without_its_package_is_repaired(tmp_path: Path) -> None:
    modules = tmp_path / "modules"
    install(modules, {"a": ("x", {"main.tf": "1"})})
    (modules / ".store" / packages_in(modules)[0]).rename(tmp_path / "gone")
    store = ModuleStore(modules)
    with store.locked():
        assert store.find("x") is None
    install(modules, {"a": ("x", {"main.tf": "1"})})
    assert (modules / "a" / "main.tf").read_text() == "1"


def test_a_directory_of_another_program_is_replaced(tmp_path: Path) -> None:
    modules = tmp_path / "modules"
    (modules / "a").mkdir(parents=True)
    (modules / "a" / "old.tf").write_text("")
    install(modules, {"a": ("x", {"main.tf": "1"})})
    assert names(modules / "a") == ["main.tf"]


def test_copies_where_there_are_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(target: str, path: Path, target_is_directory: bool = False) -> None:
        if path.exists():
            raise FileExistsError
        raise OSError("no links here")

    modules = tmp_path / "modules"
    monkeypatch.setattr(os, "symlink", refuse)
    for _ in range(2):
        install(modules, {"a": ("x", {"main.tf": "1"}), "b": ("x", {"main.tf": "1"})})
        assert not (modules / "a").is_symlink()
        assert (modules / "b" / "main.tf").read_text() == "1"
        (modules / "b" / "main.tf").write_text("changed")


@pytest.mark.parametrize("target", ["/etc/passwd", "../../secret", "sub/../../x"])
def test_links_out_of_a_package_are_refused(target: str, tmp_path: Path) -> None:
    package = tmp_path / "package"
    (package / "sub").mkdir(parents=True)
    (package / "link").symlink_to(target)
    with pytest.raises(FetchError, match="path outside it"):
        list_files(package)


def test_links_within_a_package_are_fine(tmp_path: Path) -> None:
    package = tmp_path / "package"
    (package / "sub").mkdir(parents=True)
    (package / "sub" / "a.tf").write_text("")
    (package / "link").symlink_to("sub/a.tf")
    (package / "folder").symlink_to("sub")
    assert {name: kind for name, (kind, _) in list_files(package).items()} == {
        "sub/a.tf": "file",
        "link": "link",
        "folder": "link",
    }


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FetchError, match="neither a file"):
        list_files(tmp_path)
