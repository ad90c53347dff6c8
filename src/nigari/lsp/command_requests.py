"""Requests to run a command: progress while it runs, and the answer when it has ended.

Belongs to the main thread; the commands themselves run in `nigari.lsp.jobs`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial

from nigari.lsp.editor import Editor, Params
from nigari.lsp.features.commands import job_of
from nigari.lsp.jobs import JobResult, Jobs
from nigari.lsp.wire import INVALID_PARAMS, RequestFailure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, Protocol

    class Client(Protocol):
        """The client, as far as running commands concerns it."""

        editor: Editor

        def answer(self, id_: object, result: object) -> None: ...
        def fail(self, id_: object, code: int, text: str) -> None: ...
        def tell(self, method: str, params: Mapping[str, object]) -> None: ...
        def ask(self, method: str, params: Mapping[str, object]) -> None: ...
        def post(self, work: Callable[[], None]) -> None: ...
        def installed(self, root: str) -> None: ...


_ERROR: Final = 1
_LOG: Final = 4


class CommandRequests:
    """The commands that a client has asked for."""

    def __init__(self, environ: Mapping[str, str], client: Client) -> None:
        self._jobs = Jobs(environ)
        self._client = client

    @property
    def is_idle(self) -> bool:
        return self._jobs.is_idle

    def start(self, id_: object, params: Params) -> None:
        """Run the command of a request."""
        client = self._client
        try:
            job = job_of(params)
        except RequestFailure as failure:
            client.fail(id_, failure.code, str(failure))
            return
        except (KeyError, TypeError) as error:
            name = type(error).__name__
            client.fail(id_, INVALID_PARAMS, f"The command cannot be run: {name}.")
            return
        token = params.get("workDoneToken")
        if token is None and client.editor.can("window", "workDoneProgress"):
            token = f"nigari-command-{id_}"
            client.ask("window/workDoneProgress/create", {"token": token})
        self._progress(token, {"kind": "begin", "title": job.title, "cancellable": True})

        def report(line: str) -> None:
            value = {"kind": "report", "message": line}
            client.post(partial(self._progress, token, value))

        def done(result: JobResult) -> None:
            client.post(partial(self._ended, id_, token, result))

        self._jobs.start(_key(id_, token), job, report, done)

    def _ended(self, id_: object, token: object, result: JobResult) -> None:
        client, job = self._client, result.job
        self._jobs.finish(_key(id_, token))
        self._progress(token, {"kind": "end"})
        level = _ERROR if result.status else _LOG
        client.tell("window/logMessage", {"type": level, "message": result.output})
        if level == _ERROR:
            message = f"{job.title}: failed in {os.path.basename(job.root)}. The log says why."
            client.tell("window/showMessage", {"type": level, "message": message})
        client.answer(id_, {"status": result.status, "output": result.output})
        if job.installs:
            client.installed(job.root)

    def _progress(self, token: object, value: Mapping[str, object]) -> None:
        if token is not None:
            self._client.tell("$/progress", {"token": token, "value": value})

    def cancel(self, token: object) -> None:
        """Terminate the command whose progress a token names."""
        self._jobs.cancel(token)

    def end(self) -> None:
        """Terminate all commands: the client has left."""
        self._jobs.end()


def _key(id_: object, token: object) -> object:
    """Return the name of a running command."""
    return id_ if token is None else token
