"""The console on a terminal: a line editor with history, completion, and prompts that tell
how much is still open.

History lives as long as the session: what is typed into a console may be secret.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence

from nigari.cli.console.statements import Statement

_PROMPT = "> "
_WORD_ENDS = " \t\n\"'`!@$%^&*()+=[]{}|;,<>?/"


class Prompt:
    """Reads statements from the person at the terminal."""

    def __init__(self, names: Callable[[], Sequence[str]]) -> None:
        self._names = names
        self._found: list[str] = []
        self._set_up()

    def read(self) -> str | None:
        """The next statement; None where the user wants to leave."""
        statement = Statement()
        while True:
            depth = statement.depth
            try:
                line = input("." * depth + " " if depth else _PROMPT)
            except EOFError:
                print()
                return None
            except KeyboardInterrupt:
                # The first gives up what is typed so far, one more leaves.
                print()
                if not statement.is_begun and not self._typed():
                    return None
                statement = Statement()
                continue
            statement.add(line)
            if not statement.depth:
                return statement.text

    def _set_up(self) -> None:
        self._typed: Callable[[], str] = str
        if sys.platform != "win32":
            try:
                import readline
            except ImportError:
                return
            self._typed = readline.get_line_buffer
            readline.set_completer(self._complete)
            readline.set_completer_delims(_WORD_ENDS)
            is_libedit = "libedit" in (readline.__doc__ or "")
            readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")

    def _complete(self, beginning: str, position: int) -> str | None:
        if position == 0:
            self._found = candidates(beginning, self._names())
        return self._found[position] if position < len(self._found) else None


def candidates(beginning: str, names: Sequence[str]) -> list[str]:
    """The candidates, one step of a name at a time: `v` gives `var.`, `var.` the variables."""
    found: dict[str, None] = {}
    for name in names:
        if name.startswith(beginning):
            step = re.compile(r"[^.]*\.?").match(name, len(beginning))
            assert step is not None
            found[name[: step.end()]] = None
    return list(found)
