"""Module packages from git repositories, with the `git` program.

Only the files of one commit are needed, so as little history as possible is fetched and none is
retained. No part of a source address reaches `git` where it could be taken for an option, and only
transports that fetch (and never execute the address) are allowed.
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
from urllib.parse import quote

from nigari.lazy import lazy_pattern
from nigari.packages.content.module_fetch import FetchError, Progress, TaggedGetter
from nigari.packages.content.single_files import get_file_of, split_file
from nigari.packages.content.whole_file import make_directories
from nigari.packages.modules.package_address import take_arguments
from nigari.packages.modules.programs import (
    Done,
    check_repository_url,
    error_quote,
    find_program,
    run_fetching,
)
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_SCHEMES: Final = ("https", "http", "ssh", "git", "file")
_PLAIN_REF: Final = lazy_pattern(r"(?![-+.@^])(?!.*(?:\.\.|@\{))[^\x00-\x20~^:?*\[\\\x7f]+")
_COMMIT: Final = lazy_pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SHORT_COMMIT: Final = lazy_pattern(r"[0-9a-f]{7,39}")
"""An abbreviated commit, which servers cannot look up."""
_ALL_REFS: Final = ("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
_OWN_CHOICE: Final = "refs/nigari/head"
_NO_CHOICE: Final = "remote ref HEAD"
"""Part of git's message about a repository without a default branch."""
_OWN_ARGUMENTS: Final = ("ref", "depth", "sshkey")
"""The depth has no effect, as no history is retained anyway."""
_MEANINGS: Final = ("{}", "refs/{}", "refs/tags/{}", "refs/heads/{}")
"""Possible meanings of a ref, in git's own order."""
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
"""Variables that are set if the program runs in a hook of another repository, and must not apply
here.
"""
_SETTINGS: Final = (
    *("-c", f"core.hooksPath={os.devnull}"),
    # The repository is discarded immediately, so it needs neither maintenance nor safety.
    *("-c", "maintenance.auto=false"),
    *("-c", "gc.auto=0"),
    *("-c", "core.fsync=none"),
)


@record
class GitAddress:
    """Parsed source address of a git package."""

    url: str
    ref: str = ""
    """A branch, tag or commit; empty for the default branch."""
    ssh_key: bytes = b""


def git_address(url: str) -> GitAddress:
    """Parse the address of a git package, or raise `FetchError` if it is invalid."""
    url, given = take_arguments(url, _OWN_ARGUMENTS)
    ref = given.get("ref", "")
    if ref.startswith("-") or any(ord(char) < 0x20 for char in ref):
        raise FetchError(f'"{ref}" is not a valid name for a branch, tag or commit.')
    check_repository_url(url, "git", _SCHEMES)
    if any(ord(char) < 0x20 for char in url):
        raise FetchError("The address contains control characters.")
    return GitAddress(url, ref, _ssh_key(given.get("sshkey", "")))


def _ssh_key(text: str) -> bytes:
    if not text:
        return b""
    try:
        # In a query a plus sign means a space unless it is escaped, which is often forgotten.
        return base64.b64decode(text.replace(" ", "+"), validate=True)
    except binascii.Error:
        raise FetchError("The sshkey in the address is not valid Base64.") from None


