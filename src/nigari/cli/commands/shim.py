"""`nigari shim`: a launcher by the name that other programs look for.

It runs this program, which then answers `version` as the program of that name; nothing else differs.
"""

from __future__ import annotations

import os
import shlex
import sys

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.markers import COMPATIBLE, program_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_NAMES: Final = ("tofu", "terraform")
_MARK: Final = "# Written by nigari shim."


def run(invocation: Invocation) -> int:
    """Write the launcher."""
    name = invocation.text("name")
    if name not in _NAMES:
        raise UsageError(
            f'The option -name is tofu or terraform, so "{name}" is not a valid value.'
        )
    if not invocation.arguments:
        raise UsageError("The command takes the directory to write the launcher to.")
    directory = invocation.arguments[0]
    path = os.path.join(directory, name)
    if os.path.lexists(path) and not invocation.switch("force") and not _is_ours(path):
        raise UsageError(
            f"{path} exists and is not a launcher of Nigari. Choose another directory, or use "
            "-force to replace it."
        )
    try:
        os.makedirs(directory, exist_ok=True)
        _write(path, _launcher(name))
    except OSError as error:
        raise UsageError(f"Cannot write {path}: {error.strerror}.") from None
    other = program_name({COMPATIBLE: name})
    invocation.terminal.out(f"{path} runs Nigari, which answers version as {other}.")
    return 0


def _launcher(name: str) -> str:
    """The text of the launcher. -P keeps a module named nigari in the working directory out."""
    python = shlex.quote(sys.executable)
    return f'#!/bin/sh\n{_MARK}\n{COMPATIBLE}={name} exec {python} -P -m nigari "$@"\n'


def _write(path: str, text: str) -> None:
    """Put the file in place at once: another run may be using the launcher that is there."""
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(part, 0o755)
        os.replace(part, path)
    except OSError:
        if os.path.lexists(part):
            os.unlink(part)
        raise


def _is_ours(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return _MARK.encode() in file.read(len(_MARK) + 64)
    except OSError:
        return False


COMMAND = Command(
    "shim",
    "Writes a launcher named tofu or terraform to a directory, for programs that run one of these: "
    "put the directory first on their PATH. It runs this program, which then answers version as "
    "that program of the release whose language it follows. Nothing else differs; "
    "NIGARI_COMPATIBLE=1 does the same without a launcher.",
    run,
    flags=(
        Flag("name", FLAG_TEXT, "The name of the launcher: tofu or terraform", "NAME", "tofu"),
        Flag("force", FLAG_SWITCH, "Replace a file that is not a launcher of Nigari"),
    ),
    arguments="DIR",
    most_arguments=1,
    examples=(
        Example("nigari shim ~/shims", "then: PATH=~/shims:$PATH terragrunt run --all plan"),
    ),
)
