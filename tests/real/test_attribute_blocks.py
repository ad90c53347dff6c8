"""Attributes written as nested blocks beside the real program: verdicts, plans, states, `show`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from nigari.cli.commands import apply, plan, show, validate
from tests.cases import Case
from tests.cli.in_process import ran
from tests.plan.firewall import CASES, SOURCE, Firewall, install, lay_out
from tests.plugins import running, serving
from tests.real import program
from tests.real.alike import compare, states
from tests.real.json_forms import plan_document

pytestmark = pytest.mark.real

_DIFFERENT = "differences"
"""The cases in which our program knows better, as `docs/differences.md` says."""
_TELLS_MORE = "references to other resources"
"""OpenTofu does not tell references of blocks inside such blocks as part of the configuration."""
_COMMANDS = {
    "apply": apply.COMMAND,
    "plan": plan.COMMAND,
    "show": show.COMMAND,
    "validate": validate.COMMAND,
}


class Directories:
    """A working directory of each program, with the same files."""

    def __init__(
        self, path: Path, settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self._theirs, self._ours = path / "theirs", path / "ours"
        self._theirs.mkdir()
        self._ours.mkdir()
        self._environ = {**os.environ, **settings}
        self._tofu = program("tofu")
        self._monkeypatch = monkeypatch
        install(monkeypatch)

    def lay_out(self, case: Case, is_before: bool) -> None:
        for path in (self._theirs, self._ours):
            self._monkeypatch.chdir(path)
            lay_out(case, is_before)

    def run(self, name: str, *args: str) -> tuple[int, str, str]:
        """The exit status, which must be the same for both, and what each printed."""
        done = subprocess.run(
            [self._tofu, name, *args],
            cwd=self._theirs,
            env=self._environ,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        status, said = ran(_COMMANDS[name], list(args), {})
        assert status == done.returncode, f"{done.stdout}\n{done.stderr}\n{said}"
        return status, done.stdout, said

    def make(self, title: str) -> bool:
        """Plan and apply; whether there was anything that could be planned."""
        status, _, _ = self.run("plan", "-out=p")
        if status:
            return False
        _, theirs, ours = self.run("show", "-json", "p")
        left, right = plan_document(theirs), plan_document(ours)
        assert isinstance(left, dict)
        assert isinstance(right, dict)
        if title == _TELLS_MORE:
            del left["configuration"], right["configuration"]
        compare(right, left, "plan")
        self.run("apply", "p")
        stored = [path / "terraform.tfstate" for path in (self._theirs, self._ours)]
        left, right = states(stored[0].read_text(), stored[1].read_text())
        compare(right, left, "state")
        return True

    def settled(self) -> None:
        """Neither finds anything to do in what it has made, nor in what the other has."""
        ours, theirs = (path / "terraform.tfstate" for path in (self._ours, self._theirs))
        self.run("plan", "-detailed-exitcode")
        theirs.write_text(ours.read_text())
        self.run("plan", "-detailed-exitcode")


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with running(SOURCE, serving(Firewall), tmp_path_factory.mktemp("plugin")) as settings:
        yield settings


@pytest.fixture
def both(tmp_path: Path, plugin: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Directories:
    return Directories(tmp_path, plugin, monkeypatch)


@pytest.mark.parametrize("case", [c for c in CASES if c.path.stem != _DIFFERENT], ids=str)
def test_the_same_is_made(case: Case, both: Directories) -> None:
    if any(name.startswith("before") for name in case.files):
        both.lay_out(case, is_before=True)
        assert both.make(case.title)
    both.lay_out(case, is_before=False)
    both.run("validate")
    if both.make(case.title):
        both.settled()
