"""Providers from OCI registries, and credentials for those."""

import asyncio
import base64
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nigari.addrs.provider import Provider
from nigari.diagnostics import Diagnostics
from nigari.hcl.source import Source
from nigari.packages.hosts.cli_config import CliConfig, OciCredentials, OciDefaults, OciSecret
from nigari.packages.hosts.cli_config_settings import parse_cli_config
from nigari.packages.hosts.network import Network
from nigari.packages.hosts.oci_credentials import OciCredentialsError, OciCredentialsStore
from nigari.packages.hosts.oci_settings import UriTemplate
from nigari.packages.providers.oci_mirror import OciMirror
from nigari.packages.providers.provider_sources import ProviderSource
from tests.net_world.oci import MANIFEST, OciRegistry, Repository, digest_of
from tests.net_world.registry import zip_of
from tests.net_world.server import Answer
from tests.net_world.world import World
from tests.packages.registry_work import PLATFORM, THING, Work

HOST = "oci.example.com"
TEMPLATE = f"{HOST}/mirror/${{hostname}}/${{namespace}}/${{type}}"
NAME = "mirror/registry.example.com/acme/thing"
ARCHIVE = zip_of({"terraform-provider-thing": b"from OCI\n"})


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "world")
    yield made
    made.close()


@pytest.fixture
def oci(world: World) -> OciRegistry:
    registry = OciRegistry(HOST)
    world.serve(HOST, registry.handle)
    return registry


@pytest.fixture
def work(world: World, tmp_path: Path) -> Work:
    return Work(world, tmp_path)


def mirror(network: Network) -> ProviderSource:
    return OciMirror(TEMPLATE, network)


def archives(*platforms: str) -> dict[str, bytes]:
    return dict.fromkeys(platforms or (PLATFORM, "plan9_arm"), ARCHIVE)


def test_a_provider_from_an_oci_registry(world: World, oci: OciRegistry, work: Work) -> None:
    repository = oci.repository(NAME)
    for version in ("1.0.0", "1.2.0", "1.1.0+build"):
        repository.publish_provider(version, archives())
    repository.tags["latest"] = repository.tags["1.0.0"]
    (outcome,) = work.install("< 2.0", source=mirror).outcomes
    assert not list(work.diags)
    assert str(outcome.version) == "1.2.0"
    assert outcome.verified is not None
    assert outcome.verified.word == "verified checksum"
    assert outcome.has_one_platform
    packed = f"zh:{digest_of(ARCHIVE).partition(':')[2]}"
    assert packed in work.locks.providers[THING].hashes
    asked = [each.partition(HOST)[2].partition("?")[0] for each in world.requests()]
    assert asked.count("/v2/") == 1
    assert asked.count(f"/v2/{NAME}/tags/list") == 2


@pytest.mark.parametrize(
    ("login", "secret"),
    [
        ("basic", OciSecret("me", "s3cret")),
        ("bearer", OciSecret("me", "s3cret")),
        ("bearer", OciSecret(access_token="direct", refresh_token="x")),
        ("bearer", OciSecret(refresh_token="refresh")),
    ],
)
def test_logins(world: World, oci: OciRegistry, work: Work, login: str, secret: OciSecret) -> None:
    oci.login = login
    oci.repository(NAME).publish_provider("1.0.0", archives())
    work.config = CliConfig(oci_credentials=(OciCredentials(HOST, secret=secret),))
    assert work.install(source=mirror).outcomes, list(work.diags)


def test_packages_for_one_version_of_a_system_are_left_out(oci: OciRegistry, work: Work) -> None:
    repository = oci.repository(NAME)
    repository.publish_provider("1.0.0", archives(PLATFORM))
    (package,) = json.loads(repository.manifests[repository.tags["1.0.0"]][1])["manifests"]
    special = {**package, "platform": {**package["platform"], "os.version": "10.0.1"}}
    repository.publish_provider("1.1.0", archives(PLATFORM), manifests=[special, package])
    repository.publish_provider("1.2.0", archives(PLATFORM), manifests=[special])
    assert not work.install("1.2.0", source=mirror).outcomes
    assert PLATFORM in work.error
    assert work.install("1.1.0", source=mirror).outcomes, list(work.diags)


