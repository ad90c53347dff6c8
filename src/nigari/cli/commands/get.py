"""`nigari get`: installs the modules that the configuration calls, and does nothing else."""

from __future__ import annotations

from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.commands.init import begin
from nigari.cli.prompt import Person
from nigari.cli.stored_state import SAYING_FLAGS, OpenState
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.init import InitProgress
from nigari.workspace.backend_setup import BackendOptions
from nigari.workspace.initialize import InitOptions


def run(invocation: Invocation) -> int:
    """Install modules."""
    state = OpenState(invocation)
    upgrade = invocation.switch("update")
    options = InitOptions(
        upgrade,
        get_providers=False,
        tests=invocation.text("test-directory"),
        backend=BackendOptions(is_wanted=False),
    )
    person = Person(state.terminal, not invocation.switch("json"))
    progress = InitProgress(state, upgrade, tells_parts=False)
    return state.end(begin(state, person, progress, options))


COMMAND = Command(
    "get",
    "Installs the modules that the configuration calls. The init command does that, too, and "
    "also sets up the backend and the providers.",
    run,
    flags=(
        Flag("update", FLAG_SWITCH, "Download modules again even if they are installed"),
        Flag("test-directory", FLAG_TEXT, "The directory with test files", "DIR", "tests"),
        *SAYING_FLAGS,
        *VARIABLE_FLAGS,
    ),
    examples=(Example("nigari get -update", "picks up changes in the sources of modules"),),
)
