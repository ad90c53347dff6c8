"""Names that the shell offers on a command line: workspaces, addresses and outputs.

They are asked of the commands that print them, so that completion knows no other way to a state.
Whatever goes wrong means that there is nothing to offer: errors would only disturb while typing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from io import StringIO

from nigari.cli.args import parse
from nigari.cli.command import Command, Invocation, Terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


Load = Callable[[str], Command]

_ESCAPED: Final = frozenset(" \t\"'\\[]()$*?!&;|<>`{}")


def names_for(command: str, environ: Mapping[str, str], load: Load) -> list[str] | None:
    """The kind of name that a command takes as an argument, if any."""
    found = _ARGUMENTS.get(command)
    return None if found is None else found(environ, load)


def option_names(option: str, environ: Mapping[str, str], load: Load) -> list[str] | None:
    """The kind of name that an option takes, if any."""
    if option == "env":
        return _environments(environ, load)
    if option not in ("target", "exclude", "replace"):
        return None
    found = dict.fromkeys([*_declared(environ, load), *_stored(environ, load)])
    return sorted(found)


def escaped(name: str) -> str:
    """A name as a shell takes it for one word."""
    return "".join(f"\\{char}" if char in _ESCAPED else char for char in name)


def _printed(name: str, args: list[str], environ: Mapping[str, str], load: Load) -> str:
    """The output of a command, or nothing if it fails."""
    command = load(name)
    parsed = parse(command, args)
    out = StringIO()
    terminal = Terminal(StringIO(), out, StringIO(), environ)
    invocation = Invocation(command, terminal, parsed.flags, parsed.ordered, parsed.arguments)
    return out.getvalue() if command.run(invocation) == 0 else ""


def _workspaces(environ: Mapping[str, str], load: Load) -> list[str]:
    lines = _printed("workspace list", [], environ, load).splitlines()
    return [line[2:] for line in lines if line[2:]]


def _environments(environ: Mapping[str, str], load: Load) -> list[str]:
    text = _printed("environments", ["-json"], environ, load)
    return [each["name"] for each in json.loads(text)["environments"]] if text else []


def _stored(environ: Mapping[str, str], load: Load) -> list[str]:
    return _printed("state list", [], environ, load).splitlines()


def _outputs(environ: Mapping[str, str], load: Load) -> list[str]:
    text = _printed("output", ["-json"], environ, load)
    return sorted(json.loads(text)) if text else []


def _declared(environ: Mapping[str, str], load: Load) -> list[str]:
    """The resources and module calls of the root module."""
    from nigari.diagnostics import Diagnostics
    from nigari.workspace import Workspace
    from nigari.workspace.context.working_directory import WorkingDirectory

    workspace = Workspace(WorkingDirectory(environ))
    compiled = workspace.modules.compiled(workspace.directory, Diagnostics())
    if compiled is None:
        return []
    module = compiled.module
    found = [str(addr) for addr in module.resources]
    return sorted([*found, *(f"module.{name}" for name in module.calls)])


_ARGUMENTS: Final[Mapping[str, Callable[[Mapping[str, str], Load], list[str]]]] = {
    "workspace select": _workspaces,
    "workspace delete": _workspaces,
    "state list": _stored,
    "state show": _stored,
    "state mv": _stored,
    "state rm": _stored,
    "taint": _stored,
    "untaint": _stored,
    "import": _declared,
    "output": _outputs,
}
