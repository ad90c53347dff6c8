"""Writes the tables of docs/guides/other-tools.md: the lines of `nigari.markers` and who reads them, and
the tools that were run with both programs.

python -m scripts.tools_page
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from nigari.markers import MARKERS
from tests.tools.rows import TOOLS

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "guides" / "other-tools.md"
_LINES: Final = "| line | read by |\n| --- | --- |\n"
_TOOLS: Final = "| tool | version | run with both | result |\n| --- | --- | --- | --- |\n"


def lines_table() -> str:
    """Build the table of lines."""
    rows = []
    for line, readers in MARKERS.items():
        names = ", ".join(dict.fromkeys(each.program for each in readers))
        rows.append(f"| `{' '.join(line.split())}` | {names} |\n")
    return _LINES + "".join(rows)


def tools_table() -> str:
    """Build the table of tools."""
    rows = [f"| {each.name} | {each.version} | {each.check} | {each.result} |\n" for each in TOOLS]
    return _TOOLS + "".join(rows)


def page() -> str:
    """Replace the tables of the page; each ends with the first line that is no row."""
    text = PAGE.read_text(encoding="utf-8")
    for head, table in ((_LINES, lines_table()), (_TOOLS, tools_table())):
        before, _, rest = text.partition(head)
        rows = rest.split("\n")
        end = next(index for index, line in enumerate(rows) if not line.startswith("| "))
        text = before + table + "\n".join(rows[end:])
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
