"""What commands share that look at a configuration: its variables, its loading, its errors."""

from __future__ import annotations

import os

from nigari.cli.command import Invocation
from nigari.cli.variable_values import VariableReader
from nigari.cli.variables import ORDER
from nigari.cli.views.diagnostics import show_diagnostics
from nigari.diagnostics import Diagnostics
from nigari.eval.inputs import InputKind, Inputs
from nigari.eval.static import StaticRun
from nigari.lang.files import Files
from nigari.workspace import Workspace
from nigari.workspace.data_directory import REMEMBERED_VARIABLES, data_directory, data_path


class OpenConfiguration:
    """The configuration of the working directory, with the variables of the command line."""

    def __init__(
        self,
        invocation: Invocation,
        directory: str = ".",
        files: Files | None = None,
        home: str = "",
    ) -> None:
        """The configuration in a directory. What is remembered, and files of variables, are in the
        same one, unless there is another `home` for them.
        """
        self.invocation = invocation
        home = home or directory
        data = data_path(home, invocation.terminal.environ)
        terminal = invocation.terminal
        self.workspace = Workspace(
            directory,
            files,
            data_directory=data,
            environ=terminal.environ,
            working_path=terminal.started_in,
        )
        self.diags = Diagnostics()
        self.selected = selected_name(invocation, home, self.diags)
        """The workspace that the command works in."""
        reader = read_variables(invocation, self.workspace.files, home, self.selected, self.diags)
        self.workspace.sources.update(reader.sources)
        self.inputs: Inputs = reader.inputs

    def static(self) -> StaticRun | None:
        """The static phase; None where the configuration cannot be read at all."""
        run, found = self.workspace.static(self.inputs, self.selected)
        self.diags.extend(found)
        return run

    def show(self) -> None:
        """Write the diagnostics that there are, where they do not get mixed with results."""
        show_diagnostics(
            self.invocation.terminal.only_err(),
            self.diags,
            self.workspace.sources,
            self.workspace.context_of,
            no_color=self.invocation.switch("no-color"),
        )


def selected_name(invocation: Invocation, directory: str, diags: Diagnostics) -> str:
    """The name of the selected workspace."""
    environ = invocation.terminal.environ
    selection = data_path(directory, environ, "environment")
    if not environ.get("TF_WORKSPACE") and not os.path.exists(selection):
        return "default"
    from nigari.backends.workspaces import selected_workspace

    return selected_workspace(data_directory(directory, environ), environ, diags).name


def read_variables(
    invocation: Invocation, files: Files, directory: str, workspace: str, diags: Diagnostics
) -> VariableReader:
    """The values of variables from everywhere they can come from, the strongest last."""
    terminal = invocation.terminal
    reader = VariableReader(files, directory, diags)
    if os.path.exists(data_path(directory, terminal.environ, REMEMBERED_VARIABLES)):
        from nigari.workspace.remembered import load_remembered

        data = data_directory(directory, terminal.environ)
        reader.inputs.update(load_remembered(data, workspace, diags))
    reader.read_environment(terminal.environ)
    reader.read_automatic_files()
    reader.read_flags(invocation.ordered.get(ORDER, []))
    used = [
        f"var.{name}" for name, given in reader.inputs.items() if given.kind is InputKind.REMEMBERED
    ]
    if used:
        terminal.err(f"Using remembered values for {', '.join(used)} (see nigari init -show).")
    return reader
