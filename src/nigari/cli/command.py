"""Commands: their flags, their help, and what they are given when they run.

Kept free of imports that cost time: the program looks at a command before it knows whether it
will run it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from nigari.cli.views.json_lines import JsonLines

FLAG_SWITCH = "switch"
"""On or off: `-json`, `-json=false`."""
FLAG_TEXT = "text"
"""Takes a value; given twice, the last counts."""
FLAG_CHOICE = "choice"
"""Takes a word after an equals sign, or none: `-summary`, `-summary=addresses`."""
FLAG_LIST = "list"
"""Takes a value and may be given any number of times."""

VIEW_SWITCHES = {
    "no-color": "false",
    "compact-warnings": "false",
    "consolidate-warnings": "true",
    "consolidate-errors": "false",
    "concise": "false",
}
"""Switches that every command takes, at any place of its command line, and what each is without
being given.
"""

DEPRECATION_OPTION = "-deprecation=module:"
"""The prefix of the option that enables deprecation warnings; it may stand anywhere, too."""
DEPRECATIONS = ("all", "local", "none")


class Flag:
    """An option of a command, in the manner of Go: `-name value`, `-name=value`, `--name`."""

    __slots__ = ("default", "help", "kind", "name", "placeholder", "shared_order")

    def __init__(
        self,
        name: str,
        kind: str,
        help: str,
        placeholder: str = "",
        default: str = "",
        shared_order: str = "",
    ) -> None:
        self.name: str = name
        self.kind: str = kind
        self.help: str = help
        self.placeholder: str = placeholder
        self.default: str = default
        self.shared_order: str = shared_order
        """Flags with the same name here also record the order in which they were mixed."""


class Example:
    """A line of help that shows the command in use."""

    __slots__ = ("command", "text")

    def __init__(self, command: str, text: str) -> None:
        self.command: str = command
        self.text: str = text


class Command:
    """A command of the program."""

    __slots__ = (
        "arguments",
        "description",
        "examples",
        "flags",
        "most_arguments",
        "name",
        "run",
    )

    def __init__(
        self,
        name: str,
        description: str,
        run: Callable[[Invocation], int],
        flags: tuple[Flag, ...] = (),
        arguments: str = "",
        most_arguments: int = 0,
        examples: tuple[Example, ...] = (),
    ) -> None:
        self.name: str = name
        self.description: str = description
        self.run: Callable[[Invocation], int] = run
        self.flags: tuple[Flag, ...] = flags
        self.arguments: str = arguments
        """The arguments in the usage line, such as `[DIR]`."""
        self.most_arguments: int = most_arguments
        """The most arguments it takes; -1 for any number."""
        self.examples: tuple[Example, ...] = examples


class Terminal:
    """The streams and the environment that a command works with; nothing else is global."""

    __slots__ = (
        "deprecations",
        "environ",
        "environment",
        "events",
        "options",
        "started_in",
        "stderr",
        "stdin",
        "stdout",
        "switches",
    )

    def __init__(
        self, stdin: TextIO, stdout: TextIO, stderr: TextIO, environ: Mapping[str, str]
    ) -> None:
        self.switches: dict[str, str] = dict(VIEW_SWITCHES)
        """The view switches of the command line."""
        self.deprecations: str = DEPRECATIONS[0]
        """Which advice of module authors is to be shown."""
        self.options: list[str] = []
        """The options before the command that say where it works."""
        self.started_in: str = ""
        """The working directory before an option has changed it; empty where none has."""
        self.environment: str = ""
        """The environment that the command line names; empty where it names none."""
        self.events: JsonLines | None = None
        """The events on standard output, once there are any."""
        self.stdin: TextIO = stdin
        self.stdout: TextIO = stdout
        self.stderr: TextIO = stderr
        self.environ: Mapping[str, str] = environ

    def is_on(self, switch: str) -> bool:
        """Return whether a view switch is on."""
        return self.switches[switch] == "true"

    def with_options(self, text: str) -> str:
        """A text whose suggested commands work where this one does: with the same options."""
        if self.options:
            from shlex import join

            options = join(self.options)
            for before in ('"nigari ', "(see nigari ", "run: nigari "):
                text = text.replace(before, f"{before}{options} ")
        return text

    def only_err(self) -> Terminal:
        """The same terminal for what is not a result: all of it goes where errors go."""
        terminal = Terminal(self.stdin, self.stderr, self.stderr, self.environ)
        terminal.switches, terminal.deprecations = self.switches, self.deprecations
        terminal.started_in, terminal.environment = self.started_in, self.environment
        terminal.options = self.options
        return terminal

    def out(self, text: str) -> None:
        """Write a line of results."""
        self.stdout.write(f"{text}\n")

    def err(self, text: str) -> None:
        """Write a line about what happened."""
        self.stderr.write(f"{text}\n")

    def lines(self) -> Iterator[str]:
        """Standard input line by line, without the line ends."""
        for line in self.stdin:
            yield line.rstrip("\r\n")

    def read_all(self) -> bytes:
        """Everything on standard input, byte for byte."""
        raw = getattr(self.stdin, "buffer", None)
        return self.stdin.read().encode() if raw is None else bytes(raw.read())


class Invocation:
    """One run of a command: the flags and arguments it was given."""

    __slots__ = ("arguments", "command", "flags", "ordered", "terminal")

    def __init__(
        self,
        command: Command,
        terminal: Terminal,
        flags: Mapping[str, list[str]],
        ordered: Mapping[str, list[tuple[str, str]]],
        arguments: list[str],
    ) -> None:
        self.command: Command = command
        self.terminal: Terminal = terminal
        terminal.switches.update({name: flags[name][-1] for name in VIEW_SWITCHES if name in flags})
        self.flags: Mapping[str, list[str]] = flags
        self.ordered: Mapping[str, list[tuple[str, str]]] = ordered
        """For each `shared_order`, the flags of that name as given: (flag, value)."""
        self.arguments: list[str] = arguments

    def switch(self, name: str) -> bool:
        """Return whether a switch is on."""
        given = self.flags.get(name)
        return (given[-1] if given else self._default(name)) == "true"

    def text(self, name: str) -> str:
        """The value of a flag, or its default."""
        given = self.flags.get(name)
        return given[-1] if given else self._default(name)

    def texts(self, name: str) -> list[str]:
        """Every value of a flag that may be repeated."""
        return self.flags.get(name, [])

    def is_given(self, name: str) -> bool:
        """Return whether the command line has the flag."""
        return name in self.flags

    def _default(self, name: str) -> str:
        if name in VIEW_SWITCHES:
            return VIEW_SWITCHES[name]
        for flag in self.command.flags:
            if flag.name == name:
                return flag.default
        raise KeyError(name)
