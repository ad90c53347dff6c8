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
    """The table, which is the end of the page."""
    rows = []
    for line, readers in MARKERS.items():
        names = ", ".join(dict.fromkeys(each.program for each in readers))
        rows.append(f"| `{' '.join(line.split())}` | {names} |\n")
    return _HEAD + "".join(rows)


def page() -> str:
    """The whole page: what stands before the table, and the table."""
    return PAGE.read_text(encoding="utf-8").partition(_HEAD)[0] + table()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