def test_where_the_packages_of_docker_are(world: World, work: Work) -> None:
    registry = OciRegistry("registry-1.docker.io")
    registry.login = "basic"
    registry.repository("acme/thing").publish_provider("1.0.0", archives())
    world.serve(registry.host, registry.handle)
    secret = OciSecret("me", "s3cret")
    work.config = CliConfig(oci_credentials=(OciCredentials("docker.io", secret=secret),))
    template = "docker.io/${namespace}/${type}"
    found = work.install(source=lambda network: OciMirror(template, network))
    assert found.outcomes, list(work.diags)


def test_a_repository_named_by_a_uri_template(oci: OciRegistry, work: Work) -> None:
    oci.repository(NAME).publish_provider("1.0.0", archives())
    template = f"{HOST}/mirror/{{hostname}}/{{namespace}}/{{type}}"
    found = work.install(source=lambda network: OciMirror(template, network, UriTemplate))
    assert found.outcomes, list(work.diags)


@pytest.mark.parametrize(
    "template",
    [
        "oci.example.com/{hostname",
        "oci.example.com/{}",
        "oci.example.com/{+type}",
        "oci.example.com/{name}",
        "oci.example.com/${type}",
        "oci.example.com/%zz",
        "oci.example.com/a b",
        "{hostname}",
    ],
)
def test_a_template_that_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        UriTemplate(template)


def test_blobs_elsewhere_get_no_credentials(world: World, oci: OciRegistry, work: Work) -> None:
    oci.login = "basic"
    oci.repository(NAME).publish_provider("1.0.0", archives())
    oci.blobs_at = "https://blobs.example.com"
    world.serve("blobs.example.com", lambda asked: Answer(200, ARCHIVE))
    secret = OciSecret("me", "s3cret")
    work.config = CliConfig(oci_credentials=(OciCredentials(HOST, secret=secret),))
    assert work.install(source=mirror).outcomes, list(work.diags)
    (asked,) = world.servers["blobs.example.com"].log
    assert "authorization" not in asked.headers


@pytest.mark.parametrize("login", ["basic", "bearer"])
def test_refusals_say_where_credentials_were_looked_for(
    oci: OciRegistry, work: Work, login: str
) -> None:
    oci.login = login
    oci.repository(NAME).publish_provider("1.0.0", archives())
    work.install(source=mirror)
    assert "oci_credentials blocks" in work.error
    assert ".docker/config.json" in work.error
    wrong = OciSecret("me", "wr0ng")
    work.config = CliConfig(oci_credentials=(OciCredentials(HOST, secret=wrong),))
    work.install(source=mirror)
    assert "were sent" in work.error
    assert "wr0ng" not in work.error


def twice(repository: Repository) -> None:
    repository.publish_provider("1.0.0", archives())
    index = json.loads(repository.manifests[repository.tags["1.0.0"]][1])
    repository.publish_provider("1.0.0", archives(), manifests=index["manifests"] * 2)


def as_image(repository: Repository) -> None:
    repository.manifest({"mediaType": MANIFEST}, "1.0.0")


@pytest.mark.parametrize(
    ("publish", "words"),
    [
        (
            lambda repository: repository.publish_provider("1.0.0", {}),
            "it may be a container image",
        ),
        (
            lambda repository: repository.publish_provider("1.0.0", archives("plan9_arm")),
            "not available for",
        ),
        (
            lambda repository: repository.publish_provider("1.0.0", archives(), artifactType="x"),
            "not a provider",
        ),
        (twice, "several packages for linux_amd64"),
        (as_image, "not application/vnd.oci.image.index"),
        (lambda repository: repository.tags.update({"1.0.0": "sha256:0"}), "does not exist"),
        (lambda repository: repository.tags.update({"latest": "x"}), "has a package of"),
    ],
)
def test_repositories_that_are_no_mirror(
    oci: OciRegistry, work: Work, publish: Callable[[Repository], object], words: str
) -> None:
    publish(oci.repository(NAME))
    done = work.install(source=mirror)
    assert words in work.error
    assert done.outcomes == ()


