"""Takes pictures of the page of `nigari explore` for `docs/guides/explore.md`, in a real browser.

Needs Chromium, and what `make page` has built.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from scripts.pictures import PLACE
from tests.explore.pages import FLEET, STAGES, TESTED, TIMED

ROOT: Final = Path(__file__).resolve().parents[1]
BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")


def browser() -> str | None:
    """The browser of this machine."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def _write(directory: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _nigari(directory: Path, *words: str, may_fail: bool = False) -> None:
    command = [sys.executable, "-m", "nigari", *words]
    subprocess.run(command, cwd=directory, check=not may_fail, stdout=subprocess.DEVNULL)


def make_pages(place: Path) -> None:
    """The pages that pictures are taken of."""
    shop = place / "shop"
    before, after = STAGES
    _write(shop, before)
    _nigari(shop, "apply", "-auto-approve")
    _write(shop, after)
    _applied(shop, place / "applied.html")
    timed = place / "timed"
    _write(timed, TIMED)
    _nigari(timed, "apply", "-auto-approve")
    _nigari(timed, "explore", f"-out={place / 'timed.html'}")
    tested = place / "tested"
    _write(tested, TESTED)
    _nigari(tested, "test", "-coverage", "-json-into=tests.jsonl", may_fail=True)
    _nigari(tested, "explore", "-events=tests.jsonl", f"-out={place / 'tested.html'}")
    fleet = place / "fleet"
    _write(fleet, FLEET)
    _nigari(fleet, "fleet", "apply", "-auto-approve", may_fail=True)
    _nigari(fleet, "explore", "-fleet", f"-out={place / 'fleet.html'}")


def _applied(directory: Path, out: Path) -> None:
    _nigari(directory, "plan", "-out=plan.out")
    _nigari(directory, "apply", "-json-into=run.jsonl", "plan.out")
    _nigari(directory, "explore", "-events=run.jsonl", f"-out={out}", "plan.out")


def main() -> None:
    """Take all pictures anew."""
    program = browser()
    if program is None:
        sys.exit(f"There is no browser: install one of {', '.join(BROWSERS)}.")
    with tempfile.TemporaryDirectory() as place:
        make_pages(Path(place))
        command = ["node", "pictures.mjs", program, place, str(PLACE)]
        subprocess.run(command, cwd=ROOT / "page", check=True)
    print(f"The pictures are in {PLACE}.")


if __name__ == "__main__":
    main()
