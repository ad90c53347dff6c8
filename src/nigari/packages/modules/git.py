"""Fetching module packages with the `git` program.

Only the files of one commit are wanted, so as little history as possible is fetched and none is
kept. Nothing that stands in a source address ever reaches `git` where it could be taken for an
option, and only transports that fetch (and do not run what the address says) are allowed.
"""

from __future__ import annotations

import base64
import binascii
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from nigari.lazy import lazy_pattern
from nigari.packages.base.module_fetch import FetchError, Progress
from nigari.packages.base.single_files import get_file_of, split_file
from nigari.packages.base.whole_file import make_directories
from nigari.packages.modules.package_address import take_arguments
from nigari.packages.modules.programs import Done, complaint, find_program, run_fetching
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_SCHEMES: Final = frozenset(("https", "http", "ssh", "git", "file"))
_PLAIN_REF: Final = lazy_pattern(r"(?![-+.@^])(?!.*(?:\.\.|@\{))[^\x00-\x20~^:?*\[\\\x7f]+")
_COMMIT: Final = lazy_pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SHORT_COMMIT: Final = lazy_pattern(r"[0-9a-f]{7,39}")
"""What no server finds by itself."""
_ALL_REFS: Final = ("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
_OWN_CHOICE: Final = "refs/nigari/head"
_NO_CHOICE: Final = "remote ref HEAD"
"""A part of what git says of a repository without a choice of its own."""
_OWN_ARGUMENTS: Final = ("ref", "depth", "sshkey")
"""The depth has no effect, as no history is kept in any case."""
_MEANINGS: Final = ("{}", "refs/{}", "refs/tags/{}", "refs/heads/{}")
"""What a ref may be short for, in the order in which git looks for it."""
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


@record
class GitAddress:
    """What a source address says to git."""

    url: str
    ref: str = ""
    """A branch, a tag or a commit; empty for the repository's own choice."""
    ssh_key: bytes = b""


def git_address(url: str) -> GitAddress:
    """Read the address of a git package, or raise `FetchError` where it makes no sense."""
    url, given = take_arguments(url, _OWN_ARGUMENTS)
    ref = given.get("ref", "")
    if ref.startswith("-") or any(ord(char) < 0x20 for char in ref):
        raise FetchError(f'"{ref}" is not a valid name for a branch, tag or commit.')
    _check_url(url)
    return GitAddress(url, ref, _ssh_key(given.get("sshkey", "")))


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        parts.port  # noqa: B018 - reading it finds out whether it is a number
    except ValueError:
        # Its own words quote the host, with a password that stands before it.
        raise FetchError("The address is not a valid URL for git.") from None
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


def _ssh_key(text: str) -> bytes:
    if not text:
        return b""
    try:
        # A plus sign in a query means a space, unless it is escaped; people forget.
        return base64.b64decode(text.replace(" ", "+"), validate=True)
    except binascii.Error:
        raise FetchError("The sshkey in the address is not valid Base64.") from None


class GitGetter:
    """Gets the files of a commit, with those of its submodules."""

    def __init__(self, environ: Mapping[str, str], may_ask: bool = False) -> None:
        self._environ = {
            name: value for name, value in environ.items() if name not in _FOREIGN_REPOSITORY
        }
        # Some of what git says is understood here.
        self._environ["LC_ALL"] = "C"
        if not may_ask:
            self._environ.setdefault("GIT_TERMINAL_PROMPT", "0")

    async def revision(self, url: str, is_file: bool) -> str:
        """The commit that the address means now."""
        address = git_address(split_file(url)[0] if is_file else url)
        if _COMMIT.fullmatch(address.ref):
            return address.ref
        if address.ref and not _PLAIN_REF.fullmatch(address.ref):
            return ""
        with self._session(address, Path(os.sep)) as git:
            wanted = address.ref or "HEAD"
            said = await git.run(
                "ls-remote", "--quiet", "--", address.url, wanted, f"{wanted}^{{}}"
            )
        found = {name: commit for commit, _, name in map(_halves, said.splitlines())}
        for name in _MEANINGS:
            for peeled in ("^{}", ""):
                commit = found.get(name.format(wanted) + peeled)
                if commit is not None:
                    return commit
        return ""

    def pinned(self, url: str, revision: str) -> str:
        """The address of a commit."""
        url = take_arguments(url, ("ref", "depth"))[0]
        return f"{url}{'&' if '?' in url else '?'}ref={revision}"

    async def get_directory(self, url: str, directory: Path, progress: Progress) -> str:
        """Put the files of a commit into an empty directory."""
        address = git_address(url)
        with self._session(address, directory) as git:
            _make_repository(directory)
            wanted = await _commit(git, address)
            await git.run("checkout", "--quiet", "--force", "--detach", wanted)
            # What a detached head is, git has written there.
            commit = (directory / ".git" / "HEAD").read_text().strip()
            if (directory / ".gitmodules").is_file():
                await _add_submodules(git, address.url)
        _forget_history(directory)
        return commit

    async def get_file(self, url: str, path: Path, progress: Progress) -> str:
        """Take one file of a repository, which is the last part of the path."""
        repository, name = split_file(url)
        return await get_file_of(self, repository, name, path, progress)

    @contextmanager
    def _session(self, address: GitAddress, directory: Path) -> Iterator[_Git]:
        program = find_program("git", self._environ)
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

    async def run(self, *arguments: str) -> str:
        """Run a command for its output, or raise `FetchError` with what it says."""
        done = await self.attempt(*arguments)
        if done.status != 0:
            raise FetchError(complaint("git", done.errors))
        return done.output

    async def attempt(self, *arguments: str) -> Done:
        """Run a command that may fail."""
        return await run_fetching([*self._command, *arguments], self._directory, self._environ)


def _halves(line: str) -> tuple[str, str, str]:
    return line.partition("\t")


async def _commit(git: _Git, address: GitAddress) -> str:
    """Fetch what a ref stands for, alone if the server can do that; gives the commit."""
    url, ref = address.url, address.ref
    if not ref or (_PLAIN_REF.fullmatch(ref) and not _SHORT_COMMIT.fullmatch(ref)):
        alone = ("fetch", "--quiet", "--no-tags", "--depth=1", "--end-of-options", url)
        if (await git.attempt(*alone, ref or "HEAD")).status == 0:
            return "FETCH_HEAD"
    everything = ("fetch", "--quiet", "--end-of-options", url, *_ALL_REFS)
    done = await git.attempt(*everything, f"+HEAD:{_OWN_CHOICE}")
    if done.status != 0 and _NO_CHOICE not in done.errors:
        raise FetchError(complaint("git", done.errors))
    if done.status != 0:
        # A repository may have no choice of its own, or one that is not there.
        await git.run(*everything)
    if not ref:
        return _OWN_CHOICE
    # Refs may be relative to the repository's own choice, as HEAD~1 is.
    await git.attempt("update-ref", "--no-deref", "HEAD", _OWN_CHOICE)
    for candidate in (ref, f"refs/remotes/origin/{ref}", f"refs/tags/{ref}"):
        found = await git.attempt(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{candidate}^{{commit}}"
        )
        if found.status == 0:
            return found.output
    raise FetchError(f'The repository has no branch, tag or commit "{ref}".')


async def _add_submodules(git: _Git, url: str) -> None:
    # Their addresses may be relative to that of the repository.
    await git.run("remote", "add", "--", "origin", url)
    update = ("submodule", "--quiet", "update", "--init", "--recursive")
    if (await git.attempt(*update, "--depth=1")).status != 0:
        await git.run(*update)


def _make_repository(directory: Path) -> None:
    """An empty repository, as `git init` makes it; made here, as each process takes its time."""
    place = directory / ".git"
    for name in ("objects", "refs"):
        make_directories(place / name)
    (place / "HEAD").write_text("ref: refs/heads/main\n")
    (place / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")


def _forget_history(directory: Path) -> None:
    for folder, subfolders, files in os.walk(directory):
        if ".git" in subfolders:
            subfolders.remove(".git")
            shutil.rmtree(os.path.join(folder, ".git"))
        if ".git" in files:
            os.unlink(os.path.join(folder, ".git"))
