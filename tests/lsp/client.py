"""A client of the language server: a real process, real messages, none of them left unread."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from nigari.lsp.uris import uri_of

TIMEOUT: Final = 60.0
MARK: Final = "┃"
"""Where the cursor is in a text of a test."""


class ErrorAnswer(Exception):
    """The error that a request got."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(error["message"])
        self.code: int = error["code"]


class Client:
    """One server for the files in a directory. Leaving the context shuts it down and fails if there
    are messages that the test has not consumed.
    """

    def __init__(
        self,
        root: Path,
        files: Mapping[str, str] | None = None,
        capabilities: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
        optional: Sequence[str] = (),
        command: Sequence[str] = (sys.executable, "-m", "nigari", "lsp"),
    ) -> None:
        """`optional` are methods of messages that may or may not come before the end."""
        self.root = root
        self.optional = optional
        self.capabilities = dict(capabilities or {})
        # Few configurations of tests are without findings.
        self.settings = {"lint": False, **(settings or {})}
        self.initialized: dict[str, Any] = {}
        self.language = "opentofu"
        for name, text in (files or {}).items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "TF_CLI_CONFIG_FILE": os.devnull, **(environ or {})},
        )
        self._incoming: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._held: list[dict[str, Any]] = []
        self._last_id = 0
        self.versions: dict[str, int] = {}
        self.texts: dict[str, str] = {}
        threading.Thread(target=self._read, daemon=True).start()

    # -- lifecycle --------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self.initialized = self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": self.uri(""),
                "workspaceFolders": [{"uri": self.uri(""), "name": "test"}],
                "capabilities": self.capabilities,
                "initializationOptions": self.settings,
            },
        )
        self.notify("initialized", {})
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None and self.process.poll() is None:
                self.request("shutdown")
                self.notify("exit")
                assert self.process.wait(TIMEOUT) == 0
                unread = [each for each in self.unread() if each.get("method") not in self.optional]
                assert unread == []
                assert self.process.stderr is not None
                assert self.process.stderr.read() == b""
        finally:
            self.end()

    def end(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    # -- messages ---------------------------------------------------------------------------------

    def send(self, message: Mapping[str, Any]) -> None:
        self.send_raw(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def send_raw(self, body: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def begin(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request and go on; its id."""
        self._last_id += 1
        message: dict[str, Any] = {"id": self._last_id, "method": method}
        self.send(message if params is None else {**message, "params": params})
        return self._last_id

    def finish(self, id_: int) -> Any:  # noqa: ANN401 - what JSON holds
        """The result of a request."""
        message = self._take(lambda each: each.get("id") == id_ and "method" not in each)
        if "error" in message:
            raise ErrorAnswer(message["error"])
        return message["result"]

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401
        return self.finish(self.begin(method, params))

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        self.send({"method": method} if params is None else {"method": method, "params": params})

    def notification(self, method: str) -> Any:  # noqa: ANN401 - what JSON holds
        """The parameters of the next notification of that method."""
        return self._take(lambda each: each.get("method") == method)["params"]

    def asked(self, method: str, result: object = None) -> Any:  # noqa: ANN401 - what JSON holds
        """The parameters of the next request of the server, which gets this result."""
        message = self._take(lambda each: each.get("method") == method and "id" in each)
        self.send({"id": message["id"], "result": result})
        return message.get("params")

    def forget(self) -> None:
        """Pass over everything that has come so far."""
        self._held.clear()

    def unread(self) -> list[dict[str, Any]]:
        """Messages that no one has taken, once the server has ended."""
        while True:
            message = self._incoming.get(timeout=TIMEOUT)
            if message is None:
                return self._held
            self._held.append(message)

    def _take(self, matches: Any) -> dict[str, Any]:  # noqa: ANN401 - a predicate
        for index, message in enumerate(self._held):
            if matches(message):
                return self._held.pop(index)
        while True:
            taken = self._incoming.get(timeout=TIMEOUT)
            if taken is None:
                assert self.process.stderr is not None
                raise AssertionError(f"the server has ended: {self.process.stderr.read()!r}")
            if matches(taken):
                return taken
            self._held.append(taken)

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while True:
            length = 0
            while (line := stream.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                if name == b"Content-Length":
                    length = int(value)
            body = stream.read(length)
            if not body:
                self._incoming.put(None)
                return
            self._incoming.put(json.loads(body))

    # -- documents --------------------------------------------------------------------------------

    def path(self, name: str) -> str:
        return os.path.normpath(self.root / name)

    def uri(self, name: str) -> str:
        return uri_of(self.path(name))

    def document(self, name: str) -> dict[str, str]:
        return {"uri": self.uri(name)}

    def open(self, name: str, text: str | None = None) -> dict[str, int]:
        """Open a file, or a text in its place; the position of the mark, which is taken out."""
        if text is None:
            text = (self.root / name).read_text(encoding="utf-8")
        text, position = marked(text)
        self.texts[name], self.versions[name] = text, 1
        document = {"uri": self.uri(name), "languageId": self.language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        return position

    def change(self, name: str, text: str) -> dict[str, int]:
        """Replace the whole text; the position of the mark."""
        text, position = marked(text)
        self.texts[name] = text
        self.changes(name, [{"text": text}])
        return position

    def changes(self, name: str, changes: Sequence[Mapping[str, Any]]) -> None:
        self.versions[name] += 1
        document = {"uri": self.uri(name), "version": self.versions[name]}
        self.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)}
        )

    def close(self, name: str) -> None:
        self.notify("textDocument/didClose", {"textDocument": self.document(name)})

    def at(self, name: str, position: Mapping[str, int]) -> dict[str, Any]:
        """The parameters of a request at a position."""
        return {"textDocument": self.document(name), "position": position}

    def find(self, name: str, text: str, shift: int = 0) -> dict[str, int]:
        """The position of the only occurrence of a text in an open document, plus a shift."""
        whole = self.texts[name]
        assert whole.count(text) == 1, text
        return position_of(whole, whole.index(text) + shift)

    def diagnostics(self, name: str) -> list[dict[str, Any]]:
        """The next diagnostics that are published for a file."""
        uri = self.uri(name)
        message = self._take(
            lambda each: (
                each.get("method") == "textDocument/publishDiagnostics"
                and each["params"]["uri"] == uri
            )
        )
        found: list[dict[str, Any]] = message["params"]["diagnostics"]
        return found

    def settled(self, name: str) -> list[dict[str, Any]]:
        """The diagnostics of a file after everything has been evaluated."""
        self.diagnostics(name)
        return self.diagnostics(name)


PULLED: Final[Mapping[str, Any]] = {"textDocument": {"diagnostic": {}}}
"""Capabilities of a client that asks for diagnostics, so that none are published."""


def marked(text: str) -> tuple[str, dict[str, int]]:
    """A text without its mark, and the position of the mark, or of the beginning."""
    before, mark, after = text.partition(MARK)
    position = position_of(before, len(before)) if mark else {"line": 0, "character": 0}
    return before + after, position


def position_of(text: str, offset: int) -> dict[str, int]:
    """The position of an offset, in UTF-16."""
    before = text[:offset]
    line = before.rpartition("\n")[2]
    return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}


def covered(text: str, range_: Mapping[str, Mapping[str, int]]) -> str:
    """The text that a range covers."""
    lines = text.split("\n")

    def offset(position: Mapping[str, int]) -> int:
        start = sum(len(line) + 1 for line in lines[: position["line"]])
        line = lines[position["line"]].encode("utf-16-le")
        return start + len(line[: position["character"] * 2].decode("utf-16-le"))

    return text[offset(range_["start"]) : offset(range_["end"])]
