"""Fetching module packages with the `git` program.

Only the files of one commit are wanted, so as little history as possible is fetched and none is
kept. Nothing that stands in a source address ever reaches `git` where it could be taken for an
option, and only transports that fetch (and do not run what the address says) are allowed.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from nigari.addrs.module_source import RegistrySource, RemoteSource
from nigari.packages.module_fetch import FetchError
from nigari.record import record

_SCHEMES: Final = frozenset(("https", "http", "ssh", "git", "file"))
_PLAIN_REF: Final = re.compile(r"(?![-+.@^])(?!.*(?:\.\.|@\{))[^\x00-\x20~^:?*\[\\\x7f]+")
_OWN_ARGUMENTS: Final = frozenset(("ref", "depth", "sshkey", "archive"))
_FOREIGN_REPOSITORY: Final = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
)
"""Set where the program is run by a hook of some other repository, which is not meant here."""
_SETTINGS: Final = (
    *("-c", f"core.hooksPath={os.devnull}"),
    # The repository is thrown away at once, so it needs neither order nor safety.
    *("-c", "maintenance.auto=false"),
    *("-c", "gc.auto=0"),
    *("-c", "core.fsync=none"),
)
_MOST_LINES: Final = 8
_CREDENTIALS: Final = re.compile(r"(://[^/@\s:]*):[^/@\s]*@")


@record
class GitAddress:
    """What a source address says to git."""

    url: str
    ref: str = ""
    """A branch, a tag or a commit; empty for the repository's own choice."""
    ssh_key: bytes = b""


def git_address(source: RemoteSource) -> GitAddress:
    """Read the address of a git package, or raise `FetchError` where it makes no sense."""
    base, _, query = source.url.partition("?")
    arguments = parse_qsl(query, keep_blank_values=True, separator="&")
    given: dict[str, str] = {}
    for name, value in arguments:
        given.setdefault(name, value)
    rest = [(name, value) for name, value in arguments if name not in _OWN_ARGUMENTS]
    url = f"{base}?{urlencode(rest)}" if rest else base
    ref = given.get("ref", "")
    if ref.startswith("-") or any(ord(char) < 0x20 for char in ref):
        raise FetchError(f'"{ref}" is not a valid name for a branch, tag or commit.')
    _check_url(url)
    _check_depth(given.get("depth", ""))
    return GitAddress(url, ref, _ssh_key(given.get("sshkey", "")))


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        parts.port  # noqa: B018 - reading it finds out whether it is a number
    except ValueError as error:
        raise FetchError(f"The address is not a valid URL for git: {error}.") from None
    if parts.scheme not in _SCHEMES:
        raise FetchError(
            f'Repositories cannot be fetched with "{parts.scheme}". Use https, ssh, git or file.'
        )
    user = parts.netloc.rpartition("@")[0]
    if host.startswith("-") or user.startswith("-") or parts.path.startswith(("-", "/-")):
        raise FetchError(
            "Part of the address begins with a dash, which git would take for an option."
        )
    if any(ord(char) < 0x20 for char in url):
        raise FetchError("The address contains control characters.")


def _check_depth(text: str) -> None:
    if text and not re.fullmatch(r"[0-9]+", text):
        raise FetchError(f'"{text}" is not a valid depth of history to fetch: it must be a number.')


def _ssh_key(text: str) -> bytes:
    if not text:
        return b""
    try:
        # A plus sign in a query means a space, unless it is escaped; people forget.
        return base64.b64decode(text.replace(" ", "+"), validate=True)
    except binascii.Error:
        raise FetchError("The sshkey in the address is not valid Base64.") from None


