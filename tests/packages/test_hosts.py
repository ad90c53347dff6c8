"""Service discovery and the credentials of hosts, with a real server and real helpers."""

import asyncio
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from nigari.diagnostics import Diagnostics
from nigari.net.client import Client
from nigari.net.settings import read_settings
from nigari.packages.hosts.cli_config import CliConfig, HostToken, RegistryProtocols
from nigari.packages.hosts.cli_config_files import load_cli_config
from nigari.packages.hosts.host_credentials import (
    CredentialsError,
    HostCredentials,
    TokenLocation,
    variable_name,
)
from nigari.packages.hosts.hosts import (
    HostError,
    Hosts,
    ServiceMissing,
    VersionMissing,
)
from nigari.packages.hosts.network import KnownHosts
from tests.net_world.certificates import Authority
from tests.net_world.server import NOT_FOUND, Answer, Proxy, Server, json_answer, redirect

HOST = "registry.example.com"


class World:
    """One host with services, and a user."""

    def __init__(self, directory: Path) -> None:
        self.authority = Authority(directory)
        self.server = Server(lambda asked: NOT_FOUND, self.authority.certificate([HOST]))
        self.proxy = Proxy({HOST: self.server.port})
        self.environment = {
            "HOME": str(directory),
            "HTTPS_PROXY": self.proxy.url,
            "SSL_CERT_FILE": str(self.authority.path),
        }

    def url(self, service: str, config: CliConfig = CliConfig(), name: str = HOST) -> str:  # noqa: B008
        async def main() -> str:
            async with Client(read_settings(self.environment)) as client:
                hosts = Hosts(client, config, HostCredentials(config, self.environment))
                await asyncio.gather(hosts.host(name), hosts.host(name), return_exceptions=True)
                return await hosts.service_url(name, service)

        return asyncio.run(main())

    def close(self) -> None:
        self.server.close()
        self.proxy.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("https://other.example.com/v1/", "https://other.example.com/v1/"),
        ("http://other.example.com/v1/", "http://other.example.com/v1/"),
        ("/v1/providers/", f"https://{HOST}/v1/providers/"),
        ("v1/", f"https://{HOST}/.well-known/v1/"),
        ("/v1/#part", f"https://{HOST}/v1/"),
    ],
)
def test_services_are_found_where_the_host_says(world: World, value: str, url: str) -> None:
    world.server.handler = lambda asked: json_answer({"providers.v1": value})
    assert world.url("providers.v1") == url
    (asked,) = world.server.log
    assert str(asked) == "GET /.well-known/terraform.json"
    assert asked.headers["accept"] == "application/json"
    assert "authorization" not in asked.headers


def test_references_are_relative_to_where_redirects_lead(world: World) -> None:
    world.server.handler = lambda asked: (
        json_answer({"modules.v1": "m/"}) if asked.path == "/far/doc" else redirect("/far/doc")
    )
    assert world.url("modules.v1") == f"https://{HOST}/far/m/"


def test_a_host_block_takes_the_place_of_the_host(world: World) -> None:
    config = CliConfig(hosts={HOST: {"providers.v1": "/p/"}})
    assert world.url("providers.v1", config) == f"https://{HOST}/p/"
    assert world.server.log == []


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (NOT_FOUND, ServiceMissing, "does not offer the service providers.v1"),
        (json_answer({"modules.v1": "/m/"}), ServiceMissing, "does not offer"),
        (json_answer({"providers.v3": "/m/"}), VersionMissing, "offers providers.v3, but not"),
        (json_answer({"providers.v1": "ftp://x/"}), HostError, "must be http or https"),
        (json_answer({"providers.v1": "https://u:p@x/"}), HostError, "without a user name"),
        (json_answer([]), HostError, "not described by a JSON object"),
        (Answer(200, b"{}"), HostError, "instead of JSON"),
        (Answer(200, b"<html><title>Log in", {"content-type": "text/html"}), HostError, "log in"),
        (Answer(500, b"oops", {"content-type": "text/plain"}), HostError, "500, saying: oops"),
        (json_answer({"x": "y" * (1 << 20)}), HostError, "larger than"),
    ],
)
def test_hosts_that_do_not_help(
    world: World, answer: Answer, kind: type[HostError], words: str
) -> None:
    world.server.handler = lambda asked: answer
    with pytest.raises(HostError, match=words) as caught:
        world.url("providers.v1")
    assert type(caught.value) is kind
    # What may pass is tried once more.
    assert len(world.server.log) == (2 if answer.status == 500 else 1)


