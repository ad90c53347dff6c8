"""Sends random edits to the language server, and compares its answers with those of a fresh one.

Each storm is told from its seed by `tests.lsp.storm`, in a process of its own server. `make storm
N=100000` makes as many edits, in storms of some thousands each.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.lsp.storm import different_answers

_EDITS: Final = 5_000
"""The edits of one storm: what goes wrong is easier to find in a short one."""


def main() -> int:
    """Tell as many storms as the number of edits asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-n", type=int, default=100_000, help="how many edits")
    parser.add_argument("-s", type=int, default=0, help="where the random numbers begin")
    given = parser.parse_args()
    failed = 0
    for number in range(-(-given.n // _EDITS)):
        seed = given.s + number
        with tempfile.TemporaryDirectory() as directory:
            found = different_answers(Path(directory), seed, min(_EDITS, given.n))
        failed += bool(found)
        for key, fresh, lived in found[:3]:
            print(f"seed {seed}: {key}\n  fresh: {fresh}\n  lived: {lived}")
    print(f"{given.n} edits, {failed} storms with other answers")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
