"""`workspace/executeCommand`: what its commands run.

A command runs `nigari` in the directory of a root module, on the files as they are saved. Its
arguments are the URI of that directory, and addresses or a path.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from nigari.lsp.editor import Params
from nigari.lsp.jobs import Job
from nigari.lsp.uris import path_of, uri_of
from nigari.lsp.wire import INVALID_PARAMS, RequestFailure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

INIT: Final = "nigari.init"
PLAN: Final = "nigari.plan"
EXPLAIN: Final = "nigari.explain"
TEST: Final = "nigari.test"


def _init(root: str, rest: Sequence[str]) -> Job:
    return Job("Install modules and providers", root, ("init", "-input=false"), installs=True)


def _plan(root: str, rest: Sequence[str]) -> Job:
    targets = [f"-target={each}" for each in rest]
    return Job("Plan", root, ("plan", "-input=false", *targets))


def _explain(root: str, rest: Sequence[str]) -> Job:
    return Job("Explain", root, ("explain", *rest[:1]))


def _test(root: str, rest: Sequence[str]) -> Job:
    return Job("Test", root, ("test", *(f"-filter={each}" for each in rest)))


_JOBS: Final[Mapping[str, Callable[[str, Sequence[str]], Job]]] = {
    INIT: _init,
    PLAN: _plan,
    EXPLAIN: _explain,
    TEST: _test,
}
COMMANDS: Final = tuple(_JOBS)


def job_of(params: Params) -> Job:
    """Return the job for the command of a request."""
    make = _JOBS.get(str(params["command"]))
    if make is None:
        raise RequestFailure(INVALID_PARAMS, "There is no such command.")
    arguments = [str(each) for each in params.get("arguments") or ()]
    root = path_of(arguments[0]) if arguments else None
    if root is None or not os.path.isdir(root):
        raise RequestFailure(INVALID_PARAMS, "The first argument must be the URI of a directory.")
    return make(root, arguments[1:])


def command(title: str, name: str, root: str, *rest: str) -> dict[str, object]:
    """Describe a command in the form of the protocol."""
    return {"title": title, "command": name, "arguments": [uri_of(root), *rest]}
