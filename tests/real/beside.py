"""Two working directories side by side, one for the real program and one for ours."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

from nigari.cli.command import Command
from nigari.cli.commands import apply, output, plan, show
from tests.cli.in_process import ran
from tests.real import program
from tests.real.alike import Alike, Tree, compare, states
from tests.real.case_files import Step
from tests.real.json_forms import (
    events,
    events_of_destroy,
    events_of_partial_destroy,
    failure,
    plain_document,
    plan_document,
    state_document,
    with_their_places,
    without_repetitions,
)

PROVIDERS: Final = ("random", "local", "time", "null", "simple", "simple6")
_PYTHON_PROVIDER: Final = Path(__file__).parents[2] / "examples" / "python-provider"
_PARTIAL: Final = ("-target", "-exclude", "-refresh-only", "-refresh=false")
_STATE: Final = "terraform.tfstate"
_CHANGES: Final = 2


def compare_told(ours: Tree, theirs: Tree, about: str) -> None:
    """Fail where what is told differs in more than the places that only we give."""
    compare(with_their_places(ours, theirs), theirs, about)


def _form_of_plan(step: Step) -> Callable[[str], Tree]:
    """What is compared of the events of a plan."""
    if step.fails:
        return failure
    if "-destroy" not in step.flags:
        return events
    is_partial = any(flag.startswith(_PARTIAL) for flag in step.flags)
    return events_of_partial_destroy if is_partial else events_of_destroy


def settings_file(path: Path) -> Path:
    """Settings with which both programs find the providers, without any installation."""
    places = {each: program(f"terraform-provider-{each}").parent for each in PROVIDERS}
    places["files"] = _PYTHON_PROVIDER
    lines = "\n".join(f'    "hashicorp/{name}" = "{place}"' for name, place in places.items())
    path.write_text(f"provider_installation {{\n  dev_overrides {{\n{lines}\n  }}\n}}\n")
    return path


def _variables(flags: list[str]) -> list[str]:
    return [flag for flag in flags if flag.startswith("-var")]


class Place:
    """A working directory."""

    def __init__(
        self, path: Path, settings: Path, more: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.path = path
        path.mkdir()
        self.environ = {
            **os.environ,
            "TF_CLI_CONFIG_FILE": str(settings),
            "NIGARI_DEBUG": "1",
            "TF_CLI_ARGS": "-no-color",
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            **more,
        }

    def state(self) -> str:
        path = self.path / _STATE
        return path.read_text() if path.exists() else '{"resources": []}'

    def write(self, files: dict[str, str]) -> None:
        for old in self.path.rglob("*.tf"):
            if ".terraform" not in old.parts:
                old.unlink()
        for name, content in files.items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_text(content)

    def become(self, other: Place) -> None:
        """Hold what the other holds."""
        shutil.rmtree(self.path)
        shutil.copytree(other.path, self.path, symlinks=True)

    def run(self, *command: str | Path) -> tuple[int, str]:
        done = subprocess.run(
            [str(each) for each in command],
            cwd=self.path,
            env=self.environ,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr * (done.returncode == 1)


class Pair:
    """Both directories. Each step starts from what the one or the other has left behind."""

    def __init__(
        self,
        path: Path,
        monkeypatch: pytest.MonkeyPatch,
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.tofu = program("tofu")
        settings = settings_file(path / "settings.tfrc")
        self.theirs = Place(path / "theirs", settings, more)
        self.ours = Place(path / "ours", settings, more)
        self._monkeypatch = monkeypatch
        self._monkeypatch.setenv("PATH", self.ours.environ["PATH"])
        self._steps = 0
        self._about = ""
        self._told: Tree = None
        """What the real program has said while it made the plan."""

    def step(self, name: str, step: Step) -> None:
        """Plan and apply in both from the same beginning."""
        self._about = f"{name} {' '.join(step.flags)}"
        self._prepare(step)
        if not self._plan(step):
            return
        self._apply(step)
        self._compare_states()
        if not step.breaks and not any(flag.startswith(_PARTIAL) for flag in step.flags):
            self._settled(step)

    def nothing_to_do(self, name: str, flags: list[str]) -> None:
        """Both find that nothing is to be done."""
        self._about = f"{name} again"
        again = Step(flags=flags)
        self._prepare(again)
        self._plan(again)

    def managed(self) -> str:
        """The first managed object there is, by its address; empty if there is none."""
        found = []
        for each in json.loads(self.ours.state())["resources"]:
            if each["mode"] == "managed":
                module = each["module"] + "." if "module" in each else ""
                key = each["instances"][0].get("index_key")
                ending = "" if key is None else f"[{json.dumps(key)}]"
                found.append(f"{module}{each['type']}.{each['name']}{ending}")
        return min(found, default="")

    def _theirs(self, *command: str) -> tuple[int, str]:
        return self.theirs.run(self.tofu, *command)

    def _ours(self, command: Command, *args: str) -> tuple[int, str]:
        return ran(command, list(args), self.ours.environ)

    def _must(self, place: Place, *command: str) -> str:
        status, said = place.run(self.tofu, *command)
        assert status == 0, f"{self._about}: {command}\n{said}"
        return said

    def _prepare(self, step: Step) -> None:
        self._monkeypatch.chdir("/")
        first, second = self.theirs, self.ours
        if self._steps % 2:
            first, second = second, first
        self._steps += 1
        for address in step.taints:
            self._must(first, "taint", address)
        for address in step.forgotten:
            self._must(first, "state", "rm", address)
        for target, text in step.written:
            (first.path / target).write_text(text)
        for target in step.deleted:
            (first.path / target).unlink()
        if step.files is not None:
            first.write(step.files)
            if "module " in "".join(step.files.values()):
                self._must(first, "get")
        second.become(first)
        self._monkeypatch.chdir(self.ours.path)

    def _plan(self, step: Step) -> bool:
        """Whether there is a plan that can be applied."""
        words = ("-json", "-out=p", "-detailed-exitcode", *step.flags)
        status, said = self._theirs("plan", *words)
        if "Cycle: " in said:
            pytest.skip("the real program cannot order these operations")
        assert (status == 1) == step.fails, f"{self._about}\n{said}"
        our_status, our_words = self._ours(plan.COMMAND, *words)
        assert our_status == status, f"exit status of {self._about}\n{said}\n{our_words}"
        form = _form_of_plan(step)
        compare_told(form(our_words), form(said), f"events of the plan of {self._about}")
        self._told = form(said)
        if step.fails:
            return False
        shown = plan_document(self._must(self.theirs, "show", "-json", "p"))
        _, ours = self._ours(show.COMMAND, "-json", "p")
        compare(plan_document(ours), shown, f"plan of {self._about}")
        return True

    def _apply(self, step: Step) -> None:
        words = ("-json", *_variables(step.flags), "p")
        status, said = self._theirs("apply", *words)
        if "Cycle: " in said:
            pytest.skip("the real program cannot order these operations")
        assert (status == 1) == step.breaks, f"{self._about}\n{said}"
        our_status, our_words = self._ours(apply.COMMAND, *words)
        assert our_status == status, f"{self._about}\n{our_words}"
        alike = Alike(json.loads(self.theirs.state()), json.loads(self.ours.state()))
        theirs, ours = alike(said, our_words)
        form = failure if step.breaks else events
        found, wanted = (without_repetitions(form(each), self._told) for each in (ours, theirs))
        compare_told(found, wanted, f"events of the apply of {self._about}")

    def _compare_states(self) -> None:
        theirs, ours = states(self.theirs.state(), self.ours.state())
        compare(ours, theirs, f"state after {self._about}")
        shown = self._must(self.ours, "show", "-json")
        _, our_document = self._ours(show.COMMAND, "-json")
        about = f"state shown after {self._about}"
        compare(state_document(our_document), state_document(shown), about)
        told = self._must(self.ours, "output", "-json")
        _, our_outputs = self._ours(output.COMMAND, "-json")
        compare(plain_document(our_outputs), plain_document(told), f"outputs after {self._about}")

    def _settled(self, step: Step) -> None:
        """Where we have applied, the real program finds as much left to do as where it has."""
        flags = [each for each in step.flags if each.startswith(("-var", "-destroy"))]
        status, said = self.ours.run(self.tofu, "plan", "-detailed-exitcode", *flags)
        assert status == (_CHANGES if step.unsettled else 0), f"after {self._about}\n{said}"
