"""The client against real servers on this machine, well-behaved and hostile."""

import asyncio
import gzip
import hashlib
import os
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import Final, TypeVar

import pytest

from nigari.net.client import Client, Expected, Policy
from nigari.net.failures import (
    CertificateRefused,
    ConnectionFailed,
    InvalidSettings,
    InvalidUrl,
    NameNotFound,
    NetFailure,
    NotJson,
    ProxyFailed,
    RedirectRefused,
    StatusRefused,
    TimedOut,
    TlsFailed,
    TooLarge,
    Truncated,
    WrongContent,
)
from nigari.net.settings import Settings, read_settings
from tests.net_world.certificates import Authority
from tests.net_world.server import (
    Answer,
    Asked,
    Handler,
    Proxy,
    Script,
    Server,
    head,
    json_answer,
    redirect,
)

T = TypeVar("T")
ONCE: Final = Policy(retries=0, pause=0.01)
QUICK: Final = Policy(retries=2, pause=0.01)


def run(work: Callable[[Client], Awaitable[T]], settings: Settings | None = None) -> T:
    async def main() -> T:
        async with Client(settings or Settings()) as client:
            return await work(client)

    return asyncio.run(main())


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def serve(request: pytest.FixtureRequest) -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def start(handler: Handler, certificate: Path | None = None) -> Server:
        servers.append(Server(handler, certificate))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def failure(
    work: Callable[[Client], Awaitable[object]], settings: Settings | None = None
) -> NetFailure:
    with pytest.raises(NetFailure) as caught:
        run(work, settings)
    return caught.value


def test_an_answer_is_read_whole(serve: Callable[..., Server]) -> None:
    server = serve(lambda asked: json_answer({"path": asked.path}))
    answer = run(lambda client: client.get(f"{server.url}/a?b=c"))
    assert (answer.status, answer.json()) == (200, {"path": "/a?b=c"})
    assert server.log[0].headers["user-agent"].startswith("Nigari/")


def test_connections_are_used_again(serve: Callable[..., Server]) -> None:
    server = serve(lambda asked: Answer(200, b"x"))

    async def work(client: Client) -> int:
        for _ in range(5):
            await client.get(f"{server.url}/")
        (pool,) = client._connections._pools.values()
        return len(pool.connections)

    assert run(work) == 1


@pytest.mark.parametrize("size", ["0", "5", "many"])
def test_redirects_use_connections_again(serve: Callable[..., Server], size: str) -> None:
    def answer(asked: Asked) -> Answer:
        if asked.path == "/end":
            return Answer(200, b"here")
        body = {"0": b"", "5": b"moved", "many": b"x" * 9000}[size]
        return Answer(302, body, {"location": "/end" if asked.path == "/b" else "/b"})

    server = serve(answer)

    async def work(client: Client) -> bool:
        used = []
        for _ in range(3):
            assert (await client.get(f"{server.url}/a")).body == b"here"
            (pool,) = client._connections._pools.values()
            used.append(list(pool.connections))
        return used[0] == used[1] == used[2] and len(used[0]) == 1

    # One connection for all redirects, and for what they lead to.
    assert run(work)


@pytest.mark.parametrize("size", [3, 3_000_000])
@pytest.mark.parametrize("is_encrypted", [False, True])
def test_connections_are_used_again_after_downloads(
    serve: Callable[..., Server],
    authority: Authority,
    tmp_path: Path,
    size: int,
    is_encrypted: bool,
) -> None:
    contents = [os.urandom(size) for _ in range(4)]
    certificate = authority.certificate(["127.0.0.1"]) if is_encrypted else None
    server = serve(lambda asked: Answer(200, contents[int(asked.path[1:])]), certificate)

    async def work(client: Client) -> tuple[bool, bool]:
        async def connection_of(index: int) -> object:
            await client.download(f"{server.url}/{index}", tmp_path / str(index))
            (pool,) = client._connections._pools.values()
            (connection,) = pool.connections
            return connection

        used = [await connection_of(index) for index in range(len(contents))]
        with pytest.raises(TooLarge):
            await client.download(f"{server.url}/0", tmp_path / "x", policy=Policy(0, limit=2))
        after_refusal = await connection_of(0)
        return all(each is used[0] for each in used), after_refusal is used[0]

    settings = Settings(certificate_file=str(authority.path)) if is_encrypted else None
    assert run(work, settings) == (True, False)
    assert [(tmp_path / str(index)).read_bytes() for index in range(len(contents))] == contents


