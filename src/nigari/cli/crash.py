"""The message for a fault of the program itself.

A message of an exception may quote values, secret ones among them, so by itself the apology
names only the kind of the exception and the place. The whole traceback is an option.
"""

from __future__ import annotations

import sys
import traceback

from nigari.cli.command import Terminal
from nigari.diagnostics.unexpected import raised_at
from nigari.extras import missing_library
from nigari.version import OPENTOFU_VERSION, VERSION

EXIT_CRASH = 11
"""The exit status of `tofu` in this case."""

_TRACE_VARIABLES = ("NIGARI_DEBUG", "TF_LOG")


def apologise(error: BaseException, terminal: Terminal) -> int:
    """Tell the user that this is our mistake and what to do; gives the exit status.

    A library that is not installed is no mistake of ours.
    """
    advice = missing_library(error)
    if advice is not None:
        terminal.err(f"Error: {advice}")
        return 1
    asked = any(terminal.environ.get(name) for name in _TRACE_VARIABLES)
    if asked:
        trace = "".join(traceback.format_exception(error))
        hint = ""
    else:
        trace = ""
        hint = (
            "\nSet NIGARI_DEBUG=1 and run the command again to see where exactly it went wrong. "
            "Check\nthe output for secrets before you share it."
        )
    terminal.err(
        f"{trace}\nSorry: nigari ran into a bug and had to stop. The configuration is not at fault.\n"
        "Please report the bug with the command, a configuration that reproduces it, and this:\n\n"
        f"  {type(error).__name__} {raised_at(error)}\n"
        f"  nigari {VERSION} (OpenTofu {OPENTOFU_VERSION}), Python {sys.version.split()[0]}, "
        f"{sys.platform}\n{hint}"
    )
    return EXIT_CRASH
