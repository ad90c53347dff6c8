"""The entry point: global options, the table of commands, and how a command is started.

A command's module is imported only when that command is asked for, so that `nigari version` and
shell completion stay quick however much the program learns to do.
"""

from __future__ import annotations

import gc
import os
import sys
from codecs import backslashreplace_errors as backslashreplace
from codecs import lookup_error, register_error
from io import FileIO, TextIOWrapper

from nigari.audience import set_command_line
from nigari.cli.args import CommandRefused, UsageError, parse
from nigari.cli.command import Command, Invocation, Terminal
from nigari.cli.output_stream import error_of, text_outlet
from nigari.code_file import update_code_file
from nigari.lazy import module_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn, TextIO


COMMANDS: dict[str, tuple[str, str]] = {
    "apply": ("apply", "Create, change or destroy objects to match the configuration"),
    "cache list": ("cache.LIST", "List the module packages in the cache"),
    "cache prune": ("cache.PRUNE", "Remove unused module packages from the cache"),
    "cache verify": ("cache.VERIFY", "Check that the module packages in the cache are unchanged"),
    "config": ("config", "Print the resolved configuration, or write a plain one for OpenTofu"),
    "console": ("console", "Evaluate expressions interactively"),
    "destroy": ("apply.DESTROY", "Destroy everything that is managed here"),
    "environments": ("environments", "List the declared environments with their last apply"),
    "eval": ("eval", "Evaluate an expression before anything runs"),
    "explore": ("explore", "Look at the configuration, a plan or an apply in the browser"),
    "explain": ("explain", "Show where a value comes from and when it is known"),
    "uses": ("uses", "Show everything that depends on something"),
    "fleet apply": ("fleet_apply", "Apply the plans of all units in dependency order"),
    "fleet config": ("fleet_config", "Write the units as configurations for OpenTofu or Terraform"),
    "fleet destroy": ("fleet_apply.DESTROY", "Destroy everything in all units, dependants first"),
    "fleet drift": ("fleet_drift", "Report real objects that are not what the states say"),
    "fleet graph": ("fleet_graph", "Show the dependencies between units"),
    "fleet import-terragrunt": (
        "fleet_import_terragrunt",
        "Write a fleet.hcl for a tree of Terragrunt",
    ),
    "fleet init": ("fleet_init", "Prepare all units for the other commands"),
    "fleet list": ("fleet_list", "List the units of the fleet: root modules below a directory"),
    "fleet output": ("fleet_output", "Show the output values of all units"),
    "fleet plan": ("fleet_plan", "Show what apply would do in all units"),
    "fleet show": ("fleet_show", "Show a saved plan of the fleet"),
    "fleet test": ("fleet_init.TEST", "Run the tests of all units"),
    "fleet validate": ("fleet_init.VALIDATE", "Check the configurations of all units"),
    "why": ("why", "Show why a plan changes something"),
    "fmt": ("fmt", "Rewrite configuration files in the standard format"),
    "get": ("get", "Install the modules that the configuration calls"),
    "graph": ("graph", "Show the operations of a plan and their order"),
    "hcldec": ("hcldec", "Decode an HCL file with a specification"),
    "import": ("import_object", "Bring an existing object under management"),
    "init": ("init", "Prepare a working directory for the other commands"),
    "login": ("login", "Get a token from a host and store it"),
    "logout": ("login.LOGOUT", "Remove the stored token for a host"),
    "validate": ("validate", "Check whether the configuration is valid"),
    "lint": ("lint", "Find mistakes in valid configurations"),
    "lsp": ("lsp", "Serve an editor: the language server"),
    "metadata functions": ("metadata_functions", "Show the functions of the language, as JSON"),
    "force-unlock": ("force_unlock", "Remove a lock that a dead process left on the state"),
    "output": ("output", "Show the output values of the root module"),
    "plan": ("plan", "Show what apply would do"),
    "provider build": ("provider_build", "Build packages of a provider that is written in Python"),
    "providers": ("providers", "Show the providers that the configuration and the state require"),
    "providers lock": ("providers_lock", "Record checksums of providers in the lock file"),
    "providers mirror": ("providers_mirror", "Copy the required providers to a directory"),
    "providers schema": ("providers_schema", "Show the schemas of the providers, as JSON"),
    "refresh": ("refresh", "Update the state to match the real objects"),
    "query": ("query", "Search for existing objects that query files describe"),
    "rename": ("rename", "Rename a declaration everywhere, without changing any object"),
    "shim": ("shim", "Write a launcher named tofu or terraform, for programs that run one"),
    "show": ("show", "Show the current state, a state file or a saved plan"),
    "state list": ("state.LIST", "List the resource instances in the state"),
    "state mv": ("state_mv", "Move something to another address in the state"),
    "state pull": ("state.PULL", "Print the current state"),
    "state push": ("state.PUSH", "Store a state file as the current state"),
    "state replace-provider": ("state_replace_provider", "Replace the provider of resources"),
    "state rm": ("state.RM", "Remove something from the state without destroying it"),
    "state show": ("state_show", "Show one resource instance"),
    "test": ("test", "Run the tests of the module in the working directory"),
    "taint": ("taint", "Mark an object to be replaced by the next apply"),
    "untaint": ("taint.UNTAINT", "Remove the mark that an object is to be replaced"),
    "version": ("version", "Show the version of this program"),
    "workspace delete": ("workspace.DELETE", "Delete a workspace"),
    "workspace list": ("workspace.LIST", "List the workspaces"),
    "workspace new": ("workspace.NEW", "Create a workspace and select it"),
    "workspace select": ("workspace.SELECT", "Select a workspace"),
    "workspace show": ("workspace.SHOW", "Show the name of the selected workspace"),
}
"""Every command: the module it is in, and what it is for. Names of two words belong to a group."""

