"""A fleet that is planned and applied as one ends with the states that OpenTofu makes of it, unit
after unit.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import nigari.fleet
from tests.cli.process import environment
from tests.fleet.trees import reading
from tests.real import program as peer

pytestmark = pytest.mark.real

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SEEDS = range(int(os.environ.get("NIGARI_FLEET_SEEDS", "4")))
_STEPS = 4
_OUTPUTS = ("fixed", "made", "all")


@dataclass
class Story:
    """A random fleet that changes from step to step."""

    seed: int
    units: dict[str, dict[str, str]] = field(default_factory=dict)
    """For each unit its resources: name and expression."""
    needs: dict[str, list[str]] = field(default_factory=dict)
    given: dict[str, list[str]] = field(default_factory=dict)
    """Those of its needs whose outputs `fleet.hcl` gives to a unit; it reads the states of others."""
    order: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        for number in range(self._random.randint(3, 6)):
            self._add(f"u{number}")

    def _add(self, name: str) -> None:
        known = list(self.order)
        count = min(len(known), self._random.randint(0, 2))
        self.needs[name] = self._random.sample(known, count)
        self.given[name] = [each for each in self.needs[name] if self._random.random() < 0.5]
        self.units[name] = {}
        self.order.append(name)
        for index in range(self._random.randint(1, 3)):
            self.units[name][f"r{index}"] = self._expression(name)

    def _expression(self, name: str) -> str:
        needs = self.needs[name]
        if needs and self._random.random() < 0.7:
            needed = self._random.choice(needs)
            output = self._random.choice(_OUTPUTS)
            if needed in self.given[name]:
                return f"var.{needed}_{output}"
            return f"data.terraform_remote_state.{needed}.outputs.{output}"
        return self._random.choice(
            ('"x"', '["a", 1, true]', f'{{ k = "{self._random.random()}" }}')
        )

    def step(self) -> None:
        """Change something."""
        name = self._random.choice(self.order)
        resources = self.units[name]
        what = self._random.randrange(4)
        if what == 0:
            resources[f"r{self._random.randrange(6)}"] = self._expression(name)
        elif what == 1 and len(resources) > 1:
            resources.pop(self._random.choice(list(resources)))
        elif what == 2:
            self._add(f"u{len(self.order)}")
        else:
            resources[next(iter(resources))] = self._expression(name)

    def write(self, root: Path) -> None:
        """Write the fleet as it is now."""
        for name, resources in self.units.items():
            given = self.given[name]
            read = [each for each in self.needs[name] if each not in given]
            parts = [reading(each, f"../{each}/terraform.tfstate") for each in read]
            parts += [f'variable "{each}_{key}" {{}}\n' for each in given for key in _OUTPUTS]
            for resource, expression in resources.items():
                replaced = "triggers_replace" if resource == "r1" else "input"
                parts.append(
                    f'resource "terraform_data" "{resource}" {{\n  {replaced} = {expression}\n}}\n'
                )
            first = next(iter(resources))
            parts.append(f'output "fixed" {{ value = "{name}-{len(resources)}" }}\n')
            parts.append(f'output "made" {{ value = terraform_data.{first}.id }}\n')
            parts.append(f'output "all" {{ value = [terraform_data.{first}.output, "{name}"] }}\n')
            directory = root / name
            directory.mkdir(parents=True, exist_ok=True)
            (directory / "main.tf").write_text("".join(parts))

    def definition(self) -> str:
        """What `fleet.hcl` says: who is given which outputs, of units that are declared or found."""
        blocks: list[str] = []
        for name, given in self.given.items():
            if given:
                lines = [
                    f"    {each}_{key} = {self._named(each)}.outputs.{key}\n"
                    for each in given
                    for key in _OUTPUTS
                ]
                values = f"  variables = {{\n{''.join(lines)}  }}\n"
                blocks.append(f'unit "{name}" {{\n  directory = "{name}"\n{values}}}\n')
        return "".join(blocks)

    def _named(self, name: str) -> str:
        return f"unit.{name}" if self.given[name] else f'unit["{name}"]'


def _tofu(program: str, directory: Path, *arguments: str) -> str:
    done = subprocess.run(
        (program, *arguments),
        cwd=directory,
        env=environment(TF_CLI_CONFIG_FILE=os.devnull),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.decode()


def _unit_after_unit(program: str, root: Path, story: Story) -> int:
    """Plan and apply with the real program; how many objects it has changed in any way."""
    changed = 0
    for name in story.order:
        directory = root / name
        if not (directory / ".terraform").exists():
            _tofu(program, directory, "init", "-input=false")
        values = {
            f"{each}_{key}": found["value"]
            for each in story.given[name]
            for key, found in json.loads(_tofu(program, root / each, "output", "-json")).items()
        }
        (directory / "given.auto.tfvars.json").write_text(json.dumps(values))
        out = _tofu(program, directory, "apply", "-auto-approve", "-input=false", "-no-color")
        found = re.search(r"Resources: (\d+) added, (\d+) changed, (\d+) destroyed", out)
        changed += sum(map(int, found.groups())) if found else 0
    return changed


def _states(root: Path, story: Story) -> dict[str, object]:
    """All states, with names in place of random identifiers."""
    texts = {name: (root / name / "terraform.tfstate").read_text() for name in story.order}
    names: dict[str, str] = {}
    for unit, text in texts.items():
        for resource in json.loads(text)["resources"]:
            for instance in resource["instances"]:
                if resource["mode"] == "managed":
                    names[instance["attributes"]["id"]] = f"{unit}.{resource['name']}"
    found: dict[str, object] = {}
    for unit, text in texts.items():
        data = json.loads(_ID.sub(lambda match: names.get(match[0], "other"), text))
        resources = [
            (each["mode"], each["type"], each["name"], [i["attributes"] for i in each["instances"]])
            for each in data["resources"]
        ]
        found[unit] = {"outputs": data["outputs"], "resources": sorted(resources, key=str)}
    return found


@pytest.mark.parametrize("seed", _SEEDS)
def test_states_are_those_of_the_real_program(tmp_path: Path, seed: int) -> None:
    program = str(peer("tofu"))
    story = Story(seed)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    with nigari.fleet.open(ours, jobs=2, environ=environment()) as fleet:
        for _ in range(_STEPS):
            story.write(ours)
            (ours / "fleet.hcl").write_text(story.definition())
            story.write(theirs)
            fleet.look_again()
            plan = fleet.plan()
            assert not plan.has_failed, [each.result.diagnostics for each in plan.units.values()]
            planned = {name: each.result.outputs or {} for name, each in plan.units.items()}
            result = fleet.apply(plan, approve=lambda *_: False)
            # What was agreed to is all that was done: nobody had to be asked.
            assert not result.has_failed, [each.diagnostics for each in result.units.values()]
            changed = _unit_after_unit(program, theirs, story)
            assert _states(ours, story) == _states(theirs, story)
            assert sum(plan.totals) >= changed
            after = fleet.outputs().units
            for name, outputs in planned.items():
                stored = after[name].outputs or {}
                known = {key: value for key, value in outputs.items() if value.is_wholly_known}
                assert {key: stored[key] for key in known} == known
            story.step()
