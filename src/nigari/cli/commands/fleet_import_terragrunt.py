"""`nigari fleet import-terragrunt`: a tree of Terragrunt as a fleet."""

from __future__ import annotations

import os

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.views.diagnostics import NO_COLOR_FLAG, show_diagnostics
from nigari.diagnostics import Diagnostics
from nigari.fleet.terragrunt.importing import import_terragrunt
from nigari.fleet.units.unit import FILE_NAME
from nigari.packages.content.whole_file import write_whole
from nigari.workspace.context.working_directory import process_directory


def run(invocation: Invocation) -> int:
    """Write the files of the fleet, all of them or none."""
    environ = dict(invocation.terminal.environ)
    given = invocation.arguments[0] if invocation.arguments else "."
    root = os.path.normpath(os.path.join(process_directory(environ), given))
    target = os.path.join(root, FILE_NAME)
    shown = os.path.relpath(target, process_directory(environ))
    if not os.path.isdir(root):
        raise UsageError(f'There is no directory "{given}".')
    if os.path.lexists(target) and not invocation.switch("force"):
        raise UsageError(f"{shown} exists. Use -force to replace it.")
    diags = Diagnostics()
    found = import_terragrunt(root, environ, diags)
    show_diagnostics(
        invocation.terminal,
        diags,
        found.sources,
        lambda _: "",
        no_color=invocation.switch("no-color"),
    )
    if diags.has_errors:
        return 1
    try:
        for path, text in found.files.items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_whole(path, text.encode())
    except OSError as error:
        raise UsageError(f"Cannot write {error.filename}: {error.strerror}.") from None
    count, generated = len(found.units), len(found.files) - 1
    units = "one unit" if count == 1 else f"{count} units"
    files = "one file" if generated == 1 else f"{generated} files"
    invocation.terminal.out(f"{shown} declares {units}. Wrote {files} beside their configurations.")
    return 0


COMMAND = Command(
    "fleet import-terragrunt",
    "Reads the terragrunt.hcl and terragrunt.stack.hcl files below a directory, and writes a "
    "fleet.hcl with the same units, variables, states and order, and the files that Terragrunt "
    "generates for them. What cannot be carried over is reported with the reason. No command is run, "
    "and no value from the environment is written into fleet.hcl.",
    run,
    flags=(Flag("force", FLAG_SWITCH, "Replace a fleet.hcl that is there"), NO_COLOR_FLAG),
    arguments="[DIR]",
    most_arguments=1,
    examples=(Example("nigari fleet import-terragrunt live", ""),),
)
