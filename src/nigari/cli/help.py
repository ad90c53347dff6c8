"""The help texts: of the program, of a group of commands, of one command."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from nigari.cli.command import FLAG_CHOICE, FLAG_SWITCH, Command, Flag

_WIDTH = 78
GLOBAL_OPTIONS = {
    "-chdir=DIR": "Work in another directory",
    "-env=NAME": "Work in an environment that environments.hcl declares",
    "-help": "Show this help, or the help of a command",
    "-version": "The same as the version command",
}
COMMON_OPTIONS = {
    "-no-color": "Do not use colors",
    "-compact-warnings": "If there are only warnings, show them as one line each",
    "-consolidate-warnings=false": "Show every warning instead of merging similar ones",
    "-consolidate-errors": "Merge similar errors",
    "-concise": "Do not show progress",
    "-deprecation=module:KIND": "Which deprecation warnings about modules to show: all (the default), only those about "
    "local modules (local), or none",
}
_MAIN = ("init", "validate", "plan", "apply", "destroy")


def program_help(commands: Mapping[str, str]) -> str:
    """Every command with what it is for, the daily ones first."""
    main = {name: commands[name] for name in _MAIN if name in commands}
    others = {name: commands[name] for name in sorted(commands) if name not in main}
    parts = ["Usage: nigari [global options] COMMAND [options] [arguments]"]
    if main:
        parts.append(f"Every day:\n{_table(main)}")
    parts.append(f"{'All other commands' if main else 'Commands'}:\n{_table(others)}")
    parts.append("Global options, given before the command:\n" + _table(GLOBAL_OPTIONS))
    return "\n\n".join(parts)


def group_help(name: str, about: str, members: Mapping[str, str]) -> str:
    """The commands of a group."""
    table = _table({member.removeprefix(f"{name} "): text for member, text in members.items()})
    return f"Usage: nigari {name} COMMAND [options] [arguments]\n\n{about}.\n\nCommands:\n{table}"


def command_help(command: Command) -> str:
    """The help of a command, with its options and examples."""
    usage = " ".join(
        part
        for part in (
            f"Usage: nigari {command.name}",
            "[options]" if command.flags else "",
            command.arguments,
        )
        if part
    )
    parts = [usage, _paragraphs(command.description)]
    if command.flags:
        flags = {flag_title(flag): flag_text(flag) for flag in command.flags}
        parts.append(f"Options:\n{_table(flags)}")
    given = {flag.name for flag in command.flags}
    parts.append(
        "Options of every command, anywhere after its name:\n"
        + _table({title: text for title, text in COMMON_OPTIONS.items() if title[1:] not in given})
    )
    if command.examples:
        lines: list[str] = []
        for each in command.examples:
            lines += [f"  $ {each.command}", *([f"      {each.text}"] if each.text else [])]
        parts.append("Examples:\n" + "\n".join(lines))
    return "\n\n".join(parts)


def _paragraphs(text: str) -> str:
    return "\n\n".join(
        textwrap.fill(" ".join(paragraph.split()), _WIDTH) for paragraph in text.split("\n\n")
    )


def flag_title(flag: Flag) -> str:
    if flag.kind == FLAG_SWITCH:
        return f"-{flag.name}=false" if flag.default == "true" else f"-{flag.name}"
    if flag.kind == FLAG_CHOICE:
        return f"-{flag.name}[={flag.placeholder}]"
    return f"-{flag.name}={flag.placeholder or 'VALUE'}"


def flag_text(flag: Flag) -> str:
    has_default = flag.kind != FLAG_SWITCH and flag.default
    return f"{flag.help} (default: {flag.default})" if has_default else flag.help


def _table(rows: Mapping[str, str]) -> str:
    """Names on the left, texts on the right, wrapped."""
    indent = min(max((len(name) for name in rows), default=0), 24) + 4
    lines: list[str] = []
    for name, text in rows.items():
        head = f"  {name}"
        if len(head) + 2 > indent:
            lines.append(head)
            head = ""
        lines.append(
            textwrap.fill(
                text,
                _WIDTH,
                initial_indent=head.ljust(indent),
                subsequent_indent=" " * indent,
            )
        )
    return "\n".join(lines)
