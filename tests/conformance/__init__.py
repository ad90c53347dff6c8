"""Where the shared conformance data is, and how to read its line-per-row files.

The data is not part of this repository: it lies beside it, in `shared/conformance`. Tests that
need it skip with a clear word where it is missing. How a row's values are written is known by
`tests.conformance.values`.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final, TypeAlias, cast

import pytest

CONFORMANCE: Final = Path(__file__).resolve().parents[3] / "shared" / "conformance"

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Row: TypeAlias = "dict[str, Json]"

needs_conformance: Final = pytest.mark.skipif(
    not CONFORMANCE.is_dir(),
    reason="the shared conformance data (../shared/conformance) is not on this machine",
)


def rows(name: str) -> list[Row]:
    """Give the rows of a `.jsonl` file such as `tables/cty-tables.jsonl`.

    Gives nothing where the data is missing, so that a module can parametrise over it at import;
    `needs_conformance` then says why nothing ran.
    """
    path = CONFORMANCE / name
    if not path.is_file():
        return []
    with path.open(encoding="utf-8") as lines:
        return [cast(Row, json.loads(line)) for line in lines if line.strip()]


def table(name: str, tests: Iterable[str]) -> list[Row]:
    """Give the rows of a table that came from one of the named tests."""
    wanted = frozenset(tests)
    return [row for row in rows(name) if row["test"] in wanted]
