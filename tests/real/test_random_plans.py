"""Random configurations, each changed a few times, planned and applied by both programs."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.real.beside import Pair

pytestmark = pytest.mark.real

_SEEDS = range(24)
_STEPS = 3


@dataclass
class _Block:
    """A resource that may refer to those before it."""

    name: str
    repetition: str = ""
    value: str = "1"
    trigger: str = ""
    depends_on: list[str] = field(default_factory=list)
    creates_first: bool = False

    def reference(self, attribute: str) -> str:
        if self.repetition.startswith("count"):
            return f"terraform_data.{self.name}[*].{attribute}"
        if self.repetition:
            return f"values(terraform_data.{self.name})[*].{attribute}"
        return f"terraform_data.{self.name}.{attribute}"

    def text(self) -> str:
        lines = [f'resource "terraform_data" "{self.name}" {{', f"  input = {self.value}"]
        if self.repetition:
            lines.append(f"  {self.repetition}")
        if self.trigger:
            lines.append(f"  triggers_replace = {self.trigger}")
        if self.depends_on:
            lines.append(f"  depends_on = [{', '.join(self.depends_on)}]")
        if self.creates_first:
            lines.append("  lifecycle { create_before_destroy = true }")
        return "\n".join([*lines, "}"])


def _repetition(chance: random.Random) -> str:
    keys = chance.sample(["a", "b", "c"], chance.randint(1, 3))
    quoted = ", ".join(f'"{key}"' for key in keys)
    return chance.choice(
        ["", "", "", f"count = {chance.randint(0, 3)}", f"for_each = toset([{quoted}])"]
    )


def _block(name: str, earlier: list[_Block], chance: random.Random) -> _Block:
    block = _Block(name, _repetition(chance), str(chance.randint(1, 3)))
    if earlier and chance.random() < 0.6:
        block.value = chance.choice(earlier).reference(chance.choice(["id", "output", "input"]))
    if earlier and chance.random() < 0.3:
        block.trigger = chance.choice(earlier).reference(chance.choice(["id", "input"]))
    elif chance.random() < 0.3:
        block.trigger = str(chance.randint(1, 3))
    if earlier and chance.random() < 0.2:
        block.depends_on = [f"terraform_data.{chance.choice(earlier).name}"]
    block.creates_first = chance.random() < 0.15
    return block


def _configuration(chance: random.Random) -> str:
    blocks: list[_Block] = []
    for number in range(6):
        if chance.random() < 0.8:
            blocks.append(_block(f"r{number}", blocks, chance))
    outputs = [
        f'output "o{number}" {{ value = {chance.choice(blocks).reference("output")} }}'
        for number in range(2)
        if blocks
    ]
    return "\n".join([*[block.text() for block in blocks], *outputs])


@pytest.mark.parametrize("seed", _SEEDS)
def test_random(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    pair = Pair(tmp_path, monkeypatch)
    for step in range(_STEPS):
        pair.step(f"step {step}", _configuration(chance))
    pair.step("destroy", None)
