r"""Writes `nigari/regexp/unicode_tables.py`: the classes that `\p{…}` names, from Go's `unicode`.

OpenTofu's patterns mean what Go's tables say, whichever Unicode version Python itself has. Needs Go.
"""

import json
import subprocess
import tempfile
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

TARGET: Final = (
    Path(__file__).resolve().parents[1] / "src" / "nigari" / "regexp" / "unicode_tables.py"
)
_MODULE: Final = '''"""Unicode {version} as Go has it. Written by `scripts/unicode_tables.py`.

A class is the distances, in base 36, between the characters at which it begins and ends in turn.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

CATEGORIES: Final[dict[str, str]] = {categories}

ALIASES: Final[dict[str, str]] = {aliases}

SCRIPTS: Final[dict[str, str]] = {scripts}

# Each group: the distance of its first character from that of the group before, and those of the
# others from the first.
ORBITS: Final = {orbits}
'''
_DUMP: Final = """
package main

import (
	"encoding/json"
	"os"
	"unicode"
)

func ranges(table *unicode.RangeTable) [][3]uint32 {
	var found [][3]uint32
	for _, each := range table.R16 {
		found = append(found, [3]uint32{uint32(each.Lo), uint32(each.Hi), uint32(each.Stride)})
	}
	for _, each := range table.R32 {
		found = append(found, [3]uint32{each.Lo, each.Hi, each.Stride})
	}
	return found
}

func all(tables map[string]*unicode.RangeTable) map[string][][3]uint32 {
	found := map[string][][3]uint32{}
	for name, table := range tables {
		found[name] = ranges(table)
	}
	return found
}

func main() {
	orbits := map[rune]rune{}
	for each := rune(0); each <= unicode.MaxRune; each++ {
		if next := unicode.SimpleFold(each); next != each {
			orbits[each] = next
		}
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"version": unicode.Version,
		"categories": all(unicode.Categories),
		"scripts": all(unicode.Scripts),
		"aliases": unicode.CategoryAliases,
		"orbits": orbits,
	})
}
"""


def dump() -> dict[str, Any]:
    """Run a Go program that prints the tables of its standard library."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "main.go")
        program.write_text(_DUMP, encoding="utf-8")
        done = subprocess.run(
            ["go", "run", str(program)], check=True, stdout=subprocess.PIPE, text=True
        )
    tables: dict[str, Any] = json.loads(done.stdout)
    return tables


def base36(number: int) -> str:
    """Write a number with as few letters as `int(text, 36)` reads back."""
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
        if not number:
            return digits


def class_text(ranges: Iterable[tuple[int, int, int]]) -> str:
    """Write a class as the distances between the places where it begins and ends."""
    members = sorted(point for low, high, step in ranges for point in range(low, high + 1, step))
    bounds: list[int] = []
    for point in members:
        if bounds and bounds[-1] == point:
            bounds[-1] = point + 1
        else:
            bounds += [point, point + 1]
    return _distances(bounds)


def _distances(numbers: Iterable[int]) -> str:
    distances = []
    previous = 0
    for number in numbers:
        distances.append(base36(number - previous))
        previous = number
    return " ".join(distances)


def orbit_text(following: Mapping[int, int]) -> str:
    """Write the groups of characters that are equal but for their case, each from its smallest."""
    groups = []
    previous = 0
    for first in sorted(following):
        group = [first]
        while (after := following[group[-1]]) != first:
            group.append(after)
        if first == min(group):
            rest = ",".join(base36(each - first) for each in sorted(group)[1:])
            groups.append(f"{base36(first - previous)},{rest}")
            previous = first
    return " ".join(groups)


def wrapped(text: str) -> str:
    """Write a long text as adjacent literals."""
    lines = textwrap.wrap(text, 88, drop_whitespace=False)
    return "(" + " ".join(f'"{line}"' for line in lines) + ")"


def table_text(classes: Mapping[str, list[tuple[int, int, int]]]) -> str:
    """Write a table of classes by name, without those that are the union of others."""
    body = "".join(
        f'"{name}": {wrapped(class_text(ranges))},\n'
        for name, ranges in sorted(classes.items())
        if len(name) > 1 and name != "LC"
    )
    return f"{{{body}}}"


def main() -> None:
    """Write the module."""
    tables = dump()
    module = _MODULE.format(
        version=tables["version"],
        categories=table_text(tables["categories"]),
        aliases=json.dumps(tables["aliases"], sort_keys=True),
        scripts=table_text(tables["scripts"]),
        orbits=wrapped(orbit_text({int(each): after for each, after in tables["orbits"].items()})),
    )
    TARGET.write_text(module, encoding="utf-8")
    subprocess.run(["ruff", "format", "--quiet", str(TARGET)], check=True)


if __name__ == "__main__":
    main()