def test_a_refusal_with_large_content_is_quoted(
    serve: Callable[..., Server], tmp_path: Path
) -> None:
    answer = Answer(404, b"Gone fishing. " * 100_000, {"content-type": "text/plain"})
    server = serve(lambda asked: answer)
    found = failure(lambda client: client.download(server.url, tmp_path / "x", policy=ONCE))
    assert isinstance(found, StatusRefused)
    assert "Gone fishing" in str(found)


def test_content_is_unpacked_within_the_limit(serve: Callable[..., Server]) -> None:
    packed = {"content-encoding": "gzip"}
    server = serve(lambda asked: Answer(200, gzip.compress(b"hello" * 100), packed))
    assert run(lambda client: client.get(server.url)).body == b"hello" * 100
    bomb = gzip.compress(b"\0" * (64 << 20))
    server.handler = lambda asked: Answer(200, bomb, packed)
    found = failure(lambda client: client.get(server.url, policy=Policy(0, limit=1 << 16)))
    assert isinstance(found, TooLarge)


@pytest.mark.parametrize(
    ("status", "tries"), [(200, 1), (404, 1), (500, 3), (501, 1), (503, 3), (429, 3)]
)
def test_what_may_pass_is_tried_again(
    serve: Callable[..., Server], status: int, tries: int
) -> None:
    server = serve(lambda asked: Answer(status))
    assert run(lambda client: client.get(server.url, policy=QUICK)).status == status
    assert len(server.log) == tries


def test_a_retry_that_succeeds_is_a_success(serve: Callable[..., Server]) -> None:
    answers = [Answer(503), Answer(200, b"there")]
    server = serve(lambda asked: answers.pop(0))
    assert run(lambda client: client.get(server.url, policy=QUICK)).body == b"there"


def test_retry_after_is_honoured(serve: Callable[..., Server]) -> None:
    answers = [Answer(429, b"", {"retry-after": "1"}), Answer(200)]
    server = serve(lambda asked: answers.pop(0))
    begin = time.monotonic()
    assert run(lambda client: client.get(server.url, policy=QUICK)).status == 200
    assert time.monotonic() - begin >= 0.9


def test_nobody_waits_for_an_hour(serve: Callable[..., Server]) -> None:
    server = serve(lambda asked: Answer(429, b"", {"retry-after": "3600"}))
    answer = run(lambda client: client.get(server.url, policy=QUICK))
    assert answer.status == 429
    assert len(server.log) == 1
    with pytest.raises(StatusRefused, match="Retry-After: 3600"):
        answer.require(200)


def test_a_failure_says_what_was_asked_and_how_often(
    serve: Callable[..., Server], tmp_path: Path
) -> None:
    server = serve(lambda asked: Answer(500))
    url = f"{server.url}/a?token=secret"
    found = failure(lambda client: client.download(url, tmp_path / "x", policy=QUICK))
    assert len(server.log) == 3
    assert found.text == (
        f"{server.url}/a?token=REDACTED answered with status 500. This was tried 3 times. "
        "Try again later."
    )


def test_redirects_are_followed(serve: Callable[..., Server]) -> None:
    def handler(asked: Asked) -> Answer:
        return redirect("/b?x=1", 301) if asked.path == "/a" else Answer(200, asked.path.encode())

    server = serve(handler)
    answer = run(lambda client: client.get(f"{server.url}/a"))
    assert (answer.body, answer.url) == (b"/b?x=1", f"{server.url}/b?x=1")


