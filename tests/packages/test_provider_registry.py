"""Providers from registries and network mirrors: installed, locked and refused."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace as changed
from io import BufferedIOBase
from pathlib import Path

import pytest

from nigari.addrs.provider import DEFAULT_REGISTRY_HOST, Provider
from nigari.lang.versions import Version
from nigari.packages.hosts.cli_config import CliConfig, HostToken
from nigari.packages.hosts.network import Network
from nigari.packages.providers.checksums import directory_checksum
from nigari.packages.providers.installation import Installation
from nigari.packages.providers.lockfile import Locks, ProviderLock
from nigari.packages.providers.network_mirror import NetworkMirror
from nigari.packages.providers.provider_installer import InstallLocations, install_providers
from nigari.packages.providers.provider_registry import ProviderRegistrySource
from nigari.packages.providers.provider_sources import ProviderSource
from nigari.packages.providers.provider_store import ProviderStore
from nigari.packages.providers.requirement import Requirement
from nigari.record import replace
from tests.net_world.registry import Key, Registry, Release
from tests.net_world.server import Answer, head, json_answer, redirect
from tests.net_world.world import World
from tests.packages.registry_work import HOST, PLATFORM, THING, Work
from tests.packages.selecting import constraints, version

OURS = Provider(DEFAULT_REGISTRY_HOST, "acme", "thing")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "world", HOST, DEFAULT_REGISTRY_HOST)
    yield made
    made.close()


@pytest.fixture(scope="module")
def key() -> Key:
    return Key()


@pytest.fixture
def registry(world: World) -> Registry:
    return world.registries[HOST]


@pytest.fixture
def work(world: World, tmp_path: Path) -> Work:
    return Work(world, tmp_path)


def zh(release: Release, *platforms: str) -> set[str]:
    return {f"zh:{release.digest(each)}" for each in platforms or release.archives}


def test_the_newest_signed_package_is_installed_and_locked(
    world: World, registry: Registry, work: Work, key: Key
) -> None:
    registry.publish("acme", "thing", "1.0.0", key)
    release = registry.publish("acme", "thing", "1.2.0", key)
    registry.publish("acme", "thing", "2.0.0", key)
    registry.publish("acme", "thing", "1.3.0-beta1", key)
    (outcome,) = work.install("~> 1.0").outcomes
    assert not list(work.diags)
    assert str(outcome.version) == "1.2.0"
    assert outcome.verified is not None
    assert (outcome.verified.word, outcome.verified.key_id) == ("signed", key.id)
    program = work.store.program(THING, version("1.2.0"))
    assert program is not None
    assert program.read_text() == "thing 1.2.0 linux_amd64\n"
    assert program.stat().st_mode & 0o777 == 0o755
    h1 = directory_checksum(program.parent)
    assert set(work.locks.providers[THING].hashes) == {h1, *zh(release)}
    files = "files/acme/thing/1.2.0/terraform-provider-thing_1.2.0"
    assert world.requests() == [
        f"GET {HOST}/.well-known/terraform.json",
        f"GET {HOST}/{files}_SHA256SUMS",
        f"GET {HOST}/{files}_SHA256SUMS.sig",
        f"GET {HOST}/{files}_linux_amd64.zip",
        f"GET {HOST}/v1/providers/acme/thing/1.2.0/download/linux/amd64",
        f"GET {HOST}/v1/providers/acme/thing/versions",
    ]


def test_what_is_installed_needs_no_network(
    world: World, registry: Registry, work: Work, key: Key
) -> None:
    registry.publish("acme", "thing", "1.0.0", key)
    first = work.install()
    world.requests()
    again = work.install()
    assert world.requests() == []
    assert again.locks == first.locks
    # An upgrade asks for versions, and downloads only what is new.
    work.install(upgrade=True)
    assert world.requests() == [
        f"GET {HOST}/.well-known/terraform.json",
        f"GET {HOST}/v1/providers/acme/thing/versions",
    ]
    registry.publish("acme", "thing", "1.1.0", key)
    work.install(upgrade=True)
    assert work.locks.providers[THING].version == version("1.1.0")


def test_many_come_side_by_side(world: World, registry: Registry, work: Work, key: Key) -> None:
    names = [f"p{number}" for number in range(12)]
    for name in names:
        registry.publish("acme", name, "1.0.0", key)
    environment = world.environment

    async def main() -> Installation:
        network = Network(CliConfig(), environment)
        places = InstallLocations(ProviderRegistrySource(network), work.store)
        wanted = [Requirement(Provider(HOST, "acme", name)) for name in names]
        try:
            return await install_providers(wanted, Locks(), places, work.diags)
        finally:
            await network.close()

    done = asyncio.run(main())
    assert [outcome.provider.type for outcome in done.outcomes] == sorted(names)
    assert sum("terraform.json" in each for each in world.requests()) == 1


@pytest.mark.parametrize(
    ("provider", "has_key", "enforced", "word", "stored"),
    [
        (THING, True, False, "signed", "all"),
        (OURS, True, False, "signed", "all"),
        (OURS, False, False, "signing skipped", "all"),
        (OURS, False, True, "", ""),
        (THING, False, False, "", ""),
    ],
)
def test_when_a_signature_is_needed(
    world: World,
    work: Work,
    key: Key,
    provider: Provider,
    has_key: bool,
    enforced: bool,
    word: str,
    stored: str,
) -> None:
    registry = world.registries[provider.hostname]
    release = registry.publish("acme", "thing", "1.0.0", key if has_key else None)
    if enforced:
        work.environment["OPENTOFU_ENFORCE_GPG_VALIDATION"] = "true"
    done = work.install(provider=provider)
    if not word:
        assert "Invalid signature" in work.error
        assert done.outcomes == ()
        return
    (outcome,) = done.outcomes
    assert outcome.verified is not None
    assert outcome.verified.word == word
    assert not outcome.has_one_platform
    hashes = set(work.locks.providers[provider].hashes)
    assert hashes - zh(release) == {next(h for h in hashes if h.startswith("h1:"))}


def with_packages(release: Release, **changes: object) -> Release:
    described: dict[str, object] = {
        platform: {
            "hashes": [f"zh:{release.digest(platform)}", f"h1:{platform}=", "h9:unknown"],
            "package_size": len(archive),
        }
        for platform, archive in release.archives.items()
    }
    release.packages = {**described, **changes}
    return release


@pytest.mark.parametrize(("provider", "keeps"), [(OURS, True), (THING, False)])
def test_checksums_of_all_platforms_that_the_registry_tells(
    world: World, work: Work, key: Key, provider: Provider, keeps: bool
) -> None:
    registry = world.registries[provider.hostname]
    with_packages(registry.publish("acme", "thing", "1.0.0", key))
    work.install(provider=provider)
    assert not list(work.diags)
    hashes = work.locks.providers[provider].hashes
    assert ("h1:darwin_arm64=" in hashes) is keeps
    assert "h9:unknown" not in hashes


def drop(stream: BufferedIOBase) -> None:
    stream.write(head(content_length="100000") + b"PK")


def html(stream: BufferedIOBase) -> None:
    stream.write(head(content_type="text/html", content_length="6") + b"<html>")


def without_platform(release: Release) -> None:
    with_packages(release)
    assert release.packages is not None
    release.packages = {"darwin_arm64": release.packages["darwin_arm64"]}


def wrong_size(release: Release) -> None:
    with_packages(
        release,
        linux_amd64={"hashes": [f"zh:{release.digest(PLATFORM)}"], "package_size": 5},
    )


def other_digest(release: Release) -> None:
    with_packages(release, linux_amd64={"hashes": ["zh:" + "0" * 64], "package_size": 5})


def set_to(**members: object) -> Callable[[Release], None]:
    def change(release: Release) -> None:
        for name, value in members.items():
            setattr(release, name, value)

    return change


def says(**members: object) -> Callable[[Release], None]:
    return set_to(changes=members)


def swap_archive(release: Release) -> None:
    release.changes = {"shasum": "0" * 64}
    release.sums = b"0" * 64 + b"  " + release.name(PLATFORM).encode() + b"\n"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (set_to(signature=b"nonsense"), "the signature cannot be read"),
        (set_to(keys=["nonsense"]), "a key of the registry cannot be read"),
        (set_to(keys=[Key().public]), "a key that the registry does not list"),
        (set_to(sums=b""), "no checksum for terraform-provider-thing_1.0.0_linux_amd64.zip"),
        (says(shasum="0" * 64), "a different checksum"),
        (says(shasum="xyz"), "no valid SHA-256 checksum"),
        (swap_archive, "has the SHA-256 checksum"),
        (says(os="plan9"), "is for another platform"),
        (says(download_url="ftp://x/y"), "download_url that cannot be used"),
        (says(shasums_url="/nowhere"), "status 404"),
        (says(download_url="/nowhere"), "status 404, saying: no such thing here."),
        (says(filename="other.zip"), "no checksum for other.zip"),
        (set_to(protocols=["4.0"]), "None of its versions works"),
        (without_platform, "contradicts itself"),
        (wrong_size, "but 5 are expected"),
        (other_digest, "contradicts itself"),
    ],
)
def test_packages_that_are_not_what_they_should_be(
    registry: Registry, work: Work, key: Key, change: Callable[[Release], None], words: str
) -> None:
    release = registry.publish("acme", "thing", "1.0.0", key)
    release.signature_bytes()
    change(release)
    done = work.install()
    assert words in work.error
    assert done.outcomes == ()
    assert done.locks == Locks()
    assert not work.store.directory.exists() or not os.listdir(work.store.directory)


def test_a_signature_over_something_else(registry: Registry, work: Work, key: Key) -> None:
    release = registry.publish("acme", "thing", "1.0.0", key)
    other = changed(release, sums=b"something else")
    release.signature = other.signature_bytes()
    work.install()
    assert "does not match the checksums" in work.error


def test_the_newest_version_with_a_known_protocol_is_named(
    registry: Registry, work: Work, key: Key
) -> None:
    registry.publish("acme", "thing", "1.0.0", key)
    registry.publish("acme", "thing", "1.1.0", key)
    registry.publish("acme", "thing", "2.0.0", key).protocols = ["4.0"]
    work.install()
    assert "The newest version that works with this program is 1.1.0." in work.error


def test_expired_keys_are_told_or_refused(registry: Registry, work: Work) -> None:
    short = Key(seconds=63)  # a new key claims to be a minute old
    release = registry.publish("acme", "thing", "1.0.0", short)
    release.signature = release.signature_bytes()
    time.sleep(3.5)
    work.environment["OPENTOFU_ENFORCE_GPG_EXPIRATION"] = "true"
    work.install()
    assert "has expired" in work.error
    work.environment = {}
    (outcome,) = work.install().outcomes
    assert outcome.verified is not None
    assert outcome.verified.key_id == short.id
    assert work.error.startswith("Expired signature")


@pytest.mark.parametrize(
    ("path", "answer", "words"),
    [
        ("/v1/providers/acme/thing/versions", Answer(500, b"oops"), "status 500"),
        ("/v1/providers/acme/thing/versions", json_answer([]), "something other than a JSON"),
        ("/v1/providers/acme/thing/versions", Answer(200, b"{"), "instead of JSON"),
        (
            "/v1/providers/acme/thing/versions",
            Answer(200, b"<html><title>Wifi", {"content-type": "text/html"}),
            "log in on a web page",
        ),
        (
            "/v1/providers/acme/thing/versions",
            json_answer({"versions": [{"version": "one"}]}),
            "not a version number: one",
        ),
        ("/v1/providers/acme/thing/versions", json_answer({"versions": []}), "has a package of"),
        (
            "/v1/providers/acme/thing/versions",
            redirect("/v1/providers/acme/thing/versions"),
            "in a loop",
        ),
        (
            "/files/acme/thing/1.0.0/terraform-provider-thing_1.0.0_linux_amd64.zip",
            drop,
            "ended early",
        ),
        (
            "/files/acme/thing/1.0.0/terraform-provider-thing_1.0.0_linux_amd64.zip",
            html,
            "a web page",
        ),
        ("/.well-known/terraform.json", json_answer({}), "does not offer the service providers.v1"),
        ("/.well-known/terraform.json", Answer(503), "status 503"),
    ],
)
def test_registries_that_do_not_work(
    registry: Registry, work: Work, key: Key, path: str, answer: Answer, words: str
) -> None:
    registry.publish("acme", "thing", "1.0.0", key)
    registry.answers[path] = answer
    work.environment["TF_PROVIDER_DOWNLOAD_RETRY"] = "0"
    done = work.install()
    assert words in work.error
    assert done.outcomes == ()


def test_a_provider_nobody_knows(work: Work) -> None:
    work.install()
    assert "does not have a provider named acme/thing. Check the spelling" in work.error
    work.install(provider=Provider(DEFAULT_REGISTRY_HOST, "hashicorp", "thing"))
    assert '"NAMESPACE/thing"' in work.error


def test_another_platform(registry: Registry, work: Work, key: Key) -> None:
    registry.publish("acme", "thing", "1.0.0", key, ["plan9_arm", "windows_386"])
    work.install()
    assert "available for plan9_arm, windows_386, but not for linux_amd64" in work.error


def test_tokens(world: World, registry: Registry, work: Work, key: Key) -> None:
    registry.publish("acme", "thing", "1.0.0", key)
    registry.token = "s3cret"
    work.install()
    assert "denied access" in work.error
    assert "a token is needed" in work.error
    assert "TF_TOKEN_registry_example_com" in work.error
    assert f"nigari login {HOST}" in work.error
    work.config = CliConfig(credentials={HOST: HostToken("wrong", "/home/me/.tofurc")})
    work.install()
    assert "The token in /home/me/.tofurc was sent" in work.error
    assert "wrong" not in work.error
    work.environment["TF_TOKEN_registry_example_com"] = "s3cret"
    world.requests()
    work.install()
    assert not list(work.diags)
    log = world.servers[HOST].log
    assert all(("authorization" in each.headers) is ("/files/" not in each.path) for each in log)


def test_warnings_of_the_registry_are_shown(registry: Registry, work: Work, key: Key) -> None:
    registry.publish("acme", "thing", "1.0.0", key)
    registry.warnings["acme", "thing"] = ["moved to acme2/thing\x1b[31m"]
    work.install()
    assert "moved to acme2/thing" in work.error
    assert "\x1b" not in work.error


def test_content_that_changed_under_a_locked_version_is_refused(
    registry: Registry, work: Work, key: Key, tmp_path: Path
) -> None:
    registry.publish("acme", "thing", "1.0.0", key)
    work.install()
    registry.publish("acme", "thing", "1.0.0", key, content=b"evil")
    work.store = ProviderStore(tmp_path / "other", PLATFORM)
    work.install()
    assert "matches none of the checksums in the dependency lock file" in work.error


def test_a_locked_version_that_is_gone(
    registry: Registry, work: Work, key: Key, tmp_path: Path
) -> None:
    registry.publish("acme", "thing", "1.0.0", key)
    work.install()
    del registry.providers["acme", "thing"]["1.0.0"]
    registry.publish("acme", "thing", "0.9.0", key)
    work.store = ProviderStore(tmp_path / "other", PLATFORM)
    work.install()
    assert "no longer available" in work.error


def test_the_cache_is_used_where_the_locks_vouch(
    world: World, registry: Registry, work: Work, key: Key, tmp_path: Path
) -> None:
    registry.publish("acme", "thing", "1.0.0", key)
    work.cache = ProviderStore(tmp_path / "cache", PLATFORM)
    work.install()
    assert work.store.directory.joinpath(HOST, "acme/thing/1.0.0", PLATFORM).is_symlink()
    full = work.locks
    world.requests()
    work.store = ProviderStore(tmp_path / "second", PLATFORM)
    assert work.install().locks == full
    assert world.requests() == []
    # Without checksums it is downloaded again, and the same package stays where it is.
    cached = work.cache.installed(THING, version("1.0.0"))
    assert cached is not None
    before = cached.stat().st_ino
    work.store, work.locks = ProviderStore(tmp_path / "third", PLATFORM), Locks()
    assert work.install().locks == full
    assert any(each.endswith(".zip") for each in world.requests())
    assert cached.stat().st_ino == before
    # Unless the user does not mind.
    work.store, work.locks = ProviderStore(tmp_path / "fourth", PLATFORM), Locks()
    work.trust_cache = True
    work.install()
    assert not any(each.endswith(".zip") for each in world.requests())
    (checksum,) = work.locks.providers[THING].hashes
    assert checksum.startswith("h1:")


def mirror_of(
    world: World, trusts: bool = False, path: str = "/mirror/"
) -> Callable[[Network], ProviderSource]:
    return lambda network: NetworkMirror(f"https://{HOST}{path}", network, None, trusts)


@pytest.fixture
def mirrored(world: World, registry: Registry, key: Key) -> Release:
    registry.mirrored = [world.registries[DEFAULT_REGISTRY_HOST], registry]
    registry.publish("acme", "thing", "1.0.0", key)
    return world.registries[DEFAULT_REGISTRY_HOST].publish("acme", "thing", "1.0.0")


def test_a_network_mirror(world: World, work: Work, mirrored: Release) -> None:
    (outcome,) = work.install(provider=OURS, source=mirror_of(world)).outcomes
    assert outcome.verified is not None
    assert outcome.verified.word == "verified checksum"
    assert outcome.has_one_platform
    hashes = set(work.locks.providers[OURS].hashes)
    assert {each for each in hashes if each.startswith("zh:")} == zh(mirrored, PLATFORM)
    base = f"GET {HOST}/mirror/{DEFAULT_REGISTRY_HOST}/acme/thing"
    assert world.requests() == [
        f"{base}/1.0.0.json",
        f"{base}/index.json",
        f"{base}/terraform-provider-thing_1.0.0_linux_amd64.zip",
    ]


@pytest.mark.parametrize(("provider", "keeps"), [(OURS, True), (THING, False)])
def test_a_trusted_network_mirror(
    world: World, work: Work, mirrored: Release, provider: Provider, keeps: bool
) -> None:
    (outcome,) = work.install(provider=provider, source=mirror_of(world, trusts=True)).outcomes
    packed = [each for each in work.locks.providers[provider].hashes if each.startswith("zh:")]
    assert len(packed) == (2 if keeps else 1)
    assert outcome.has_one_platform is not keeps


def archives(entry: Mapping[str, object] | None) -> Answer:
    return json_answer({"archives": {} if entry is None else {PLATFORM: entry}})


@pytest.mark.parametrize(
    ("name", "answer", "words"),
    [
        ("index.json", Answer(404), "does not have acme/thing"),
        ("index.json", Answer(200, b"{}", {"content-type": "text/plain"}), "instead of JSON"),
        ("index.json", Answer(403), "denied access"),
        ("index.json", Answer(500), "status 500"),
        (
            "terraform-provider-thing_1.0.0_linux_amd64.zip",
            Answer(401),
            "requested without credentials",
        ),
        ("1.0.0.json", Answer(404), "but has no 1.0.0.json"),
        ("1.0.0.json", archives(None), "not available for linux_amd64"),
        ("1.0.0.json", archives({"url": "x.zip"}), "status 404"),
        (
            "1.0.0.json",
            archives({"url": "terraform-provider-thing_1.0.0_linux_amd64.zip", "hashes": ["zh:0"]}),
            "matches none of the checksums",
        ),
        (
            "1.0.0.json",
            archives({"url": "terraform-provider-thing_1.0.0_linux_amd64.zip", "hashes": ["h9:0"]}),
            "does not support",
        ),
        (
            "1.0.0.json",
            archives(
                {"url": "terraform-provider-thing_1.0.0_linux_amd64.zip", "hashes": ["nonsense"]}
            ),
            "cannot be read",
        ),
    ],
)
def test_mirrors_that_do_not_work(
    world: World, work: Work, mirrored: Release, name: str, answer: Answer, words: str
) -> None:
    path = f"/mirror/{DEFAULT_REGISTRY_HOST}/acme/thing/{name}"
    world.registries[HOST].answers[path] = answer
    work.environment["TF_PROVIDER_DOWNLOAD_RETRY"] = "0"
    done = work.install(provider=OURS, source=mirror_of(world))
    assert words in work.error
    assert done.outcomes == ()


@pytest.mark.parametrize("name", ["index.json", "1.0.0.json"])
def test_a_mirror_is_asked_again(world: World, work: Work, mirrored: Release, name: str) -> None:
    path = f"/mirror/{DEFAULT_REGISTRY_HOST}/acme/thing/{name}"
    world.registries[HOST].answers[path] = Answer(503)
    work.install(provider=OURS, source=mirror_of(world))
    assert [each.path for each in world.servers[HOST].log].count(path) == 2


def test_a_mirror_may_want_a_password(world: World, work: Work, mirrored: Release) -> None:
    url = f"https://me:pass@{HOST}/mirror/"
    work.install(provider=OURS, source=lambda network: NetworkMirror(url, network))
    assert not list(work.diags)
    asked = world.servers[HOST].log
    assert {each.headers["authorization"] for each in asked} == {"Basic bWU6cGFzcw=="}
    assert "pass" not in NetworkMirror(url, Network(CliConfig(), {})).name


def test_a_mirror_must_be_encrypted(world: World, work: Work) -> None:
    work.install(source=lambda network: NetworkMirror("http://x.example.com/", network))
    assert "must be https" in work.error


def test_bad_versions_in_a_mirror_do_not_matter(
    world: World, work: Work, mirrored: Release
) -> None:
    listed = json_answer({"versions": {"1.0.0": {}, "nonsense": {}}})
    base = f"/mirror/{DEFAULT_REGISTRY_HOST}/acme/thing"
    world.registries[HOST].answers[f"{base}/index.json"] = listed
    assert work.install(provider=OURS, source=mirror_of(world)).outcomes


@pytest.mark.parametrize("content", ["", "extra"])
def test_a_link_where_a_package_belongs(
    registry: Registry, work: Work, key: Key, tmp_path: Path, content: str
) -> None:
    """It is replaced, and nothing is written or removed where it leads."""
    registry.publish("acme", "thing", "1.0.0", key)
    target = tmp_path / "target"
    target.mkdir()
    if content:
        (target / "extra.txt").write_text(content)
    package = work.store.directory / str(THING) / "1.0.0" / PLATFORM
    package.parent.mkdir(parents=True)
    package.symlink_to(target)
    assert work.install().outcomes, list(work.diags)
    assert not package.is_symlink()
    assert [each.name for each in target.iterdir()] == (["extra.txt"] if content else [])


def test_prior_hashes_are_kept(registry: Registry, work: Work, key: Key) -> None:
    release = registry.publish("acme", "thing", "1.0.0", key)
    known = next(iter(zh(release, PLATFORM)))
    other = "zh:" + "1" * 64
    lock = ProviderLock(THING, Version((1, 0, 0)), constraints(""), (known, other))
    work.locks = replace(Locks(), providers={THING: lock})
    work.install()
    assert other in work.locks.providers[THING].hashes


def test_the_name_of_the_host_is_wrong(world: World, work: Work) -> None:
    work.environment = {"HTTPS_PROXY": ""}
    work.install(provider=Provider("no-such-host.invalid", "acme", "thing"))
    assert "no-such-host.invalid cannot be resolved" in work.error


def test_an_expired_certificate(world: World, work: Work) -> None:
    world.add("old.example.com", days=-1)
    work.install(provider=Provider("old.example.com", "acme", "thing"))
    assert "it has expired" in work.error
