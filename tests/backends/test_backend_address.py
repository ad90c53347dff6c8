"""Which descriptions of a state mean the same one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from nigari.backends.backend_address import StateIdentity, state_identity
from nigari.backends.protocol import Around

_S3 = {"bucket": "states", "key": "net/terraform.tfstate", "region": "eu-west-1"}
_PG = {"conn_str": "postgres://db/states"}


def _identity(
    backend: str, config: Mapping[str, object], workspace: str = "default", **environ: str
) -> StateIdentity:
    found = state_identity(backend, config, workspace, Around("/fleet/unit", environ))
    assert found is not None
    return found


SAME = [
    ("locks do not count", "s3", _S3, {**_S3, "dynamodb_table": "locks", "encrypt": True}),
    ("credentials do not count", "s3", _S3, {**_S3, "profile": "ci", "access_key": "a"}),
    ("the usual prefix is written", "s3", _S3, {**_S3, "workspace_key_prefix": "env:"}),
    ("a slash at the end", "gcs", {"bucket": "b", "prefix": "x/"}, {"bucket": "b", "prefix": "x"}),
    ("the usual schema", "pg", _PG, {**_PG, "schema_name": "terraform_remote_state"}),
    ("a password", "http", {"address": "https://h/x"}, {"address": "https://h/x", "password": "p"}),
]


@pytest.mark.parametrize(("backend", "one", "other"), [row[1:] for row in SAME], ids=lambda _: "")
def test_the_same(backend: str, one: Mapping[str, object], other: Mapping[str, object]) -> None:
    assert _identity(backend, one) == _identity(backend, other)


DIFFERENT = [
    ("s3", _S3, {**_S3, "key": "other"}),
    ("s3", _S3, {**_S3, "endpoints": {"s3": "http://elsewhere"}}),
    ("pg", _PG, {**_PG, "schema_name": "other"}),
    ("pg", _PG, {"conn_str": "postgres://db/others"}),
    ("gcs", {"bucket": "b", "prefix": "x"}, {"bucket": "b", "prefix": "y"}),
    ("azurerm", {"container_name": "c", "key": "a"}, {"container_name": "c", "key": "b"}),
    ("kubernetes", {"secret_suffix": "a"}, {"secret_suffix": "a", "namespace": "other"}),
    (
        "remote",
        {"organization": "o", "workspaces": [{"name": "a"}]},
        {"organization": "o", "workspaces": [{"name": "b"}]},
    ),
]


@pytest.mark.parametrize(("backend", "one", "other"), DIFFERENT)
def test_different(backend: str, one: Mapping[str, object], other: Mapping[str, object]) -> None:
    assert _identity(backend, one) != _identity(backend, other)


def test_workspaces_are_different_states() -> None:
    assert _identity("s3", _S3, "dev") != _identity("s3", _S3)


def test_the_environment_fills_in() -> None:
    given = _identity("pg", {"conn_str": "postgres://db/states"})
    assert _identity("pg", {}, PG_CONN_STR="postgres://db/states") == given


def test_a_prefix_with_a_workspace_is_a_name() -> None:
    whole = _identity("remote", {"organization": "o", "workspaces": [{"name": "net-dev"}]})
    parts = {"organization": "o", "workspaces": [{"prefix": "net-"}]}
    assert _identity("remote", parts, "dev") == whole
    assert _identity("cloud", parts, "dev") == whole


def test_local_paths_are_those_of_the_files(tmp_path: Path) -> None:
    network, app = tmp_path / "network", tmp_path / "app"
    os.makedirs(network)
    os.symlink(network, tmp_path / "linked")

    def local(directory: Path, path: str | None, workspace: str = "default") -> StateIdentity:
        found = state_identity("local", {"path": path}, workspace, Around(directory, {}))
        assert found is not None
        return found

    written = local(network, None)
    assert local(app, "../network/terraform.tfstate") == written
    assert local(app, "../linked/terraform.tfstate") == written
    assert local(app, str(network / "terraform.tfstate")) == written
    assert local(app, None) != written
    in_dev = local(network, None, "dev")
    assert local(app, "../network/terraform.tfstate.d/dev/terraform.tfstate") == in_dev


def test_no_secret_is_shown() -> None:
    text = str(_identity("pg", {"conn_str": "postgres://me:secret@db/states"}, "dev"))
    assert "secret" not in text
    assert "workspace dev" in text