def test_redirects_are_bounded(serve: Callable[..., Server]) -> None:
    loop = serve(lambda asked: redirect("/b" if asked.path == "/a" else "/a"))
    found = failure(lambda client: client.get(f"{loop.url}/a", policy=QUICK))
    assert isinstance(found, RedirectRefused)
    assert "loop" in found.what
    assert len(loop.log) == 2
    endless = serve(lambda asked: redirect(f"{asked.path}x"))
    found = failure(lambda client: client.get(f"{endless.url}/", policy=QUICK))
    assert isinstance(found, RedirectRefused)
    assert len(endless.log) == 11


def test_credentials_stay_with_their_host(serve: Callable[..., Server]) -> None:
    other = serve(lambda asked: Answer(200, b"other"))
    first = serve(lambda asked: redirect(f"{other.url}/" if asked.path == "/far" else "/near2"))
    token = {"Authorization": "Bearer secret"}
    run(lambda client: client.get(f"{first.url}/far", credentials=token))
    assert first.log[0].headers["authorization"] == "Bearer secret"
    assert "authorization" not in other.log[0].headers
    first.handler = lambda asked: redirect("/b") if asked.path == "/a" else Answer(200)
    run(lambda client: client.get(f"{first.url}/a", credentials=token))
    assert first.log[-1].headers["authorization"] == "Bearer secret"


@pytest.mark.parametrize(
    ("token", "sent"),
    [
        (" spaced\t", "Bearer  spaced"),
        # Letters are sent in UTF-8, which the test's server reads as Latin 1.
        ("ü", "Bearer Ã¼"),
        ("s3cret\n", ""),
        ("s3cret\r\nx-other: 1", ""),
        ("a\0b", ""),
    ],
)
def test_secrets_that_cannot_be_sent(token: str, sent: str, serve: Callable[..., Server]) -> None:
    server = serve(lambda asked: Answer(200))

    async def ask(client: Client) -> object:
        return await client.get(server.url, credentials={"authorization": f"Bearer {token}"})

    if sent:
        run(ask)
        assert server.log[0].headers["authorization"] == sent
        return
    found = failure(ask)
    assert found.what.startswith("The credentials for 127.0.0.1:")
    assert "s3cret" not in found.text
    assert server.log == []


def test_a_user_in_the_url_is_sent_as_a_header_and_never_shown(
    serve: Callable[..., Server],
) -> None:
    server = serve(lambda asked: Answer(404))
    url = f"http://me:pass%40word@127.0.0.1:{server.port}/x?token=abc&a=b"
    answer = run(lambda client: client.get(url))
    assert server.log[0].headers["authorization"] == "Basic bWU6cGFzc0B3b3Jk"
    with pytest.raises(StatusRefused) as refused:
        answer.require()
    assert "pass" not in refused.value.url + refused.value.text
    assert refused.value.url.endswith("/x?token=REDACTED&a=b")


def test_a_redirect_must_not_lose_encryption(
    serve: Callable[..., Server], authority: Authority
) -> None:
    plain = serve(lambda asked: Answer(200))
    safe = serve(lambda asked: redirect(plain.url), authority.certificate(["127.0.0.1"]))
    trusting = Settings(certificate_file=str(authority.path))
    found = failure(lambda client: client.get(safe.url), trusting)
    assert isinstance(found, RedirectRefused)
    assert "not encrypted" in found.what
    assert plain.log == []


@pytest.mark.parametrize(
    ("names", "days", "trusts", "reason"),
    [
        (["127.0.0.1"], -1, True, "it has expired"),
        (["other.example.com"], 10, True, "it belongs to another"),
        (["127.0.0.1"], 10, False, "its certificate authority is not trusted"),
    ],
)
def test_certificates_are_checked(
    serve: Callable[..., Server],
    authority: Authority,
    names: list[str],
    days: int,
    trusts: bool,
    reason: str,
) -> None:
    server = serve(lambda asked: Answer(200), authority.certificate(names, days))
    settings = Settings(certificate_file=str(authority.path)) if trusts else Settings()
    found = failure(lambda client: client.get(server.url, policy=QUICK), settings)
    assert isinstance(found, CertificateRefused)
    assert found.reason.startswith(reason)


