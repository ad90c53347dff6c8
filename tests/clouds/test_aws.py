"""AWS: signatures as its documents show them, and where credentials come from."""

import asyncio
import time
from pathlib import Path

import pytest

from nigari.clouds.aws.client import AwsService
from nigari.clouds.aws.credentials import CredentialChain, Sources
from nigari.clouds.aws.roles import Role, seconds_of
from nigari.clouds.aws.signing import Credentials, signed_headers
from nigari.clouds.failures import CloudFailure
from nigari.net.client import Client, Policy
from nigari.net.settings import Settings
from tests.net_world.server import Answer, Asked, json_answer, serving

EXAMPLE = Credentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
HOST = "https://examplebucket.s3.amazonaws.com"


@pytest.mark.parametrize(
    ("method", "url", "headers", "body", "signature"),
    [
        (
            "GET",
            f"{HOST}/test.txt",
            {"Range": "bytes=0-9"},
            b"",
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
        ),
        (
            "PUT",
            f"{HOST}/test%24file.text",
            {
                "Date": "Fri, 24 May 2013 00:00:00 GMT",
                "x-amz-storage-class": "REDUCED_REDUNDANCY",
            },
            b"Welcome to Amazon S3.",
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
        ),
        (
            "GET",
            f"{HOST}/?prefix=J&max-keys=2",
            {},
            b"",
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ),
    ],
)
def test_signatures(
    method: str, url: str, headers: dict[str, str], body: bytes, signature: str
) -> None:
    scope, now = ("us-east-1", "s3"), "20130524T000000Z"
    found = signed_headers(method, url, headers, body, EXAMPLE, scope, now)
    assert found["authorization"].endswith(f"Signature={signature}")


def credentials(sources: Sources, sts: str = "http://127.0.0.1:1") -> Credentials:
    async def work() -> Credentials:
        async with Client(Settings()) as client:
            chain = CredentialChain(sources, AwsService("sts", "r", sts), Policy(retries=0))
            found = await chain.current(client)
            assert await chain.current(client) is found
            return found

    return asyncio.run(work())


class Home:
    """A home directory with the files of AWS tools."""

    def __init__(self, path: Path) -> None:
        self.environ = {"HOME": str(path), "AWS_EC2_METADATA_DISABLED": "true", "PATH": "/bin"}
        self.path = path / ".aws"
        self.path.mkdir()

    def write(self, credentials: str = "", config: str = "") -> None:
        (self.path / "credentials").write_text(credentials)
        (self.path / "config").write_text(config)

    def found(self, profile: str = "", **environ: str) -> Credentials:
        return credentials(Sources({**self.environ, **environ}, profile=profile))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


IN_FILE = "[default]\naws_access_key_id = f\naws_secret_access_key = s\n"
IN_ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "e", "AWS_SECRET_ACCESS_KEY": "s"}


def test_the_order_of_sources(home: Home) -> None:
    home.write(IN_FILE + "[p]\naws_access_key_id=p\naws_secret_access_key=s\naws_session_token=t\n")
    static = Credentials("a", "s")
    environ = {**home.environ, **IN_ENVIRONMENT}
    assert credentials(Sources(environ, static)) is static
    assert home.found("p", **IN_ENVIRONMENT) == Credentials("p", "s", "t")
    assert home.found(**IN_ENVIRONMENT).access_key == "e"
    assert home.found(AWS_PROFILE="p").access_key == "p"
    assert home.found().access_key == "f"
    with pytest.raises(CloudFailure, match='no AWS profile "q"'):
        home.found("q")


def test_settings_are_read_from_both_files(home: Home) -> None:
    home.write(
        "[keys]\naws_access_key_id = k\naws_secret_access_key = s\n",
        "# a comment\n[profile made]\ncredential_process = "
        """echo '{"Version":1,"AccessKeyId":"m","SecretAccessKey":"s"}'\n"""
        "[profile failing]\ncredential_process = exit 3\n"
        "[profile loop]\nrole_arn = r\nsource_profile = other\n"
        "[profile other]\nrole_arn = r\nsource_profile = loop\n"
        "[profile sso]\nsso_session = s\nsso_account_id = 1\nsso_role_name = r\n"
        "[sso-session s]\nsso_region = eu-west-1\nsso_start_url = https://x\n",
    )
    assert home.found("keys").access_key == "k"
    assert home.found("made").access_key == "m"
    for name, says in (
        ("failing", "status 3"),
        ("loop", "is its own source"),
        ("sso", "aws sso login"),
    ):
        with pytest.raises(CloudFailure, match=says):
            home.found(name)


