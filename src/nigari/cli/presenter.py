"""The presenter: what a command says, as lines for people, as lines of JSON, or both.

It knows the session that a command works with, and shows what that finds wrong. What is done to a
state is the session's affair.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from nigari.cli.args import UsageError
from nigari.cli.command import Invocation, Terminal
from nigari.cli.output_stream import error_of, text_outlet
from nigari.cli.state_flags import has_flag, open_session, optional_text
from nigari.cli.views.diagnostics import show_diagnostics, with_options
from nigari.diagnostics import Diagnostic, Diagnostics
from nigari.workspace.context.asyncio_bridge import run_until_it_waits
from nigari.workspace.session.session import Session

TYPE_CHECKING = False
# What only some commands need is imported when it is.
if TYPE_CHECKING:
    from typing import TextIO, TypeVar

    from nigari.addrs.absolute import AbsResourceInstance
    from nigari.addrs.targets import Target
    from nigari.cli.views.json_lines import JsonLines

    T = TypeVar("T")


class Presenter:
    """The output of a command over a session, for people or for programs."""

    def __init__(
        self, invocation: Invocation, tells_events: bool = True, session: Session | None = None
    ) -> None:
        self.invocation = invocation
        self.terminal: Terminal = invocation.terminal
        self.session: Session = session or open_session(invocation)
        self._told = 0
        self._shown: set[Diagnostic] = set()
        self._lines = self._json_lines() if tells_events else None
        self._is_json = tells_events and self._flag("json")
        self._is_document = not tells_events and self._flag("json")

    @property
    def diags(self) -> Diagnostics:
        """The diagnostics so far."""
        return self.session.diags

    # -- what the command line names ------------------------------------------------------------

    def targets(self) -> list[Target]:
        """The modules, resources or resource instances that the arguments name."""
        if not self.invocation.arguments:
            return []
        from nigari.addrs.parse import parse_target
        from nigari.addrs.targets import Target

        given = [self.address(parse_target, each) for each in self.invocation.arguments]
        return [Target(each.subject) for each in given if each is not None]

    def only_instance(self) -> AbsResourceInstance | None:
        """The resource instance that the only argument names."""
        if len(self.invocation.arguments) != 1:
            raise UsageError("The command needs the address of one resource instance.")
        from nigari.addrs.parse import parse_resource_instance

        return self.address(parse_resource_instance, self.invocation.arguments[0])

    def address(self, parse: Callable[[str, Diagnostics], T | None], text: str) -> T | None:
        """An address of the command line, where there are no files to point into."""
        from nigari.addrs.parse import parse_given

        return parse_given(parse, text, self.diags)

    # -- what is said ---------------------------------------------------------------------------

    def say(
        self,
        text: str,
        event: str = "",
        members: Mapping[str, object] | None = None,
        level: str = "info",
    ) -> None:
        """Tell what happened: a line for people, and an event for programs."""
        if not self._is_json:
            self.terminal.out(text)
        if self._lines is not None:
            self._lines.event(event or text.removesuffix("."), members or {}, level)

    @property
    def events(self) -> JsonLines | None:
        """The receiver of events, if a program wants them."""
        return self._lines

    @property
    def is_for_programs(self) -> bool:
        """Return whether only events are printed."""
        return self._is_json

    @property
    def has_events(self) -> bool:
        """Return whether a program receives events."""
        return self._lines is not None

    def text(self, text: str) -> None:
        """Show something to people only."""
        if not self._is_json:
            self.terminal.out(text)

    def prose(self, text: str) -> str:
        """Sentences, broken between words so that they fit the screen."""
        from nigari.diagnostics.layout import Layout, wrap

        layout = Layout.for_stream(self.terminal.stdout, self.terminal.environ)
        return "\n".join(wrap(self.terminal.with_options(text), layout.width))

    def document(self, text: str) -> None:
        """Write a whole JSON document where events go."""
        if self._lines is not None:
            self._lines.raw(text)

    def into_file(self, document: Callable[[], str]) -> None:
        """Write a JSON document to the file of `-json-into`, for commands without events.

        It is made only where there is such a file.
        """
        path = self._text("json-into")
        if path:
            with _writable(path) as stream:
                stream.write(f"{document()}\n")
                stream.flush()
                error = error_of(stream)
            if error is not None:
                self.diags.error("Document not written", f"{path}: {error.strerror}.")

    def ask(self, question: str, beforehand: str) -> str | None:
        """The user's answer; `None` after reporting that prompting is not possible.

        `beforehand` is the option that makes the question needless.
        """
        from nigari.cli.prompt import read_answer
        from nigari.cli.views.style import style_of

        style = style_of(self.terminal)
        answer = read_answer(
            self.terminal,
            f"\n{style.bold(self.prose(question))}\n  Only 'yes' will be accepted to continue.\n\n"
            f"  {style.bold('Enter a value:')} ",
        )
        if not answer:
            self.diags.error(
                "Input required",
                "This is not an interactive terminal, so the command cannot ask for approval. Run it "
                f"in a terminal, or with -{beforehand}.",
            )
            return None
        return answer.strip()

    def end(self, done: bool = True) -> int:
        """Show the diagnostics, and give the exit status."""
        self.tell_so_far()
        if self._lines is not None and not self._is_json:
            self._close_events(self._lines)
        return 1 if self.diags.has_errors or not done else 0

    def _close_events(self, lines: JsonLines) -> None:
        error = lines.close()
        if error is not None:
            self.diags.error(
                "Events not written",
                f"Not all events could be written to {self._text('json-into')}: {error.strerror}.",
            )
            self._lines = None
            self.tell_so_far()

    def tell_so_far(self, with_checks: bool = True) -> None:
        """Show the diagnostics that there are by now, each once, however often it is found.

        Without checks, those are left out for good: their results are found once more.
        """
        untold = list(self.diags)[self._told :]
        self._told += len(untold)
        news = Diagnostics(
            each
            for each in untold
            if each not in self._shown and (with_checks or not each.is_check)
        )
        self._shown.update(news)
        if len(news):
            self._show_diagnostics(news)

    def _show_diagnostics(self, diags: Diagnostics) -> None:
        session = self.session
        sources, context_of = session.sources, session.context_of
        if not self._is_json:
            show_diagnostics(
                # Nothing else may stand where a JSON document does.
                self.terminal.only_err() if self._is_document else self.terminal,
                diags,
                sources,
                context_of,
                no_color=self._flag("no-color"),
                compact_warnings=self._flag("compact-warnings"),
            )
        if self._lines is not None:
            self._lines.diagnostics(with_options(diags, self.terminal), sources, context_of)

    def _json_lines(self) -> JsonLines | None:
        path = self._text("json-into")
        if not path and not self._flag("json"):
            return None
        from nigari.cli.views.json_lines import JsonLines

        if not self._flag("json"):
            return JsonLines(_writable(path))
        self.terminal.events = JsonLines(self.terminal.stdout)
        return self.terminal.events

    def _flag(self, name: str) -> bool:
        return has_flag(self.invocation, name) and self.invocation.switch(name)

    def _text(self, name: str) -> str:
        return optional_text(self.invocation, name)


def _writable(path: str) -> TextIO:
    try:
        return text_outlet(path)
    except OSError as error:
        raise UsageError(f"Cannot write {path}: {error.strerror}.") from None


def show_problems(invocation: Invocation, session: Session) -> None:
    """Show what a session has found wrong, where it does not get mixed with results."""
    show_diagnostics(
        invocation.terminal.only_err(),
        session.diags,
        session.sources,
        session.context_of,
        no_color=invocation.switch("no-color"),
    )


def run_command(
    invocation: Invocation,
    work: Callable[[Presenter], Awaitable[bool]],
    tells_events: bool = True,
) -> int:
    """Run a command over the state: show what it reports, and give its exit status.

    Where it does not tell events, `-json` asks for one document, which the command prints itself.
    """
    state = Presenter(invocation, tells_events)

    async def whole() -> bool:
        return await work(state)

    return state.end(run_until_it_waits(whole()))


def presented(work: Callable[[Presenter], Awaitable[bool]]) -> Callable[[Invocation], int]:
    """The `run` of a command that does nothing but this work."""
    return lambda invocation: run_command(invocation, work)


def check_configuration(session: Session) -> bool:
    """Return whether the directory has configuration files, and report it otherwise."""
    if not session.has_configuration:
        session.diags.error(
            "No configuration files",
            "There are no .tf or .tofu files in this directory. Change to the directory of the "
            "configuration, or name it with -chdir=DIR before the command.",
        )
    return session.has_configuration
