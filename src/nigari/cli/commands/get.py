"""`nigari get`: installs the modules that the configuration calls, and does nothing else."""

from __future__ import annotations

from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.presenter import Presenter
from nigari.cli.prompt import Person
from nigari.cli.state_flags import SAYING_FLAGS, open_session
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.init import InitProgress
from nigari.workspace.setup.init_options import BackendOptions, InitOptions


def run(invocation: Invocation) -> int:
    """Install modules."""
    person = Person(invocation.terminal, not invocation.switch("json"))
    presenter = Presenter(invocation, session=open_session(invocation, prompter=person))
    upgrade = invocation.switch("update")
    options = InitOptions(
        upgrade,
        get_providers=False,
        tests=invocation.text("test-directory"),
        backend=BackendOptions(is_wanted=False),
    )
    progress = InitProgress(presenter, upgrade, tells_parts=False)
    return presenter.end(presenter.session.initialize(options, progress))


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
