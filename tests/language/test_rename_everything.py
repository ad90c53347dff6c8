"""Everything that has a name in the configurations of others is renamed, one after the other: nothing
else changes in their files, and the plan afterwards is empty.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import nigari
from nigari import Summary
from nigari.diagnostics import Diagnostics
from nigari.language.occurrences import (
    DECLARED,
    LOCAL,
    MODULE,
    OUTPUT,
    RESOURCE,
    VARIABLE,
)
from nigari.language.project import Project, Symbol, survey
from nigari.language.rename import rename
from nigari.language.rename_check import check_edits
from nigari.language.resolved_calls import resolve_calls
from tests.conformance import CONFORMANCE, Row, needs_conformance, rows

_DATA: Final = CONFORMANCE / "configurations" / "data"
_MARK: Final = "zq_"
"""What every new name begins with, and nothing else in the configurations."""
_MOVED: Final = re.compile(r"\nmoved \{\n  from = [^\n]*\n  to   = [^\n]*zq_[^\n]*\n\}\n")
_KINDS: Final = frozenset((VARIABLE, LOCAL, OUTPUT, MODULE, RESOURCE))
_EVERY: Final = 4
"""How many configurations there are for each that is tried without the real programs."""


def _parameters() -> list[object]:
    found = [
        row
        for row in rows("configurations/manifest.jsonl")
        if row["level"] == "plan" and row["expect"] == "valid" and not row["args"]
    ]
    return [
        pytest.param(row, id=str(row["path"]), marks=pytest.mark.real if number % _EVERY else ())
        for number, row in enumerate(found)
    ]


def _project(root: Path) -> Project:
    project = Project((str(root),))
    project.adopt(survey((str(root),)))
    resolve_calls(project, {})
    return project


def _symbols(root: Path) -> Iterator[Symbol]:
    """Everything that has a name, and not yet a new one."""
    for names in _project(root).all_files():
        for each in names.occurrences:
            short = each.name.rpartition(".")[2]
            if each.role == DECLARED and each.kind in _KINDS and not short.startswith(_MARK):
                yield Symbol(each.kind, names.directory, each.name)


def _texts(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_bytes().decode()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".terraform" not in path.parts and "tfstate" not in path.name
    }


def _rename_all(root: Path) -> tuple[int, int]:
    """Rename everything; how much was renamed, and how much was refused."""
    renamed = refused = 0
    pending = list(dict.fromkeys(_symbols(root)))
    for symbol in pending:
        project, diags = _project(root), Diagnostics()
        edits = rename(project, [symbol], _MARK + symbol.name.rpartition(".")[2], diags)
        contents = {} if edits is None else check_edits(project, edits, {}, diags)
        if diags.has_errors:
            refused += 1
            continue
        for path, content in contents.items():
            Path(path).write_bytes(content)
        renamed += 1
    return renamed, refused


@needs_conformance
@pytest.mark.parametrize("row", _parameters())
def test_the_plan_is_empty(row: Row, tmp_path: Path) -> None:
    root = tmp_path / "work"
    shutil.copytree(_DATA / str(row["path"]), root)
    before = _texts(root)
    if any("zq_" in text for text in before.values()):
        pytest.fail("the mark is not new")
    try:
        with nigari.open(root, environ={}) as session:
            session.init()
            session.apply()
    except nigari.SessionError as error:
        pytest.skip(f"not applied: {error}")
    names = [*_symbols(root)]
    renamed, refused = _rename_all(root)
    # What a file in the JSON syntax mentions is refused.
    assert not refused or any(name.endswith(".json") for name in before)
    assert renamed or not names
    after = {name: _MOVED.sub("", text).replace(_MARK, "") for name, text in _texts(root).items()}
    assert after == before
    with nigari.open(root, environ={}) as session:
        session.init()
        plan = session.plan()
        assert plan.summary == Summary(0, 0, 0), plan.changes
