"""What commands share that work on the stored state: its flags, its lock, and what is said.

A command says things through one `OpenState`: as lines for people, as lines of JSON, or both.
What it does to a state is its own affair.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TextIO, TypeVar

from nigari.addrs.targets import Target
from nigari.backends.snapshots import LockOptions, Snapshots
from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Flag, Invocation
from nigari.cli.outlet import error_of, text_outlet
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG, show_diagnostics
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.record import replace
from nigari.state.encryption import Encryption, StateLayer, no_encryption
from nigari.workspace.state import StateFiles, WorkingState, may_be_encrypted, mentions
from nigari.workspace.waiting import run_until_it_waits

# What only some commands, or only some directories need, is imported when it is.
if TYPE_CHECKING:
    from nigari.addrs.absolute import AbsResourceInstance
    from nigari.addrs.provider import Provider
    from nigari.cli.configuration import OpenConfiguration
    from nigari.cli.views.json_lines import JsonLines
    from nigari.diagnostics import ContextOf
    from nigari.eval.static import StaticRun
    from nigari.lang.files import Files
    from nigari.packages.requirement import Requirement
    from nigari.plan.plan_file import SavedPlan
    from nigari.schema.provider import ProviderSchema
    from nigari.state.model import State
    from nigari.workspace import Workspace
    from nigari.workspace.saved_plan import Reopened

T = TypeVar("T")

_NO_TIME = "0s"

JSON_FLAG = Flag("json", FLAG_SWITCH, "Print what happens as JSON, one object per line")
JSON_INTO_FLAG = Flag("json-into", FLAG_TEXT, "Also write what -json would print to a file", "FILE")
SAYING_FLAGS = (JSON_FLAG, JSON_INTO_FLAG, NO_COLOR_FLAG, COMPACT_WARNINGS_FLAG)
LOCK_FLAGS = (
    Flag(
        "lock",
        FLAG_SWITCH,
        "Do not lock the state; dangerous if others may change it at the same time",
        default="true",
    ),
    Flag("lock-timeout", FLAG_TEXT, "How long to wait for a lock", "DURATION", _NO_TIME),
)
STATE_FLAG = Flag("state", FLAG_TEXT, "The state file, for the local backend only", "FILE")
STATE_OUT_FLAG = Flag(
    "state-out", FLAG_TEXT, "Where to write the new state, for the local backend only", "FILE"
)
REVEAL_FLAG = Flag("show-sensitive", FLAG_SWITCH, "Show sensitive values")
BACKUP_FLAG = Flag("backup", FLAG_TEXT, "Where to write the backup of the state", "FILE")
REMOTE_VERSION_FLAG = Flag(
    "ignore-remote-version", FLAG_SWITCH, "Accepted for compatibility; has no effect"
)
READING_FLAGS = (STATE_FLAG, *VARIABLE_FLAGS, *SAYING_FLAGS)
EDITING_FLAGS = (*LOCK_FLAGS, STATE_FLAG, BACKUP_FLAG, REMOTE_VERSION_FLAG, *VARIABLE_FLAGS)


class OpenState:
    """The state of the working directory, as the options of a command ask for it."""

    def __init__(self, invocation: Invocation, tells_events: bool = True) -> None:
        self.invocation = invocation
        self.terminal = invocation.terminal
        self.diags = Diagnostics()
        self._told = 0
        self._shown: set[Diagnostic] = set()
        self._working = WorkingState(".", self.terminal.environ)
        self._is_checked = False
        self._configuration: OpenConfiguration | None = None
        self._static: StaticRun | None = None
        self._root_run: StaticRun | None = None
        self._encryption: Encryption | None = None
        self.directory = "."
        """Where the configuration is; everything else is in the working directory."""
        self.workspace: Workspace | None = None
        """Whose files diagnostics point into, for a command that opens them itself."""
        self._lines = self._json_lines() if tells_events else None
        self._is_json = tells_events and self._flag("json")
        self._is_document = not tells_events and self._flag("json")

    # -- what the command line names ------------------------------------------------------------

    def targets(self) -> list[Target]:
        """What the arguments name: modules, resources or resource instances."""
        if not self.invocation.arguments:
            return []
        from nigari.addrs.parse import parse_target

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
        problems = Diagnostics()
        address = parse(text, problems)
        for each in problems:
            where = f'In the address "{text}": {each.detail}'
            self.diags.append(replace(each, detail=where, subject=None, context=None))
        return None if problems.has_errors else address

    # -- the state ------------------------------------------------------------------------------

    @property
    def configuration(self) -> OpenConfiguration:
        """The configuration of the working directory, which few commands need."""
        if self._configuration is None:
            from nigari.cli.configuration import OpenConfiguration

            self._configuration = OpenConfiguration(self.invocation, self.directory, home=".")
            self.diags.extend(self._configuration.diags)
        return self._configuration

    @property
    def has_configuration(self) -> bool:
        """Whether there are any configuration files."""
        return self.configuration.workspace.loader.has_module(self.directory)

    def reopen(self, files: Files) -> None:
        """Take the configuration from other files from now on, with the same variables."""
        from nigari.cli.configuration import OpenConfiguration

        known = self.configuration
        self._configuration = OpenConfiguration(self.invocation, self.directory, files, ".")
        self._configuration.inputs = known.inputs
        self._static = self._root_run = None

    def read_plan(self, path: str) -> SavedPlan | None:
        """What a plan file holds; None after reporting why it cannot be read."""
        from nigari.plan.plan_file import read_plan_file

        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError as error:
            self.diags.error("Plan cannot be read", f"{path}: {error.strerror}.")
            return None
        decrypted = self.encryptions.plan.decrypt(data, self.diags)
        return None if decrypted is None else read_plan_file(decrypted.data, self.diags)

    def use_plan(self, plan: Reopened) -> None:
        """Work from now on with the state and the variables that a saved plan was made with."""
        configuration = self.configuration
        configuration.inputs = {**configuration.inputs, **plan.inputs}
        self._working, self._is_checked = self._working.as_planned(plan.backend), True
        self._static = self._root_run = self._encryption = None
        # What is wrong is shown in the configuration that the plan was made from.
        self.workspace = plan.workspace
        self.workspace.sources.update({**configuration.workspace.sources, **plan.saved.sources})

    def static(self) -> StaticRun | None:
        """The static phase of the configuration; `None` where it cannot be read at all."""
        if self._static is None:
            configuration = self.configuration
            known = len(configuration.diags)
            self._static = configuration.static()
            self.diags.extend(list(configuration.diags)[known:])
        return self._static

    def requirements(self) -> list[Requirement] | None:
        """What the configuration needs of providers, or `None` where it cannot be read."""
        run = self.static()
        if run is None or self.diags.has_errors:
            return None
        from nigari.workspace.requirements import find_requirements

        known = len(run.diags)
        found = find_requirements(run)
        self.diags.extend(list(run.diags)[known:])
        return found

    @property
    def working(self) -> WorkingState:
        """The states of the working directory, if its backend is the one that init has set up."""
        working = self._working
        if not self._is_checked:
            self._is_checked = True
            if working.remembers_backend or mentions(working.directory, b"backend", b"cloud"):
                from nigari.workspace.backend import BackendMemory, check_unchanged

                run = self._root()
                if run is not None:
                    check_unchanged(run, BackendMemory(working.data_directory), self.diags)
        return working

    @property
    def encryption(self) -> StateLayer:
        """How the state is encrypted."""
        return self.encryptions.state

    @property
    def encryptions(self) -> Encryption:
        """How states and plans are encrypted."""
        if self._encryption is None:
            environ = self.terminal.environ
            chosen = no_encryption()
            if may_be_encrypted(self._working.directory, environ):
                from nigari.workspace.encryption import configured_encryption

                run = self._root()
                if run is not None:
                    # Warnings are for those who change what is encrypted, not for who looks at it.
                    found = Diagnostics()
                    chosen = configured_encryption(run, environ, found) or chosen
                    self.diags.extend(e for e in found if e.severity is Severity.ERROR)
            self._encryption = chosen
        return self._encryption

    def _root(self) -> StaticRun | None:
        """The static phase for what only the root module has.

        What is wrong with other modules, or with values that are not asked for, does not matter.
        """
        if self._static is not None or self._root_run is not None:
            return self._static or self._root_run
        configuration = self.configuration
        workspace = configuration.workspace
        declared = Diagnostics()
        workspace.modules.compiled(workspace.directory, declared)
        if declared.has_errors:
            self.diags.extend(declared)
            return None
        selected = self._working.selected(self.diags).name
        self._root_run, _ = workspace.static(configuration.inputs, selected)
        return self._root_run

    @property
    def files(self) -> StateFiles:
        """What the command line says about files."""
        return StateFiles(self._text("state"), self._text("state-out"), self._text("backup"))

    @property
    def lock_options(self) -> LockOptions:
        """What the command line says about the lock."""
        if not self._flag("lock"):
            return LockOptions(is_wanted=False)
        text = self._text("lock-timeout")
        if text == _NO_TIME:
            return LockOptions()
        from nigari.cty.function import FunctionError
        from nigari.cty.stdlib.timestamps import parse_duration

        try:
            return LockOptions(timeout_seconds=max(parse_duration(text), 0) / 1e9)
        except FunctionError:
            raise UsageError(
                f'The option -lock-timeout must be a duration such as 30s, not "{text}".'
            ) from None

    async def read(self) -> Snapshots | None:
        """The newest snapshot, or `None` after reporting why it cannot be read."""
        snapshots = self.working.snapshots(self.encryption, self.diags, self.files)
        if snapshots is None or self.diags.has_errors or not await snapshots.read(self.diags):
            return None
        return snapshots

    async def edit(
        self,
        snapshots: Snapshots | None,
        operation: str,
        change: Callable[[Snapshots], Awaitable[bool]],
    ) -> bool:
        """Do something to the newest snapshot while nobody else can.

        A configuration that asks for another version of the program must not be worked on.
        """
        diags = self.diags
        if mentions(self._working.directory, b"required_version"):
            self._root()
        if snapshots is None or diags.has_errors:
            return False
        if not await snapshots.lock(operation, self.lock_options, diags):
            return False
        try:
            return await snapshots.read(diags) and await change(snapshots)
        finally:
            await snapshots.unlock(diags)

    def as_shown(self, state: State) -> State:
        """A state as it is shown: with the providers that the configuration means."""
        from nigari.state.predecessors import adopt_predecessors, has_predecessors

        if not has_predecessors(state, self.terminal.environ):
            return state
        from nigari.workspace.requirements import find_requirements

        run = self._root()
        named = [] if run is None else find_requirements(run)
        return adopt_predecessors(state, {each.provider for each in named})

    async def load_schemas(
        self, providers: Iterable[Provider]
    ) -> Mapping[Provider, ProviderSchema]:
        """What these providers offer; one that cannot be had is reported."""
        from nigari.workspace.provider_schemas import offered_schemas
        from nigari.workspace.providers import InstalledProviders

        installed = InstalledProviders(".", self.terminal.environ)
        found = await offered_schemas(installed, providers, self.diags)
        self.diags.extend(installed.problems)
        return found

    # -- what is said ---------------------------------------------------------------------------

    def say(self, text: str, event: str = "", members: Mapping[str, object] | None = None) -> None:
        """Tell what happened: a line for people, and an event for programs."""
        if not self._is_json:
            self.terminal.out(text)
        if self._lines is not None:
            self._lines.event(event or text.removesuffix("."), members or {})

    @property
    def events(self) -> JsonLines | None:
        """Where events go, if a program wants to hear them."""
        return self._lines

    @property
    def is_for_programs(self) -> bool:
        """Whether nothing but events is printed."""
        return self._is_json

    @property
    def has_events(self) -> bool:
        """Whether a program wants to hear what happens."""
        return self._lines is not None

    def text(self, text: str) -> None:
        """Show something to people only."""
        if not self._is_json:
            self.terminal.out(text)

    def prose(self, text: str) -> str:
        """Sentences, broken between words so that they fit the screen."""
        from nigari.diagnostics.layout import Layout, wrap

        layout = Layout.for_stream(self.terminal.stdout, self.terminal.environ)
        return "\n".join(wrap(text, layout.width))

    def document(self, text: str) -> None:
        """Write a whole JSON document where events go."""
        if self._lines is not None:
            self._lines.raw(text)

    def into_file(self, document: str) -> None:
        """Write a JSON document to the file of `-json-into`, for commands without events."""
        path = self._text("json-into")
        if path:
            with _writable(path) as stream:
                stream.write(f"{document}\n")
                stream.flush()
                error = error_of(stream)
            if error is not None:
                self.diags.error("Document not written", f"{path}: {error.strerror}.")

    def ask(self, question: str, beforehand: str) -> str | None:
        """The user's answer; `None` after reporting that there is nobody to ask.

        `beforehand` is the option that makes the question needless.
        """
        from nigari.cli.prompt import read_answer
        from nigari.cli.views.style import style_of

        stream, style = self.terminal.stdout, style_of(self.terminal)
        question = self.prose(question)
        stream.write(f"\n{style.bold(question)}\n  Only 'yes' will be accepted to continue.\n\n")
        answer = read_answer(self.terminal, f"  {style.bold('Enter a value:')} ")
        if not answer:
            self.diags.error(
                "No answer",
                "The command needs an answer, but there is no terminal to ask on. Run it on a "
                f"terminal, or with -{beforehand}.",
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
        from nigari.diagnostics.render import no_context

        sources: Mapping[str, bytes] = {}
        context_of: ContextOf = no_context
        workspace = self.workspace
        if workspace is None and self._configuration is not None:
            workspace = self._configuration.workspace
        if workspace is not None:
            sources, context_of = workspace.sources, workspace.context_of
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
            self._lines.diagnostics(diags, sources, context_of)

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
        return self.has_flag(name) and self.invocation.switch(name)

    def _text(self, name: str) -> str:
        return self.invocation.text(name) if self.has_flag(name) else ""

    def has_flag(self, name: str) -> bool:
        """Whether the command has an option."""
        return any(flag.name == name for flag in self.invocation.command.flags)


def _writable(path: str) -> TextIO:
    try:
        return text_outlet(path)
    except OSError as error:
        raise UsageError(f"Cannot write {path}: {error.strerror}.") from None


def run_command(
    invocation: Invocation,
    work: Callable[[OpenState], Awaitable[bool]],
    tells_events: bool = True,
) -> int:
    """Run a command over the state: show what it reports, and give its exit status.

    Where it does not tell events, `-json` asks for one document, which the command prints itself.
    """
    state = OpenState(invocation, tells_events)

    async def whole() -> bool:
        return await work(state)

    return state.end(run_until_it_waits(whole()))
