"""The table of docs/guides/other-tools.md: which tools were run with both programs, and what differs.

Each row has a test in this folder. `scripts/tools_page.py` writes the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scripts.peers import (
    CDKTN,
    CHECKERS,
    PYTHON_TOOLS,
    READERS,
    TERRAFORM_EXEC,
    TERRAGRUNT,
    TF_SUMMARIZE,
)


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
    return {**PYTHON_TOOLS, **CHECKERS}[name].partition("==")[2]


def _tag(module: str) -> str:
    """The version of a module or package, without its name."""
    return module.rpartition("@")[2].removeprefix("v")


TOOLS: Final = (
    Tool(
        "Terragrunt",
        _tag(TERRAGRUNT),
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
    Tool(
        "terraform-exec",
        _tag(TERRAFORM_EXEC),
        "its own end-to-end suite",
        "equal, except for `TestValidate`, which compares the text of an error",
    ),
    Tool(
        "tfmigrate",
        _tag(READERS["tfmigrate"]),
        "a migration that leaves a difference, and one that leaves none",
        "equal, with a launcher named `terraform`: this version refuses OpenTofu",
    ),
    Tool(
        "Atlantis",
        _tag(READERS["atlantis"]),
        "its reader of plans, on 13 outputs of plan, apply and validate",
    ),
    Tool(
        "tfnotify, from which tfcmt comes",
        _tag(READERS["tfnotify"]),
        "its parsers, on the same outputs",
        "equal, except for the texts of errors, which are Nigari's own",
    ),
    Tool(
        "terraform-json",
        _tag(READERS["terraform-json"]),
        "plans, state, schemas, functions, version and validation",
        "equal, except for descriptions of functions and of the built-in provider",
    ),
    Tool("tf-summarize", _tag(TF_SUMMARIZE), "three plans in all six formats"),
    Tool(
        "terraform-compliance",
        _version("terraform-compliance"),
        "two scenarios, on three plans",
    ),
    Tool(
        "CDK Terrain (CDKTF)",
        _tag(CDKTN[0]),
        "a stack with a backend, variable, iterator, module and outputs: plan, apply, outputs",
    ),
)
