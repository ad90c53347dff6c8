"""The objects of the backend `kubernetes`: Secrets with states, Leases that lock them.

The resource version of a Secret is the condition of a write. Access to the cluster is in `cluster`.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlencode

from nigari.backends.locking import LockInfo, parse_lock
from nigari.backends.store import (
    ABSENT,
    BackendFailure,
    Content,
    ContentChanged,
    StateIsLocked,
)
from nigari.backends.stores.http_store import STATE_LIMIT
from nigari.backends.stores.kubernetes.cluster import Cluster, logged_in, read_cluster
from nigari.clouds.arguments import Arguments
from nigari.diagnostics.secret_urls import hidden_url
from nigari.net.client import Client, Policy
from nigari.net.response import Response
from nigari.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_STATE: Final = "tfstate"
_SUFFIX_LABEL: Final = "tfstateSecretSuffix"
_WORKSPACE_LABEL: Final = "tfstateWorkspace"
_LOCK_NOTE: Final = "app.terraform.io/lock-info"
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_LONGEST_NAME: Final = 253
_POLICY: Final = Policy(timeout=None, limit=STATE_LIMIT)
_ATTEMPTS: Final = 5

_Object = dict[str, object]


def open_store(arguments: Arguments) -> KubernetesStore:
    """The store that the arguments describe."""
    return KubernetesStore(
        read_cluster(arguments),
        arguments.text("namespace", "KUBE_NAMESPACE", default="default"),
        arguments.required("secret_suffix"),
        arguments.mapping("labels"),
    )


class KubernetesStore:
    """The states of a namespace that have the same suffix."""

    has_workspaces: Final = True

    def __init__(
        self, cluster: Cluster, namespace: str, suffix: str, labels: Mapping[str, str]
    ) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._suffix = suffix
        self._labels = labels
        self._client: Client | None = None

    def location(self, workspace: str) -> str:
        return (
            f"{hidden_url(self._cluster.url)} {self._namespace}/tfstate-{workspace}-{self._suffix}"
        )

    async def open(self) -> None:
        self._cluster = await logged_in(self._cluster)
        self._client = Client(self._cluster.network())

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    # -- contents -------------------------------------------------------------------------------

    async def names(self) -> Sequence[str]:
        wanted = f"{_STATE}=true,{_SUFFIX_LABEL}={self._suffix}"
        query = urlencode({"labelSelector": wanted})
        answer = (await self._ask("GET", f"{self._secrets()}?{query}")).require(200).json()
        items = answer.get("items") if isinstance(answer, dict) else None
        return [
            str(labels[_WORKSPACE_LABEL])
            for each in items or ()
            if _WORKSPACE_LABEL in (labels := _member(_member(each, "metadata"), "labels"))
            and labels.get(_SUFFIX_LABEL) == self._suffix
        ]

    async def read(self, workspace: str) -> Content | None:
        secret = await self._get(self._secrets(self._name(workspace)))
        return None if secret is None else Content(_state_of(secret), _version(secret))

    async def write(self, workspace: str, data: bytes, expected: str | None) -> str | None:
        name = self._name(workspace)
        secret = await self._get(self._secrets(name))
        is_empty = secret is None or (expected == ABSENT and not _state_of(secret))
        found = ABSENT if secret is None or is_empty else _version(secret)
        if expected is not None and found != expected:
            return await self._settle(workspace, data)
        payload = base64.b64encode(gzip.compress(data)).decode()
        if secret is None:
            made: _Object = {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": self._metadata(name, workspace, {"encoding": "gzip"}),
                "data": {_STATE: payload},
            }
            response = await self._ask("POST", self._secrets(), made)
        else:
            secret["data"] = {**_member(secret, "data"), _STATE: payload}
            response = await self._ask("PUT", self._secrets(name), secret)
        if response.status == 409:
            return await self._settle(workspace, data)
        return _version(_object(response.require(200, 201)))

    async def _settle(self, workspace: str, data: bytes) -> str | None:
        """A write was refused. It may be ours, made by an attempt whose answer was lost."""
        found = await self.read(workspace)
        if found is None or found.data != data:
            raise ContentChanged(
                "Another run has changed the state since it was read, so it was not replaced."
            )
        return found.version

    async def delete(self, workspace: str) -> None:
        for path in (self._secrets(self._name(workspace)), self._leases(workspace)):
            found = await self._get(path)
            if found is None:
                continue
            if _member(_member(found, "metadata"), "labels").get(_STATE) != "true":
                raise BackendFailure(f"{path} is not a state: it lacks the label {_STATE}.")
            response = await self._ask("DELETE", path)
            if response.status != 404:
                response.require(200, 202)

    # -- locks ----------------------------------------------------------------------------------

    async def lock(self, workspace: str, info: LockInfo) -> LockInfo:
        # OpenTofu tells no path either, since the lease says what is locked.
        info = replace(info, path="")
        for _ in range(_ATTEMPTS):
            lease = await self._get(self._leases(workspace))
            if lease is None:
                note = {_LOCK_NOTE: info.to_bytes().decode()}
                made: _Object = {
                    "apiVersion": "coordination.k8s.io/v1",
                    "kind": "Lease",
                    "metadata": self._metadata(f"lock-{self._name(workspace)}", workspace, note),
                    "spec": {"holderIdentity": info.id},
                }
                response = await self._ask("POST", self._leases(), made)
            else:
                holder = _member(lease, "spec").get("holderIdentity")
                if holder == info.id:
                    return info
                if holder is not None:
                    raise StateIsLocked(_holder(lease))
                response = await self._put_lease(workspace, lease, info)
            if response.status != 409:
                response.require(200, 201)
                return info
        raise StateIsLocked(None)

    async def unlock(self, workspace: str, lock: LockInfo) -> None:
        await self.force_unlock(workspace, lock.id)

    async def force_unlock(self, workspace: str, lock_id: str) -> None:
        lease = await self._get(self._leases(workspace))
        holder = None if lease is None else _member(lease, "spec").get("holderIdentity")
        if lease is None or holder is None:
            raise BackendFailure("The state is not locked.")
        if holder != lock_id:
            raise BackendFailure(f'The state is locked with another ID, "{holder}".')
        response = await self._put_lease(workspace, lease, None)
        if response.status == 409:
            raise BackendFailure("Another run has changed the lock at the same time. Try again.")
        response.require(200)

    async def _put_lease(self, workspace: str, lease: _Object, info: LockInfo | None) -> Response:
        metadata, spec = _member(lease, "metadata"), _member(lease, "spec")
        notes = _member(metadata, "annotations")
        notes.pop(_LOCK_NOTE, None)
        spec.pop("holderIdentity", None)
        if info is not None:
            notes[_LOCK_NOTE] = info.to_bytes().decode()
            spec["holderIdentity"] = info.id
        changed = {**lease, "metadata": {**metadata, "annotations": notes}, "spec": spec}
        return await self._ask("PUT", self._leases(workspace), changed)

    # -- requests -------------------------------------------------------------------------------

    def _name(self, workspace: str) -> str:
        name = f"{_STATE}-{workspace}-{self._suffix}"
        if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME or ".." in name:
            raise BackendFailure(
                f'"{name}" cannot be the name of a Secret: names of workspaces and suffixes have '
                'lower-case letters, digits, "-" and "." only.'
            )
        return name

    def _metadata(self, name: str, workspace: str, notes: Mapping[str, str]) -> _Object:
        labels = {
            _STATE: "true",
            _SUFFIX_LABEL: self._suffix,
            _WORKSPACE_LABEL: workspace,
            "app.kubernetes.io/managed-by": "terraform",
            **self._labels,
        }
        return {
            "name": name,
            "namespace": self._namespace,
            "labels": labels,
            "annotations": dict(notes),
        }

    def _secrets(self, name: str = "") -> str:
        base = f"/api/v1/namespaces/{quote(self._namespace)}/secrets"
        return f"{base}/{name}" if name else base

    def _leases(self, workspace: str = "") -> str:
        base = f"/apis/coordination.k8s.io/v1/namespaces/{quote(self._namespace)}/leases"
        return f"{base}/lock-{self._name(workspace)}" if workspace else base

    async def _get(self, path: str) -> _Object | None:
        response = await self._ask("GET", path)
        return None if response.status == 404 else _object(response.require(200))

    async def _ask(self, method: str, path: str, body: _Object | None = None) -> Response:
        assert self._client is not None, "the store is not open"
        response = await self._client.request(
            method,
            f"{self._cluster.url}{path}",
            headers={"accept": "application/json", "content-type": "application/json"},
            credentials=self._cluster.secrets(),
            body=None if body is None else json.dumps(body).encode(),
            policy=_POLICY,
        )
        if response.status in (401, 403):
            advice = " Log in to the cluster again." if response.status == 401 else ""
            raise BackendFailure(
                f"The cluster refuses: {response.said or 'not authorized'}.{advice}"
            )
        return response


def _object(response: Response) -> _Object:
    found = response.json()
    return found if isinstance(found, dict) else {}


def _member(holder: object, name: str) -> _Object:
    found = holder.get(name) if isinstance(holder, dict) else None
    return found if isinstance(found, dict) else {}


def _version(found: _Object) -> str:
    return str(_member(found, "metadata").get("resourceVersion", ""))


def _state_of(secret: _Object) -> bytes:
    text = _member(secret, "data").get(_STATE)
    return gzip.decompress(base64.b64decode(str(text))) if text else b""


def _holder(lease: _Object) -> LockInfo | None:
    note = _member(_member(lease, "metadata"), "annotations").get(_LOCK_NOTE)
    return parse_lock(str(note).encode()) if note else None