def test_a_directory_of_certificates(
    serve: Callable[..., Server], authority: Authority, tmp_path: Path
) -> None:
    """Its files may have any names, and some may be something else."""
    own = authority.path.read_text()
    broken = "-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n"
    (tmp_path / "our authority").write_text(f"# comment\n{broken}{own}")
    (tmp_path / "once more").symlink_to("our authority")
    (tmp_path / "README").write_text("no certificate")
    (tmp_path / "folder").mkdir()
    server = serve(lambda asked: Answer(200), authority.certificate(["127.0.0.1"]))
    settings = read_settings({"SSL_CERT_DIR": f"/nowhere:{tmp_path}"})
    assert run(lambda client: client.get(server.url), settings).status == 200


def test_plain_http_is_no_tls(serve: Callable[..., Server]) -> None:
    server = serve(lambda asked: Answer(200))
    found = failure(lambda client: client.get(f"https://127.0.0.1:{server.port}", policy=ONCE))
    assert isinstance(found, TlsFailed)


def test_a_name_that_does_not_exist() -> None:
    found = failure(lambda client: client.get("https://no-such-host.invalid/x", policy=ONCE))
    assert isinstance(found, NameNotFound)
    assert "no-such-host.invalid cannot be resolved" in found.text


def test_a_port_where_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    found = failure(lambda client: client.get(f"http://127.0.0.1:{port}/", policy=ONCE))
    assert isinstance(found, ConnectionFailed)
    assert found.is_refused


@pytest.mark.parametrize("url", ["ftp://example.com/x", "https://", "example.com/x"])
def test_not_a_url(url: str) -> None:
    assert isinstance(failure(lambda client: client.get(url)), InvalidUrl)


def slow(stream: BufferedIOBase) -> None:
    stream.write(head(content_length="1000"))
    for _ in range(100):
        stream.write(b"x")
        stream.flush()
        time.sleep(0.05)


def short(stream: BufferedIOBase) -> None:
    stream.write(head(content_length="1000") + b"x" * 10)


def short_and_large(stream: BufferedIOBase) -> None:
    stream.write(head(content_length="3000000") + b"x" * 2_000_000)


def endless(stream: BufferedIOBase) -> None:
    stream.write(head())
    while True:
        stream.write(b"x" * 65536)


def nonsense(stream: BufferedIOBase) -> None:
    stream.write(b"SSH-2.0-OpenSSH\r\n")


def contradicting(stream: BufferedIOBase) -> None:
    other = b"\r\nContent-Length: 3000000\r\n\r\n"
    stream.write(head(content_length="2000000").replace(b"\r\n\r\n", other) + b"x" * 3_000_000)


def silent(stream: BufferedIOBase) -> None:
    time.sleep(1)


@pytest.mark.parametrize(
    ("script", "policy", "kind"),
    [
        (slow, Policy(0, timeout=0.3), TimedOut),
        (slow, Policy(0, timeout=None, stalled_after=0.3), TimedOut),
        (silent, Policy(0, timeout=None, stalled_after=0.3), TimedOut),
        (silent, Policy(0, timeout=0.3), TimedOut),
        (short, Policy(0), Truncated),
        (short_and_large, Policy(0), Truncated),
        (endless, Policy(0, limit=1 << 20), TooLarge),
        (nonsense, Policy(0), ConnectionFailed),
        (contradicting, Policy(0), ConnectionFailed),
    ],
)
@pytest.mark.parametrize("to_file", [False, True])
def test_hostile_servers_are_left_in_bounded_time(
    serve: Callable[..., Server],
    tmp_path: Path,
    script: Script,
    policy: Policy,
    kind: type[NetFailure],
    to_file: bool,
) -> None:
    server = serve(lambda asked: script)

    async def work(client: Client) -> object:
        if to_file:
            return await client.download(server.url, tmp_path / "file", policy=policy)
        return await client.get(server.url, policy=policy)

    begin = time.monotonic()
    assert isinstance(failure(work), kind)
    assert time.monotonic() - begin < 5
    assert os.listdir(tmp_path) == []


