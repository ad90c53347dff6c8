import asyncio
from pathlib import Path

import pytest

from nigari.addrs.provider import Provider, default_provider
from nigari.lang.versions import Version
from nigari.packages.hosts.address_patterns import ProviderPattern, parse_pattern
from nigari.packages.providers.provider_package import executable, find_packages, packages_of
from nigari.packages.providers.provider_sources import (
    CombinedSources,
    FilesystemMirror,
    LocalOffer,
    Offer,
    ProviderSourceError,
    ProviderUnknown,
    SelectiveSource,
    Versions,
    implied_sources,
)

RANDOM = default_provider("random")
DEMO = Provider("example.com", "team", "demo")


def mirror(base: Path, *files: str) -> Path:
    """A directory with empty files, and directories for names that end in a slash."""
    for name in files:
        path = base / name
        if name.endswith("/"):
            path.mkdir(parents=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
    return base


def found(base: Path) -> list[str]:
    packages = find_packages(base)
    return [f"{p.provider.display} {p.version} {p.platform}" for p in packages]


def test_both_layouts_are_found(tmp_path: Path) -> None:
    mirror(
        tmp_path,
        "registry.opentofu.org/hashicorp/random/3.1.0/linux_amd64/",
        "registry.opentofu.org/hashicorp/random/3.1.0/darwin_arm64/",
        "registry.opentofu.org/hashicorp/random/terraform-provider-random_3.2.0_linux_amd64.zip",
        "example.com/team/demo/Terraform-Provider-Demo_1.0.0-beta1_linux_amd64.ZIP",
    )
    assert found(tmp_path) == [
        "example.com/team/demo 1.0.0-beta1 linux_amd64",
        "hashicorp/random 3.1.0 darwin_arm64",
        "hashicorp/random 3.1.0 linux_amd64",
        "hashicorp/random 3.2.0 linux_amd64",
    ]
    newest = packages_of(tmp_path, RANDOM)[0]
    assert str(newest.version) == "3.2.0"


def test_what_is_no_package_is_passed_over(tmp_path: Path) -> None:
    mirror(
        tmp_path,
        "README",
        "example.com/team/demo/notes.txt",
        "example.com/team/demo/1.x/linux_amd64/",
        "example.com/team/demo/1.0.0/somewhere/",
        "example.com/team/demo/1.0.0/linux_amd64.zip",
        "example.com/team/demo/terraform-provider-other_1.0.0_linux_amd64.zip",
        "example.com/team/demo/terraform-provider-demo_1.0.0.zip",
        "not a host!/team/demo/1.0.0/linux_amd64/",
        "example.com/te--am/demo/1.0.0/linux_amd64/",
    )
    assert found(tmp_path) == []


def test_only_the_base_may_be_a_link(tmp_path: Path) -> None:
    real = mirror(tmp_path / "real", "example.com/team/demo/1.0.0/linux_amd64/")
    (tmp_path / "link").symlink_to(real)
    assert found(tmp_path / "link") == ["example.com/team/demo 1.0.0 linux_amd64"]
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "example.com").symlink_to(real / "example.com")
    assert found(inner) == []


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["terraform-provider-demo"], "terraform-provider-demo"),
        (["terraform-provider-demo_v1.0.0_x5"], "terraform-provider-demo_v1.0.0_x5"),
        (["terraform-provider-demo.exe", "README"], "terraform-provider-demo.exe"),
        (["terraform-provider-demolition"], None),
        (["terraform-provider-demo/"], None),
        ([], None),
    ],
)
def test_the_program_of_a_package(tmp_path: Path, names: list[str], expected: str | None) -> None:
    program = executable(mirror(tmp_path, *names), "demo")
    assert (None if program is None else Path(program).name) == expected


@pytest.mark.parametrize(
    ("text", "matching", "other"),
    [
        ("hashicorp/random", RANDOM, DEMO),
        ("hashicorp/*", RANDOM, DEMO),
        ("example.com/*/*", DEMO, RANDOM),
        ("example.com/team/demo", DEMO, Provider("example.com", "team", "other")),
        ("*/*", RANDOM, DEMO),
    ],
)
def test_patterns(text: str, matching: Provider, other: Provider) -> None:
    assert parse_pattern(text).matches(matching)
    assert not parse_pattern(text).matches(other)


