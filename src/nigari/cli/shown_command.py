"""The command line as the page of `explore` shows it: without anything that could be a secret."""

from __future__ import annotations

import shlex

from nigari.cli.command import FLAG_SWITCH, Invocation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_SHOWN: Final = frozenset(
    (
        "allow-deferral",
        "events",
        "exclude",
        "json-into",
        "out",
        "parallelism",
        "port",
        "refresh",
        "replace",
        "rounds",
        "target",
        "var-file",
    )
)
"""The options whose values are names of files and objects, or numbers."""


def shown_command(invocation: Invocation) -> str:
    """The command with its options; values of others than those that are harmless are left out."""
    kinds = {flag.name: flag.kind for flag in invocation.command.flags}
    words = ["nigari", *invocation.command.name.split()]
    for name, values in invocation.flags.items():
        for value in values:
            if kinds.get(name) == FLAG_SWITCH and value in ("true", "false"):
                words.append(f"-{name}" if value == "true" else f"-{name}=false")
            elif name in _SHOWN:
                words.append(f"-{name}={shlex.quote(value)}")
            else:
                variable, given, _ = value.partition("=")
                words.append(f"-{name}={variable}=…" if name == "var" and given else f"-{name}=…")
    return " ".join([*words, *map(shlex.quote, invocation.arguments)])
