"""Completion in the shell: what may follow on a command line, and the line that switches it on.

Shells run the program itself: bash's `complete -C` (which zsh and others understand
too) puts the line typed so far into `COMP_LINE` and reads the candidates from standard output.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping

from nigari.cli.command import FLAG_SWITCH, Command, Terminal

_LINE = "complete -C nigari nigari"
_ZSH_LINE = "autoload -U +X bashcompinit && bashcompinit"
_GLOBAL_OPTIONS = ("-chdir=", "-env=", "-help", "-version")


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
    for candidate in _candidates(given, words[-1], directory, commands, load, environ):
        terminal.out(candidate)
    return 0


def _candidates(
    given: list[str],
    last: str,
    directory: str,
    commands: Mapping[str, tuple[str, str]],
    load: Callable[[str], Command],
    environ: Mapping[str, str],
) -> list[str]:
    names = [name for name in commands if given[: name.count(" ") + 1] == name.split(" ")]
    if not names:
        if last.startswith("-") and not given:
            if last.lstrip("-").startswith("env="):
                return _names("", last, directory, load, environ) or []
            return _completed_options(last, _GLOBAL_OPTIONS, directory)
        return _command_words(given, last, commands)
    name = max(names, key=len)
    named = _names(name, last, directory, load, environ)
    if named is not None:
        return named
    command = load(name)
    if last.startswith("-"):
        options = [_option(command, flag.name) for flag in command.flags]
        return _completed_options(last, [*options, "-help"], directory)
    return _command_words(given, last, commands) + _paths(last, directory)


def _names(
    command: str,
    last: str,
    directory: str,
    load: Callable[[str], Command],
    environ: Mapping[str, str],
) -> list[str] | None:
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
        return []
    if found is None:
        return None
    offered = [escaped(name) for name in found]
    return [name for name in offered if name.startswith(typed)]


def _option(command: Command, name: str) -> str:
    kind = next(flag.kind for flag in command.flags if flag.name == name)
    return f"-{name}" if kind == FLAG_SWITCH else f"-{name}="


def _completed_options(
    last: str, options: list[str] | tuple[str, ...], directory: str
) -> list[str]:
    name, equals, value = last.partition("=")
    if equals:
        # Shells take the equals sign for the end of a word, and want only what is after it.
        return _paths(value, directory if name != "-chdir" else ".")
    return sorted(option for option in options if option.startswith(last))


def _command_words(given: list[str], last: str, commands: Mapping[str, object]) -> list[str]:
    """The next words of commands that begin with the words given."""
    found = set()
    for name in commands:
        words = name.split(" ")
        if len(words) > len(given) and words[: len(given)] == given:
            if words[len(given)].startswith(last):
                found.add(words[len(given)])
    return sorted(found)


def _paths(last: str, directory: str) -> list[str]:
    folder, slash, beginning = last.rpartition("/")
    prefix = folder + slash
    place = os.path.join(directory, prefix)
    try:
        with os.scandir(place) as entries:
            names = sorted(entry.name + "/" * entry.is_dir() for entry in entries)
    except OSError:
        return []
    # Hidden files are offered to those who have typed the dot.
    return [
        prefix + name
        for name in names
        if name.startswith(beginning) and (name[0] != "." or beginning)
    ]


def install(terminal: Terminal, *, remove: bool) -> int:
    """Write or remove the line that switches completion on in the shells' start files."""
    changed = found = False
    for name in (".bashrc", ".zshrc"):
        path = os.path.join(os.path.expanduser("~"), name)
        if not os.path.exists(path):
            continue
        found = True
        try:
            is_changed = _edit(path, remove)
        except OSError as error:
            terminal.err(f"Cannot change {path}: {error.strerror}.")
            return 1
        if is_changed:
            changed = True
            terminal.out(f"{path} was changed: start a new shell to use completion.")
    if not found:
        terminal.err("The home directory has neither a .bashrc nor a .zshrc.")
        return 1
    if not changed:
        terminal.out("Nothing needed to be changed.")
    return 0


def _edit(path: str, remove: bool) -> bool:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        lines = file.read().splitlines()
    kept = [line for line in lines if line != _LINE]
    if not remove:
        if path.endswith(".zshrc") and "bashcompinit" not in "\n".join(kept):
            kept.append(_ZSH_LINE)
        kept.append(_LINE)
    if kept == lines:
        return False
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write("\n".join(kept) + "\n")
    return True
