"""The server: one client, one thread that answers in order, and work in the background.

A thread reads messages and notes cancellations at once, so that a request that was cancelled while
it waited costs nothing. Diagnostics are worked out when the client pauses.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Mapping

from nigari.addrs.provider import Provider
from nigari.language.document import Kind, kind_of, module_directory
from nigari.language.evaluation import Evaluation
from nigari.language.occurrences import FileNames
from nigari.language.workbench import KnownProvider
from nigari.lsp.background import Evaluator, SchemaFinder, survey_folders
from nigari.lsp.capabilities import WATCHED, server_capabilities
from nigari.lsp.command_requests import CommandRequests
from nigari.lsp.diagnostics import diagnostics_of
from nigari.lsp.editor import Editor, Params
from nigari.lsp.features import REQUESTS
from nigari.lsp.text import choose_encoding, edited
from nigari.lsp.uris import path_of, uri_of
from nigari.lsp.wire import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_INITIALIZED,
    PARSE_ERROR,
    REQUEST_CANCELLED,
    BrokenMessage,
    Connection,
    Message,
    RequestFailure,
)
from nigari.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from nigari.schema.provider import ProviderSchema

SETTLED: Final = "nigari/settled"
"""A request of our own that is answered once everything has been evaluated: for tests, benchmarks and
programs that ask for diagnostics once.
"""
_PAUSE: Final = 0.2
"""Seconds without an edit after which root modules are evaluated; more where that takes longer."""
_LONGEST_PAUSE: Final = 1.5
_MOST_ROOTS: Final = 4
"""Root modules that are evaluated for one document."""


class Server:
    """A language server for one client."""

    def __init__(self, connection: Connection, environ: Mapping[str, str]) -> None:
        self.editor: Editor = Editor(environ)
        self._connection = connection
        self._queue: queue.SimpleQueue[Message | Callable[[], None] | None] = queue.SimpleQueue()
        self._cancelled: set[object] = set()
        self._state = "new"
        self._status = 1
        self._last_id = 0
        self._answers: dict[object, Callable[[Any], None]] = {}
        self._due: float | None = None
        self._pause = _PAUSE
        self._dirty: dict[str, None] = {}
        """Documents whose diagnostics have not been published since they changed."""
        self._stale: dict[str, None] = {}
        """Directories whose root modules have to be evaluated again."""
        self._published: set[str] = set()
        self._waiting: list[object] = []
        """Requests that are answered once everything has been evaluated."""
        self._is_surveying = False
        self._evaluator = Evaluator(
            environ, self._queue.put, self._evaluated, self._crashed, self._linted
        )
        self._schemas = SchemaFinder(environ, self._queue.put, self._found_schemas)
        self._commands = CommandRequests(environ, self)

    # -- messages ---------------------------------------------------------------------------------

    def run(self) -> int:
        """Serve until the client leaves; the exit status says whether it said so."""
        threading.Thread(target=self._read, name="read", daemon=True).start()
        while self._state != "over":
            item = self._next()
            if item is None:
                break
            if callable(item):
                item()
            elif "method" not in item:
                self._answered(item)
            else:
                self._dispatch(item)
            if self._waiting and self._is_settled:
                self._settle()
            if self._queue.empty():
                # Whatever was cancelled has been answered or dropped by now.
                self._cancelled.clear()
                self._publish_syntax()
        self._commands.end()
        return self._status

    @property
    def _is_settled(self) -> bool:
        """Return whether everything has been evaluated with the current documents."""
        is_idle = self._evaluator.is_idle and self._schemas.is_idle and self._commands.is_idle
        return (
            is_idle
            and not self._is_surveying
            and self._due is None
            and not self._stale
            and self._queue.empty()
        )

    def _settle(self) -> None:
        """Answer those who wait for everything to be evaluated."""
        waiting, self._waiting = self._waiting, []
        self._publish_syntax()
        for id_ in waiting:
            self.answer(id_, None)

    def _next(self) -> Message | Callable[[], None] | None:
        """The next thing to do; what is due after a pause comes when there is nothing else."""
        while True:
            timeout = None if self._due is None else max(0.0, self._due - time.monotonic())
            try:
                return self._queue.get(timeout=timeout)
            except queue.Empty:
                self._due = None
                self._evaluate()
                if self._waiting and self._is_settled:
                    self._settle()

    def _read(self) -> None:
        while True:
            try:
                message = self._connection.read()
            except BrokenMessage as error:
                self.fail(None, PARSE_ERROR, f"{error}.")
                if error.is_fatal:
                    self._queue.put(None)
                    return
                continue
            except (OSError, ValueError):
                message = None
            if message is None:
                self._queue.put(None)
                return
            if message.get("method") == "$/cancelRequest":
                params = message.get("params")
                if isinstance(params, dict):
                    self._cancelled.add(params.get("id"))
                continue
            self._queue.put(message)

    def _dispatch(self, message: Message) -> None:
        method, id_ = message["method"], message.get("id")
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        if "id" not in message:
            self._notify(method, params)
            return
        if id_ in self._cancelled:
            self._cancelled.discard(id_)
            self.fail(id_, REQUEST_CANCELLED, "The request was cancelled.")
            return
        if method == SETTLED and self._state == "ready":
            self._waiting.append(id_)
            return
        if method == "workspace/executeCommand" and self._state == "ready":
            self._commands.start(id_, params)
            return
        try:
            result = self._request(method, params)
        except RequestFailure as failure:
            self.fail(id_, failure.code, str(failure))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            self._log(error)
            self.fail(id_, INVALID_PARAMS, f"{method} cannot be answered: {_named(error)}.")
        except Exception as error:  # noqa: BLE001 - one request must not end the server
            self._log(error)
            self.fail(id_, INTERNAL_ERROR, f"{method} failed: {_named(error)}.")
        else:
            self.answer(id_, result)

    def _request(self, method: str, params: Params) -> object:
        if method == "initialize":
            return self._initialize(params)
        if self._state == "new":
            raise RequestFailure(NOT_INITIALIZED, "The server is not initialized yet.")
        if self._state == "shut down":
            raise RequestFailure(INVALID_REQUEST, "The server has been shut down.")
        if method == "shutdown":
            self._state, self._status = "shut down", 0
            return None
        handler = REQUESTS.get(method)
        if handler is None:
            raise RequestFailure(METHOD_NOT_FOUND, f"{method} is not supported.")
        return handler(self.editor, params)

    def _notify(self, method: str, params: Params) -> None:
        if method == "exit":
            self._state = "over"
            return
        handler = _NOTIFICATIONS.get(method)
        if handler is None or self._state != "ready":
            return
        try:
            handler(self, params)
        except Exception as error:  # noqa: BLE001 - the same
            self._log(error)

    def _answered(self, message: Message) -> None:
        react = self._answers.pop(message.get("id"), None)
        if react is not None and "error" not in message:
            react(message.get("result"))

    def answer(self, id_: object, result: object) -> None:
        """Answer a request of the client."""
        self._connection.send({"jsonrpc": "2.0", "id": id_, "result": result})

    def fail(self, id_: object, code: int, text: str) -> None:
        """Answer a request with an error."""
        error = {"code": code, "message": text}
        self._connection.send({"jsonrpc": "2.0", "id": id_, "error": error})

    def tell(self, method: str, params: Mapping[str, object]) -> None:
        """Send a notification to the client."""
        self._connection.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(
        self,
        method: str,
        params: Mapping[str, object] | None = None,
        react: Callable[[Any], None] = lambda _: None,
    ) -> None:
        """Send a request to the client."""
        self._last_id += 1
        self._answers[f"nigari-{self._last_id}"] = react
        message = {"jsonrpc": "2.0", "id": f"nigari-{self._last_id}", "method": method}
        self._connection.send(message if params is None else {**message, "params": params})

    def _log(self, error: Exception) -> None:
        """Say on standard error where something failed; texts of documents are not quoted."""
        frames = traceback.extract_tb(error.__traceback__)
        way = "\n".join(f"  {each.filename}:{each.lineno} {each.name}" for each in frames)
        print(f"nigari lsp: {_named(error)}\n{way}", file=sys.stderr, flush=True)  # noqa: T201

    def post(self, work: Callable[[], None]) -> None:
        """Have something done by the main thread."""
        self._queue.put(work)

    # -- lifecycle --------------------------------------------------------------------------------

    def _initialize(self, params: Params) -> object:
        if self._state != "new":
            raise RequestFailure(INVALID_REQUEST, "The server is initialized already.")
        editor = self.editor
        capabilities = params.get("capabilities")
        editor.capabilities = capabilities if isinstance(capabilities, dict) else {}
        editor.encoding = choose_encoding(editor.formats("general", "positionEncodings"))
        self._configure(params.get("initializationOptions"))
        editor.project.folders = tuple(_folders(params))
        self._state = "ready"
        return {
            "capabilities": server_capabilities(editor),
            "serverInfo": {"name": "nigari", "version": VERSION},
        }

    def _initialized(self, params: Params) -> None:
        editor = self.editor
        self._is_surveying = True
        survey_folders(editor.project.folders, self._queue.put, self._surveyed)
        if editor.can("workspace", "didChangeWatchedFiles", "dynamicRegistration"):
            watchers = [{"globPattern": pattern} for pattern in WATCHED]
            registration = {
                "id": "nigari-files",
                "method": "workspace/didChangeWatchedFiles",
                "registerOptions": {"watchers": watchers},
            }
            self.ask("client/registerCapability", {"registrations": [registration]})

    def _configure(self, settings: object) -> None:
        if isinstance(settings, dict):
            inner = settings.get("nigari", settings)
            self.editor.settings = dict(inner) if isinstance(inner, dict) else {}

    def _configuration_changed(self, params: Params) -> None:
        self._configure(params.get("settings"))
        if self.editor.can("workspace", "inlayHint", "refreshSupport"):
            self.ask("workspace/inlayHint/refresh")

    def _folders_changed(self, params: Params) -> None:
        event = params["event"]
        gone = {path_of(str(each["uri"])) for each in event["removed"]}
        added = [path_of(str(each["uri"])) for each in event["added"]]
        project = self.editor.project
        kept = [each for each in project.folders if each not in gone]
        new = [each for each in added if each is not None and each not in kept]
        project.folders = (*kept, *new)
        survey_folders(tuple(new), self._queue.put, self._surveyed)

    # -- documents --------------------------------------------------------------------------------

    def _opened(self, params: Params) -> None:
        given = params["textDocument"]
        path = self.editor.path(params)
        self.editor.languages[path] = str(given.get("languageId", ""))
        self._set_text(path, str(given["text"]), given.get("version"))

    def _changed(self, params: Params) -> None:
        path = self.editor.path(params)
        text = edited(self.editor.texts[path], params["contentChanges"], self.editor.encoding)
        self._set_text(path, text, params["textDocument"].get("version"))

    def _set_text(self, path: str, text: str, version: int | None) -> None:
        editor = self.editor
        editor.texts[path] = text
        editor.versions[path] = version
        editor.project.open(path, text)
        self._dirty[path] = None
        self._touch(module_directory(path))

    def _saved(self, params: Params) -> None:
        self._touch(module_directory(self.editor.path(params)))

    def _closed(self, params: Params) -> None:
        editor, path = self.editor, self.editor.path(params)
        editor.texts.pop(path, None)
        editor.versions.pop(path, None)
        editor.project.close(path)
        self._dirty.pop(path, None)
        if path in self._published:
            self._published.discard(path)
            self.tell("textDocument/publishDiagnostics", {"uri": uri_of(path), "diagnostics": []})
        self._touch(module_directory(path))

    def _files_changed(self, params: Params) -> None:
        for change in params["changes"]:
            path = path_of(str(change["uri"]))
            if path is None:
                continue
            if ".terraform" in path.split(os.sep) or kind_of(path) is Kind.LOCK:
                root = path.partition(f"{os.sep}.terraform")[0]
                self._schemas.forget(root)
                self._stale[root] = None
            else:
                self.editor.project.changed(path)
                self._stale[module_directory(path)] = None
        self._due = time.monotonic() + self._pause

    def installed(self, root: str) -> None:
        """Look again at what is installed for a root module."""
        self._schemas.forget(root)
        self._touch(root)

    def _cancelled_by_user(self, params: Params) -> None:
        self._commands.cancel(params.get("token"))

    def _touch(self, directory: str) -> None:
        self._stale[directory] = None
        self._due = time.monotonic() + self._pause

    # -- diagnostics ------------------------------------------------------------------------------

    @property
    def _is_pulled(self) -> bool:
        """Return whether the client pulls diagnostics, so that pushing them would show them twice."""
        return self.editor.can("textDocument", "diagnostic")

    def _publish_syntax(self) -> None:
        """Publish what can be said at once of documents that have changed."""
        dirty, self._dirty = self._dirty, {}
        if not self._is_pulled:
            self._publish(dirty)

    def _publish(self, paths: Iterable[str]) -> None:
        editor = self.editor
        for path in paths:
            document = editor.project.documents.get(path)
            if document is not None:
                self._published.add(path)
                found = diagnostics_of(editor, document)
                params: dict[str, object] = {"uri": uri_of(path), "diagnostics": found}
                if editor.versions.get(path) is not None:
                    params["version"] = editor.versions[path]
                self.tell("textDocument/publishDiagnostics", params)

    def _evaluate(self) -> None:
        """Have the root modules evaluated that have changed."""
        editor = self.editor
        stale, self._stale = self._stale, {}
        editor.prune()
        opened = {module_directory(path) for path in editor.project.documents}
        roots: dict[str, None] = {}
        for directory in stale:
            roots.update(dict.fromkeys(editor.project.roots_of(directory, _MOST_ROOTS)))
            known = [each.root for each in editor.evaluations_of(directory)]
            roots.update(dict.fromkeys(known))
        texts = editor.project.texts()
        for root in roots:
            if opened:
                schemas = editor.schemas.get(root, {})
                self._evaluator.request(root, texts, schemas, editor.is_linting)

    def _evaluated(self, evaluation: Evaluation, seconds: float) -> None:
        editor = self.editor
        # What takes long is better not begun between two words.
        self._pause = min(max(_PAUSE, seconds), _LONGEST_PAUSE)
        editor.adopt(evaluation)
        editor.prune()
        self._schemas.request(evaluation.root, evaluation.providers)
        if self._is_pulled:
            if editor.can("workspace", "diagnostics", "refreshSupport"):
                self.ask("workspace/diagnostic/refresh")
        else:
            concerned = [
                path
                for path in editor.project.documents
                if module_directory(path) in evaluation.modules or path in self._published
            ]
            self._publish(concerned)
        if editor.can("workspace", "inlayHint", "refreshSupport"):
            self.ask("workspace/inlayHint/refresh")

    def _linted(self, evaluation: Evaluation) -> None:
        """Add what lint has found to the diagnostics."""
        editor = self.editor
        if not evaluation.findings or editor.evaluations.get(evaluation.root) is not evaluation:
            return
        if self._is_pulled:
            if editor.can("workspace", "diagnostics", "refreshSupport"):
                self.ask("workspace/diagnostic/refresh")
            return
        ranges = (each.range for each in evaluation.findings.values())
        concerned = {evaluation.path(each.filename) for each in ranges if each is not None}
        self._publish(path for path in editor.project.documents if path in concerned)

    def _crashed(self, root: str, error: Exception) -> None:
        self._log(error)

    def _found_schemas(
        self,
        root: str,
        found: Mapping[Provider, ProviderSchema],
        known: Mapping[Provider, KnownProvider],
    ) -> None:
        self.editor.known_providers.setdefault(root, {}).update(known)
        if found:
            self.editor.schemas.setdefault(root, {}).update(found)
            self._touch(root)
        elif self.editor.can("workspace", "inlayHint", "refreshSupport"):
            self.ask("workspace/inlayHint/refresh")

    def _surveyed(self, found: list[FileNames]) -> None:
        self._is_surveying = False
        project = self.editor.project
        directories = {module_directory(path) for path in project.documents}
        before = {each: project.roots_of(each, _MOST_ROOTS) for each in directories}
        project.adopt(found)
        for directory, roots in before.items():
            if project.roots_of(directory, _MOST_ROOTS) != roots:
                self._touch(directory)


def _folders(params: Params) -> list[str]:
    """The folders that a client works in."""
    folders = params.get("workspaceFolders")
    uris = [str(each["uri"]) for each in folders] if isinstance(folders, list) else []
    if not uris and params.get("rootUri"):
        uris = [str(params["rootUri"])]
    paths = [path_of(each) for each in uris]
    return [each for each in paths if each is not None]


def _named(error: Exception) -> str:
    """The kind of an error; its text could quote a document."""
    return type(error).__name__


_NOTIFICATIONS: dict[str, Callable[[Server, Params], None]] = {
    "initialized": Server._initialized,  # noqa: SLF001 - part of the same module
    "textDocument/didOpen": Server._opened,  # noqa: SLF001 - the same
    "textDocument/didChange": Server._changed,  # noqa: SLF001 - the same
    "textDocument/didSave": Server._saved,  # noqa: SLF001 - the same
    "textDocument/didClose": Server._closed,  # noqa: SLF001 - the same
    "window/workDoneProgress/cancel": Server._cancelled_by_user,  # noqa: SLF001 - the same
    "workspace/didChangeConfiguration": Server._configuration_changed,  # noqa: SLF001 - the same
    "workspace/didChangeWatchedFiles": Server._files_changed,  # noqa: SLF001 - the same
    "workspace/didChangeWorkspaceFolders": Server._folders_changed,  # noqa: SLF001 - the same
}
"""The handlers of notifications."""