class GitFetcher:
    """Fetches the files of a commit, with those of its submodules."""

    def __init__(self, environ: Mapping[str, str], may_ask: bool = False) -> None:
        self._environ = {
            name: value for name, value in environ.items() if name not in _FOREIGN_REPOSITORY
        }
        if not may_ask:
            self._environ.setdefault("GIT_TERMINAL_PROMPT", "0")

    def fetch(self, source: RegistrySource | RemoteSource, directory: Path) -> None:
        """Put the files of a package into an empty directory, or raise `FetchError`."""
        assert isinstance(source, RemoteSource)
        address = git_address(source)
        with self._session(address, directory) as git:
            git.run("init", "--quiet", "--template=")
            git.run("checkout", "--quiet", "--force", "--detach", _commit(git, address))
            if (directory / ".gitmodules").is_file():
                _add_submodules(git, address.url)
        _forget_history(directory)

    @contextmanager
    def _session(self, address: GitAddress, directory: Path) -> Iterator[_Git]:
        program = shutil.which("git", path=self._environ.get("PATH"))
        if program is None:
            raise FetchError("The git program is required to fetch this, and it was not found.")
        if not address.ssh_key:
            yield _Git(program, directory, self._environ)
            return
        with tempfile.NamedTemporaryFile(prefix="nigari-key-") as file:
            # Such a file is for its owner alone from the beginning.
            file.write(address.ssh_key)
            file.flush()
            command = self._environ.get("GIT_SSH_COMMAND") or "ssh"
            environ = {**self._environ, "GIT_SSH_COMMAND": f"{command} -i {shlex.quote(file.name)}"}
            yield _Git(program, directory, environ)


class _Git:
    """The program, at work in one directory."""

    def __init__(self, program: str, directory: Path, environ: Mapping[str, str]) -> None:
        self._command = [program, *_SETTINGS]
        self._directory = directory
        self._environ = environ

    def run(self, *arguments: str) -> str:
        """Run a command for its output, or raise `FetchError` with what it says."""
        done = self.attempt(*arguments)
        if done.returncode != 0:
            raise FetchError(_complaint(done.stderr))
        return done.stdout.strip()

    def attempt(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command that may fail."""
        try:
            return subprocess.run(
                [*self._command, *arguments],
                cwd=self._directory,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                check=False,
            )
        except OSError as error:
            raise FetchError(f"Cannot run git: {error.strerror}.") from error


def _commit(git: _Git, address: GitAddress) -> str:
    """Fetch what a ref stands for, alone if the server can do that; gives the commit."""
    url, ref = address.url, address.ref
    fetch = ("fetch", "--quiet", "--end-of-options", url)
    if not ref or _PLAIN_REF.fullmatch(ref):
        alone = ("fetch", "--quiet", "--no-tags", "--depth=1", "--end-of-options", url)
        if git.attempt(*alone, ref or "HEAD").returncode == 0:
            return "FETCH_HEAD"
    git.run(*fetch, "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
    if not ref:
        git.run(*fetch, "HEAD")
        return "FETCH_HEAD"
    if git.attempt(*fetch, "HEAD").returncode == 0:
        # Refs may be relative to the repository's own choice, as HEAD~1 is.
        git.run("update-ref", "--no-deref", "HEAD", "FETCH_HEAD")
    for candidate in (ref, f"refs/remotes/origin/{ref}", f"refs/tags/{ref}"):
        found = git.attempt(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{candidate}^{{commit}}"
        )
        if found.returncode == 0:
            return found.stdout.strip()
    raise FetchError(f'The repository has no branch, tag or commit "{ref}".')


def _add_submodules(git: _Git, url: str) -> None:
    # Their addresses may be relative to that of the repository.
    git.run("remote", "add", "--", "origin", url)
    update = ("submodule", "--quiet", "update", "--init", "--recursive")
    if git.attempt(*update, "--depth=1").returncode != 0:
        git.run(*update)


def _forget_history(directory: Path) -> None:
    for folder, subfolders, files in os.walk(directory):
        if ".git" in subfolders:
            subfolders.remove(".git")
            shutil.rmtree(os.path.join(folder, ".git"))
        if ".git" in files:
            os.unlink(os.path.join(folder, ".git"))


def _complaint(text: str) -> str:
    lines: Sequence[str] = [line.strip() for line in text.splitlines() if line.strip()]
    said = "\n".join(lines[-_MOST_LINES:]) or "nothing"
    return f"git said:\n{_CREDENTIALS.sub(chr(92) + '1:redacted@', said)}"
