"""Git repositories for tests, made where they are wanted."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="the program git is not here")

_ENVIRON = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


class Repository:
    """A repository with a branch `main`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    @property
    def source(self) -> str:
        """The address of the whole repository."""
        return f"git::file://{self.path}"

    def git(self, *arguments: str) -> str:
        """Run a git command in the repository."""
        environ = {**os.environ, **_ENVIRON}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env=environ,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, files: Mapping[str, str], tag: str = "") -> str:
        """Add files and give the commit that has them."""
        for name, content in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=change")
        if tag:
            self.git("tag", "--", tag)
        return self.git("rev-parse", "HEAD")
