"""The table of docs/guides/other-tools.md: which tools were run with both programs, and what differs.

Each row has a test in this folder. `scripts/tools_page.py` writes the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scripts.peers import PYTHON_TOOLS, TERRAGRUNT


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool, and what was done with it."""

    name: str
    version: str
    check: str
    """What is run with both programs."""
    result: str = "equal"
    """Equal, or what differs and why."""


def _version(name: str) -> str:
    return PYTHON_TOOLS[name].partition("==")[2]


TOOLS: Final = (
    Tool(
        "Terragrunt",
        TERRAGRUNT.partition("@v")[2],
        "plan, apply, output and `run --all` of two units, of which one depends on the other",
    ),
    Tool(
        "tftest", _version("tftest"), "setup, plan, apply, output, refresh, state_pull and destroy"
    ),
    Tool("tofupy", _version("tofupy"), "init, validate, plan, apply, output, state and destroy"),
    Tool(
        "python-terraform",
        _version("python-terraform"),
        "init, plan with exit status, apply, output, workspaces and destroy",
    ),
)