class GitGetter(TaggedGetter):
    """Fetches the files of a commit and its submodules."""

    def __init__(self, environ: Mapping[str, str], may_ask: bool = False) -> None:
        self._environ = {
            name: value for name, value in environ.items() if name not in _FOREIGN_REPOSITORY
        }
        # Some of git's messages are parsed below, so they must be in English.
        self._environ["LC_ALL"] = "C"
        if not may_ask:
            self._environ.setdefault("GIT_TERMINAL_PROMPT", "0")

    async def revision(self, url: str, is_file: bool) -> str:
        """Return the current commit of the address."""
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
            # git ls-remote: "^{}" is the commit that an annotated tag points at.
            for peeled in ("^{}", ""):
                commit = found.get(name.format(wanted) + peeled)
                if commit is not None:
                    return commit
        return ""

    async def tags(self, url: str) -> Mapping[str, str]:
        """List the tags of the repository, each with its address."""
        address = git_address(url)
        with self._session(address, Path(os.sep)) as git:
            said = await git.run("ls-remote", "--quiet", "--tags", "--", address.url)
        names = [name.removesuffix("^{}") for _, _, name in map(_halves, said.splitlines())]
        tags = dict.fromkeys(name.removeprefix("refs/tags/") for name in names)
        return {
            tag: self.pinned(url, quote(tag, safe="/")) for tag in tags if _PLAIN_REF.fullmatch(tag)
        }

    def pinned(self, url: str, revision: str) -> str:
        """Return the address of a commit."""
        url = take_arguments(url, ("ref", "depth"))[0]
        return f"{url}{'&' if '?' in url else '?'}ref={revision}"

    async def get_directory(self, url: str, directory: Path, progress: Progress) -> str:
        """Check out the files of a commit into an empty directory."""
        address = git_address(url)
        with self._session(address, directory) as git:
            _make_repository(directory)
            wanted = await _commit(git, address)
            await git.run("checkout", "--quiet", "--force", "--detach", wanted)
            # Git has written the commit of the detached head there.
            commit = (directory / ".git" / "HEAD").read_text().strip()
            if (directory / ".gitmodules").is_file():
                await _add_submodules(git, address.url)
        _forget_history(directory)
        return commit

    async def get_file(self, url: str, path: Path, progress: Progress) -> str:
        """Fetch one file of a repository, named by the last part of the path."""
        repository, name = split_file(url)
        return await get_file_of(self, repository, name, path, progress)

    @contextmanager
    def _session(self, address: GitAddress, directory: Path) -> Iterator[_Git]:
        program = find_program("git", self._environ)
        if not address.ssh_key:
            yield _Git(program, directory, self._environ)
            return
        with tempfile.NamedTemporaryFile(prefix="nigari-key-") as file:
            # Only its owner may ever read the key file.
            file.write(address.ssh_key)
            file.flush()
            command = self._environ.get("GIT_SSH_COMMAND") or "ssh"
            # go-getter: the sshkey argument is used with ssh -i.
            environ = {**self._environ, "GIT_SSH_COMMAND": f"{command} -i {shlex.quote(file.name)}"}
            yield _Git(program, directory, environ)


class _Git:
    """The git program, running in one directory."""

    def __init__(self, program: str, directory: Path, environ: Mapping[str, str]) -> None:
        self._command = [program, *_SETTINGS]
        self._directory = directory
        self._environ = environ

    async def run(self, *arguments: str) -> str:
        """Run a command and return its output, or raise `FetchError` with its error message."""
        done = await self.attempt(*arguments)
        if done.status != 0:
            raise FetchError(error_quote("git", done.errors))
        return done.output

    async def attempt(self, *arguments: str) -> Done:
        """Run a command that may fail."""
        return await run_fetching([*self._command, *arguments], self._directory, self._environ)


def _halves(line: str) -> tuple[str, str, str]:
    return line.partition("\t")


async def _commit(git: _Git, address: GitAddress) -> str:
    """Fetch a ref, alone if the server supports that; return the commit."""
    url, ref = address.url, address.ref
    if not ref or (_PLAIN_REF.fullmatch(ref) and not _SHORT_COMMIT.fullmatch(ref)):
        # Servers offer single refs, and many also single commits, but no abbreviated ones.
        alone = ("fetch", "--quiet", "--no-tags", "--depth=1", "--end-of-options", url)
        if (await git.attempt(*alone, ref or "HEAD")).status == 0:
            return "FETCH_HEAD"
    everything = ("fetch", "--quiet", "--end-of-options", url, *_ALL_REFS)
    done = await git.attempt(*everything, f"+HEAD:{_OWN_CHOICE}")
    if done.status != 0 and _NO_CHOICE not in done.errors:
        raise FetchError(error_quote("git", done.errors))
    if done.status != 0:
        # A repository may have no default branch, or one that does not exist.
        await git.run(*everything)
    if not ref:
        return _OWN_CHOICE
    # A ref may be relative to the default branch, such as HEAD~1.
    await git.attempt("update-ref", "--no-deref", "HEAD", _OWN_CHOICE)
    # git rev-parse knows no remote branches by their bare names in a fresh repository.
    for candidate in (ref, f"refs/remotes/origin/{ref}", f"refs/tags/{ref}"):
        found = await git.attempt(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{candidate}^{{commit}}"
        )
        if found.status == 0:
            return found.output
    raise FetchError(f'The repository has no branch, tag or commit "{ref}".')


async def _add_submodules(git: _Git, url: str) -> None:
    # Submodule addresses may be relative to that of the repository.
    await git.run("remote", "add", "--", "origin", url)
    update = ("submodule", "--quiet", "update", "--init", "--recursive")
    # Some servers refuse to send a single commit of a submodule.
    if (await git.attempt(*update, "--depth=1")).status != 0:
        await git.run(*update)


def _make_repository(directory: Path) -> None:
    """Create an empty repository like `git init`, without the cost of a process."""
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
