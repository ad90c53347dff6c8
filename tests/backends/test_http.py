"""The backend `http` with a server on this machine."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from nigari.backends.conformance import CHECKS, Subject
from nigari.backends.lock_options import LockOptions
from nigari.backends.locking import new_lock
from nigari.backends.open_backend import open_backend
from nigari.backends.protocol import Around, StateStorage
from nigari.backends.snapshots import Snapshots
from nigari.backends.store import BackendFailure
from nigari.backends.stores.http.store import open_store
from nigari.clouds.arguments import Arguments
from nigari.cty import string
from nigari.diagnostics import Diagnostics
from nigari.state.encryption import no_encryption
from nigari.state.model import OutputState, State
from tests.backends.world.state_server import StateServer
from tests.net_world.certificates import Authority
from tests.net_world.server import Answer, Asked, Script

LAYER = no_encryption().state


@pytest.fixture
def server() -> Iterator[StateServer]:
    with StateServer(has_tags=True) as made:
        yield made


def config(server: StateServer, **more: object) -> dict[str, object]:
    url = server.url
    return {"address": url, "lock_address": url, "unlock_address": url, "retry_wait_min": 0, **more}


def storage(server: StateServer, **more: object) -> StateStorage:
    diags = Diagnostics()
    backend = open_backend("http", config(server, **more), Around(".", {}), diags)
    assert backend is not None, list(diags)
    return backend.storage("default")


def state(word: str) -> State:
    return State(outputs={"word": OutputState(string(word))})


def told(diags: Diagnostics) -> str:
    return "\n".join(f"{each.summary}: {each.detail}" for each in diags)


@pytest.mark.parametrize("has_tags", [True, False])
@pytest.mark.parametrize("check", CHECKS)
def test_conformance(check: str, has_tags: bool) -> None:
    with StateServer(has_tags) as server:
        subject = Subject(lambda: open_store(Arguments(config(server), {})), tells_absence=False)
        asyncio.run(CHECKS[check](subject))


def test_a_whole_run(server: StateServer) -> None:
    async def work() -> None:
        diags = Diagnostics()
        snapshots = Snapshots(storage(server), LAYER)
        assert await snapshots.lock("OperationTypeApply", LockOptions(), diags)
        assert await snapshots.read(diags)
        assert await snapshots.write(state("a"), diags)
        held = json.loads(server.locks["/state"])
        assert await snapshots.unlock(diags)
        assert not list(diags)
        assert list(held) == ["ID", "Operation", "Info", "Who", "Version", "Created", "Path"]
        assert (held["Operation"], held["Path"]) == ("OperationTypeApply", "")

    asyncio.run(work())
    assert server.asked == ["LOCK", "GET", "POST", "UNLOCK"]
    write, unlock = server.server.log[2:]
    assert "ID=" in write.path
    assert write.headers["content-type"] == "application/json"
    assert unlock.body == server.server.log[0].body
    assert server.state["serial"] == 1


def test_a_lock_of_somebody_else(server: StateServer) -> None:
    server.locks["/state"] = b'{"ID":"x","Operation":"apply","Who":"me@there","Created":"now"}'
    diags = Diagnostics()
    assert not asyncio.run(Snapshots(storage(server), LAYER).lock("test", LockOptions(), diags))
    assert "me@there" in told(diags)
    assert asyncio.run(storage(server).force_unlock("x", diags))
    assert not server.locks
    sent = json.loads(server.server.log[-1].body)
    assert (sent["ID"], sent["Created"], sent["Who"]) == ("x", "0001-01-01T00:00:00Z", "")


def test_without_lock_addresses(server: StateServer) -> None:
    diags = Diagnostics()
    wanted = storage(server, lock_address=None, unlock_address=None)

    async def work() -> None:
        snapshots = Snapshots(wanted, LAYER)
        assert await snapshots.lock("test", LockOptions(), diags)
        assert await snapshots.write(state("a"), diags)
        assert await snapshots.unlock(diags)

    asyncio.run(work())
    assert server.asked == ["GET", "POST"]
    assert not asyncio.run(wanted.force_unlock("x", diags))
    assert "locking is not enabled" in told(diags)


@pytest.mark.parametrize(
    ("given", "status", "says"),
    [
        ({}, 401, "requires a user name"),
        ({"username": "u", "password": "wrong"}, 403, "refuses the user name"),
        ({"username": "u", "password": "p"}, 200, ""),
        ({"headers": {"Authorization": "Basic dTpw"}}, 200, ""),
    ],
)
def test_users(given: dict[str, object], status: int, says: str) -> None:
    with StateServer(user="u:p") as server:
        diags = Diagnostics()
        found = asyncio.run(storage(server, **given).read(diags))
        assert (found == b"") == (status == 200)
        assert says in told(diags)


def test_the_environment_fills_in(server: StateServer) -> None:
    environ = {
        "TF_HTTP_ADDRESS": server.url,
        "TF_HTTP_UPDATE_METHOD": "PUT",
        "TF_HTTP_RETRY_MAX": "0",
    }
    diags = Diagnostics()
    backend = open_backend("http", {}, Around(".", environ), diags)
    assert backend is not None
    assert asyncio.run(backend.storage("default").write(b"{}", diags))
    assert server.asked == ["PUT"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"address": "ftp://x/y"}, "its scheme is ftp"),
        ({"lock_address": "nowhere"}, "lock_address nowhere"),
        ({"headers": {"a b": "c"}}, "not a valid header name"),
        ({"headers": {"Content-MD5": "c"}}, "set by the backend itself"),
        ({"headers": {"x": " "}}, "non-empty ASCII"),
        ({"headers": {"authorization": "x"}, "username": "u"}, "together with username"),
        ({"client_certificate_pem": "x"}, "set together"),
    ],
)
def test_arguments_that_are_refused(given: dict[str, object], says: str) -> None:
    with pytest.raises(BackendFailure, match=says):
        open_store(Arguments({"address": "http://localhost/", **given}, {}))


class Failing:
    """Fails some times, then lets the server work."""

    def __init__(self, times: int, answer: Answer | Script, after: bool = False) -> None:
        self.left = times
        self.answer = answer

    def __call__(self, asked: Asked) -> Answer | Script | None:
        if not self.left:
            return None
        self.left -= 1
        return self.answer


def test_the_first_state_has_one_lineage_however_often_it_is_stored() -> None:
    """Its answer was lost for good, so the writer believes that nothing is stored."""
    with StateServer() as server:

        def lose(asked: Asked) -> Answer | Script | None:
            if asked.method == "POST":
                server._work(asked, "/state")
                return lambda _: None
            return None

        server.interfere = lose

        async def work() -> Snapshots:
            snapshots = Snapshots(storage(server), LAYER)
            assert not await snapshots.write(state("a"), Diagnostics())
            server.interfere = lambda _: None
            assert await snapshots.write(state("a"), Diagnostics())
            return snapshots

        before = asyncio.run(work()).lineage
        assert server.state["lineage"] == before
        lineages = {json.loads(each.body)["lineage"] for each in server.server.log if each.body}
        assert lineages == {before}


@pytest.mark.parametrize(
    "answer",
    [Answer(500), Answer(503, b"", {"retry-after": "0"}), Answer(429), lambda _: None],
)
def test_it_is_tried_again(server: StateServer, answer: Answer | Script) -> None:
    server.states["/state"] = b"{}"
    server.interfere = Failing(2, answer)
    diags = Diagnostics()
    assert asyncio.run(storage(server).read(diags)) == b"{}"
    server.interfere = Failing(3, answer)
    assert asyncio.run(storage(server).read(diags)) is None
    assert "Cannot read the state" in told(diags)


def test_an_answer_that_was_lost(server: StateServer) -> None:
    """Locking and writing did succeed, so trying them again must not fail."""

    def lose(asked: Asked) -> Answer | Script | None:
        if asked.method not in ("LOCK", "POST") or asked.method in done:
            return None
        done.add(asked.method)
        server._work(asked, "/state")
        return lambda _: None

    done: set[str] = set()
    server.interfere = lose

    async def work() -> Diagnostics:
        diags = Diagnostics()
        snapshots = Snapshots(storage(server), LAYER)
        server.states["/state"] = (
            b'{"version":4,"serial":1,"lineage":"l","outputs":{},"resources":[]}'
        )
        assert await snapshots.lock("test", LockOptions(), diags), list(diags)
        assert await snapshots.read(diags)
        assert await snapshots.write(state("a"), diags), list(diags)
        assert await snapshots.unlock(diags)
        return diags

    assert not list(asyncio.run(work()))
    assert done == {"LOCK", "POST"}
    assert server.state["serial"] == 2


def test_certificates(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    with StateServer(certificate=authority.certificate(["127.0.0.1"])) as server:
        diags = Diagnostics()
        assert asyncio.run(storage(server).read(diags)) is None
        assert "not trusted" in told(diags) or "self-signed" in told(diags)
        trusting = storage(server, client_ca_certificate_pem=authority.path.read_text())
        assert asyncio.run(trusting.read(diags)) == b""
        careless = storage(server, skip_cert_verification=True)
        assert asyncio.run(careless.read(diags)) == b""
        own = authority.certificate(["client"]).read_text()
        proving = storage(
            server,
            client_ca_certificate_pem=authority.path.read_text(),
            client_certificate_pem=own,
            client_private_key_pem=own,
        )
        assert asyncio.run(proving.read(diags)) == b""


def test_other_workspaces(server: StateServer) -> None:
    diags = Diagnostics()
    backend = open_backend("http", config(server), Around(".", {}), diags)
    assert backend is not None

    async def work() -> None:
        assert list(await backend.workspaces(diags)) == ["default"]
        assert not await backend.create_workspace("w", diags)
        assert await backend.storage("w").lock(new_lock("x"), diags) is None

    asyncio.run(work())
    assert {each.summary for each in diags} == {"Backend has no workspaces"}
    assert not server.asked
