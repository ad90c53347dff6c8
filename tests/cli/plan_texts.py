"""Plans as text: the case files, and their layout for a comparison."""

from __future__ import annotations

import re
from pathlib import Path

from nigari.cli.commands import taint
from tests.cases import Case, read_cases
from tests.cli.in_process import applied, ran

CASES = read_cases(Path(__file__).parent / "plan_cases")


_SETTINGS = ("before.tf", "flags", "taint")


_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")


_PROGRESS = re.compile(r"(Refreshing state|Preparing import|Reading|Read complete)( after|\.\.\.)")


def lay_out(case: Case, path: Path, environ: dict[str, str]) -> list[str]:
    """Make the state and the configuration of a case in the working directory; its flags."""
    files = {name: text for name, text in case.files.items() if name not in _SETTINGS}
    before = case.files.get("before.tf")
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".tf") or before is None:
            (path / name).write_text(text)
    if before is not None:
        (path / "main.tf").write_text(before)
        _install(path)
        status, said = applied([], environ)
        assert status == 0, said
        for name, text in files.items():
            (path / name).write_text(text)
    for address in case.files.get("taint", "").split():
        assert ran(taint.COMMAND, [address], environ)[0] == 0
    _install(path)
    return case.files.get("flags", "").split()


def _install(path: Path) -> None:
    """Note where a local module is, as `init` does."""
    if (path / "mod").is_dir():
        manifest = path / ".terraform" / "modules" / "modules.json"
        manifest.parent.mkdir(parents=True, exist_ok=True)
        root = '{"Key":"","Source":"","Dir":"."}'
        called = '{"Key":"m","Source":"./mod","Dir":"mod"}'
        manifest.write_text(f'{{"Modules":[{root},{called}]}}')


def comparable(text: str) -> str:
    """A plan without random values and without what is told while it is made."""
    lines = [line for line in text.splitlines() if not _PROGRESS.search(line)]
    return _UUID.sub("<uuid>", "\n".join(line.rstrip() for line in lines))
