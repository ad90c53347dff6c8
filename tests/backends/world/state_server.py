"""A server for the backend `http`: a state per path, with locks and, if wanted, entity tags."""

import json
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable
from hashlib import md5
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.net_world.server import Answer, Asked, Script, Server


class StateServer:
    """Keeps states; `url` is the address of one of them."""

    def __init__(
        self, has_tags: bool = False, user: str = "", certificate: Path | None = None
    ) -> None:
        self.states: dict[str, bytes] = {}
        self.locks: dict[str, bytes] = {}
        self.interfere: Callable[[Asked], Answer | Script | None] = lambda _: None
        """Answers in place of the server, if it wants to."""
        self._has_tags = has_tags
        self._user = user
        self._mutex = threading.Lock()
        self.server = Server(self._answer, certificate)
        self.url = f"{self.server.url}/state"

    @property
    def state(self) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.states["/state"])
        return found

    @property
    def asked(self) -> list[str]:
        return [each.method for each in self.server.log]

    def block(self, **more: str) -> str:
        """A configuration with this backend."""
        lines = {"address": self.url, "lock_address": self.url, "unlock_address": self.url, **more}
        body = "".join(f'    {name} = "{value}"\n' for name, value in lines.items())
        return f'terraform {{\n  backend "http" {{\n{body}  }}\n}}\n'

    def __enter__(self) -> "StateServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.server.close()

    def _answer(self, asked: Asked) -> Answer | Script:
        with self._mutex:
            if self._user:
                expected = f"Basic {b64encode(self._user.encode()).decode()}"
                given = asked.headers.get("authorization")
                if given != expected:
                    return Answer(403 if given else 401)
            return self.interfere(asked) or self._work(asked, urlsplit(asked.path).path)

    def _work(self, asked: Asked, path: str) -> Answer:
        if asked.method == "GET":
            if path not in self.states:
                return Answer(404)
            return Answer(200, self.states[path], self._tag(path))
        if asked.method in ("POST", "PUT"):
            return self._write(asked, path)
        if asked.method == "DELETE":
            return Answer(200 if self.states.pop(path, None) is not None else 404)
        if asked.method == "LOCK":
            if path in self.locks:
                return Answer(423, self.locks[path])
            self.locks[path] = asked.body
            return Answer(200)
        return self._unlock(asked, path)

    def _write(self, asked: Asked, path: str) -> Answer:
        given = b64decode(asked.headers.get("content-md5", ""))
        if given != md5(asked.body).digest():
            return Answer(400, b"wrong checksum", {"content-type": "text/plain"})
        (lock_id,) = parse_qs(urlsplit(asked.path).query).get("ID", [""])
        held = json.loads(self.locks[path])["ID"] if path in self.locks else ""
        if lock_id != held:
            return Answer(409, self.locks.get(path, b""))
        condition = asked.headers.get("if-match")
        if condition and condition != self._tag(path).get("etag"):
            return Answer(412)
        self.states[path] = asked.body
        return Answer(200, b"", self._tag(path))

    def _unlock(self, asked: Asked, path: str) -> Answer:
        if path not in self.locks:
            return Answer(409)
        if json.loads(asked.body)["ID"] != json.loads(self.locks[path])["ID"]:
            return Answer(409, self.locks[path])
        del self.locks[path]
        return Answer(200)

    def _tag(self, path: str) -> dict[str, str]:
        if not self._has_tags or path not in self.states:
            return {}
        return {"etag": f'"{md5(self.states[path]).hexdigest()}"'}
