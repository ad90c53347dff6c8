"""Random configurations whose expansions depend on what other resources give.

After all rounds the state is that of a configuration in which the same values are literals, a destroy
leaves nothing, and nothing is done sooner than the plans before say.
"""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nigari
from tests.plan.colony import REQUIRED, install

_MOST = 2
"""How many instances a block has at most, so that few blocks do not make very many."""
_MODULE = """\
variable "name" {}
variable "wants" {
  type = list(string)
}
resource "colony_site" "in" {
  name  = var.name
  wants = var.wants
}
resource "colony_site" "deep" {
  for_each = toset(PARTS)
  name     = "${var.name}-${each.key}"
}
output "parts" {
  value = colony_site.in.parts
}
output "wants" {
  value = colony_site.in.wants
}
"""


@dataclass(frozen=True)
class Block:
    """One block of a random configuration."""

    kind: str
    """`one`, `count`, `for_each`, `some` (of which a key is known), `enabled` or `module`."""
    words: tuple[str, ...]
    decided_by: tuple[int, ...]
    """The blocks whose parts decide which instances there are."""
    uses: tuple[int, ...]
    """The blocks whose parts it merely has in its arguments."""
    waits: tuple[int, ...]
    server: int | None
    """The block whose id the provider is configured with."""
    reads: str = "parts"
    """`parts`, which are known once there is an object, or `wants`, which are known when planned."""
    form: str = "all"
    """How the parts decide: `all` of them, `perhaps` (not, if the first has several), `either` (if
    any has some), or `off` (in a branch that is not taken)."""


@st.composite
def blocks(draw: st.DrawFn) -> list[Block]:
    found: list[Block] = []
    for number in range(draw(st.integers(2, 6))):
        before = list(range(number))
        some = st.lists(st.sampled_from(before), unique=True, max_size=2) if before else st.just([])
        ones = [each for each in before if found[each].kind == "one"]
        kinds = ["one", "count", "for_each", "some", "enabled", "module"]
        kind = draw(st.sampled_from(kinds)) if before else "one"
        has_server = kind == "one" and ones and draw(st.booleans())
        found.append(
            Block(
                kind,
                tuple(draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True))),
                tuple(draw(some)) if kind != "one" else (),
                tuple(draw(some)),
                tuple(draw(some)),
                draw(st.sampled_from(ones)) if has_server else None,
                draw(st.sampled_from(["parts", "wants"])),
                draw(st.sampled_from(["all", "all", "perhaps", "either", "off"])),
            )
        )
    return found


class Simulated:
    """What becomes of a configuration, worked out here."""

    def __init__(self, found: list[Block]) -> None:
        self.keys: list[list[str]] = []
        self.wants: list[list[str]] = []
        self.parts: list[list[str]] = []
        for number, block in enumerate(found):
            given_parts = self._deciding(block)
            keys = given_parts[:_MOST]
            if block.kind == "some":
                keys = sorted({*keys, "known"})
            elif block.kind == "enabled":
                keys = ["only"] if given_parts else []
            elif block.kind == "one":
                keys = ["only"]
            wants = list(block.words)
            wants += sorted({f"w{part}" for each in block.uses for part in self.parts[each]})
            self.keys.append(keys)
            self.wants.append(wants[:3])
            count = len(keys)
            self.parts.append(sorted(set(self.wants[number])) if count else [])

    def _deciding(self, block: Block) -> list[str]:
        found = sorted({part for each in block.decided_by for part in self.parts[each]})
        if not found or block.form == "off":
            return []
        if block.form == "perhaps" and self._count(block.decided_by[0]) > 2:
            return []
        return ["some"] if block.form == "either" else found

    def _count(self, number: int) -> int:
        return len(self.wants[number]) * len(self.keys[number])


def _parts(number: int, block: Block, read: str = "parts") -> str:
    """All parts of a block's instances, as the configuration says it."""
    name = f"colony_site.r{number}"
    if block.kind == "module":
        return f"flatten([for each in module.m{number} : each.{read}])"
    if block.kind == "enabled":
        return f"({name} == null ? tolist([]) : {name}.{read})"
    return (
        f"{name}.{read}" if block.kind == "one" else f"flatten([for each in {name} : each.{read}])"
    )


def _deciding(found: list[Block], block: Block) -> str:
    """What decides which instances of a block there are, as the configuration says it."""
    each_parts = [f"tolist({_parts(each, found[each], block.reads)})" for each in block.decided_by]
    if not each_parts:
        return "[]"
    all_parts = f"sort(distinct(concat(tolist([]), {', '.join(each_parts)})))"
    if block.form == "perhaps":
        return f"(length({each_parts[0]}) > 2 ? [] : {all_parts})"
    if block.form == "either":
        has_some = " || ".join(f"length({each}) > 0" for each in each_parts)
        return f'({has_some} ? ["some"] : [])'
    return f"(false ? {all_parts} : [])" if block.form == "off" else all_parts


