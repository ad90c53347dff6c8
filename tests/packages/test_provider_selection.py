"""Choosing, checking and installing providers from a mirror made for the test."""

import asyncio
import zipfile
from pathlib import Path

import pytest

from nigari.addrs.provider import builtin_provider
from nigari.diagnostics import Diagnostics
from nigari.lang.versions import ProviderConstraints
from nigari.packages.providers.checksums import directory_checksum, zip_checksum
from nigari.packages.providers.installation import Installation, InstallStep
from nigari.packages.providers.installed_program import installed_program
from nigari.packages.providers.lockfile import Locks, ProviderLock
from nigari.packages.providers.provider_installer import InstallLocations, install_providers
from nigari.packages.providers.provider_package import unpacked_path
from nigari.packages.providers.provider_sources import FilesystemMirror
from nigari.packages.providers.provider_store import ProviderStore, StoreError
from nigari.packages.providers.requirement import Requirement
from nigari.record import replace
from tests.packages.selecting import DEMO, PLATFORM, add, constraints, version


class Workplace:
    """A mirror, a working directory's store and perhaps a cache."""

    def __init__(self, base: Path, cached: bool = False) -> None:
        self.mirror = base / "mirror"
        self.mirror.mkdir()
        self.store = ProviderStore(base / "store", PLATFORM)
        self.cache = ProviderStore(base / "cache", PLATFORM) if cached else None
        self.diags = Diagnostics()

    def install(
        self, *asked: str, locks: Locks | None = None, upgrade: bool = False
    ) -> Installation:
        self.diags = Diagnostics()
        requirements = [
            Requirement(DEMO, constraints(text), "" if i == 0 else f"module.m{i}")
            for i, text in enumerate(asked)
        ]
        places = InstallLocations(FilesystemMirror(self.mirror), self.store, self.cache)
        return asyncio.run(
            install_providers(requirements, locks or Locks(), places, self.diags, upgrade)
        )

    @property
    def error(self) -> str:
        (diagnostic,) = self.diags
        return f"{diagnostic.summary}: {diagnostic.detail}"


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


@pytest.mark.parametrize("packed", [False, True])
def test_the_newest_version_all_accept_is_installed(place: Workplace, packed: bool) -> None:
    for number in ("1.0.0", "1.5.0", "1.9.0", "2.0.0"):
        add(place.mirror, number, packed)
    result = place.install("~> 1.0", "!= 1.9.0", "")
    assert not list(place.diags)
    (outcome,) = result.outcomes
    assert (str(outcome.version), outcome.step) == ("1.5.0", InstallStep.INSTALLED)
    program = place.store.program(DEMO, version("1.5.0"))
    assert program is not None
    assert program.read_text() == "1.5.0"
    assert program.parent.is_symlink() is not packed
    if packed:
        assert program.stat().st_mode & 0o777 == 0o755
    lock = result.locks.providers[DEMO]
    assert lock.hashes == (directory_checksum(program.parent),)
    assert lock.constraints.text == "~> 1.0, != 1.9.0"


def test_the_locked_version_stands_until_an_upgrade(place: Workplace) -> None:
    add(place.mirror, "1.0.0")
    first = place.install("")
    add(place.mirror, "1.1.0")
    again = place.install("", locks=first.locks)
    assert [o.step for o in again.outcomes] == [InstallStep.REUSED]
    assert again.locks.same_choices(first.locks)
    upgraded = place.install("", locks=first.locks, upgrade=True)
    assert str(upgraded.locks.providers[DEMO].version) == "1.1.0"
    assert set(upgraded.locks.providers[DEMO].hashes).isdisjoint(first.locks.providers[DEMO].hashes)


def test_an_unused_lock_is_dropped(place: Workplace) -> None:
    add(place.mirror, "1.0.0")
    locks = place.install("").locks
    assert place.install(locks=locks).locks.providers == {}


def test_a_tampered_package_is_refused(place: Workplace) -> None:
    path = add(place.mirror, "1.0.0")
    locks = place.install("").locks
    (path / "terraform-provider-demo").write_text("evil")
    place.install("", locks=locks)
    assert "Wrong checksum" in place.error
    packed = add(place.mirror, "1.1.0", packed=True)
    locks = place.install("", upgrade=True).locks
    packed.unlink()
    add(place.mirror, "1.1.0", packed=True).write_bytes(b"PK rubbish")
    unpacked = place.store.installed(DEMO, version("1.1.0"))
    assert unpacked is not None
    (unpacked / "terraform-provider-demo").write_text("evil")
    place.install("", locks=locks)
    assert place.diags.has_errors


def test_a_zip_checksum_is_enough_for_a_packed_package(place: Workplace) -> None:
    path = add(place.mirror, "1.0.0", packed=True)
    lock = ProviderLock(DEMO, version("1.0.0"), ProviderConstraints(), (zip_checksum(path),))
    result = place.install("", locks=Locks({DEMO: lock}))
    assert not list(place.diags)
    hashes = result.locks.providers[DEMO].hashes
    assert [text[:3] for text in hashes] == ["h1:", "zh:"]
    wrong = replace(lock, hashes=("zh:00",))
    place.store = ProviderStore(place.mirror.parent / "other", PLATFORM)
    place.install("", locks=Locks({DEMO: wrong}))
    assert "Wrong checksum" in place.error


def test_a_shared_cache_is_filled_and_used(tmp_path: Path) -> None:
    place = Workplace(tmp_path, cached=True)
    path = add(place.mirror, "1.0.0", packed=True)
    locks = place.install("").locks
    linked = place.store.installed(DEMO, version("1.0.0"))
    assert place.cache is not None
    assert linked is not None
    assert linked.resolve() == unpacked_path(
        place.cache.directory, DEMO, version("1.0.0"), PLATFORM
    )
    path.unlink()
    place.store = ProviderStore(tmp_path / "second", PLATFORM)
    result = place.install("", locks=locks)
    assert not list(place.diags)
    assert [o.step for o in result.outcomes] == [InstallStep.CACHED]