GROUPS: dict[str, str] = {
    "cache": "Manage the cache of module packages",
    "fleet": "Work with many root modules as one",
    "metadata": "Print information about the language for programs",
    "provider": "Build your own providers",
    "state": "Inspect the state and change it by hand",
    "workspace": "Manage workspaces: several states for one configuration",
}
"""Commands that only hold others, and what those are about."""

ALIASES: dict[str, str] = {
    "env": "workspace",
    "env delete": "workspace delete",
    "env list": "workspace list",
    "env new": "workspace new",
    "env select": "workspace select",
    "env show": "workspace show",
    "state ls": "state list",
    "state move": "state mv",
    "state remove": "state rm",
}
"""Other names of commands and groups, which no list of commands shows."""

_ARGUMENTS = "TF_CLI_ARGS"
_VERSION_OPTIONS = frozenset(("-v", "-version", "--version"))

_EXIT_USAGE = 1
_EXIT_NO_COMMAND = 127
_EXIT_INTERRUPTED = 130
_EXIT_TERMINATED = 143
"""The exit status that shells report after SIGTERM."""

_termination: list[int] = []
"""The signals that asked this process to end."""

_OBJECTS_BETWEEN_COLLECTIONS = 300_000

_AS_BYTES = "nigari-bytes"


def main(argv: list[str] | None = None) -> int:
    """Run the program and give its exit status; without arguments it is the process that ends."""
    if argv is None:
        _look_for_garbage_seldom()
        _react_to_termination()
        status = _main(sys.argv[1:])
        update_code_file()
        _leave(status)
    return _main(argv)


def _main(argv: list[str]) -> int:
    terminal = _terminal()
    before = set_command_line(True)
    try:
        status = run(list(argv), terminal) if _has_directory(terminal) else _EXIT_USAGE
    except KeyboardInterrupt:
        terminal.err("\nInterrupted.")
        status = _EXIT_TERMINATED if _termination else _EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001 - a user never sees a bare traceback
        status = _crash(error, terminal)
    finally:
        set_command_line(before)
    return _flushed(status, terminal)


def _has_directory(terminal: Terminal) -> bool:
    """Return whether the directory of the process still exists, and report it otherwise."""
    try:
        os.getcwd()
    except OSError as error:
        terminal.err(
            f"Error: The working directory cannot be used: {error.strerror}. If it was deleted, "
            "change to an existing directory."
        )
        return False
    return True


def _react_to_termination() -> None:
    """Have SIGTERM interrupt whatever Ctrl-C would, so that it says so and cleans up."""
    import signal

    def interrupt(number: int, frame: FrameType | None) -> None:
        _termination.append(number)
        react = signal.getsignal(signal.SIGINT)
        if callable(react):
            react(signal.SIGINT, frame)
        else:
            raise KeyboardInterrupt

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, interrupt)


def _flushed(status: int, terminal: Terminal) -> int:
    """Write what is not written yet; the exit status says whether everything was."""
    terminal.stdout.flush()
    error = error_of(terminal.stdout)
    if error is not None:
        status = status or _EXIT_USAGE
        # The reader of a pipe who leaves knows of it, and has nothing to complain about.
        if not isinstance(error, BrokenPipeError):
            terminal.err(f"Error: not all of the output could be written: {error.strerror}.")
    terminal.stderr.flush()
    return status


def _crash(error: Exception, terminal: Terminal) -> int:
    from nigari.cli.crash import apologise

    return apologise(error, terminal)


def _look_for_garbage_seldom() -> None:
    """Almost nothing here refers to itself, so that the collector finds little, and looks at all
    modules again and again while they are imported.
    """
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, 20, 100)