def _text(found: list[Block], literal: Simulated | None, simulated: Simulated) -> str:
    lines = [REQUIRED]
    for number, block in enumerate(found):
        used = ", ".join(f"tolist({_parts(each, found[each])})" for each in block.uses)
        all_parts = _deciding(found, block)
        keys = f"slice({all_parts}, 0, min({_MOST}, length({all_parts})))"
        wants = json.dumps(list(block.words))
        if used:
            more = f'[for part in sort(distinct(concat({used}))) : "w${{part}}"]'
            wants = f"concat({wants}, {more})"
            wants = f"slice({wants}, 0, min(3, length({wants})))"
        server = None if block.server is None else f"colony_site.r{block.server}.id"
        if literal is not None:
            keys = json.dumps([each for each in literal.keys[number] if each != "known"])
            all_parts = '["x"]' if literal.keys[number] else "[]"
            wants = json.dumps(literal.wants[number])
            server = None if block.server is None else json.dumps(f"id-r{block.server}-only")
        waits = [f"colony_site.r{each}" for each in block.waits if found[each].kind != "module"]
        lines += _block(number, block, waits, keys, all_parts, wants, server)
    lines.append('output "all" {\n  value = {')
    lines += [
        f"    r{number} = {_parts(number, block) if literal is None else json.dumps(_all_parts(number, simulated))}"
        for number, block in enumerate(found)
    ]
    return "\n".join([*lines, "  }", "}", ""])


def _all_parts(number: int, simulated: Simulated) -> list[str]:
    return simulated.wants[number] * len(simulated.keys[number])


def _block(
    number: int,
    block: Block,
    waits: list[str],
    keys: str,
    all_parts: str,
    wants: str,
    server: str | None,
) -> list[str]:
    depends = f"  depends_on = [{', '.join(waits)}]" if waits else ""
    if block.kind == "module":
        return [
            f'module "m{number}" {{',
            '  source   = "./m"',
            f"  for_each = toset({keys})",
            f'  name     = "r{number}-${{each.key}}"',
            f"  wants    = {wants}",
            depends,
            "}",
        ]
    repetition, name = {
        "one": ("", "only"),
        "count": (f"  count = length({keys})", f"${{{keys}[count.index]}}"),
        "for_each": (f"  for_each = toset({keys})", "${each.key}"),
        "some": (f'  for_each = setunion(["known"], {keys})', "${each.key}"),
        "enabled": (f"  lifecycle {{\n    enabled = length({all_parts}) > 0\n  }}", "only"),
    }[block.kind]
    lines = [
        f'resource "colony_site" "r{number}" {{',
        repetition,
        f'  name  = "r{number}-{name}"',
        f"  wants = {wants}",
        depends,
    ]
    if server is not None:
        lines += [
            f"  provider = colony.p{number}",
            "}",
            f'provider "colony" {{\n  alias  = "p{number}"\n  server = {server}',
        ]
    return [*lines, "}"]


def _end(directory: Path, text: str, module: str) -> tuple[dict[str, object], object, int]:
    """The objects in the state and the outputs after all rounds, and how many those were."""
    (directory / "m").mkdir()
    (directory / "m/main.tf").write_text(REQUIRED + module)
    (directory / "main.tf").write_text(text)
    session = nigari.open(directory)
    session.init()
    rounds = _rounds(session)
    assert session.plan().is_empty
    found: dict[str, object] = {
        address: dict(each.attributes) for address, each in session.state.resources.items()
    }
    return found, session.outputs["all"].value.to_python(), rounds


def _rounds(session: nigari.Session) -> int:
    """Apply in rounds, and hold each to what the plans before it have said; how many there were."""
    said: dict[str, int] = {}
    number = 0
    for round_ in session.rounds():
        number = round_.number
        left = [each.address for each in round_.plan.deferred]
        for address, earliest in said.items():
            pattern = re.compile(re.escape(address).replace(r"\[\*\]", r"\[[^\]]+\]"))
            is_left = any(map(pattern.fullmatch, left))
            assert is_left or number >= earliest, f"{address} is done before round {earliest}"
        for each in round_.plan.deferred:
            earliest = number - 1 + each.earliest_round
            said[each.address] = max(said.get(each.address, 0), earliest)
    return number


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(found=blocks())
def test_rounds_end_where_literals_do(found: list[Block], monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Simulated(found)
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        world = install(monkeypatch)
        computed = _text(found, None, simulated)
        module = _MODULE.replace("PARTS", "colony_site.in.parts")
        in_rounds = _end(Path(first), computed, module)
        made = dict(world.objects)
        nigari.open(first).destroy()
        assert not world.objects, computed
        other = install(monkeypatch)
        module = _MODULE.replace("PARTS", "var.wants")
        at_once = _end(Path(second), _text(found, simulated, simulated), module)
    assert at_once[2] == 1
    assert in_rounds[0] == at_once[0], computed
    assert in_rounds[1] == at_once[1], computed
    assert made == other.objects
