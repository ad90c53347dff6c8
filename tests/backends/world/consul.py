"""Consul's keys, transactions and sessions in memory, as far as states need them."""

import base64
import json
import threading
import time
import uuid
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

from tests.net_world.server import Answer, Asked, Server, json_answer

_LARGEST: int = 512 * 1024


@dataclass
class Entry:
    value: bytes
    index: int
    flags: int = 0
    session: str = ""


class FakeConsul:
    """Answers on `url`."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.sessions: set[str] = set()
        self._index = 10
        self._mutex = threading.Lock()
        self.server = Server(self._answer)
        self.address = self.server.url.removeprefix("http://")

    def block(self, path: str) -> str:
        body = f'    address = "{self.address}"\n    scheme = "http"\n    path = "{path}"\n'
        return f'terraform {{\n  backend "consul" {{\n{body}  }}\n}}\n'

    def __enter__(self) -> "FakeConsul":
        return self

    def __exit__(self, *_: object) -> None:
        self.server.close()

    def _answer(self, asked: Asked) -> Answer:
        parts = urlsplit(asked.path)
        query = {n: v[0] for n, v in parse_qs(parts.query, keep_blank_values=True).items()}
        path = unquote(parts.path)
        if "index" in query and asked.method == "GET":
            time.sleep(0.2)
        with self._mutex:
            if path == "/v1/txn":
                return self._transaction(asked.body)
            if path.startswith("/v1/session/"):
                return self._session(path.removeprefix("/v1/session/"))
            key = path.removeprefix("/v1/kv/")
            if asked.method == "GET":
                return self._get(key, query)
            if asked.method == "DELETE":
                return self._delete(key, query)
            return self._put(key, asked.body, query)

    def _next(self) -> int:
        self._index += 1
        return self._index

    def _get(self, key: str, query: dict[str, str]) -> Answer:
        more = {"X-Consul-Index": str(self._index)}
        if "keys" in query:
            found = sorted(each for each in self.entries if each.startswith(key))
            cut = {
                key + each[len(key) :].partition("/")[0] + ("/" if "/" in each[len(key) :] else "")
                for each in found
            }
            return json_answer(sorted(cut)) if cut else Answer(404)
        entry = self.entries.get(key)
        if entry is None:
            return Answer(404, b"", more)
        shown = self._shown(key, entry)
        return Answer(
            200, json.dumps([shown]).encode(), {**more, "content-type": "application/json"}
        )

    def _shown(self, key: str, entry: Entry) -> dict[str, object]:
        shown: dict[str, object] = {
            "Key": key,
            "Value": base64.b64encode(entry.value).decode() or None,
            "Flags": entry.flags,
            "ModifyIndex": entry.index,
            "CreateIndex": entry.index,
            "LockIndex": 1,
        }
        if entry.session:
            shown["Session"] = entry.session
        return shown

    def _put(self, key: str, body: bytes, query: dict[str, str]) -> Answer:
        if len(body) > _LARGEST:
            return Answer(413, b"Value exceeds: too large")
        entry = self.entries.get(key)
        flags = int(query.get("flags", 0))
        if "acquire" in query:
            if query["acquire"] not in self.sessions:
                return Answer(500, b"invalid session")
            if entry is not None and entry.session not in ("", query["acquire"]):
                return Answer(200, b"false")
            self.entries[key] = Entry(body, self._next(), flags, query["acquire"])
        elif "release" in query:
            if entry is None or entry.session != query["release"]:
                return Answer(200, b"false")
            self.entries[key] = Entry(body, self._next(), flags)
        else:
            session = entry.session if entry is not None else ""
            self.entries[key] = Entry(body, self._next(), flags, session)
        return Answer(200, b"true")

    def _delete(self, key: str, query: dict[str, str]) -> Answer:
        if "recurse" in query:
            for each in [each for each in self.entries if each.startswith(key)]:
                del self.entries[each]
        elif "cas" in query:
            entry = self.entries.get(key)
            if entry is not None and entry.index != int(query["cas"]):
                return Answer(200, b"false")
            self.entries.pop(key, None)
        else:
            self.entries.pop(key, None)
        return Answer(200, b"true")

    def _transaction(self, body: bytes) -> Answer:
        if len(body) > _LARGEST:
            return Answer(413, b"Request body too large, max size: 524288 bytes")
        (operation,) = json.loads(body)
        wanted = operation["KV"]
        key, entry = wanted["Key"], self.entries.get(wanted["Key"])
        index = 0 if entry is None else entry.index
        if wanted["Verb"] == "cas" and index != wanted.get("Index", 0):
            error = {"OpIndex": 0, "What": "index is stale"}
            return json_answer({"Results": None, "Errors": [error]}, 409)
        session = "" if entry is None else entry.session
        value = base64.b64decode(wanted["Value"])
        self.entries[key] = Entry(value, self._next(), 0, session)
        result = {"KV": {**self._shown(key, self.entries[key]), "Value": None}}
        return json_answer({"Results": [result], "Errors": None})

    def _session(self, path: str) -> Answer:
        verb, _, session = path.partition("/")
        if verb == "create":
            made = str(uuid.uuid4())
            self.sessions.add(made)
            return json_answer({"ID": made})
        if verb == "renew":
            if session not in self.sessions:
                return Answer(404)
            return json_answer([{"ID": session, "TTL": "15s"}])
        if verb == "destroy":
            self.sessions.discard(session)
            for entry in self.entries.values():
                if entry.session == session:
                    entry.session = ""
            return Answer(200, b"true")
        return json_answer([{"ID": session}] if session in self.sessions else [])