def test_nothing_is_found(home: Home) -> None:
    with pytest.raises(CloudFailure, match="No AWS credentials were found"):
        home.found()


TAKEN = b"""<AssumeRoleResponse><Credentials><AccessKeyId>taken</AccessKeyId>
<SecretAccessKey>s&amp;s</SecretAccessKey><SessionToken>t</SessionToken>
<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResponse>"""


def test_roles_of_profiles_and_arguments(home: Home) -> None:
    home.write(
        IN_FILE, "[profile role]\nrole_arn = arn:r\nsource_profile = default\nexternal_id=x\n"
    )
    with serving(lambda _: Answer(200, TAKEN)) as server:
        environ = home.environ
        found = credentials(Sources(environ, profile="role"), server.url)
        assert found == Credentials("taken", "s&s", "t", found.expires)
        assert found.expires is not None
        assert found.expires > time.time()
        role = Role("arn:q", "name", "1h30m", tags={"a": "b"}, transitive_tag_keys=("a",))
        credentials(Sources(environ, Credentials("k", "s"), role=role), server.url)
        first, second = (each.body.decode() for each in server.log)
        assert "RoleArn=arn%3Ar" in first
        assert "ExternalId=x" in first
        assert "Credential=k/" in server.log[1].headers["authorization"]
        for part in (
            "DurationSeconds=5400",
            "RoleSessionName=name",
            "Tags.member.1.Key=a",
            "TransitiveTagKeys.member.1=a",
        ):
            assert part in second


def test_web_identity_of_the_environment(home: Home, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("the.token\n")
    given = {"AWS_WEB_IDENTITY_TOKEN_FILE": str(tmp_path / "token"), "AWS_ROLE_ARN": "arn:r"}
    with serving(lambda _: Answer(200, TAKEN)) as server:
        found = credentials(Sources({**home.environ, **given}), server.url)
        assert found.access_key == "taken"
        assert "WebIdentityToken=the.token" in server.log[0].body.decode()
        assert "authorization" not in server.log[0].headers


def machine(asked: Asked) -> Answer:
    """The metadata of a machine, or of a container."""
    keys = {
        "AccessKeyId": "m",
        "SecretAccessKey": "s",
        "Token": "t",
        "Expiration": "2099-01-01T00:00:00Z",
    }
    if asked.method == "PUT":
        return Answer(200, b"proof")
    if asked.path == "/container":
        return json_answer(keys, 200 if asked.headers.get("authorization") == "secret" else 401)
    if asked.headers.get("x-aws-ec2-metadata-token") != "proof":
        return Answer(401)
    if asked.path.endswith("/security-credentials/"):
        return Answer(200, b"role\n")
    return json_answer(keys)


def test_the_machine_and_the_container(home: Home) -> None:
    with serving(machine) as server:
        sources = Sources(home.environ, queries_machine=True, machine_endpoint=server.url)
        assert credentials(sources).access_key == "m"
        given = {
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{server.url}/container",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN": "secret",
        }
        assert home.found(**given).token == "t"
    with pytest.raises(CloudFailure, match="on this machine"):
        home.found(AWS_CONTAINER_CREDENTIALS_FULL_URI="http://example.com/x")


def test_what_ends_is_fetched_again(tmp_path: Path) -> None:
    texts = iter(("2001-01-01T00:00:00Z", "2099-01-01T00:00:00Z"))

    def answer(_asked: Asked) -> Answer:
        return Answer(200, TAKEN.replace(b"2099-01-01T00:00:00Z", next(texts).encode()))

    async def work(url: str) -> None:
        async with Client(Settings()) as client:
            sources = Sources({}, Credentials("k", "s"), role=Role("r"))
            chain = CredentialChain(sources, AwsService("sts", "r", url), Policy(retries=0))
            first = await chain.current(client)
            second = await chain.current(client)
            assert first is not second
            assert await chain.current(client) is second

    with serving(answer) as server:
        asyncio.run(work(server.url))


@pytest.mark.parametrize(
    ("text", "seconds"), [("1h", 3600), ("1h30m", 5400), ("900s", 900), ("1.5h", 5400)]
)
def test_durations(text: str, seconds: int) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "1", "h", "1d", "1h x"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(CloudFailure, match="not a duration"):
        seconds_of(text)