def test_a_download_is_written_and_checked(serve: Callable[..., Server], tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    server = serve(lambda asked: Answer(200, content))
    told: list[tuple[int, int | None]] = []
    wanted = Expected(len(content), {"sha256": hashlib.sha256(content).hexdigest()})
    done = run(
        lambda client: client.download(
            server.url,
            tmp_path / "file",
            expected=wanted,
            progress=lambda n, t: told.append((n, t)),
        )
    )
    assert (tmp_path / "file").read_bytes() == content
    assert (done.size, done.digests["sha256"]) == (len(content), wanted.digests["sha256"])
    assert told[-1] == (len(content), len(content))


LARGE: Final = b"\r\n\r\n" + os.urandom(2_000_000)
LENGTH: Final = f"Content-Length: {len(LARGE)}\r\n\r\n".encode()


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([b"HTTP/1.1 200 OK\r\n" + LENGTH + LARGE], id="at once"),
        pytest.param([b"HTTP/1.1 200 OK\r\n" + LENGTH, LARGE], id="head first"),
        pytest.param([b"HTTP/1.1 200", b" OK\r\n" + LENGTH[:-1], b"\n" + LARGE], id="torn head"),
        pytest.param([b"HTTP/1.1 200 OK\n" + LENGTH.replace(b"\r", b"") + LARGE], id="LF only"),
        pytest.param(
            [b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n" + LENGTH + LARGE], id="informed"
        ),
        pytest.param([b"HTTP/1.1 200 OK\r\n" + LENGTH + LARGE + b"more"], id="more than announced"),
        pytest.param(
            [
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                b"%x\r\n" % len(LARGE) + LARGE + b"\r\n0\r\n\r\n",
            ],
            id="in chunks",
        ),
        pytest.param([b"HTTP/1.0 200 OK\r\n\r\n" + LARGE], id="until the connection ends"),
    ],
)
@pytest.mark.parametrize("is_encrypted", [False, True])
def test_large_content_arrives_whole_however_it_is_sent(
    serve: Callable[..., Server],
    authority: Authority,
    tmp_path: Path,
    pieces: list[bytes],
    is_encrypted: bool,
) -> None:
    def script(stream: BufferedIOBase) -> None:
        for piece in pieces:
            stream.write(piece)
            stream.flush()
            time.sleep(0.05)

    certificate = authority.certificate(["127.0.0.1"]) if is_encrypted else None
    server = serve(lambda asked: script, certificate)
    settings = Settings(certificate_file=str(authority.path)) if is_encrypted else None
    run(lambda client: client.download(server.url, tmp_path / "f", policy=ONCE), settings)
    assert (tmp_path / "f").read_bytes() == LARGE


@pytest.mark.parametrize(
    "expected",
    [
        Expected(10),
        Expected(2),
        Expected(digests={"sha256": "0" * 64}),
        Expected(digests={"md5": ""}),
    ],
)
def test_other_content_than_expected_is_not_kept(
    serve: Callable[..., Server], tmp_path: Path, expected: Expected
) -> None:
    server = serve(lambda asked: Answer(200, b"hello"))
    found = failure(
        lambda client: client.download(server.url, tmp_path / "file", expected=expected)
    )
    assert isinstance(found, WrongContent)
    assert os.listdir(tmp_path) == []


def test_a_download_that_broke_is_tried_again(serve: Callable[..., Server], tmp_path: Path) -> None:
    answers: list[Answer | Script] = [short, Answer(200, b"whole")]
    server = serve(lambda asked: answers.pop(0))
    run(lambda client: client.download(server.url, tmp_path / "f", policy=QUICK))
    assert (tmp_path / "f").read_bytes() == b"whole"


def test_a_download_takes_the_place_of_a_longer_file(
    serve: Callable[..., Server], tmp_path: Path
) -> None:
    server = serve(lambda asked: Answer(200, b"new"))
    (tmp_path / "f").write_bytes(b"something longer")
    done = run(lambda client: client.download(server.url, tmp_path / "f", policy=ONCE))
    assert ((tmp_path / "f").read_bytes(), done.size) == (b"new", 3)
    other = Expected(digests={"sha256": "0" * 64})
    failure(lambda client: client.download(server.url, tmp_path / "f", expected=other))
    assert os.listdir(tmp_path) == []


