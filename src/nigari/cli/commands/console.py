"""`nigari console`: try expressions, at a prompt or through a pipe.

It opens a session with the state. What a statement evaluates to is in `nigari.cli.console`.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.cli.command import FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.console.prompt import Prompt
from nigari.cli.console.session import INPUT_NAME, ConsoleSession
from nigari.cli.console.statements import Statement
from nigari.cli.presenter import Presenter
from nigari.cli.prompt import INPUT_FLAG
from nigari.cli.state_flags import JSON_INTO_FLAG, LOCK_FLAGS, STATE_FLAG
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG, show_diagnostics
from nigari.diagnostics import Diagnostics
from nigari.eval.core.inputs import check_undeclared
from nigari.eval.core.instances import Frame
from nigari.eval.static.inspection_run import InspectionRun
from nigari.eval.static.run import StaticRun
from nigari.lang.functions.table import function_table
from nigari.workspace.context.asyncio_bridge import run_until_it_waits


class _Console:
    """One run of the command."""

    def __init__(self, invocation: Invocation) -> None:
        self._terminal = invocation.terminal
        self._scope = invocation.text("scope")
        self._presenter = Presenter(invocation)
        self._directory = self._presenter.session
        self._workspace = self._directory.workspace

    def run(self) -> int:
        """Answer until there is nothing more to answer."""
        try:
            return self._answer()
        finally:
            if self._presenter.events is not None:
                self._presenter.events.close()

    def _answer(self) -> int:
        session = self._open()
        if session is None:
            return 1
        if self._terminal.stdin.isatty():
            return self._converse(session)
        return self._answer_all(session)

    def _open(self) -> ConsoleSession | None:
        """The session, or None where there is no making sense of the configuration."""
        directory, workspace = self._directory, self._workspace
        problems = directory.diags
        static = directory.static()
        if static is not None:
            check_undeclared(directory.inputs, static.root.module.variables, problems)
        self._show(problems)
        if static is None or problems.has_errors:
            return None
        run = self._with_state(static)
        if run is None:
            return None
        home = workspace.home_directory
        root = workspace.where.absolute_root
        run.functions = function_table(
            workspace.files, ".", root=root, home_directory=home, console=True
        )
        frame = self._frame(run)
        if frame is None:
            return None
        session = ConsoleSession(run, frame)
        self._tell_what_is_wrong(session)
        return session

    def _frame(self, run: StaticRun) -> Frame | None:
        """The module instance to evaluate in; None after reporting that it doesn't exist."""
        if not self._scope:
            return run.root
        from nigari.workspace.explain.explainer import Explainer
        from nigari.workspace.explain.queries import ValueQueries

        problems = Diagnostics()
        queries = ValueQueries(run, self._workspace.sources)
        found = Explainer(queries, problems, self._workspace.where).frame(self._scope)
        self._show(problems)
        return found

    def _with_state(self, run: StaticRun) -> StaticRun | None:
        """The same configuration with what is stored; None after reporting why it is not to be had."""
        directory = self._directory
        snapshots = run_until_it_waits(directory.read())
        if snapshots is None:
            self._show(directory.diags)
            return None
        inputs, selected = directory.inputs, directory.selected
        static_settings = self._workspace.static_settings(inputs, selected)
        compiled = run.root.instance.compiled
        inspection: InspectionRun
        if snapshots.state.resources:
            from nigari.plan.inspection.state_inspection import StateInspection
            from nigari.plan.order.required_providers import providers_of

            shown = directory.as_shown(snapshots.state)
            needed = providers_of(run.root.instance, shown)
            schemas = run_until_it_waits(directory.load_schemas(needed))
            if directory.diags.has_errors:
                self._show(directory.diags)
                return None
            inspection = StateInspection(compiled, static_settings, shown, schemas)
        else:
            inspection = InspectionRun(compiled, static_settings)
        inspection.evaluate(())
        return inspection

    def _tell_what_is_wrong(self, session: ConsoleSession) -> None:
        problems = session.prepare()
        self._show(problems)
        if problems.has_errors:
            after = Diagnostics()
            _warn_of_incompleteness(after)
            self._show(after)

    def _converse(self, session: ConsoleSession) -> int:
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
                self._presenter.say(answer.text, answer.text)

    def _answer_all(self, session: ConsoleSession) -> int:
        """Answer what comes through a pipe; the first mistake ends it."""
        for statement in self._statements():
            answer = session.answer(statement)
            if answer.diags.has_errors:
                self._show(answer.diags, statement)
                return 1
            if answer.ends:
                return 0
            self._presenter.say(answer.text, answer.text)
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
        if self._presenter.events is not None:
            self._presenter.events.diagnostics(diags, sources, self._workspace.context_of)


def _warn_of_incompleteness(diags: Diagnostics) -> None:
    diags.warning(
        "Incomplete values",
        "Because of the problems above, some expressions may have no value or the wrong value.",
    )


def run(invocation: Invocation) -> int:
    """Answer expressions until there are no more."""
    return _Console(invocation).run()


COMMAND = Command(
    "console",
    "Evaluates expressions interactively. It knows the variables, local values and modules of "
    "the configuration in the working directory, and the state; values that are known only after "
    "apply are shown as such. Nothing is changed.\n\nOn a terminal, Tab completes names, and an "
    "expression with an open bracket or heredoc continues on the next line. Without a terminal, "
    "each line of standard input is an expression, and the first error ends the program.",
    run,
    flags=(
        Flag("scope", FLAG_TEXT, "Evaluate in this module instance", "ADDRESS"),
        *VARIABLE_FLAGS,
        STATE_FLAG,
        *LOCK_FLAGS,
        INPUT_FLAG,
        JSON_INTO_FLAG,
        COMPACT_WARNINGS_FLAG,
        NO_COLOR_FLAG,
    ),
    examples=(
        Example("nigari console", "opens a prompt"),
        Example("nigari console -scope='module.net[\"eu\"]'", "in a module instance"),
        Example(
            "echo 'cidrsubnet(var.net, 8, 2)' | nigari console -var net=10.0.0.0/16", "for scripts"
        ),
    ),
)
