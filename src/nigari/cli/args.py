"""Reading a command line the way Go's flag package does, which is what users of `tofu` type.

A flag begins with one dash or two, its value follows after `=` or as the next argument, a switch
takes a value only after `=`. Flags end at the first argument that is none, or at `--`; only `-help` and the
switches that say how things are shown may stand anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.cli.command import (
    DEPRECATION_OPTION,
    DEPRECATIONS,
    FLAG_CHOICE,
    FLAG_LIST,
    FLAG_SWITCH,
    VIEW_SWITCHES,
    Command,
    Flag,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.diagnostics import Diagnostics

TRUE_WORDS = frozenset(("1", "t", "T", "true", "TRUE", "True"))
FALSE_WORDS = frozenset(("0", "f", "F", "false", "FALSE", "False"))
_HELP = frozenset(("-h", "-help", "--help"))


class UsageError(Exception):
    """The command line cannot be understood."""


class CommandRefused(Exception):
    """A command cannot begin, for reasons that have a place in a file."""

    def __init__(self, diags: Diagnostics, sources: Mapping[str, bytes]) -> None:
        super().__init__(diags, sources)
        self.diags = diags
        self.sources = sources


class ParsedArguments:
    """A parsed command line."""

    __slots__ = ("arguments", "deprecations", "flags", "help", "ordered")

    def __init__(self) -> None:
        self.deprecations: str = DEPRECATIONS[0]
        self.flags: dict[str, list[str]] = {}
        self.ordered: dict[str, list[tuple[str, str]]] = {}
        self.arguments: list[str] = []
        self.help: bool = False


def parse(command: Command, args: list[str]) -> ParsedArguments:
    """The flags and arguments of a command line; `UsageError` where it makes no sense."""
    parsed = ParsedArguments()
    args = _without_view_switches(args, parsed)
    known = {flag.name: flag for flag in command.flags}
    if _asks_for_help(args, known):
        parsed.help = True
        return parsed
    position = 0
    while position < len(args):
        arg = args[position]
        if len(arg) < 2 or arg[0] != "-":
            break
        position += 1
        if arg == "--":
            break
        name, has_value, value = arg.lstrip("-").partition("=")
        flag = known.get(name)
        if flag is None or arg.startswith("---") or not name:
            raise UsageError(_unknown_flag(arg, name, command))
        if flag.kind == FLAG_SWITCH:
            value = _switch_value(flag, value) if has_value else "true"
        elif flag.kind == FLAG_CHOICE:
            value = value if has_value else "true"
        elif not has_value:
            if position == len(args):
                raise UsageError(f"The option -{name} needs a value: -{name}={_sample(flag)}.")
            value = args[position]
            position += 1
        _record(parsed, flag, value)
    parsed.arguments = args[position:]
    _check_arguments(command, parsed.arguments)
    _check_combination(parsed)
    return parsed


def _asks_for_help(args: list[str], known: Mapping[str, Flag]) -> bool:
    """As in OpenTofu, a request for help counts anywhere before `--`, even as a flag's value."""
    end = args.index("--") if "--" in args else len(args)
    return any(each in _HELP and each.lstrip("-") not in known for each in args[:end])


def _without_view_switches(args: list[str], parsed: ParsedArguments) -> list[str]:
    rest: list[str] = []
    for arg in args:
        name, has_value, value = arg.lstrip("-").partition("=")
        if arg.startswith("-") and name in VIEW_SWITCHES:
            flag = Flag(name, FLAG_SWITCH, "")
            parsed.flags[name] = [_switch_value(flag, value) if has_value else "true"]
        elif arg.startswith(DEPRECATION_OPTION):
            wanted = arg.removeprefix(DEPRECATION_OPTION)
            # As in OpenTofu, a word that means nothing means everything.
            parsed.deprecations = wanted if wanted in DEPRECATIONS else DEPRECATIONS[0]
        else:
            rest.append(arg)
    return rest


def _record(parsed: ParsedArguments, flag: Flag, value: str) -> None:
    values = parsed.flags.setdefault(flag.name, [])
    if flag.kind != FLAG_LIST:
        values.clear()
    values.append(value)
    if flag.shared_order:
        parsed.ordered.setdefault(flag.shared_order, []).append((flag.name, value))


def _switch_value(flag: Flag, text: str) -> str:
    if text in TRUE_WORDS:
        return "true"
    if text in FALSE_WORDS:
        return "false"
    raise UsageError(
        f'The option -{flag.name} is either on or off, so "{text}" is not a valid value.'
    )


def _sample(flag: Flag) -> str:
    return flag.placeholder or "VALUE"


def _unknown_flag(arg: str, name: str, command: Command) -> str:
    from nigari.hcl.suggestion import suggest

    near = suggest(name, [flag.name for flag in command.flags])
    hint = f" Did you mean -{near}?" if near else ""
    return f"There is no option {arg.partition('=')[0]}.{hint}"


def _check_combination(parsed: ParsedArguments) -> None:
    """Refuse what no command can do at once."""
    if "true" in parsed.flags.get("json", ()) and any(parsed.flags.get("json-into", ())):
        raise UsageError("The options -json and -json-into cannot be used together.")


def _check_arguments(command: Command, arguments: list[str]) -> None:
    most = command.most_arguments
    if 0 <= most < len(arguments):
        # Of a misplaced name=value only the name is repeated: the value may be a secret.
        extra, equals, _ = arguments[most].partition("=")
        extra += "=..." if equals else ""
        wanted = f"at most {most} argument{'s' if most > 1 else ''}" if most else "no arguments"
        hint = " Options come before arguments." if extra.startswith("-") else ""
        raise UsageError(f'The command takes {wanted}, so "{extra}" is one too many.{hint}')