def test_no_such_repository(oci: OciRegistry, work: Work) -> None:
    work.install(source=mirror)
    assert f"There is no OCI repository {HOST}/{NAME}" in work.error


@pytest.mark.parametrize("kind", ["manifest", "blob", "short"])
def test_content_must_have_its_digest(oci: OciRegistry, work: Work, kind: str) -> None:
    repository = oci.repository(NAME)
    repository.publish_provider("1.0.0", archives(PLATFORM))
    digest = repository.tags["1.0.0"] if kind == "manifest" else digest_of(ARCHIVE)
    content = {
        "manifest": repository.manifests[repository.tags["1.0.0"]][1] + b" ",
        "blob": b"x" * len(ARCHIVE),
        "short": b"x",
    }
    oci.tampered[digest] = content[kind]
    done = work.install(source=mirror)
    assert work.diags.has_errors
    assert done.outcomes == ()


# -- credentials ----------------------------------------------------------------------------------


def found(
    store: OciCredentialsStore, domain: str = HOST, repository: str = "team/thing"
) -> OciSecret | None:
    return asyncio.run(store.find(domain, repository))


def test_the_most_specific_credentials_count(tmp_path: Path) -> None:
    auth = base64.b64encode(b"file:word").decode()
    docker = tmp_path / ".docker" / "config.json"
    docker.parent.mkdir()
    auths = {f"{HOST}/team/thing": {"auth": auth}, "other.example.com": {"auth": auth}}
    docker.write_text(json.dumps({"auths": auths}))
    blocks = [
        OciCredentials(HOST, secret=OciSecret("host", "x")),
        OciCredentials(HOST, "team", OciSecret("team", "x")),
        OciCredentials("other.example.com", secret=OciSecret("block", "x")),
    ]
    store = OciCredentialsStore(blocks, OciDefaults(), {"HOME": str(tmp_path)})
    users = [
        found(store),
        found(store, repository="team/other"),
        found(store, repository="teams/other"),
        found(store, "other.example.com"),
        found(store, "third.example.com"),
    ]
    assert [None if each is None else each.username for each in users] == [
        "file",
        "team",
        "host",
        "block",
        None,
    ]
    without = OciCredentialsStore(blocks, OciDefaults(discovers=False), {"HOME": str(tmp_path)})
    chosen = found(without)
    assert chosen is not None
    assert chosen.username == "team"


AUTH = {"auth": base64.b64encode(b"file:word").decode()}