def _leave(status: int) -> NoReturn:
    """End the process without taking everything in it apart, which can take longer than a command.

    Whatever a command has opened is closed by the command, as it may run inside another program.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(status)


def _terminal() -> Terminal:
    """The streams of the process, which speak UTF-8 in any locale, as the files do."""
    stdin = _stream(sys.stdin, "surrogateescape")
    register_error(_AS_BYTES, _as_bytes)
    stdout = _output(sys.stdout)
    stderr = _output(sys.stderr)
    return Terminal(stdin, stdout, stderr, os.environ)


def _stream(stream: TextIO | None, errors: str) -> TextIO:
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors=errors)
    # It is missing if the parent process has closed it.
    return stream or open(os.devnull, "r+", encoding="utf-8")


def _output(stream: TextIO | None) -> TextIO:
    """A stream for output; that of a process never fails."""
    buffer = getattr(stream, "buffer", None)
    raw = getattr(buffer, "raw", buffer)
    if isinstance(stream, TextIOWrapper) and isinstance(raw, FileIO):
        is_prompt = stream.line_buffering or stream.write_through
        return text_outlet(raw.fileno(), _AS_BYTES, is_prompt)
    return _stream(stream, _AS_BYTES)


def _as_bytes(error: UnicodeError) -> tuple[bytes | str, int]:
    """Write bytes that are not UTF-8 as they came; what came from nowhere as an escape."""
    try:
        return lookup_error("surrogateescape")(error)
    except UnicodeError:
        return backslashreplace(error)


def run(args: list[str], terminal: Terminal) -> int:
    """Run a command line with these streams, and give its exit status."""
    if "COMP_LINE" in terminal.environ:
        from nigari.cli.completion import complete

        return complete(terminal, COMMANDS, load)
    while args and args[0].startswith("-"):
        option = args.pop(0)
        name, has_value, value = option.lstrip("-").partition("=")
        if name == "chdir":
            if not _change_directory(has_value, value, terminal):
                return _EXIT_USAGE
            terminal.options.append(option)
        elif name == "env":
            if not value:
                terminal.err("The option -env needs a name after an equals sign: -env=NAME.")
                return _EXIT_USAGE
            terminal.environment = value
            terminal.options.append(option)
        elif name in ("version", "v"):
            args.insert(0, "version")
        elif name in ("help", "h"):
            return _help(args, terminal)
        elif name in ("install-autocomplete", "uninstall-autocomplete"):
            from nigari.cli.completion_scripts import install

            return install(terminal, remove=name.startswith("un"))
        else:
            return _misplaced(option, args, terminal)
    if not args:
        args = _without_command(terminal)
    if not args:
        terminal.out(_usage())
        return _EXIT_NO_COMMAND
    if args[0] == "help":
        return _help(args[1:], terminal)
    return _run_command(args, terminal)


def _misplaced(option: str, args: list[str], terminal: Terminal) -> int:
    """Refuse an option before the command that is none of the program's own."""
    terminal.err(f"There is no option {option} before a command.\n")
    while args and args[0].startswith("-"):
        args.pop(0)
    if args:
        _help(args, terminal)
        return _EXIT_USAGE
    terminal.out(_usage())
    return _EXIT_NO_COMMAND


def _change_directory(has_value: str, directory: str, terminal: Terminal) -> bool:
    if not has_value or not directory:
        terminal.err("The option -chdir needs a directory after an equals sign: -chdir=DIR.")
        return False
    from nigari.workspace.context.working_directory import process_directory

    try:
        terminal.started_in = terminal.started_in or process_directory(terminal.environ)
        os.chdir(directory)
    except OSError as error:
        terminal.err(f"Cannot work in {directory}: {error.strerror}.")
        return False
    return True


def _run_command(args: list[str], terminal: Terminal) -> int:
    typed, rest = _command_name(args)
    name = ALIASES.get(typed, typed)
    try:
        arguments = _with_environment(typed, rest, terminal)
        if not _VERSION_OPTIONS.isdisjoint((*args, *arguments)):
            name, arguments = "version", []
        if args[0] == "env":
            terminal.err('Warning: "env" is an old name of "workspace" and may be removed.\n')
        if name not in COMMANDS:
            return _no_such_command(name, rest, terminal)
        return _run_advised(load(name), arguments, terminal)
    except UsageError as error:
        if not _tells_programs(name, rest, terminal):
            terminal.err(f"\nError: {error}\n\nFor help on this command, run: nigari {name} -help")
            for variable in _argument_variables(typed):
                if terminal.environ.get(variable):
                    terminal.err(f"Some arguments come from the environment variable {variable}.")
        else:
            from nigari.cli.views.json_lines import JsonLines, tell_refusal

            tell_refusal(str(error), terminal.events or JsonLines(terminal.stdout))
        return _EXIT_USAGE
    except CommandRefused as refused:
        return _refused(refused, _tells_programs(name, rest, terminal), terminal)


