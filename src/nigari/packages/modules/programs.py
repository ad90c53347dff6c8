"""Programs that fetch repositories, and the URLs that may be passed to them.

A program gets no input, and nothing of this process except the environment passed to it.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from nigari.diagnostics.secret_urls import hidden_urls
from nigari.packages.content.module_fetch import FetchError
from nigari.programs import run_program
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_MOST_LINES: Final = 8


@record
class Done:
    """Exit status and output of a program."""

    status: int
    output: str
    errors: str


def check_repository_url(url: str, program: str, schemes: Sequence[str]) -> None:
    """Check that a URL is safe to pass to a program, or raise `FetchError`."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        parts.port  # noqa: B018 - reading it validates the number
    except ValueError:
        # The original message quotes the host, including a password before it.
        raise FetchError(f"The address is not a valid URL for {program}.") from None
    if parts.scheme not in schemes:
        raise FetchError(
            f'Repositories cannot be fetched with "{parts.scheme}". Use '
            f"{', '.join(schemes[:-1])} or {schemes[-1]}."
        )
    user = parts.netloc.rpartition("@")[0]
    if host.startswith("-") or user.startswith("-") or parts.path.startswith(("-", "/-")):
        raise FetchError(
            f"Part of the address begins with a dash, which {program} would take for an option."
        )


def find_program(name: str, environ: Mapping[str, str]) -> str:
    """Find a program, or raise `FetchError`."""
    program = shutil.which(name, path=environ.get("PATH"))
    if program is None:
        raise FetchError(
            f'The program "{name}" is required, but it is not installed, or not on the PATH.'
        )
    return program


async def run_fetching(command: Sequence[str], directory: Path, environ: Mapping[str, str]) -> Done:
    """Run a program to completion."""
    try:
        ended = await run_program(command, environ, directory=str(directory))
    except OSError as error:
        raise FetchError(f"Cannot run {command[0]}: {error.strerror}.") from error
    return Done(
        ended.status,
        ended.output.decode(errors="replace").strip(),
        ended.errors.decode(errors="replace").strip(),
    )


def error_quote(program: str, text: str) -> str:
    """Quote a program's message in a few lines, without passwords."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = "\n".join(lines[-_MOST_LINES:]) or "nothing"
    return f"{program} said:\n{hidden_urls(said)}"