@pytest.mark.skipif(sys.platform != "linux", reason="the files are elsewhere")
@pytest.mark.parametrize(
    ("file", "document"),
    [
        ("run/containers/auth.json", {"auths": {HOST: AUTH}}),
        ("config/containers/auth.json", {"auths": {f"https://{HOST}/": AUTH}}),
        (".docker/config.json", {"auths": {f"{HOST}/team": AUTH}}),
        (".dockercfg", {HOST: AUTH}),
        (".docker/config.json", {"credHelpers": {HOST: "desk"}}),
        (".docker/config.json", {"credsStore": "desk"}),
    ],
)
def test_files_of_other_programs(file: str, document: object, tmp_path: Path) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    helper = tmp_path / "bin/docker-credential-desk"
    helper.parent.mkdir()
    answer = json.dumps({"Username": "file", "Secret": "word"})
    helper.write_text(f"#!/bin/sh\nread url\n[ $url = https://{HOST} ] && echo '{answer}'\n")
    helper.chmod(0o755)
    environ = {
        "HOME": str(tmp_path),
        "XDG_RUNTIME_DIR": str(tmp_path / "run"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "PATH": f"{helper.parent}:{os.environ['PATH']}",
    }
    store = OciCredentialsStore((), OciDefaults(), environ)
    assert found(store) == OciSecret("file", "word")
    assert found(OciCredentialsStore((), OciDefaults(discovers=False), environ)) is None


def helper(directory: Path, text: str) -> dict[str, str]:
    path = directory / "docker-credential-keys"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return {"PATH": f"{directory}:/usr/bin:/bin", "HOME": str(directory)}


@pytest.mark.parametrize(
    ("text", "user", "words"),
    [
        ('read u; echo "{\\"Username\\": \\"$u\\", \\"Secret\\": \\"s\\"}"', f"https://{HOST}", ""),
        ("echo credentials not found in native keychain; exit 1", None, ""),
        ("echo broken >&2; exit 1", None, "failed: broken"),
        ("echo nonsense", None, "something other than credentials"),
        (
            'echo "{\\"Username\\": \\"<token>\\", \\"Secret\\": \\"s\\"}"',
            None,
            "kind of token that is not supported",
        ),
    ],
)
def test_helpers(tmp_path: Path, text: str, user: str | None, words: str) -> None:
    environment = helper(tmp_path, text)
    store = OciCredentialsStore([], OciDefaults(helper="keys"), environment)
    if words:
        with pytest.raises(OciCredentialsError, match=words):
            found(store)
        return
    secret = found(store)
    assert (None if secret is None else secret.username) == user


def parsed(text: str) -> tuple[CliConfig, Diagnostics]:
    diags = Diagnostics()
    return parse_cli_config(Source.from_bytes("/etc/tofurc", text.encode()), {}, diags), diags


def test_blocks_of_the_cli_configuration() -> None:
    config, diags = parsed(
        'oci_credentials "example.com/team" {\n  username = "u"\n  password = "p"\n}\n'
        'oci_credentials "example.com" {\n  docker_credentials_helper = "keys"\n}\n'
        'oci_default_credentials {\n  docker_style_config_files = ["a.json"]\n}\n'
        'provider_installation {\n  oci_mirror {\n    include = ["example.com/*/*"]\n'
        '    repository_template = "oci.example.com/${namespace}/${type}"\n  }\n}\n'
    )
    assert not list(diags)
    assert config.oci_credentials == (
        OciCredentials("example.com", "team", OciSecret("u", "p")),
        OciCredentials("example.com", helper="keys"),
    )
    assert config.oci_defaults == OciDefaults(True, ("/etc/a.json",))
    assert '"p"' not in repr(config.oci_credentials)


def template(text: str, include: str = "") -> str:
    return f'provider_installation {{\n  oci_mirror {{\n    repository_template = "{text}"\n    {include}\n  }}\n}}\n'


@pytest.mark.parametrize(
    "text",
    [
        'oci_credentials "example.com" {\n}',
        'oci_credentials "example.com" {\n  username = "u"\n}',
        'oci_credentials "example.com" {\n  username = "u"\n  access_token = "t"\n}',
        'oci_credentials "example.com/a" {\n  docker_credentials_helper = "x"\n}',
        'oci_credentials "example.com" {\n  docker_credentials_helper = "a/b"\n}',
        'oci_credentials "not a host" {\n  docker_credentials_helper = "x"\n}',
        'oci_credentials "a.b" {\n  docker_credentials_helper = "x"\n}\noci_credentials "a.b" {\n  docker_credentials_helper = "x"\n}',
        "oci_default_credentials = 1",
        "oci_default_credentials {\n}\noci_default_credentials {\n}",
        'oci_default_credentials {\n  discover_ambient_credentials = false\n  docker_style_config_files = ["x"]\n}',
        template("a.b/${namespace}/${type}"),
        template("a.b/${hostname}/${type}/${other}"),
        template("a.b/${hostname}/${namespace}/${type}/${"),
        template("a.b"),
        template("a.b/${hostname}/${namespace}/${type}/UPPER"),
        template("a.b/${namespace}/${type}", 'include = ["a.b/*/*", "c.d/*/*"]'),
    ],
)
def test_blocks_that_make_no_sense(text: str) -> None:
    _, diags = parsed(text)
    assert diags.error_count == 1


def test_other_providers_have_other_repositories(oci: OciRegistry, work: Work) -> None:
    oci.repository("mirror/registry.example.com/acme/other").publish_provider("1.0.0", archives())
    work.install(source=mirror)
    assert "There is no OCI repository" in work.error
    other = Provider(THING.hostname, "acme", "other")
    work.install(provider=other, source=mirror)
    assert "contains no program named terraform-provider-other" in work.error
