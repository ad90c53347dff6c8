"""Runs the program: as a process of its own, as users do, or, where that is too slow, inside."""

import io
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nigari.cli.command import Terminal
from nigari.cli.main import run

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Done:
    """What a process left behind."""

    code: int
    out: str
    err: str


def environment(**settings: str) -> dict[str, str]:
    """The environment without whatever would change how the program behaves."""
    kept = {
        name: value
        for name, value in os.environ.items()
        # A test with a home of its own has its cache there.
        if not name.startswith(("TF_", "NIGARI_", "COMP_"))
        or (name == "NIGARI_CACHE_DIR" and "HOME" not in settings)
    }
    return {**kept, "PYTHONPATH": str(ROOT / "src"), **settings}


def command(*args: str) -> list[str]:
    """The words that start the program."""
    return [sys.executable, "-m", "nigari", *args]


def nigari(
    *args: str,
    cwd: Path | None = None,
    stdin: str | bytes = "",
    settings: Mapping[str, str] | None = None,
) -> Done:
    """Run the program to its end; `settings` are variables of its environment."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        command(*args),
        cwd=cwd,
        env=environment(**(settings or {})),
        input=data,
        capture_output=True,
        timeout=120,
        check=False,
    )
    out, err = (data.decode("utf-8", "surrogateescape") for data in (done.stdout, done.stderr))
    return Done(done.returncode, out, err)


def inside(*args: str, stdin: str = "", settings: Mapping[str, str] | None = None) -> Done:
    """Run a command line in this process, in its working directory."""
    out, err = io.StringIO(), io.StringIO()
    code = run(list(args), Terminal(io.StringIO(stdin), out, err, settings or {}))
    return Done(code, out.getvalue(), err.getvalue())