@pytest.mark.parametrize(
    "text", ["random", "a/b/c/d", "*/a/b", "*/*/b", "*/b", "a b/c", "ex ample/a/b", ""]
)
def test_patterns_that_make_no_sense(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_pattern(text)


def versions(source: CombinedSources, provider: Provider) -> list[str]:
    async def found() -> list[str]:
        listed = await source.versions(provider)
        offers = [await source.offer(provider, each, "linux_amd64") for each in listed.platforms]
        packages = [each.package for each in offers if isinstance(each, LocalOffer)]
        return [f"{each.version} {each.path.parents[4].name}" for each in packages]

    return asyncio.run(found())


class Registry:
    """A registry that says the same about everything."""

    name = "the registry"

    def __init__(self, error: ProviderSourceError) -> None:
        self._error = error

    def is_remote(self, provider: Provider) -> bool:
        return True

    async def versions(self, provider: Provider) -> Versions:
        raise self._error

    async def offer(self, provider: Provider, version: Version, platform: str) -> Offer | None:
        raise self._error


def test_an_earlier_source_counts_before_a_later_one(tmp_path: Path) -> None:
    one = mirror(tmp_path / "one", "example.com/team/demo/1.0.0/linux_amd64/")
    two = mirror(
        tmp_path / "two",
        "example.com/team/demo/1.0.0/linux_amd64/",
        "example.com/team/demo/2.0.0/linux_amd64/",
    )
    sources = [SelectiveSource(FilesystemMirror(base)) for base in (one, two)]
    assert versions(CombinedSources(sources), DEMO) == ["1.0.0 one", "2.0.0 two"]


def test_include_and_exclude(tmp_path: Path) -> None:
    base = mirror(tmp_path / "m", "example.com/team/demo/1.0.0/linux_amd64/")
    source = FilesystemMirror(base)
    everything, none_of_it = (
        ProviderPattern("*", "*", "*"),
        ProviderPattern("example.com", "*", "*"),
    )

    def combined(
        include: tuple[ProviderPattern, ...], exclude: tuple[ProviderPattern, ...]
    ) -> CombinedSources:
        return CombinedSources([SelectiveSource(source, include, exclude)])

    assert versions(combined((), ()), DEMO)
    assert versions(combined((everything,), ()), DEMO)
    for nothing in (
        combined((everything,), (none_of_it,)),
        combined((ProviderPattern("other.com", "*", "*"),), ()),
    ):
        with pytest.raises(ProviderSourceError, match="excluded, or not included"):
            versions(nothing, DEMO)


def test_a_mirror_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    source = CombinedSources([SelectiveSource(FilesystemMirror(tmp_path / "nothing"))])
    with pytest.raises(ProviderSourceError, match="cannot be searched"):
        asyncio.run(source.versions(DEMO))


def test_a_registry_may_not_know_what_others_have_but_must_answer(tmp_path: Path) -> None:
    base = mirror(tmp_path / "m", "example.com/team/demo/1.0.0/linux_amd64/")

    def combined(error: ProviderSourceError) -> CombinedSources:
        sources = (FilesystemMirror(base), Registry(error))
        return CombinedSources([SelectiveSource(each) for each in sources])

    unknown = combined(ProviderUnknown("never heard of it"))
    assert versions(unknown, DEMO) == ["1.0.0 m"]
    with pytest.raises(ProviderUnknown, match=r"None of the .*\(.*/m, the registry\)"):
        asyncio.run(unknown.versions(RANDOM))
    with pytest.raises(ProviderSourceError, match="down"):
        versions(combined(ProviderSourceError("it is down")), DEMO)


def test_implied_directories_keep_their_providers_from_the_registry(tmp_path: Path) -> None:
    base = mirror(tmp_path / "m", "example.com/team/demo/1.0.0/linux_amd64/")
    registry = Registry(ProviderSourceError("it is down"))
    implied = implied_sources([tmp_path / "nothing", Path("x" * 300), base], registry)
    assert implied.names_for(DEMO) == [str(base)]
    assert not implied.is_remote(DEMO)
    assert implied.names_for(RANDOM) == [str(base), "the registry"]
    assert implied.is_remote(RANDOM)
