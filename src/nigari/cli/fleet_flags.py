"""What the commands of fleets have in common: which units they are about, and what is wrong."""

from __future__ import annotations

import os
from collections.abc import Iterable

from nigari.cli.command import FLAG_LIST, FLAG_TEXT, Flag, Invocation, Terminal
from nigari.cli.views.diagnostics import NO_COLOR_FLAG, show_diagnostics
from nigari.diagnostics import Diagnostic, Diagnostics
from nigari.fleet.choice import Choice, chosen_units
from nigari.fleet.survey import Survey, survey

CHOICE_FLAGS = (
    Flag(
        "only",
        FLAG_LIST,
        "Only these units: a name, a path or a pattern of paths, label:NAME; with + before it also "
        "all that it needs, with + behind it all that needs it; can be repeated",
        "UNITS",
    ),
    Flag("except", FLAG_LIST, "All but these units, given as for -only", "UNITS"),
    Flag(
        "changed-since",
        FLAG_TEXT,
        "Only units that read a file which differs from this commit, and those that depend on them",
        "REF",
    ),
    NO_COLOR_FLAG,
)


class FleetCommand:
    """A command over the fleet below the working directory."""

    def __init__(self, invocation: Invocation) -> None:
        self.invocation = invocation
        self.terminal: Terminal = invocation.terminal
        self.environ: dict[str, str] = dict(invocation.terminal.environ)
        self.found: Survey = survey(os.getcwd(), self.environ)
        self.diags: Diagnostics = Diagnostics(self.found.diagnostics)

    def choice(self) -> Choice:
        """Which units the command line means."""
        given = self.invocation
        return Choice(given.texts("only"), given.texts("except"), given.text("changed-since"))

    def chosen(self) -> list[str] | None:
        """The names of the units that are meant; None after showing what is wrong."""
        names = chosen_units(self.found, self.choice(), self.environ, self.diags)
        if self.diags.has_errors:
            self.show(self.diags)
            return None
        return names

    def show(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Show what is wrong, where it does not get mixed with results."""
        show_diagnostics(
            self.terminal.only_err(),
            Diagnostics(diagnostics),
            self.found.sources,
            lambda _: "",
            no_color=self.invocation.switch("no-color"),
        )
