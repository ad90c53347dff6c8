"""Module packages from Mercurial repositories, with the `hg` program.

Only the files of one changeset are retained. As with git, no part of a source address reaches the
program where it could be taken for an option or a command.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from nigari.lazy import lazy_pattern
from nigari.packages.content.module_fetch import FetchError, Progress
from nigari.packages.content.single_files import get_file_of, split_file
from nigari.packages.modules.fetching import move_files
from nigari.packages.modules.package_address import take_arguments
from nigari.packages.modules.programs import (
    check_repository_url,
    error_quote,
    find_program,
    run_fetching,
)
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_SCHEMES: Final = ("https", "http", "ssh", "file")
_CHANGESET: Final = lazy_pattern(r"[0-9a-f]{40}")


@record
class MercurialAddress:
    """Parsed source address of a Mercurial package."""

    url: str
    rev: str = ""
    """A branch, tag, bookmark or changeset; empty for the tip of the default branch."""


def mercurial_address(url: str) -> MercurialAddress:
    """Parse the address of a Mercurial package, or raise `FetchError` if it is invalid."""
    url, given = take_arguments(url, ("rev",))
    rev = given.get("rev", "")
    check_repository_url(url, "hg", _SCHEMES)
    if any(ord(char) < 0x20 for char in url + rev) or rev.startswith("-"):
        raise FetchError("The address contains characters that hg would misunderstand.")
    return MercurialAddress(url, rev)


class MercurialGetter:
    """Fetches the files of a changeset."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        # hg help scripting: HGPLAIN turns off translations and aliases that would change the
        # output.
        self._environ = {**environ, "HGPLAIN": "1"}

    async def revision(self, url: str, is_file: bool) -> str:
        """Return the current changeset of the address."""
        address = mercurial_address(split_file(url)[0] if is_file else url)
        if _CHANGESET.fullmatch(address.rev):
            return address.rev
        rev = ("--rev", address.rev) if address.rev else ()
        said = await self._run("identify", "--debug", "--id", *rev, "--", address.url)
        return said if _CHANGESET.fullmatch(said) else ""

    def pinned(self, url: str, revision: str) -> str:
        """Return the address of a changeset."""
        url = take_arguments(url, ("rev",))[0]
        return f"{url}{'&' if '?' in url else '?'}rev={revision}"

    async def get_directory(self, url: str, directory: Path, progress: Progress) -> str:
        """Check out the files of a changeset into an empty directory."""
        address = mercurial_address(url)
        with tempfile.TemporaryDirectory(prefix=".hg-", dir=directory.parent) as temporary:
            clone = Path(temporary, "clone")
            await self._run("clone", "--noupdate", "--", address.url, str(clone))
            rev = ("--rev", address.rev) if address.rev else ()
            await self._run("update", *rev, at=clone)
            changeset = await self._run("log", "--rev", ".", "--template", "{node}", at=clone)
            shutil.rmtree(clone / ".hg")
            move_files(clone, directory)
        return changeset

    async def get_file(self, url: str, path: Path, progress: Progress) -> str:
        """Fetch one file of a repository, named by the last part of the path."""
        repository, name = split_file(url)
        return await get_file_of(self, repository, name, path, progress)

    async def _run(self, *arguments: str, at: Path = Path("/")) -> str:
        program = find_program("hg", self._environ)
        done = await run_fetching([program, "--noninteractive", *arguments], at, self._environ)
        if done.status != 0:
            raise FetchError(error_quote("hg", done.errors or done.output))
        return done.output
