"""`nigari rename`: rename a declaration everywhere, so that a plan afterwards is empty."""

from __future__ import annotations

import os
from collections.abc import Mapping

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.commands.fmt import replace_file, unified_diff
from nigari.cli.views.diagnostics import NO_COLOR_FLAG, show_diagnostics
from nigari.diagnostics import Diagnostics
from nigari.language.project import Project, survey
from nigari.language.rename import declared_symbol, rename
from nigari.language.rename_check import check_edits
from nigari.language.resolved_calls import resolve_calls
from nigari.workspace.context.working_directory import process_directory


def run(invocation: Invocation) -> int:
    """Work out the edits, check them, and write them or show them."""
    if len(invocation.arguments) < 2:
        raise UsageError("The command needs an address and a new name, such as: rename var.a b")
    terminal = invocation.terminal
    directory = process_directory(terminal.environ)
    diags = Diagnostics()
    address, name = invocation.arguments
    contents = _renamed(directory, address, name, terminal.environ, diags)
    if not diags.has_errors:
        for path, content in contents.items():
            shown = os.path.relpath(path, directory)
            if invocation.switch("check"):
                with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
                    old = file.read()
                text = content.decode("utf-8", "surrogateescape")
                terminal.stdout.write(unified_diff(old, text, shown))
            elif _write(path, content, diags):
                terminal.out(shown)
    show_diagnostics(terminal, diags, {}, lambda _: "", no_color=invocation.switch("no-color"))
    return 1 if diags.has_errors else 0


def _renamed(
    directory: str, address: str, name: str, environ: Mapping[str, str], diags: Diagnostics
) -> Mapping[str, bytes]:
    """The contents of the files that change."""
    folders = (_repository(directory),)
    project = Project(folders)
    project.adopt(survey(folders))
    resolve_calls(project, environ)
    symbols = declared_symbol(project, directory, address, diags)
    edits = rename(project, symbols, name, diags) if symbols else None
    if edits is None:
        return {}
    contents = check_edits(project, edits, environ, diags)
    if diags.has_errors:
        diags.error(
            "Nothing was renamed",
            "The configuration would have errors that it does not have now: see above.",
        )
    return contents


def _repository(directory: str) -> str:
    """The directory of the git repository, whose modules may call each other, or the given one."""
    place = directory
    while True:
        if os.path.exists(os.path.join(place, ".git")):
            return place
        place, below = os.path.dirname(place), place
        if place == below:
            return directory


def _write(path: str, content: bytes, diags: Diagnostics) -> bool:
    try:
        replace_file(path, content)
    except OSError as error:
        diags.error("Cannot write file", f"{path}: {error.strerror}.")
        return False
    return True


COMMAND = Command(
    "rename",
    "Renames a variable, local value, output, resource, module call, check or provider alias: its "
    "declaration and all references, in callers, tests, variable files, environments and fleet.hcl, over "
    "all modules of the git repository. Comments and layout stay. Resources and module calls get a moved "
    "block, so that a plan afterwards is empty. Nothing is written if renaming would cause an error.",
    run,
    flags=(
        Flag("check", FLAG_SWITCH, "Write nothing, and show what would change"),
        NO_COLOR_FLAG,
    ),
    arguments="ADDRESS NAME",
    most_arguments=2,
    examples=(
        Example("nigari rename var.region location", "an input variable"),
        Example("nigari rename aws_vpc.main network", "a resource, with a moved block"),
        Example("nigari rename -check module.net.output.id vpc_id", "what would change"),
    ),
)
