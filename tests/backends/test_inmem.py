"""The backend `inmem`, which is also the one that shows what all remote backends share."""

import asyncio
import json
from pathlib import Path

import pytest

from nigari.backends.conformance import CHECKS, Subject
from nigari.backends.lock_options import LockOptions
from nigari.backends.open_backend import open_backend
from nigari.backends.protocol import Around, Backend
from nigari.backends.remote import pause_between
from nigari.backends.snapshots import Snapshots
from nigari.backends.stores.inmem.store import InMemoryStore, forget_all
from nigari.backends.workspaces import Workspaces, WorkspaceStates, selected_workspace
from nigari.cty import string
from nigari.diagnostics import Diagnostics
from nigari.state.encryption import no_encryption
from nigari.state.model import OutputState, State

LAYER = no_encryption().state


@pytest.fixture(autouse=True)
def empty() -> None:
    forget_all()


@pytest.mark.parametrize("check", CHECKS)
def test_conformance(check: str) -> None:
    asyncio.run(CHECKS[check](Subject(InMemoryStore)))


def opened(**config: object) -> Backend:
    diags = Diagnostics()
    backend = open_backend("inmem", config, Around(".", {}), diags)
    assert backend is not None, list(diags)
    return backend


def state(word: str) -> State:
    return State(outputs={"word": OutputState(string(word))})


def test_a_state_with_its_serial_and_lineage() -> None:
    async def work() -> None:
        diags = Diagnostics()
        for serial, word in enumerate("ab", start=1):
            snapshots = Snapshots(opened().storage("default"), LAYER)
            assert await snapshots.lock("test", LockOptions(), diags)
            assert await snapshots.read(diags)
            assert await snapshots.write(state(word), diags)
            assert await snapshots.write(state(word), diags)
            assert snapshots.file is not None
            assert snapshots.file.serial == serial
            assert await snapshots.unlock(diags)
        assert not list(diags)

    asyncio.run(work())


def test_who_lost_the_lock_does_not_overwrite() -> None:
    async def work() -> list[str]:
        diags = Diagnostics()
        one, other = (Snapshots(opened().storage("default"), LAYER) for _ in range(2))
        assert await one.read(diags)
        assert await other.read(diags)
        assert await other.write(state("theirs"), diags)
        assert not await one.write(state("ours"), diags)
        return [each.summary for each in diags]

    assert asyncio.run(work()) == ["State not saved"]


def test_a_lock_that_is_configured() -> None:
    async def work() -> list[str]:
        diags = Diagnostics()
        snapshots = Snapshots(opened(lock_id="abc").storage("default"), LAYER)
        assert not await snapshots.lock("test", LockOptions(), diags)
        return [each.detail for each in diags]

    (detail,) = asyncio.run(work())
    assert "abc" in detail


def test_a_new_workspace_has_an_empty_state(tmp_path: Path) -> None:
    async def work() -> None:
        diags = Diagnostics()
        backend = opened()
        states = WorkspaceStates(backend, lambda: LAYER)
        workspaces = Workspaces(
            backend,
            tmp_path,
            lambda diags: selected_workspace(tmp_path, {}, diags),
            lambda _: states,
        )
        assert await workspaces.create("w", LockOptions(), diags), list(diags)
        assert list(await workspaces.names(diags)) == ["default", "w"]
        data = await backend.storage("w").read(diags)
        document = json.loads(data or b"")
        assert document["serial"] == 1
        assert document["lineage"]
        assert not document["resources"]
        assert await workspaces.select("default", False, LockOptions(), diags)
        assert await workspaces.delete("w", LockOptions(), False, diags)
        assert list(await workspaces.names(diags)) == ["default"]

    asyncio.run(work())


@pytest.mark.parametrize(
    ("given", "seconds"), [("", 20.0), ("5", 20.0), ("60", 60.0), ("soon", 20.0)]
)
def test_the_pause_between_writes(given: str, seconds: float) -> None:
    assert pause_between({"TF_STATE_PERSIST_INTERVAL": given}) == seconds
