import asyncio
import json
from pathlib import Path

from nigari.addrs.provider import builtin_provider
from nigari.diagnostics import Diagnostics
from nigari.packages.providers.checksums import archive_checksum, directory_checksum
from nigari.packages.providers.lockfile import Locks
from nigari.packages.providers.provider_mirror import lock_platforms, mirror_providers
from nigari.packages.providers.provider_sources import FilesystemMirror, Verified
from nigari.packages.providers.requirement import Requirement
from tests.packages.selecting import DEMO, add, constraints

BOTH = ("linux_amd64", "plan9_arm")
ASKED = [Requirement(DEMO, constraints("~> 1.0")), Requirement(builtin_provider())]


def test_checksums_of_several_platforms_are_added(tmp_path: Path) -> None:
    one = add(tmp_path, "1.0.0")
    two = add(tmp_path, "1.0.0", packed=True, platform="plan9_arm")
    diags = Diagnostics()
    source = FilesystemMirror(tmp_path)

    def lock(locks: Locks, *platforms: str) -> Locks:
        return asyncio.run(lock_platforms(ASKED, locks, source, platforms, {}, diags))

    first = lock(Locks(), "linux_amd64")
    assert first.providers[DEMO].hashes == (directory_checksum(one),)
    both = lock(first, "plan9_arm")
    assert set(both.providers[DEMO].hashes) == {directory_checksum(one), archive_checksum(two)}
    assert both.providers[DEMO].constraints.text == "~> 1.0"
    assert list(both.providers) == [DEMO]
    assert not list(diags)
    assert lock(both, "linux_amd64", "windows_386") == both
    assert diags.error_count == 1


def test_a_mirror_can_be_installed_from_again(tmp_path: Path) -> None:
    one = add(tmp_path / "from", "1.0.0")
    add(tmp_path / "from", "1.1.0", packed=True, platform="plan9_arm")
    add(tmp_path / "from", "1.1.0")
    diags = Diagnostics()
    source = FilesystemMirror(tmp_path / "from")
    target = tmp_path / "to"
    locks = asyncio.run(lock_platforms(ASKED, Locks(), source, BOTH, {}, diags))
    written: list[Path] = []

    def note(path: Path, _: Verified) -> None:
        written.append(path)

    asyncio.run(mirror_providers(ASKED, locks, source, target, BOTH, diags, note))
    assert not list(diags)
    assert [path.suffix for path in written] == [".zip", ".zip"]
    mirrored = FilesystemMirror(target)
    assert asyncio.run(lock_platforms(ASKED, Locks(), mirrored, BOTH, {}, diags)) == locks
    directory = target / "example.com/team/demo"
    assert json.loads((directory / "index.json").read_text()) == {"versions": {"1.1.0": {}}}
    archives = json.loads((directory / "1.1.0.json").read_text())["archives"]
    assert sorted(archives) == list(BOTH)
    assert archives["linux_amd64"] == {
        "hashes": [archive_checksum(directory / archives["linux_amd64"]["url"])],
        "url": "terraform-provider-demo_1.1.0_linux_amd64.zip",
    }
    assert one.is_dir()


def test_packing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    add(tmp_path / "from", "1.0.0")
    source = FilesystemMirror(tmp_path / "from")
    content: list[bytes] = []
    for name in ("a", "b"):
        written: list[Path] = []

        def note(path: Path, _: Verified, into: list[Path] = written) -> None:
            into.append(path)

        target, diags = tmp_path / name, Diagnostics()
        work = mirror_providers(ASKED, Locks(), source, target, BOTH[:1], diags, note)
        asyncio.run(work)
        content += [path.read_bytes() for path in written]
    assert content[0] == content[1]
