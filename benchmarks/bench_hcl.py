"""Parsing beside python-hcl2 (pure Python) and pygohcl (Go), and evaluating.

Ours gives the whole tree with positions and diagnostics; the peers give a dictionary. Files are
generated, and the `.tf` files of the directory that NIGARI_BENCH_TF names are added to them.

What is wanted is a little less than what was measured with pygohcl 1.2.9 and python-hcl2 8.1.4, by
the processor time that each takes: 1.5 and 38 to 48 times as fast, compiled 3.1 to 4.4 and 101 to 117
times. Of python-hcl2, version 8.1.0 takes an eighth longer, and 7.3.1 half as long.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import hcl2
import pygohcl

from benchmarks.harness import Case
from benchmarks.hcl_files import text_of
from nigari.cty.stdlib.strings import UPPER
from nigari.cty.types import NUMBER
from nigari.cty.values import Value, list_value, number, object_value, string
from nigari.diagnostics import Diagnostics
from nigari.hcl.expressions import Expression
from nigari.hcl.parser import parse_body, parse_expression
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source

SIZES: Final = (120_000, 500_000)
COUNT: Final = 100_000
SMALL: Final = (
    "a + b * 2",
    "a > b ? name : upper(name)",
    '"${name}-${a}"',
    "config.size >= 10 && config.enabled",
    "[a, b, config.size]",
)


def parse(texts: list[str]) -> None:
    """Parse files that are right, to the full tree."""
    for text in texts:
        diags = Diagnostics()
        parse_body(Source("main.tf", text), diags)
        assert not diags.has_errors


def parse_cases(name: str, texts: list[str]) -> list[Case]:
    """Compare parsing the same texts with both peers."""
    size = sum(len(text.encode()) for text in texts) / 1e6

    def case(peer: str, loads: Callable[[str], object], wanted: float, compiled: float) -> Case:
        def theirs() -> None:
            for text in texts:
                loads(text)

        return Case(
            f"parse {name}", lambda: parse(texts), peer, theirs, wanted, compiled, size, "MB"
        )

    return [
        case("pygohcl", pygohcl.loads, 1.0, 3.0),
        case("python-hcl2", hcl2.loads, 30.0, 90.0),
    ]


def expression(text: str) -> Expression:
    """Read one expression that is right."""
    diags = Diagnostics()
    parsed = parse_expression(Source("main.tf", text), diags)
    assert not diags.has_errors, text
    return parsed


def evaluation() -> list[Case]:
    """Evaluating has no peer: neither library evaluates expressions."""
    config = object_value({"size": number(12), "enabled": Value.of(True)})
    values = {"a": number(5), "b": number(3), "name": string("nigari"), "config": config}
    items = list_value(NUMBER, [number(index) for index in range(COUNT)])
    scope = Scope({**values, "items": items}, {"upper": UPPER})
    small = [expression(text) for text in SMALL]
    loop = expression("[for item in items : item * 2 if item != 7]")

    def evaluate_small() -> None:
        diags = Diagnostics()
        for _ in range(COUNT // len(small)):
            for each in small:
                each.value(scope, diags)
        assert not diags.has_errors

    def evaluate_loop() -> None:
        diags = Diagnostics()
        assert loop.value(scope, diags).length_int() == COUNT - 1

    return [
        Case("evaluate 100,000 small expressions", evaluate_small, work=COUNT, unit="expressions"),
        Case("evaluate a for over 100,000 elements", evaluate_loop, work=COUNT, unit="elements"),
    ]


def cases() -> list[Case]:
    """All comparisons of this file."""
    found = [case for size in SIZES for case in parse_cases(f"{size // 1000} KB", [text_of(size)])]
    folder = os.environ.get("NIGARI_BENCH_TF")
    if folder:
        files = sorted(Path(folder).rglob("*.tf"))
        texts = [path.read_text(encoding="utf-8") for path in files]
        found += parse_cases(f"{len(texts)} files of {Path(folder).name}", texts)
    return [*found, *evaluation()]
