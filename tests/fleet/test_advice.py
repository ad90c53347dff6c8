"""What people who work with a fleet are told to do: commands and files of fleets."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from nigari.diagnostics.advice import Advice, advice, advising
from nigari.fleet import aio
from nigari.fleet.units.advice import FLEET_ADVICE
from tests.fleet.trees import write_tree


def test_advice_for_whoever_reads() -> None:
    assert advice().init("-upgrade") == '"nigari init -upgrade"'
    with advising(FLEET_ADVICE):
        assert advice().init("-upgrade") == '"nigari fleet init -upgrade"'
        # What a whole fleet cannot do is done where the unit is.
        assert advice().init("-migrate-state") == (
            '"nigari init -migrate-state" in the directory of the unit'
        )
    assert type(advice()) is Advice


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('variable "x" {}', "in fleet.hcl (variables = { x = ... } of its unit)"),
        (
            'variable "x" {}\nmodule "m" { source = "../${var.x}" }',
            "in the variables of its unit in fleet.hcl",
        ),
        ('variable "x" { const = true }', "in the variables of its unit in fleet.hcl"),
        ('module "m" { source = "git::https://example.com/m.git" }', '"nigari fleet init"'),
        ('terraform {\n  backend "local" { path = "x" }\n}', '"nigari fleet init"'),
        ('provider "random" {}\nresource "random_id" "r" {}', '"nigari fleet init"'),
    ],
)
def test_mistakes_of_units(tmp_path: Path, text: str, said: str) -> None:
    write_tree(tmp_path, {"a/main.tf": text})

    async def planned() -> list[str]:
        async with aio.open(tmp_path, jobs=1) as fleet:
            plan = await fleet.plan(keep=False)
            return [each.detail for each in plan.units["a"].result.diagnostics]

    found = asyncio.run(planned())
    assert any(said in each for each in found), found
    assert not any("-var" in each for each in found)
