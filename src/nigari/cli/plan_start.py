"""The start of the commands that plan, before anything is imported that can.

Whether the providers are installed is known as soon as the configuration is read. Where they are
not, nothing is planned, and to say so must not take longer than to find it out.
"""

from __future__ import annotations

from nigari.cli.command import Invocation
from nigari.cli.plan_flags import check_form, check_modes, parallelism
from nigari.cli.presenter import Presenter
from nigari.cli.prompt import Person
from nigari.cli.state_flags import has_flag, open_session
from nigari.workspace.session.session import Session


def open_planning(
    invocation: Invocation, directory: str | None = None, tells_events: bool = True
) -> Presenter:
    """A presenter with the session of a command that plans."""
    may_ask = invocation.switch("input") and not (
        has_flag(invocation, "json") and invocation.switch("json")
    )
    person = Person(invocation.terminal, may_ask)
    session = open_session(invocation, prompter=person, directory=directory)
    return Presenter(invocation, tells_events, session)


def ask_variables(session: Session) -> None:
    """Have all variables known before anything is worked out."""
    _ = session.workspace
    if not session.diags.has_errors:
        session.ask_variables()


def begin_planning(invocation: Invocation) -> Presenter | None:
    """The presenter of a command that can go on to plan; None once it has shown why it cannot."""
    check_modes(invocation)
    check_form(invocation)
    parallelism(invocation)
    presenter = open_planning(invocation)
    session = presenter.session
    ask_variables(session)
    if not session.diags.has_errors and session.has_providers():
        return presenter
    presenter.end(False)
    return None
