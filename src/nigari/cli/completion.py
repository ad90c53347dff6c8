"""Completion in the shell: what may follow on a command line.

Shells run the program itself with the line typed so far in `COMP_LINE`, and read the candidates from
standard output. bash inserts a candidate as it is printed. zsh and fish quote words themselves and
show what each means: with `NIGARI_COMPLETION=described` they get whole words, each with a tab and its
meaning. `nigari.cli.completion_scripts` has the scripts for the shells.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from string import ascii_uppercase

from nigari.cli.command import FLAG_SWITCH, Command, Flag, Terminal
from nigari.cli.help import COMMON_OPTIONS, GLOBAL_OPTIONS


def complete(
    terminal: Terminal, commands: Mapping[str, tuple[str, str]], load: Callable[[str], Command]
) -> int:
    """Print what may follow on the line that the shell has so far."""
    line = terminal.environ["COMP_LINE"]
    point = terminal.environ.get("COMP_POINT", "")
    words = (line[: int(point)] if point.isdigit() else line).split(" ")
    given = [word for word in words[1:-1] if word]
    directory, environ = ".", terminal.environ
    while given and given[0].startswith("-"):
        option, _, value = given.pop(0).partition("=")
        if option.lstrip("-") == "chdir":
            directory = value
        elif option.lstrip("-") == "env":
            environ = {**environ, "NIGARI_ENV": value}
    candidates = _candidates(given, words[-1], directory, commands, load, environ)
    if terminal.environ.get("NIGARI_COMPLETION") == "described":
        option, equals, _ = words[-1].partition("=")
        before = option + equals if option.startswith("-") and equals else ""
        for name, about in candidates.items():
            terminal.out(f"{before}{name}\t{about.partition('; ')[0]}")
    else:
        from nigari.cli.completed_names import escaped

        # bash takes the equals sign for the end of a word, and wants only what is after it.
        for name in candidates:
            terminal.out(escaped(name) + " " * (name[-1] not in "=/:"))
    return 0


def _candidates(
    given: list[str],
    last: str,
    directory: str,
    commands: Mapping[str, tuple[str, str]],
    load: Callable[[str], Command],
    environ: Mapping[str, str],
) -> Mapping[str, str]:
    """The words that may stand here, or the values of an option, each with its meaning."""
    names = [name for name in commands if given[: name.count(" ") + 1] == name.split(" ")]
    if not names:
        if last.startswith("-") and not given:
            if last.lstrip("-").startswith("env="):
                return _names("", last, directory, load, environ) or {}
            return _completed_options(last, _without_placeholders(GLOBAL_OPTIONS), directory)
        return _command_words(given, last, commands)
    name = max(names, key=len)
    named = _names(name, last, directory, load, environ)
    if named is not None:
        return named
    if last.startswith("-"):
        options = {
            **_without_placeholders(COMMON_OPTIONS),
            **{_option(flag): flag.help for flag in load(name).flags},
            "-help": "Show this help",
        }
        return _completed_options(last, options, directory)
    return {**_command_words(given, last, commands), **_paths(last, directory)}


def _names(
    command: str,
    last: str,
    directory: str,
    load: Callable[[str], Command],
    environ: Mapping[str, str],
) -> Mapping[str, str] | None:
    """Workspaces, addresses and the like that may stand here; None where nothing has a name."""
    from nigari.cli.completed_names import escaped, names_for, option_names

    option, equals, value = last.partition("=")
    if last.startswith("-") and not equals:
        return None
    try:
        with contextlib.chdir(directory):
            if equals and last.startswith("-"):
                found, typed = option_names(option.lstrip("-"), environ, load), value
            else:
                found, typed = names_for(command, environ, load), last
    except Exception:  # noqa: BLE001 - whatever is wrong here, the user is still typing
        return {}
    if found is None:
        return None
    # What is typed so far has the quoting of the shell, or none.
    return {name: "" for name in found if name.startswith(typed) or escaped(name).startswith(typed)}


def _option(flag: Flag) -> str:
    return f"-{flag.name}" if flag.kind == FLAG_SWITCH else f"-{flag.name}="


def _without_placeholders(options: Mapping[str, str]) -> Mapping[str, str]:
    """The part of each option that the shell can complete: `-chdir=` of `-chdir=DIR`."""
    return {title.rstrip(ascii_uppercase): about for title, about in options.items()}


def _completed_options(last: str, options: Mapping[str, str], directory: str) -> Mapping[str, str]:
    name, equals, value = last.partition("=")
    if equals:
        return _paths(value, directory if name != "-chdir" else ".")
    return {option: options[option] for option in sorted(options) if option.startswith(last)}


def _command_words(
    given: list[str], last: str, commands: Mapping[str, tuple[str, str]]
) -> Mapping[str, str]:
    """The next words of commands that begin with the words given."""
    found: dict[str, str] = {}
    for name, (_, summary) in commands.items():
        words = name.split(" ")
        if len(words) > len(given) and words[: len(given)] == given:
            if words[len(given)].startswith(last):
                about = summary if len(words) == len(given) + 1 else ""
                found[words[len(given)]] = found.get(words[len(given)]) or about
    return dict(sorted(found.items()))


def _paths(last: str, directory: str) -> Mapping[str, str]:
    folder, slash, beginning = last.rpartition("/")
    prefix = folder + slash
    place = os.path.join(directory, prefix)
    try:
        with os.scandir(place) as entries:
            names = sorted(entry.name + "/" * entry.is_dir() for entry in entries)
    except OSError:
        return {}
    # Hidden files are offered to those who have typed the dot.
    return {
        prefix + name: ""
        for name in names
        if name.startswith(beginning) and (name[0] != "." or beginning)
    }
