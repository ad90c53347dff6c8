"""The backends `remote` and `cloud` with a service in memory."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from nigari.backends.conformance import CHECKS, Subject
from nigari.backends.locking import LockConflict, LockInfo, new_lock
from nigari.backends.open_backend import open_backend
from nigari.backends.protocol import Around
from nigari.backends.remote import RemoteBackend
from nigari.backends.snapshots import Snapshots
from nigari.backends.store import BackendFailure, ContentChanged, StateIsLocked
from nigari.backends.stores import cloud, remote
from nigari.backends.stores.hosted.store import HostedStore
from nigari.clouds.arguments import Arguments
from nigari.cty import number as cty_number
from nigari.diagnostics import Diagnostics
from nigari.state.encryption import no_encryption
from nigari.state.model import OutputState, State, StateFile
from nigari.state.show.show_json import state_to_json
from tests.backends.world.hosted import HOST, ORGANIZATION, FakeService

KINDS = {
    "remote by name": ("remote", {"name": "one"}, "default"),
    "remote by prefix": ("remote", {"prefix": "p-"}, "main"),
    "cloud by name": ("cloud", {"name": "one"}, "one"),
    "cloud by tags": ("cloud", {"tags": ["b", "a"]}, "main"),
    "cloud in a project": ("cloud", {"tags": ["a"], "project": "new"}, "main"),
}
PREFIX = {"prefix": "p-"}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[FakeService]:
    with FakeService(tmp_path) as made:
        yield made


def arguments(service: FakeService, workspaces: object, **environ: str) -> Arguments:
    config = {"hostname": HOST, "organization": ORGANIZATION, "workspaces": workspaces}
    return Arguments(config, {**service.environ, **environ})


def opened(service: FakeService, kind: str, workspaces: object, **environ: str) -> HostedStore:
    given = arguments(service, workspaces, **environ)
    return remote.open_store(given) if kind == "remote" else cloud.open_store(given)


def backend(service: FakeService, kind: str, workspaces: object, **environ: str) -> RemoteBackend:
    given = arguments(service, workspaces, **environ)
    diags = Diagnostics()
    found = open_backend(kind, given.config, Around(".", given.environ), diags)
    assert isinstance(found, RemoteBackend), list(diags)
    return found


def state(serial: int, lineage: str = "l", **outputs: object) -> bytes:
    told = {name: {"value": value, "type": "string"} for name, value in outputs.items()}
    document = {"version": 4, "serial": serial, "lineage": lineage, "outputs": told}
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("kind", "takes_uploads"), [*((each, True) for each in KINDS), ("remote by name", False)]
)
@pytest.mark.parametrize("check", CHECKS)
def test_conformance(service: FakeService, check: str, kind: str, takes_uploads: bool) -> None:
    service.takes_uploads = takes_uploads
    type_, workspaces, name = KINDS[kind]
    subject = Subject(lambda: opened(service, type_, workspaces), workspace=name)
    asyncio.run(CHECKS[check](subject))


def test_what_the_service_is_told(service: FakeService) -> None:
    async def work() -> None:
        store = opened(service, "cloud", {"tags": ["t"], "project": "new"}, TFE_RUN_ID="run-7")
        await store.open()
        lock = await store.lock("w", new_lock("test").at("here"))
        assert lock.id == f"{ORGANIZATION}/w"
        await store.write("w", state(3, word="x"), "")
        await store.close()

    asyncio.run(work())
    space = service.spaces["w"]
    assert space.tags == ["t"]
    assert space.project == service.projects["new"]
    assert space.reason is not None
    assert '"Operation":"test"' in space.reason
    (version,) = space.versions
    assert (version.serial, version.lineage, version.run) == (3, "l", "run-7")
    assert version.outputs == {"word": {"sensitive": False, "value": "x", "type": "string"}}


@pytest.mark.parametrize("takes_uploads", [True, False])
@pytest.mark.parametrize(("kind", "is_shown"), [("cloud", True), ("remote", False)])
def test_the_document_of_a_state(
    service: FakeService, kind: str, is_shown: bool, takes_uploads: bool
) -> None:
    """It is sent where somebody can make it, and only then."""
    service.takes_uploads = takes_uploads
    storage = backend(service, kind, {"name": "one"}).storage(
        "one" if kind == "cloud" else "default"
    )

    async def document(file: StateFile) -> str | None:
        return state_to_json(file, lambda *_: None, Diagnostics())

    async def work() -> None:
        snapshots, diags = Snapshots(storage, no_encryption().state), Diagnostics()
        for number in range(3):
            snapshots.document = document if number else None
            changed = State(outputs={"count": OutputState(cty_number(number))})
            assert await snapshots.write(changed, diags), list(diags)

    asyncio.run(work())
    first, second, third = (each.shown for each in service.spaces["one"].versions)
    assert first == b""
    assert bool(second) == bool(third) == is_shown
    if is_shown:
        assert json.loads(third)["values"]["outputs"]["count"]["value"] == 2


def test_outputs_of_encrypted_states_are_not_told(service: FakeService) -> None:
    async def work() -> None:
        store = opened(service, "remote", {"name": "one"})
        await store.open()
        await store.write("default", b'{"serial":1,"lineage":"l","encrypted_data":"eA=="}', "")
        await store.close()

    asyncio.run(work())
    (version,) = service.spaces["one"].versions
    assert (version.serial, version.lineage, version.outputs) == (1, "l", {})


@pytest.mark.parametrize(
    ("mode", "has_operations", "environ", "operation", "is_admitted"),
    [
        ("local", True, {}, "OperationTypeApply", True),
        ("remote", True, {}, "OperationTypeApply", False),
        ("agent", True, {}, "OperationTypePlan", False),
        ("remote", True, {}, "OperationTypeRefresh", False),
        ("remote", True, {}, "state-mv", True),
        ("remote", False, {}, "OperationTypeApply", True),
        ("remote", True, {"TF_FORCE_LOCAL_BACKEND": "1"}, "OperationTypeApply", True),
    ],
)
@pytest.mark.parametrize("kind", ["remote", "cloud"])
def test_runs_on_the_service_are_refused(
    service: FakeService,
    kind: str,
    mode: str,
    has_operations: bool,
    environ: dict[str, str],
    operation: str,
    is_admitted: bool,
) -> None:
    service.mode, service.has_operations = mode, has_operations
    diags = Diagnostics()

    async def work() -> bool:
        found = backend(service, kind, {"name": "one"}, **environ)
        name = "default" if kind == "remote" else "one"
        assert await found.create_workspace(name, diags)
        return await found.storage(name).admits(operation, diags)

    assert asyncio.run(work()) is is_admitted
    if not is_admitted:
        (problem,) = diags
        assert "execution mode" in problem.detail
        assert "TF_FORCE_LOCAL_BACKEND" in problem.detail


@pytest.mark.parametrize(
    ("kind", "workspaces", "name", "says"),
    [
        ("remote", {"name": "one"}, "other", 'one workspace only, "one"'),
        ("cloud", {"name": "one"}, "default", 'Use "one"'),
        ("remote", PREFIX, "default", 'no workspace "default"'),
        ("cloud", {"tags": ["t"]}, "default", 'no workspace "default"'),
    ],
)
def test_workspaces_that_there_cannot_be(
    service: FakeService, kind: str, workspaces: object, name: str, says: str
) -> None:
    diags = Diagnostics()
    assert not asyncio.run(backend(service, kind, workspaces).create_workspace(name, diags))
    (problem,) = diags
    assert says in problem.detail
    assert not service.spaces


def test_workspaces_are_listed_over_pages(service: FakeService) -> None:
    diags = Diagnostics()

    async def work() -> None:
        found = backend(service, "remote", PREFIX)
        for name in ("e", "d", "c", "b", "a"):
            assert await found.create_workspace(name, diags)
        other = backend(service, "cloud", {"tags": ["t"]})
        assert await other.create_workspace("not-p-", diags)
        assert await found.workspaces(diags) == ["a", "b", "c", "d", "e"]
        assert await other.workspaces(diags) == ["not-p-"]
        assert not found.keeps_empty_states

    asyncio.run(work())
    assert not list(diags)
    assert not any(each.versions for each in service.spaces.values())


@pytest.mark.parametrize(("is_forced", "is_deleted"), [(False, False), (True, True)])
def test_a_workspace_in_use_is_deleted_only_by_force(
    service: FakeService, is_forced: bool, is_deleted: bool
) -> None:
    diags = Diagnostics()

    async def work() -> bool:
        found = backend(service, "cloud", {"tags": ["t"]})
        await found.create_workspace("w", diags)
        await found.storage("w").write(b'{"serial":1,"lineage":"l","resources":[1]}', diags)
        return await found.delete_workspace("w", diags, is_forced)

    assert asyncio.run(work()) is is_deleted
    assert ("w" in service.spaces) is not is_deleted


@pytest.mark.parametrize("deletes_safely", [True, False])
def test_an_empty_workspace_is_deleted(service: FakeService, deletes_safely: bool) -> None:
    service.deletes_safely = deletes_safely
    diags = Diagnostics()

    async def work() -> bool:
        found = backend(service, "remote", PREFIX)
        await found.create_workspace("w", diags)
        return await found.delete_workspace("w", diags)

    assert asyncio.run(work())
    assert not service.spaces
    asked = service.requests()[-1]
    assert asked.endswith("/actions/safe-delete") is deletes_safely


@pytest.mark.parametrize(
    ("interval", "environ", "pause"),
    [
        ("", {}, float("inf")),
        ("0", {}, float("inf")),
        ("30", {}, 30.0),
        ("5", {}, 20.0),
        ("100000", {}, 3600.0),
        ("30", {"TFE_RUN_ID": "r"}, float("inf")),
    ],
)
def test_the_service_says_how_often_to_store(
    service: FakeService, interval: str, environ: dict[str, str], pause: float
) -> None:
    service.interval = interval
    diags = Diagnostics()

    async def work() -> float:
        found = backend(service, "cloud", {"name": "one"}, **environ)
        await found.storage("one").write(state(1), diags)
        storage = backend(service, "cloud", {"name": "one"}, **environ).storage("one")
        await storage.read(diags)
        return storage.pause_between

    assert asyncio.run(work()) == pause
    assert backend(service, "remote", {"name": "one"}).storage("default").pause_between == 20.0


def test_a_lock_of_another_program_is_shown(service: FakeService) -> None:
    async def work() -> LockInfo | LockConflict | None:
        found = backend(service, "remote", {"name": "one"})
        assert await found.create_workspace("default", Diagnostics())
        service.spaces["one"].reason = "Locked by OpenTofu"
        return await found.storage("default").lock(new_lock("test"), Diagnostics())

    conflict = asyncio.run(work())
    assert isinstance(conflict, LockConflict)
    assert conflict.holder == LockInfo(f"{ORGANIZATION}/one", "", info="Locked by OpenTofu")


def test_a_workspace_stays_locked_if_its_state_is_not_stored(service: FakeService) -> None:
    diags = Diagnostics()

    async def work() -> None:
        found = backend(service, "remote", {"name": "one"})
        storage = found.storage("default")
        lock = await storage.lock(new_lock("test"), diags)
        assert isinstance(lock, LockInfo)
        space = service.spaces.pop("one")
        assert not await storage.write(state(1), diags)
        service.spaces["one"] = space
        assert not await storage.unlock(lock.id, diags)

    asyncio.run(work())
    assert service.spaces["one"].reason is not None
    assert "nigari force-unlock acme/one" in list(diags)[-1].detail


def test_a_version_that_somebody_else_made_meanwhile(service: FakeService) -> None:
    async def work() -> None:
        store = opened(service, "remote", {"name": "one"})
        await store.open()
        version = await store.write("default", state(1), "")
        other = opened(service, "remote", {"name": "one"})
        await other.open()
        await other.read("default")
        await other.write("default", state(2, word="other"), version)
        # What was refused may be our own, if its answer was lost.
        await store.write("default", state(2, word="other"), version)
        with pytest.raises(ContentChanged):
            await store.write("default", state(2, word="ours"), version)
        await store.close()
        await other.close()

    asyncio.run(work())


@pytest.mark.parametrize(
    ("change", "environ", "says"),
    [
        ({"hostname": "a b"}, {}, "not a valid host name"),
        ({"hostname": None}, {}, '"hostname" is not set'),
        ({"token": "wrong"}, {}, "refuses the token"),
        ({"organization": "nobody"}, {}, 'no organization "nobody"'),
        ({}, {"TF_TOKEN_states_example_com": ""}, "nigari login states.example.com"),
    ],
)
def test_what_can_be_wrong(
    service: FakeService, change: dict[str, object], environ: dict[str, str], says: str
) -> None:
    given = arguments(service, {"name": "one"}, **environ)
    diags = Diagnostics()
    around = Around(".", given.environ)
    found = open_backend("remote", {**given.config, **change}, around, diags)
    if found is not None:
        asyncio.run(found.storage("default").read(diags))
    assert says in list(diags)[-1].detail


def test_a_host_without_the_service(service: FakeService) -> None:
    service.services = {"modules.v1": "/m/", "state.v2": "/api/v2/"}
    diags = Diagnostics()
    found = backend(service, "remote", {"name": "one"}).storage("default")
    assert asyncio.run(found.read(diags)) is None
    assert "does not offer the service tfe.v2.1" in list(diags)[-1].detail
    forced = backend(service, "remote", {"name": "one"}, TF_FORCE_LOCAL_BACKEND="1")
    assert asyncio.run(forced.storage("default").read(Diagnostics())) == b""


def test_the_environment_fills_in_for_the_block_cloud(service: FakeService) -> None:
    environ = {
        **service.environ,
        "TF_CLOUD_HOSTNAME": HOST,
        "TF_CLOUD_ORGANIZATION": ORGANIZATION,
        "TF_CLOUD_PROJECT": "p",
        "TF_WORKSPACE": "w",
    }

    async def work() -> None:
        store = cloud.open_store(Arguments({}, environ))
        await store.open()
        assert await store.names() == ()
        await store.create("w")
        assert await store.names() == ("w",)
        await store.close()

    asyncio.run(work())
    assert service.spaces["w"].project == service.projects["p"]


def test_an_own_lock_whose_answer_was_lost(service: FakeService) -> None:
    async def work() -> None:
        store = opened(service, "remote", {"name": "one"})
        await store.open()
        info = new_lock("test").at("here")
        await store.lock("default", info)
        await store.lock("default", info)
        with pytest.raises(StateIsLocked):
            await store.lock("default", new_lock("test").at("here"))
        with pytest.raises(BackendFailure, match="has the ID"):
            await store.force_unlock("default", info.id)
        await store.close()

    asyncio.run(work())
