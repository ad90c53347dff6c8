"""What commands share that look at a configuration: its variables, its loading, its errors."""

from __future__ import annotations

from nigari.cli.command import Invocation
from nigari.cli.variables import ORDER, VariableReader
from nigari.cli.views.diagnostics import show_diagnostics
from nigari.diagnostics import Diagnostics
from nigari.eval.inputs import Inputs
from nigari.eval.static import StaticRun
from nigari.workspace import Workspace


class OpenConfiguration:
    """The configuration of the working directory, with the variables of the command line."""

    def __init__(self, invocation: Invocation, directory: str = ".") -> None:
        self.invocation = invocation
        self.workspace = Workspace(directory)
        self.diags = Diagnostics()
        reader = VariableReader(self.workspace.files, directory, self.diags)
        reader.read_environment(invocation.terminal.environ)
        reader.read_automatic_files()
        reader.read_flags(invocation.ordered.get(ORDER, []))
        self.workspace.sources.update(reader.sources)
        self.inputs: Inputs = reader.inputs

    def static(self) -> StaticRun | None:
        """The static phase; None where the configuration cannot be read at all."""
        run, found = self.workspace.static(self.inputs)
        self.diags.extend(found)
        return run

    def show(self) -> None:
        """Write the diagnostics that there are."""
        show_diagnostics(
            self.invocation.terminal,
            self.diags,
            self.workspace.sources,
            self.workspace.context_of,
            no_color=self.invocation.switch("no-color"),
        )
