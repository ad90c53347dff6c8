"""Git repositories over https: git's own CGI program, behind a server of the tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.net_world.server import Answer, Asked
from tests.packages.module_world import ModuleWorld

PREFIX = "/git/"


class GitShelf:
    """The repositories below a directory, at `URL/git/NAME`. With a `login`, that is wanted."""

    def __init__(self, world: ModuleWorld, root: Path) -> None:
        self._root = root
        self.login = ""
        """The header that is wanted."""
        world.prefixes[PREFIX] = self._answer
        world.settings["GIT_SSL_CAINFO"] = world.environ()["SSL_CERT_FILE"]
        self.source = f"git::{world.url}{PREFIX}"

    def _answer(self, asked: Asked) -> Answer:
        if self.login and asked.headers.get("authorization") != self.login:
            return Answer(401, b"", {"www-authenticate": 'Basic realm="tests"'})
        return answer_git(self._root, asked, PREFIX)


def answer_git(root: Path, asked: Asked, prefix: str = "/") -> Answer:
    """What git answers for the repositories below a directory, which are at a prefix of paths."""
    path, _, query = asked.path.partition("?")
    environ = {
        "PATH": os.environ["PATH"],
        "GIT_PROJECT_ROOT": str(root),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
        "PATH_INFO": path.removeprefix(prefix.rstrip("/")),
        "QUERY_STRING": query,
        "REQUEST_METHOD": asked.method,
        "CONTENT_TYPE": asked.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(asked.body)),
        "HTTP_CONTENT_ENCODING": asked.headers.get("content-encoding", ""),
        "HTTP_GIT_PROTOCOL": asked.headers.get("git-protocol", ""),
    }
    done = subprocess.run(
        ["git", "http-backend"],
        input=asked.body,
        env=environ,
        capture_output=True,
        check=False,
    )
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    headers = dict(line.decode().split(": ", 1) for line in head.split(b"\r\n") if b": " in line)
    status = int(headers.pop("Status", "200").split()[0])
    return Answer(status, body, headers)