def test_a_cache_may_be_trusted_without_checksums(tmp_path: Path) -> None:
    place = Workplace(tmp_path, cached=True)
    assert place.cache is not None
    add(place.mirror, "1.0.0", packed=True)
    cached = add(place.cache.directory, "1.0.0") / "terraform-provider-demo"
    cached.write_text("cached")

    def installed(trust: bool) -> str:
        places = InstallLocations(FilesystemMirror(place.mirror), place.store, place.cache, trust)
        asyncio.run(install_providers([Requirement(DEMO)], Locks(), places, place.diags))
        program = place.store.program(DEMO, version("1.0.0"))
        assert program is not None
        return program.read_text()

    assert installed(True) == "cached"
    assert installed(False) == "1.0.0"


def test_errors_say_who_asks_for_what(place: Workplace) -> None:
    add(place.mirror, "1.0.0")
    place.install(">= 2.0", "< 3.0")
    assert "the root module requires >= 2.0.0" in place.error
    assert "module.m1 requires < 3.0.0" in place.error
    assert "1.0.0" in place.error


def test_a_lock_that_a_module_no_longer_accepts(place: Workplace) -> None:
    add(place.mirror, "1.0.0")
    locks = place.install("").locks
    result = place.install("", ">= 2.0", locks=locks)
    assert "module.m1 requires >= 2.0.0" in place.error
    assert "-upgrade" in place.error
    assert result.locks.providers == locks.providers


def test_a_locked_version_that_is_gone(place: Workplace) -> None:
    add(place.mirror, "1.0.0")
    lock = ProviderLock(DEMO, version("0.9.0"), ProviderConstraints(), ("h1:x",))
    place.install("", locks=Locks({DEMO: lock}))
    assert "no longer" in place.error


def test_a_version_for_other_platforms_only(place: Workplace) -> None:
    add(place.mirror, "1.0.0", platform="plan9_arm")
    place.install("")
    assert "plan9_arm" in place.error
    assert "not for linux_amd64" in place.error


def test_no_package_at_all(place: Workplace) -> None:
    place.install("")
    assert str(place.mirror) in place.error


def test_a_package_without_its_program(place: Workplace) -> None:
    path = add(place.mirror, "1.0.0")
    (path / "terraform-provider-demo").rename(path / "README")
    place.install("")
    assert "no program named terraform-provider-demo" in place.error


def test_builtin_and_overridden_providers_need_no_package(place: Workplace) -> None:
    builtin = builtin_provider()
    places = InstallLocations(
        FilesystemMirror(place.mirror), place.store, overridden=frozenset({DEMO})
    )

    def install(*requirements: Requirement) -> Installation:
        place.diags = Diagnostics()
        return asyncio.run(install_providers(requirements, Locks(), places, place.diags))

    result = install(Requirement(builtin), Requirement(DEMO, constraints(">= 5.0")))
    assert not list(place.diags)
    assert [o.step for o in result.outcomes] == [InstallStep.BUILT_IN]
    install(Requirement(builtin, constraints("1.0.0")))
    assert "has no version" in place.error
    install(Requirement(builtin_provider("other")))
    assert "no built-in provider named other" in place.error


@pytest.mark.parametrize(
    ("name", "mode", "part"),
    [("../outside", 0o100644, "outside"), ("/abs", 0o100644, "outside"), ("l", 0o120777, "link")],
)
def test_hostile_archives_are_refused(place: Workplace, name: str, mode: int, part: str) -> None:
    path = add(place.mirror, "1.0.0", packed=True)
    with zipfile.ZipFile(path, "a") as package:
        entry = zipfile.ZipInfo(name)
        entry.external_attr = mode << 16
        package.writestr(entry, "x")
    place.install("")
    assert part in place.error
    assert place.store.installed(DEMO, version("1.0.0")) is None
    assert not (place.store.directory.parent / "outside").exists()


def test_an_installed_program_is_checked_before_it_is_started(place: Workplace) -> None:
    add(place.mirror, "1.0.0", packed=True)
    lock = place.install("").locks.providers[DEMO]

    def program(lock: ProviderLock) -> Path | None:
        place.diags = Diagnostics()
        found = installed_program(lock, str(place.store.directory), PLATFORM, place.diags)
        return None if found is None else Path(found.path)

    found = program(lock)
    assert found is not None
    assert not list(place.diags)
    assert program(replace(lock, hashes=("zh:00", "h9:new"))) == found
    found.write_text("evil")
    assert program(lock) is None
    assert "wrong checksum" in place.error
    assert program(replace(lock, version=version("2.0.0"))) is None
    assert 'Run "nigari init"' in place.error


def test_a_version_that_was_never_released_is_not_chosen(place: Workplace) -> None:
    add(place.mirror, "0.0.0")
    place.install("")
    assert "installation sources" in place.error


def test_a_store_says_what_it_has(place: Workplace) -> None:
    for number in ("1.0.0", "1.10.0", "1.9.0"):
        add(place.store.directory, number)
    add(place.store.directory, "9.0.0", platform="plan9_arm")
    assert [str(v) for v in place.store.versions(DEMO)] == ["1.10.0", "1.9.0", "1.0.0"]
    assert place.store.installed(DEMO, version("9.0.0")) is None


def test_a_store_that_cannot_be_written(place: Workplace) -> None:
    add(place.mirror, "1.0.0")
    place.store.directory.write_text("in the way")
    place.install("")
    assert "cannot be installed" in place.error
    assert issubclass(StoreError, Exception)