def test_the_token_of_the_host_is_sent(world: World) -> None:
    world.server.handler = lambda asked: json_answer({"providers.v1": "/p/"})
    world.environment["TF_TOKEN_registry_example_com"] = "abc"
    world.url("providers.v1")
    assert world.server.log[0].headers["authorization"] == "Bearer abc"


def test_discovery_is_tried_again(world: World) -> None:
    world.environment["TF_REGISTRY_DISCOVERY_RETRY"] = "2"
    answers = [Answer(503), Answer(502), json_answer({"providers.v1": "/p/"})]
    world.server.handler = lambda asked: answers.pop(0)
    config = load_cli_config(world.environment, Diagnostics())
    assert world.url("providers.v1", config) == f"https://{HOST}/p/"


@pytest.mark.parametrize(
    ("service", "is_sent"),
    [("/p/", True), ("https://other.example.com/p/", True), (f"http://{HOST}/p/", False)],
)
def test_tokens_are_sent_to_encrypted_services_only(
    world: World, service: str, is_sent: bool
) -> None:
    world.server.handler = lambda asked: json_answer({"providers.v1": service})
    found, said = _headers(world)
    assert found == ({"authorization": "Bearer abc"} if is_sent else {})
    assert ("was not sent" in said) is not is_sent


def test_a_token_does_not_follow_redirects_of_the_discovery(world: World) -> None:
    # Otherwise whoever the host redirects to would say where its token is sent.
    far = f"https://{HOST}:8443/far"
    world.server.handler = lambda asked: (
        json_answer({"providers.v1": "/p/"}) if asked.path == "/far" else redirect(far)
    )
    found, said = _headers(world)
    assert found == {}
    assert (
        "was not sent, because registry.example.com redirects service discovery to another host"
        in said
    )


def _headers(world: World) -> tuple[dict[str, str], str]:
    """What is sent to a service, and what is said of it."""
    world.environment["TF_TOKEN_registry_example_com"] = "abc"
    credentials = HostCredentials(CliConfig(), world.environment)

    async def main() -> dict[str, str]:
        async with Client(read_settings(world.environment)) as client:
            hosts = Hosts(client, CliConfig(), credentials)
            return dict(await hosts.headers(HOST, await hosts.service_url(HOST, "providers.v1")))

    return asyncio.run(main()), credentials.looked_in(HOST)


def token(config: CliConfig, environment: dict[str, str], host: str = HOST) -> str | None:
    return asyncio.run(HostCredentials(config, environment).token(host))


CONFIGURED = CliConfig(credentials={HOST: HostToken("file", "/some/file")})


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("TF_TOKEN_registry_example_com", HOST),
        ("TF_TOKEN_Registry.Example.com", HOST),
        ("TF_TOKEN_my__host_example_com", "my-host.example.com"),
        ("TF_TOKEN_xn____caf__dma_fr", "café.fr"),
        ("TF_TOKEN_xn--caf-dma_fr", "café.fr"),
        ("TF_TOKEN_café_fr", "café.fr"),
    ],
)
def test_tokens_in_the_environment(name: str, host: str) -> None:
    assert token(CONFIGURED, {name: "t"}, host) == "t"
    assert token(CliConfig(), {variable_name(host): "t"}, host) == "t"


def test_tokens_in_files_come_second() -> None:
    assert token(CONFIGURED, {}) == "file"
    assert token(CONFIGURED, {}, "other.example.com") is None


def helper(home: Path, text: str, name: str = "terraform-credentials-keys") -> CliConfig:
    path = home / ".terraform.d" / "plugins" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return CliConfig(credentials_helper=("keys", "--quick"))


def test_a_helper_is_asked_last_and_once(tmp_path: Path) -> None:
    config = helper(tmp_path, 'echo "$@" >> $HOME/log; echo "{\\"token\\": \\"helped\\"}"')
    credentials = HostCredentials(config, {"HOME": str(tmp_path)})
    for _ in range(2):
        assert asyncio.run(credentials.token("café.fr")) == "helped"
    assert (tmp_path / "log").read_text() == "--quick get xn--caf-dma.fr\n"
    assert "helper keys was sent" in credentials.looked_in("café.fr")


def test_a_helper_is_asked_once_by_all_parts_of_a_run(tmp_path: Path) -> None:
    config = helper(tmp_path, 'echo "$@" >> $HOME/log; sleep 0.1; echo "{\\"token\\": \\"t\\"}"')
    known = KnownHosts()

    async def main() -> list[str | None]:
        first = HostCredentials(config, {"HOME": str(tmp_path)}, known.tokens)
        return await asyncio.gather(*(first.token("café.fr") for _ in range(3)))

    assert asyncio.run(main()) == ["t"] * 3
    assert asyncio.run(main()) == ["t"] * 3
    assert (tmp_path / "log").read_text() == "--quick get xn--caf-dma.fr\n"


