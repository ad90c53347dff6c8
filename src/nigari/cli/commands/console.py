"""`nigari console`: try expressions, at a prompt or through a pipe."""

from __future__ import annotations

import os
from collections.abc import Iterator

from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.configuration import read_variables, selected_name
from nigari.cli.console.prompt import Prompt
from nigari.cli.console.session import INPUT_NAME, Session
from nigari.cli.console.statements import Statement
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG, show_diagnostics
from nigari.diagnostics import Diagnostics
from nigari.eval.inputs import check_undeclared
from nigari.lang.functions.table import function_table
from nigari.workspace import Workspace


class _Console:
    """One run of the command."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self._terminal = invocation.terminal
        self._workspace = Workspace(".")

    def run(self) -> int:
        session = self._open()
        if session is None:
            return 1
        if self._terminal.stdin.isatty():
            return self._converse(session)
        return self._answer_all(session)

    def _open(self) -> Session | None:
        """The session, or None where there is no making sense of the configuration."""
        workspace = self._workspace
        problems = Diagnostics()
        selected = selected_name(self._invocation, ".", problems)
        reader = read_variables(self._invocation, workspace.files, ".", selected, problems)
        workspace.sources.update(reader.sources)
        run, found = workspace.static(reader.inputs, selected)
        problems.extend(found)
        if run is not None:
            check_undeclared(reader.inputs, run.root.module.variables, problems)
        self._show(problems)
        if run is None or problems.has_errors:
            return None
        home = os.path.expanduser("~")
        run.functions = function_table(workspace.files, ".", home_directory=home, console=True)
        session = Session(run)
        self._tell_what_is_wrong(session)
        return session

    def _tell_what_is_wrong(self, session: Session) -> None:
        problems = session.prepare()
        self._show(problems)
        if problems.has_errors:
            after = Diagnostics()
            _warn_of_incompleteness(after)
            self._show(after)

    def _converse(self, session: Session) -> int:
        prompt = Prompt(session.names)
        while True:
            statement = prompt.read()
            if statement is None:
                return 0
            answer = session.answer(statement)
            if answer.ends:
                return 0
            if answer.diags.has_errors:
                self._show(answer.diags, statement)
            elif answer.text:
                self._terminal.out(answer.text)

    def _answer_all(self, session: Session) -> int:
        """Answer what comes through a pipe; the first mistake ends it."""
        for statement in self._statements():
            answer = session.answer(statement)
            if answer.diags.has_errors:
                self._show(answer.diags, statement)
                return 1
            if answer.ends:
                return 0
            self._terminal.out(answer.text)
            self._terminal.stdout.flush()
        return 0

    def _statements(self) -> Iterator[str]:
        statement = Statement()
        for line in self._terminal.lines():
            statement.add(line)
            if not statement.depth:
                yield statement.text
                statement = Statement()
        if statement.is_begun:
            yield statement.text

    def _show(self, diags: Diagnostics, statement: str = "") -> None:
        sources = {**self._workspace.sources, INPUT_NAME: statement.encode("utf-8", "replace")}
        show_diagnostics(
            self._terminal,
            diags,
            sources,
            self._workspace.context_of,
        )


def _warn_of_incompleteness(diags: Diagnostics) -> None:
    diags.warning(
        "Incomplete values",
        "Because of the problems above, some expressions may have no value or another one than "
        "they should.",
    )


def run(invocation: Invocation) -> int:
    """Answer expressions until there are no more."""
    return _Console(invocation).run()


COMMAND = Command(
    "console",
    "Shows what expressions come to. It knows the variables, local values and modules of the "
    "configuration in the working directory; what is not known before applying is shown as such. "
    "Nothing is ever changed.\n\n"
    "On a terminal, Tab completes names and an open bracket or heredoc goes on over the next "
    "line. Without a terminal, each line of standard input is an expression, and the first "
    "mistake ends the program.",
    run,
    flags=(
        *VARIABLE_FLAGS,
        Flag("state", FLAG_TEXT, "The state file, for the local backend only", "FILE"),
        Flag("lock", FLAG_SWITCH, "Do not lock the state", default="true"),
        Flag("lock-timeout", FLAG_TEXT, "How long to wait for a lock", "DURATION", "0s"),
        Flag("input", FLAG_SWITCH, "Never ask for anything", default="true"),
        COMPACT_WARNINGS_FLAG,
        NO_COLOR_FLAG,
    ),
    examples=(
        Example("nigari console", "opens a prompt"),
        Example(
            "echo 'cidrsubnet(var.net, 8, 2)' | nigari console -var net=10.0.0.0/16", "for scripts"
        ),
    ),
)
