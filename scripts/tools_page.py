"""Writes the table of docs/guides/other-tools.md: the lines of `nigari.markers` and who reads them.

python -m scripts.tools_page
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from nigari.markers import MARKERS

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "guides" / "other-tools.md"
_HEAD: Final = "| line | read by |\n| --- | --- |\n"


def table() -> str:
    """Build the table."""
    rows = []
    for line, readers in MARKERS.items():
        names = ", ".join(dict.fromkeys(each.program for each in readers))
        rows.append(f"| `{' '.join(line.split())}` | {names} |\n")
    return _HEAD + "".join(rows)


def page() -> str:
    """Replace the table of the page; it ends with the first line that is no row."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(_HEAD)
    rows = rest.split("\n")
    end = next(index for index, line in enumerate(rows) if not line.startswith("| "))
    return before + table() + "\n".join(rows[end:])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
