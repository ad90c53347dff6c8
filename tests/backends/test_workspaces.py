"""Workspaces of the local backend."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from nigari.addrs.parse import parse_provider_instance, parse_resource_instance
from nigari.backends.local import LocalBackend, LocalPaths
from nigari.backends.lock_options import LockOptions
from nigari.backends.snapshots import Snapshots
from nigari.backends.workspaces import (
    SelectedWorkspace,
    Workspaces,
    WorkspaceStates,
    is_valid_name,
    selected_workspace,
)
from nigari.diagnostics import Diagnostics
from nigari.state.draft import StateDraft
from nigari.state.encryption import no_encryption
from nigari.state.model import State, StoredObject


def opened(directory: Path, environ: Mapping[str, str] = MappingProxyType({})) -> Workspaces:
    """The workspaces of a directory, all in one backend."""
    backend = LocalBackend(directory, LocalPaths())
    states = WorkspaceStates(backend, lambda: no_encryption().state)
    data = directory / ".terraform"
    return Workspaces(
        backend, data, lambda diags: selected_workspace(data, environ, diags), lambda _: states
    )


@pytest.fixture
def workspaces(tmp_path: Path) -> Workspaces:
    return opened(tmp_path)


def done(workspaces: Workspaces, what: str, name: str, force: bool = False) -> list[str]:
    diags = Diagnostics()
    if what == "new":
        asyncio.run(workspaces.create(name, LockOptions(), diags))
    elif what == "delete":
        asyncio.run(workspaces.delete(name, LockOptions(), force, diags))
    else:
        or_create = what == "select -or-create"
        asyncio.run(workspaces.select(name, or_create, LockOptions(), diags))
    return [each.summary for each in diags]


def names(workspaces: Workspaces) -> list[str]:
    return list(asyncio.run(workspaces.names(Diagnostics())))


def test_at_first_there_is_the_default_one(workspaces: Workspaces) -> None:
    assert names(workspaces) == ["default"]
    assert workspaces.selected(Diagnostics()) == SelectedWorkspace("default")


def test_a_new_one_is_selected(workspaces: Workspaces, tmp_path: Path) -> None:
    assert done(workspaces, "new", "b") == []
    assert done(workspaces, "new", "a") == []
    assert names(workspaces) == ["default", "a", "b"]
    assert workspaces.selected(Diagnostics()).name == "a"
    assert (tmp_path / ".terraform" / "environment").read_bytes() == b"a"
    assert (tmp_path / "terraform.tfstate.d" / "a").is_dir()


def test_select(workspaces: Workspaces) -> None:
    assert done(workspaces, "select", "a") == ['Workspace "a" doesn\'t exist']
    assert done(workspaces, "select -or-create", "a") == []
    assert done(workspaces, "select", "default") == []
    assert workspaces.selected(Diagnostics()).name == "default"
    assert done(workspaces, "select -or-create", "a") == []
    assert workspaces.selected(Diagnostics()).name == "a"


@pytest.mark.parametrize(
    ("what", "name", "summary"),
    [
        ("new", "default", "Workspace already exists"),
        ("new", "a/b", "Invalid workspace name"),
        ("new", "..", "Invalid workspace name"),
        ("select", "a b", "Invalid workspace name"),
        ("delete", "default", "Workspace is selected"),
        ("delete", "nope", 'Workspace "nope" doesn\'t exist'),
    ],
)
def test_refused(workspaces: Workspaces, what: str, name: str, summary: str) -> None:
    assert done(workspaces, what, name) == [summary]


def test_the_environment_decides(tmp_path: Path) -> None:
    workspaces = opened(tmp_path, {"TF_WORKSPACE": "w"})
    assert workspaces.selected(Diagnostics()) == SelectedWorkspace(
        "w", "The environment variable TF_WORKSPACE"
    )
    assert done(workspaces, "new", "x") == ["Workspace is set by the environment"]
    assert done(workspaces, "select", "default") == ["Workspace is set by the environment"]
    diags = Diagnostics()
    opened(tmp_path, {"TF_WORKSPACE": "a b"}).selected(diags)
    assert [each.summary for each in diags] == ["Invalid workspace name"]


def with_object() -> State:
    diags = Diagnostics()
    address = parse_resource_instance("terraform_data.a", diags)
    provider = parse_provider_instance('provider["terraform.io/builtin/terraform"]', diags)
    assert address is not None
    assert provider is not None
    draft = StateDraft()
    draft.set_current(address, StoredObject("{}"), provider)
    return draft.finish()


def test_delete(workspaces: Workspaces, tmp_path: Path) -> None:
    done(workspaces, "new", "a")
    assert done(workspaces, "delete", "a") == ["Workspace is selected"]
    done(workspaces, "select", "default")
    store = Snapshots(workspaces.backend.storage("a"), no_encryption().state)
    assert asyncio.run(store.write(with_object(), Diagnostics()))
    assert done(workspaces, "delete", "a") == ["Workspace is not empty"]
    assert names(workspaces) == ["default", "a"]
    assert done(workspaces, "delete", "a", force=True) == ["Deleted workspace was not empty"]
    assert names(workspaces) == ["default"]


def test_delete_waits_for_no_lock(workspaces: Workspaces) -> None:
    done(workspaces, "new", "a")
    done(workspaces, "select", "default")
    store = Snapshots(workspaces.backend.storage("a"), no_encryption().state)
    diags = Diagnostics()
    assert asyncio.run(store.lock("apply", LockOptions(), diags))
    assert done(workspaces, "delete", "a") == ["Error acquiring the state lock"]
    assert asyncio.run(store.unlock(diags))
    assert done(workspaces, "delete", "a") == []


@pytest.mark.parametrize(
    ("name", "valid"),
    [("a", True), ("A-b_c.d~", True), ("a:b@c", True), ("é", False), ("a/b", False), ("", False)],
)
def test_names(name: str, valid: bool) -> None:
    assert is_valid_name(name) is valid