def _run_advised(command: Command, arguments: list[str], terminal: Terminal) -> int:
    """Run a command; a directory with environments has advice of its own."""
    if not os.path.exists("environments.hcl"):
        return _run(command, arguments, terminal)
    from nigari.cli.environment_advice import environment_advice

    with environment_advice(terminal):
        return _run(command, arguments, terminal)


def _refused(refused: CommandRefused, is_for_programs: bool, terminal: Terminal) -> int:
    """Show why a command cannot begin."""
    from nigari.diagnostics.render import no_context

    if is_for_programs:
        from nigari.cli.views.json_lines import JsonLines

        events = terminal.events or JsonLines(terminal.stdout)
        events.diagnostics(refused.diags, refused.sources, no_context)
    else:
        from nigari.cli.views.diagnostics import show_diagnostics

        show_diagnostics(terminal.only_err(), refused.diags, refused.sources, no_context)
    return _EXIT_USAGE


def _tells_programs(name: str, args: list[str], terminal: Terminal) -> bool:
    """Return whether a command prints events for programs."""
    if terminal.events is not None:
        return True
    if name not in COMMANDS or not {"-json", "--json", "-json=true"}.intersection(args):
        return False
    from nigari.cli.state_flags import JSON_FLAG

    return JSON_FLAG in load(name).flags


def _run(command: Command, args: list[str], terminal: Terminal) -> int:
    parsed = parse(command, args)
    terminal.deprecations = parsed.deprecations
    if not parsed.help:
        return command.run(
            Invocation(command, terminal, parsed.flags, parsed.ordered, parsed.arguments)
        )
    from nigari.cli.help import command_help

    terminal.out(command_help(command))
    return 0


def _command_name(args: list[str]) -> tuple[str, list[str]]:
    """The name of the command, of two words where the first is a group, and what follows it."""
    if len(args) > 1:
        name = f"{args[0]} {args[1]}"
        if name in COMMANDS or name in ALIASES:
            return name, args[2:]
    return args[0], args[1:]


def load(name: str) -> Command:
    """The command of that name, with its module imported."""
    place, _, attribute = COMMANDS[name][0].partition(".")
    module = module_named(f"nigari.cli.commands.{place}")
    command = getattr(module, attribute or "COMMAND")
    if not isinstance(command, Command):
        raise TypeError(f"{module.__name__}.{attribute or 'COMMAND'} is not a command")
    return command


def _with_environment(name: str, args: list[str], terminal: Terminal) -> list[str]:
    """The arguments with those of `TF_CLI_ARGS` and `TF_CLI_ARGS_name` before them."""
    own, common = _argument_variables(name)
    return _arguments_in(own, terminal) + _arguments_in(common, terminal) + args


def _argument_variables(name: str) -> tuple[str, str]:
    """The environment variables with arguments for a command, and for all commands."""
    return f"{_ARGUMENTS}_{name.replace(' ', '_').replace('-', '_')}", _ARGUMENTS


def _arguments_in(variable: str, terminal: Terminal) -> list[str]:
    text = terminal.environ.get(variable)
    if not text:
        return []
    import shlex

    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"Cannot split {variable} into arguments: {error}.") from None


def _without_command(terminal: Terminal) -> list[str]:
    """Return the arguments that the environment adds without a command."""
    try:
        return _arguments_in(_ARGUMENTS, terminal)
    except UsageError as error:
        terminal.err(f"\nError: {error}")
        return []


def _no_such_command(name: str, rest: list[str], terminal: Terminal) -> int:
    if name in GROUPS:
        from nigari.cli.help import group_help

        if rest and not rest[0].startswith("-"):
            from nigari.hcl.suggestion import did_you_mean

            wrong = f"{name} {rest[0]}"
            terminal.err(f'There is no command "{wrong}".{did_you_mean(wrong, COMMANDS)}\n')
        members = {key: about for key, (_, about) in COMMANDS.items() if key.startswith(f"{name} ")}
        terminal.out(group_help(name, GROUPS[name], members))
        return 0 if rest and rest[0].lstrip("-") in ("help", "h") else _EXIT_USAGE
    from nigari.hcl.suggestion import did_you_mean

    hint = f".{did_you_mean(name, [*COMMANDS, *GROUPS])}"
    terminal.err(f'There is no command "{name}"{hint}\n\nFor a list of commands, run: nigari -help')
    return _EXIT_USAGE


def _help(args: list[str], terminal: Terminal) -> int:
    if not args:
        terminal.out(_usage())
        return 0
    return _run_command([*args, "-help"], terminal)


def _usage() -> str:
    from nigari.cli.help import program_help

    abouts = {name: about for name, (_, about) in COMMANDS.items() if " " not in name}
    return program_help({**abouts, **GROUPS})
