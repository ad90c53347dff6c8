"""The Secrets and Leases of a cluster in memory."""

import json
import threading
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.net_world.server import Answer, Asked, Server, json_answer


class FakeCluster:
    """Answers on `url`; `token` must be given if there is one."""

    def __init__(self, token: str = "", certificate: Path | None = None) -> None:
        self.objects: dict[str, dict[str, object]] = {}
        self._token = token
        self._version = 100
        self._mutex = threading.Lock()
        self.server = Server(self._answer, certificate)
        self.url = self.server.url

    def block(self, suffix: str, directory: Path) -> str:
        """A configuration with this backend; the way to it is in a file of the directory."""
        path = directory / "kubeconfig"
        path.write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: a\n"
            "contexts: [{name: a, context: {cluster: b, user: c}}]\n"
            f"clusters: [{{name: b, cluster: {{server: '{self.url}'}}}}]\n"
            "users: [{name: c, user: {token: any}}]\n"
        )
        body = f'    config_path = "{path}"\n    secret_suffix = "{suffix}"\n'
        return f'terraform {{\n  backend "kubernetes" {{\n{body}  }}\n}}\n'

    def __enter__(self) -> "FakeCluster":
        return self

    def __exit__(self, *_: object) -> None:
        self.server.close()

    def _answer(self, asked: Asked) -> Answer:
        if self._token and asked.headers.get("authorization") != f"Bearer {self._token}":
            return json_answer({"kind": "Status", "code": 401, "message": "who?"}, 401)
        with self._mutex:
            return self._work(asked)

    def _work(self, asked: Asked) -> Answer:
        parts = urlsplit(asked.path)
        path = parts.path
        if asked.method == "POST":
            made = _read(asked)
            metadata = made["metadata"]
            assert isinstance(metadata, dict)
            return self._store(f"{path}/{metadata['name']}", made, is_new=True)
        if asked.method == "PUT":
            return self._store(path, _read(asked), is_new=False)
        if asked.method == "DELETE":
            if self.objects.pop(path, None) is None:
                return _status(404, "NotFound")
            return json_answer({"kind": "Status", "status": "Success"})
        if path.endswith(("/secrets", "/leases")):
            (selector,) = parse_qs(parts.query).get("labelSelector", [""])
            return json_answer(self._list(path, selector))
        found = self.objects.get(path)
        return _status(404, "NotFound") if found is None else json_answer(found)

    def _list(self, path: str, selector: str) -> dict[str, object]:
        wanted = [each.split("=", 1) for each in selector.split(",") if each]
        items = []
        for at, each in sorted(self.objects.items()):
            metadata = each["metadata"]
            assert isinstance(metadata, dict)
            labels = metadata.get("labels", {})
            if at.startswith(f"{path}/") and all(labels.get(n) == v for n, v in wanted):
                items.append(each)
        kind = "SecretList" if path.endswith("secrets") else "LeaseList"
        return {"kind": kind, "apiVersion": "v1", "metadata": {}, "items": items}

    def _store(self, path: str, made: dict[str, object], is_new: bool) -> Answer:
        metadata = made["metadata"]
        assert isinstance(metadata, dict)
        known = self.objects.get(path)
        if is_new and known is not None:
            return _status(409, "AlreadyExists")
        if not is_new:
            if known is None:
                return _status(404, "NotFound")
            before = known["metadata"]
            assert isinstance(before, dict)
            given = metadata.get("resourceVersion")
            if given and given != before["resourceVersion"]:
                return _status(409, "Conflict")
        self._version += 1
        metadata["resourceVersion"] = str(self._version)
        if "secrets" in path:
            made |= {"apiVersion": "v1", "kind": "Secret"}
        else:
            made |= {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
        self.objects[path] = made
        return json_answer(made, 201 if is_new else 200)


def _read(asked: Asked) -> dict[str, object]:
    """What is sent: JSON, or a Lease in the binary form that Go's client prefers."""
    if "protobuf" not in asked.headers.get("content-type", ""):
        found: dict[str, object] = json.loads(asked.body)
        return found
    lease = _fields(_fields(asked.body.removeprefix(b"k8s\0"))[2][0])
    metadata = _fields(lease[1][0])
    spec = _fields(lease[2][0]) if 2 in lease else {}
    return {
        "metadata": {
            "name": metadata[1][0].decode(),
            "namespace": metadata.get(3, [b""])[0].decode(),
            "resourceVersion": metadata.get(6, [b""])[0].decode(),
            "labels": _map(metadata.get(11, [])),
            "annotations": _map(metadata.get(12, [])),
        },
        "spec": {"holderIdentity": spec[1][0].decode()} if 1 in spec else {},
    }


def _map(entries: list[bytes]) -> dict[str, str]:
    pairs = [_fields(each) for each in entries]
    return {each[1][0].decode(): each[2][0].decode() for each in pairs}


def _fields(data: bytes) -> dict[int, list[bytes]]:
    """The fields of a message of protobuf that have a length; numbers are left out."""
    found: dict[int, list[bytes]] = {}
    at = 0
    while at < len(data):
        tag, at = _number(data, at)
        size, at = _number(data, at)
        if tag & 7 == 2:
            found.setdefault(tag >> 3, []).append(data[at : at + size])
            at += size
    return found


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def _status(code: int, reason: str) -> Answer:
    document = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": reason,
        "message": reason,
        "code": code,
    }
    return json_answer(document, code)
