"""State operations by `tofu` and Nigari in turn, beside the same operations by `tofu` alone."""

import asyncio
import json
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from nigari.addrs.parse import parse_resource_instance, parse_target
from nigari.addrs.provider import parse_provider
from nigari.addrs.targets import Target
from nigari.backends.lock_options import LockOptions
from nigari.diagnostics import Diagnostics
from nigari.state import edit, selection
from nigari.state.model import State
from tests.state.tofu import TofuDirectory

pytestmark = pytest.mark.real

CONFIGURATION = """
resource "terraform_data" "a" { input = "a" }
resource "terraform_data" "b" {
  count = 4
  input = terraform_data.a.id
}
resource "terraform_data" "c" {
  for_each = toset(["x", "y z", "q"])
  input    = terraform_data.b[0].id
}
module "m" {
  source = "./m"
  count  = 2
  input  = terraform_data.a.id
}
module "n" {
  source = "./m"
  input  = module.m[0].id
}
"""
MODULE = """
variable "input" {}
resource "terraform_data" "a" { input = var.input }
resource "terraform_data" "b" {
  count = 2
  input = terraform_data.a.id
}
module "inner" {
  source = "./inner"
  input  = terraform_data.a.id
}
output "id" { value = module.inner.id }
"""
INNER = """
variable "input" {}
resource "terraform_data" "i" { input = var.input }
output "id" { value = terraform_data.i.id }
"""


@dataclass(frozen=True)
class Operation:
    """One and the same operation for both programs."""

    arguments: tuple[str, ...]
    ours: Callable[[State, Diagnostics], State | None]


def target(text: str, diags: Diagnostics) -> Target:
    found = parse_target(text, diags)
    assert found is not None, list(diags)
    return found


def move(old: str, new: str) -> Operation:
    def ours(state: State, diags: Diagnostics) -> State | None:
        outcome = edit.move(state, None, target(old, diags), target(new, diags), diags)
        return None if outcome is None else outcome.source

    return Operation(("state", "mv", old, new), ours)


def remove(*texts: str) -> Operation:
    def ours(state: State, diags: Diagnostics) -> State | None:
        targets = [target(text, diags) for text in texts]
        selected = selection.select(state, targets, diags, allow_missing=True)
        return edit.remove(state, selected) if selected else None

    return Operation(("state", "rm", *texts), ours)


def taint(text: str, back: bool) -> Operation:
    def ours(state: State, diags: Diagnostics) -> State | None:
        address = parse_resource_instance(text, diags)
        assert address is not None
        return (edit.untaint if back else edit.taint)(state, address, diags)

    return Operation(("untaint" if back else "taint", text), ours)


def replace_provider(old: str, new: str) -> Operation:
    def ours(state: State, diags: Diagnostics) -> State | None:
        one, other = parse_provider(old, diags), parse_provider(new, diags)
        assert one is not None
        assert other is not None
        return edit.replace_provider(state, one, other)

    return Operation(("state", "replace-provider", "-auto-approve", old, new), ours)


def random_operation(chance: random.Random, addresses: list[str]) -> Operation:
    known = chance.choice(addresses)
    without_key = known.rpartition("[")[0] if known.endswith("]") else known
    modules = sorted(
        {each.partition(".terraform_data.")[0] for each in addresses if "module." in each}
    )
    # Never numbers and strings as keys of one resource: `tofu` then raises the serial at random.
    names = ["terraform_data.a", "terraform_data.new", "module.m[0].terraform_data.k"]
    string_keyed = ["terraform_data.s", "module.m[0].terraform_data.s"]
    made_up = chance.choice([*names, "terraform_data.b"]) + chance.choice(["", "[0]", "[7]"])
    kind = chance.randrange(10)
    if kind < 3:
        return move(known, chance.choice([made_up, made_up, chance.choice(addresses)]))
    if kind == 3:
        return move(without_key, chance.choice(string_keyed if '["' in known else names))
    if kind in (4, 5) and modules:
        source = chance.choice(modules)
        # Into itself, `tofu` moves a module or does not, at random.
        elsewhere = [each for each in modules if not each.startswith(f"{source}.")]
        return move(source, chance.choice(["module.o", "module.m[5]", *elsewhere]))
    if kind == 6:
        return remove(chance.choice([known, without_key, made_up]))
    if kind == 7:
        providers = ["terraform.io/builtin/terraform", "example.com/a/b", "hashicorp/other"]
        return replace_provider(*chance.sample(providers, 2))
    return taint(known, back=chance.random() < 0.4)


def run_ours(directory: TofuDirectory, operation: Operation) -> bool:
    async def run() -> bool:
        diags = Diagnostics()
        snapshots = directory.snapshots()
        assert await snapshots.lock("nigari-test", LockOptions(), diags), list(diags)
        try:
            assert await snapshots.read(diags), list(diags)
            changed = operation.ours(snapshots.state, diags)
            if changed is None or diags.has_errors:
                return False
            assert await snapshots.write(changed, diags), list(diags)
            return True
        finally:
            await snapshots.unlock(diags)

    return asyncio.run(run())


def content(directory: TofuDirectory) -> dict[str, object]:
    loaded = json.loads(directory.state.read_text())
    assert isinstance(loaded, dict)
    for resource in loaded["resources"]:  # `tofu` has no order between numbers and strings
        resource["instances"].sort(key=lambda each: str(each.get("index_key")))
    return loaded


def test_turns_leave_what_tofu_alone_would_leave(tmp_path: Path) -> None:
    one = tmp_path / "alone"
    (one / "m" / "inner").mkdir(parents=True)
    (one / "m" / "main.tf").write_text(MODULE)
    (one / "m" / "inner" / "main.tf").write_text(INNER)
    alone = TofuDirectory(one, CONFIGURATION)
    alone.apply()
    shutil.copytree(one, tmp_path / "turns")
    turns = TofuDirectory(tmp_path / "turns", CONFIGURATION)
    for each in (alone, turns):  # no configuration, so that `tofu` needs no providers
        (each.path / "main.tf").write_text("")
    chance = random.Random(4)
    done = 0
    full = alone.state.read_bytes()
    for turn in range(200):
        addresses = [address.text for address, _ in turns.read().state.instances()]
        if len(addresses) < 6:
            for each in (alone, turns):
                each.state.write_bytes(full)
            continue
        operation = random_operation(chance, addresses)
        expected = alone.try_run(*operation.arguments)[0] == 0
        if turn % 2:
            got = run_ours(turns, operation)
        else:
            got = turns.try_run(*operation.arguments)[0] == 0
        assert got == expected, operation.arguments
        assert content(turns) == content(alone), operation.arguments
        done += got
    assert done > 60
