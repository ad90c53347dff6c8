"""Plain configurations beside the state of the original: what the real program still finds to do."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.cli.process import inside

NOTHING = ("no-op", "read")


def written_plain(directory: Path, out: Path, flags: Sequence[str] = ()) -> str:
    """Write the plain configuration of a directory, with its local state; what went wrong."""
    done = inside(f"-chdir={directory}", "config", "-plain", f"-out={out}", "-no-color", *flags)
    if done.code != 0:
        return done.out + done.err
    state = directory / "terraform.tfstate"
    if state.exists():
        shutil.copy(state, out)
    return ""


def left_to_do(program: Path, directory: Path, flags: Sequence[str] = ()) -> list[str]:
    """What a program would do to the state that lies in a directory."""

    def run(*words: str) -> str:
        done = subprocess.run(
            [program, *words], cwd=directory, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}{done.stderr}"
        return done.stdout

    run("init", "-no-color", "-input=false")
    run("plan", "-no-color", "-input=false", "-out=p", *flags)
    return changes_in(json.loads(run("show", "-json", "p")))


def changes_in(plan: dict[str, Any]) -> list[str]:
    """What a plan changes."""
    found = [
        f"{' '.join(each['change']['actions'])} {each['address']}"
        for each in plan.get("resource_changes", ())
        if each["change"]["actions"][0] not in NOTHING
    ]
    found += [
        f"{' '.join(change['actions'])} output.{name}"
        for name, change in plan.get("output_changes", {}).items()
        if change["actions"] != ["no-op"]
    ]
    return found