def test_the_newest_helper_counts(tmp_path: Path) -> None:
    for version in ("1.9.0", "1.10.0"):
        answer = json.dumps({"token": version})
        helper(tmp_path, f"echo '{answer}'", f"terraform-credentials-keys_v{version}")
    helper(tmp_path, "exit 1", "terraform-credentials-keys2")
    config = helper(tmp_path, "exit 1")
    assert token(config, {"HOME": str(tmp_path)}) == "1.10.0"


@pytest.mark.parametrize(
    ("text", "words"),
    [("echo no key >&2; exit 3", "failed: no key."), ("echo []", "something other than a JSON")],
)
def test_helpers_that_fail(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(CredentialsError, match=words):
        token(helper(tmp_path, text), {"HOME": str(tmp_path)})


def test_a_helper_stores_and_forgets(tmp_path: Path) -> None:
    config = helper(tmp_path, 'echo "$@" $(cat) >> $HOME/log; echo {}')
    credentials = HostCredentials(config, {"HOME": str(tmp_path)})
    assert credentials.location(HOST) is TokenLocation.HELPER
    asyncio.run(credentials.store(HOST, "t"))
    asyncio.run(credentials.forget(HOST))
    assert (tmp_path / "log").read_text().splitlines() == [
        f'--quick store {HOST} {{"token": "t"}}',
        f"--quick forget {HOST}",
    ]
    assert not (tmp_path / ".terraform.d" / "credentials.tfrc.json").exists()


def loaded(environment: dict[str, str]) -> HostCredentials:
    diags = Diagnostics()
    config = load_cli_config(environment, diags)
    assert not list(diags)
    return HostCredentials(config, environment)


def test_the_file_of_login_keeps_what_others_wrote(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path)}
    path = tmp_path / ".terraform.d" / "credentials.tfrc.json"
    asyncio.run(loaded(environment).store(HOST, "one"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    other = {"credentials": {"Registry.example.com": {"token": "old"}, "b.c": {"token": "x"}}}
    path.write_text(json.dumps({**other, "more": 1.50}))
    credentials = loaded(environment)
    assert credentials.location(HOST) is TokenLocation.OWN_FILE
    asyncio.run(credentials.store(HOST, "two"))
    assert json.loads(path.read_text()) == {
        "credentials": {HOST: {"token": "two"}, "b.c": {"token": "x"}},
        "more": 1.5,
    }
    assert asyncio.run(loaded(environment).token(HOST)) == "two"
    asyncio.run(loaded(environment).forget(HOST))
    assert list(json.loads(path.read_text())["credentials"]) == ["b.c"]
    assert os.listdir(path.parent) == ["credentials.tfrc.json"]


def test_other_files_are_not_changed(tmp_path: Path) -> None:
    (tmp_path / ".tofurc").write_text(f'credentials "{HOST}" {{\n  token = "t"\n}}\n')
    credentials = loaded({"HOME": str(tmp_path)})
    assert credentials.location(HOST) is TokenLocation.OTHER_FILE
    assert credentials.other_file(HOST).endswith(".tofurc")


def test_a_broken_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / ".terraform.d" / "credentials.tfrc.json"
    path.parent.mkdir()
    path.write_text("{")
    credentials = HostCredentials(CliConfig(), {"HOME": str(tmp_path)})
    with pytest.raises(CredentialsError, match="not a valid JSON object"):
        asyncio.run(credentials.store(HOST, "t"))
    assert path.read_text() == "{"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, RegistryProtocols(3, 20)),
        ({"TF_REGISTRY_DISCOVERY_RETRY": "7"}, RegistryProtocols(7, 20)),
        ({"TF_REGISTRY_CLIENT_TIMEOUT": "5"}, RegistryProtocols(3, 5)),
        ({"TF_REGISTRY_CLIENT_TIMEOUT": "0"}, RegistryProtocols(3, 20)),
        ({"TF_REGISTRY_DISCOVERY_RETRY": "-1"}, RegistryProtocols(3, 20)),
    ],
)
def test_the_environment_wins(
    tmp_path: Path, environment: dict[str, str], expected: RegistryProtocols
) -> None:
    text = "registry_protocols {\n retry_count = 3\n request_timeout_seconds = 20\n}\n"
    (tmp_path / ".tofurc").write_text(text)
    config = load_cli_config({"HOME": str(tmp_path), **environment}, Diagnostics())
    assert config.registry_protocols == expected