def test_a_refused_download_says_what_the_server_said(
    serve: Callable[..., Server], tmp_path: Path
) -> None:
    server = serve(lambda asked: json_answer({"errors": ["not for you"]}, 403))
    found = failure(lambda client: client.download(server.url, tmp_path / "f"))
    assert isinstance(found, StatusRefused)
    assert "status 403, saying: not for you." in found.text


def test_an_interrupted_download_leaves_nothing(
    serve: Callable[..., Server], tmp_path: Path
) -> None:
    server = serve(lambda asked: endless)

    async def work(client: Client) -> None:
        task = asyncio.ensure_future(client.download(server.url, tmp_path / "f"))
        async with asyncio.timeout(20):
            while os.listdir(tmp_path) != ["f"]:  # noqa: ASYNC110 -- files make no noise
                await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(work)
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_not_the_servers_fault(serve: Callable[..., Server], tmp_path: Path) -> None:
    server = serve(lambda asked: Answer(200, b"x" * 10))
    # A link, because what is not kept is removed.
    target = tmp_path / "file"
    target.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        run(lambda client: client.download(server.url, target, policy=QUICK))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("answer", "is_html"),
    [
        (Answer(200, b"<html><title>Log in\nhere</title>", {"content-type": "text/html"}), True),
        (Answer(200, b"<!DOCTYPE html><p>", {"content-type": "application/json"}), True),
        (Answer(200, b"{", {"content-type": "application/json"}), False),
        (Answer(200, b"[" * 100_000, {"content-type": "application/json"}), False),
        (Answer(200, b"{}", {"content-type": "text/plain"}), False),
    ],
)
def test_not_json(serve: Callable[..., Server], answer: Answer, is_html: bool) -> None:
    server = serve(lambda asked: answer)
    given = run(lambda client: client.get(server.url))
    with pytest.raises(NotJson) as caught:
        given.json(needs_type=True)
    assert caught.value.is_html == is_html
    if b"title" in answer.body:
        assert 'Its title is "Log in here".' in caught.value.text


def test_names_may_be_known_only_to_a_proxy(
    serve: Callable[..., Server], authority: Authority
) -> None:
    server = serve(lambda asked: Answer(200, b"yes"), authority.certificate(["r.example.com"]))
    with Proxy({"r.example.com": server.port}) as proxy:
        settings = read_settings({"HTTPS_PROXY": proxy.url, "SSL_CERT_FILE": str(authority.path)})
        assert run(lambda client: client.get("https://r.example.com/"), settings).body == b"yes"
        assert proxy.connected == ["r.example.com:443"]
        found = failure(lambda client: client.get("https://x.example.com/", policy=ONCE), settings)
        assert isinstance(found, ProxyFailed)
        assert "proxy" in found.what


@pytest.mark.parametrize(
    ("proxy", "reason"),
    [
        ("http://me:s3cret@127.0.0.1:9", "it refuses connections"),
        ("http://proxy.invalid:80", "its host name cannot be resolved"),
    ],
)
def test_a_proxy_that_is_not_there(proxy: str, reason: str) -> None:
    """It is not the server that cannot be reached."""
    settings = read_settings({"HTTPS_PROXY": proxy})
    found = failure(lambda client: client.get("https://x.example.com/", policy=ONCE), settings)
    assert isinstance(found, ProxyFailed)
    assert "for x.example.com cannot be reached: " + reason in found.text
    assert "s3cret" not in found.text


def test_unreadable_certificates_of_the_environment(tmp_path: Path) -> None:
    settings = Settings(certificate_file=str(tmp_path / "missing.pem"))
    found = failure(lambda client: client.get("https://127.0.0.1:1/"), settings)
    assert isinstance(found, InvalidSettings)
    assert "missing.pem" in found.text
