"""Identities of states: which of two descriptions of a stored state mean the same one.

The configuration that writes a state and one that reads it describe it in words of their own: with
other credentials, with or without settings for locks, with paths that begin elsewhere. Only the
arguments that say where a state is count here, with what the environment fills in for them. A location that
is not known is no identity: two of them are never equal. Nothing is connected to.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from nigari.backends.harmless import NOT_SHOWN, is_harmless, without_credentials
from nigari.backends.local import LocalBackend
from nigari.backends.opening import Around, local_paths
from nigari.backends.protocol import DEFAULT_WORKSPACE
from nigari.clouds.arguments import Arguments
from nigari.diagnostics.secret_urls import hidden_url
from nigari.lazy import lazy_pattern
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_PASSWORD: Final = lazy_pattern(r"\bpassword\s*=\s*(?:'(?:[^'\\]|\\.)*'|\S*)")
"""The password in the settings of a PostgreSQL connection that is not a URL."""
_Places = Mapping[str, tuple[tuple[str, ...], str]]

_ADDRESSES: Final[Mapping[str, _Places]] = {
    "azurerm": {
        "storage_account_name": ((), ""),
        "container_name": ((), ""),
        "key": ((), ""),
        "environment": (("ARM_ENVIRONMENT",), "public"),
        "endpoint": (("ARM_ENDPOINT",), ""),
    },
    "consul": {
        "address": (("CONSUL_HTTP_ADDR",), "127.0.0.1:8500"),
        "datacenter": ((), ""),
        "path": ((), ""),
    },
    "cos": {"bucket": ((), ""), "prefix": ((), ""), "key": ((), "terraform.tfstate")},
    "gcs": {
        "bucket": ((), ""),
        "prefix": ((), ""),
        "storage_custom_endpoint": (
            ("GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT", "GOOGLE_STORAGE_CUSTOM_ENDPOINT"),
            "",
        ),
    },
    "http": {"address": (("TF_HTTP_ADDRESS",), "")},
    "kubernetes": {
        "host": (("KUBE_HOST",), ""),
        "config_context": (("KUBE_CTX",), ""),
        "namespace": (("KUBE_NAMESPACE",), "default"),
        "secret_suffix": ((), ""),
    },
    "oss": {"bucket": ((), ""), "prefix": ((), ""), "key": ((), "terraform.tfstate")},
    "pg": {
        "conn_str": (("PG_CONN_STR",), ""),
        "schema_name": (("PG_SCHEMA_NAME",), "terraform_remote_state"),
        "table_name": (("PG_TABLE_NAME",), "states"),
    },
    "s3": {
        "bucket": ((), ""),
        "key": ((), ""),
        "workspace_key_prefix": ((), "env:"),
        "endpoint": (("AWS_ENDPOINT_URL_S3", "AWS_S3_ENDPOINT"), ""),
    },
}
"""The arguments that say where a backend has its states: the environment variables that fill in for
each, and what it is without any.
"""
_CREDENTIALS: Final = frozenset(
    (
        "access_key",
        "access_token",
        "client_ca_certificate_pem",
        "client_certificate",
        "client_certificate_password",
        "client_certificate_pem",
        "client_key",
        "client_private_key_pem",
        "client_secret",
        "credentials",
        "customer_provided_key",
        "encryption_key",
        "oidc_request_token",
        "oidc_token",
        "password",
        "sas_token",
        "secret_id",
        "secret_key",
        "security_token",
        "sse_customer_key",
        "token",
        "username",
        "web_identity_token",
    )
)
"""The arguments by which a store knows its user. They change without the states being elsewhere."""
_LOCAL: Final = ("path", "workspace_dir")
_HOSTED_NAMES: Final = ("hostname", "organization", "workspaces")
_LOCATING: Final[Mapping[str, tuple[str, ...]]] = {
    "azurerm": ("storage_account_name", "container_name", "key"),
    "consul": ("path",),
    "cos": ("bucket", "prefix", "key"),
    "gcs": ("bucket", "prefix"),
    "http": ("address",),
    "kubernetes": ("secret_suffix",),
    "oss": ("bucket", "prefix", "key"),
    "pg": ("conn_str",),
    "s3": ("bucket", "key"),
}
"""The arguments that `-backend-config` usually completes: whether an unset one stays so is known only
once init has run.
"""
_HOSTED: Final = ("remote", "cloud")
_HOST: Final = "app.terraform.io"


@record
class StateIdentity:
    """One stored state. Two that are equal are the same state."""

    backend: str
    address: tuple[tuple[str, str], ...]
    """What says where it is, as names and values; secrets in it are not shown."""
    workspace: str

    def __str__(self) -> str:
        shown = ", ".join(
            f"{name} = {_shown(self.backend, name, value)}" for name, value in self.address if value
        )
        within = "" if self.workspace == DEFAULT_WORKSPACE else f", workspace {self.workspace}"
        return f"{self.backend} backend, {shown}{within}" if shown else f"{self.backend} backend"


def state_identity(
    type_: str,
    config: Mapping[str, object],
    workspace: str,
    around: Around,
    *,
    is_complete: bool = True,
) -> StateIdentity | None:
    """The state that arguments mean, which are JSON data as init remembers them; None where that is
    not known. Arguments are not complete as long as init may still be given more of them.
    """
    if type_ == "local":
        storage = LocalBackend(around.directory, local_paths(config)).storage(workspace)
        path = os.path.realpath(os.path.join(around.directory, storage.location))
        # The path says it all: whoever reads a file need not know of the writer's workspace.
        return StateIdentity(type_, (("path", path),), DEFAULT_WORKSPACE)
    if type_ == "inmem":
        # Each process has states of its own.
        return None
    if type_ in _HOSTED:
        return _hosted(config, workspace, around)
    arguments = Arguments(config, around.environ)
    known = _ADDRESSES.get(type_, {})
    if not is_complete and not all(
        arguments.text(name, *known[name][0]) for name in _LOCATING.get(type_, ())
    ):
        return None
    address = [
        (name, _normal(name, arguments.text(name, *variables, default=default)))
        for name, (variables, default) in known.items()
    ]
    if type_ == "s3" and isinstance(config.get("endpoints"), dict):
        endpoint = arguments.mapping("endpoints").get("s3", "")
        address = [(name, endpoint if name == "endpoint" else value) for name, value in address]
    return StateIdentity(type_, tuple(address), workspace)


def location_arguments(config: Mapping[str, object]) -> Mapping[str, object]:
    """The arguments that lead to the states of a backend: those that are set, without credentials.

    Two that are equal are the same location. Unlike an identity, they retain what may matter in a
    way that only the store knows, such as a profile.
    """
    return {
        name: _without_secrets(name, value)
        for name, value in config.items()
        if value is not None and name not in _CREDENTIALS
    }


def location_text(type_: str, config: Mapping[str, object]) -> str:
    """A backend and the arguments that say where its states are, for people."""
    names = _HOSTED_NAMES if type_ in _HOSTED else _LOCAL if type_ == "local" else ()
    arguments = location_arguments(config)
    found = ", ".join(
        f"{name} = {_shown(type_, name, arguments[name])}"
        for name in names or _ADDRESSES.get(type_, ())
        if name in arguments
    )
    return f'backend "{type_}"{": " if found else ""}{found}'


def _without_secrets(name: str, value: object) -> object:
    if isinstance(value, dict):
        return location_arguments(value)
    if isinstance(value, list):
        return [_without_secrets(name, each) for each in value]
    if not isinstance(value, str):
        return value
    if "://" in value:
        return hidden_url(value)
    return _PASSWORD.sub("", value) if name == "conn_str" else value


def _hosted(config: Mapping[str, object], workspace: str, around: Around) -> StateIdentity | None:
    """The workspace of an organization. One that is chosen by tags, or by the rest of its name after
    a prefix, is unknown until one is selected: there is no default workspace.
    """
    arguments = Arguments(config, around.environ)
    given = config.get("workspaces")
    if isinstance(given, list):
        given = given[0] if given else None
    wanted = given if isinstance(given, dict) else {}
    name = str(wanted.get("name") or "")
    if not name and workspace != DEFAULT_WORKSPACE:
        name = f"{wanted.get('prefix') or ''}{workspace}"
    organization = arguments.text("organization", "TF_CLOUD_ORGANIZATION")
    if not name or not organization:
        return None
    address = (
        ("hostname", arguments.text("hostname", "TF_CLOUD_HOSTNAME", default=_HOST)),
        ("organization", organization),
        ("workspace", name),
    )
    return StateIdentity("remote", address, DEFAULT_WORKSPACE)


def _normal(name: str, value: str) -> str:
    """A value written the one way, where there are several."""
    if name == "prefix":
        return value.strip("/")
    if name in ("address", "endpoint", "storage_custom_endpoint"):
        return value.rstrip("/")
    return value


def _shown(backend: str, name: str, value: object) -> str:
    if not is_harmless(backend, name):
        return NOT_SHOWN
    return json.dumps(without_credentials(value), ensure_ascii=False)
