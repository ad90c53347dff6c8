"""Expressions that the real program has evaluated: verdict, type, JSON, and what the console shows.

Each is answered by a session of the console, in a directory with the fixtures and, where a row has
one, its configuration.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest
from _pytest.mark import ParameterSet

from nigari.cli.console.session import ConsoleSession, _compile
from nigari.cty.stdlib.json_text import JSON_ENCODE
from nigari.cty.values import DYNAMIC_UNKNOWN, Value
from nigari.diagnostics import Diagnostics
from nigari.lang.functions.table import function_table
from nigari.lang.marks import EPHEMERAL, SENSITIVE
from nigari.lang.render import console_text, type_display
from nigari.workspace import Workspace
from nigari.workspace.context.variable_values import VariableReader
from nigari.workspace.context.working_directory import WorkingDirectory
from tests.conformance import CONFORMANCE, Row, needs_conformance, rows
from tests.conformance.not_applicable import EXPRESSIONS

VECTORS = "expressions/vectors.jsonl"
FIXTURES = CONFORMANCE / "expressions" / "fixtures"
LOCAL = "v"

pytestmark = needs_conformance


@dataclass(frozen=True, slots=True)
class Evaluated:
    value: Value
    display: str
    diags: Diagnostics
    stage: str


def _open_session(arguments: list[str]) -> tuple[ConsoleSession | None, Diagnostics]:
    """A session in the working directory, and what is wrong with the configuration there."""
    where = WorkingDirectory({})
    workspace = Workspace(where)
    problems = Diagnostics()
    reader = VariableReader(where, problems)
    reader.read_automatic_files(where.name)
    reader.read_flags(
        [
            (flag.lstrip("-"), text)
            for flag, text in zip(arguments[::2], arguments[1::2], strict=True)
        ]
    )
    run, found = workspace.static(reader.inputs)
    problems.extend(found)
    if run is None:
        return None, problems
    home = str(Path.home())
    run.functions = function_table(workspace.files, ".", home_directory=home, console=True)
    return ConsoleSession(run, run.root), problems


def _evaluate(session: ConsoleSession, expression: str) -> Evaluated:
    diags = Diagnostics()
    compiled = _compile(expression, diags)
    if diags.has_errors:
        return Evaluated(DYNAMIC_UNKNOWN, "", diags, "syntax")
    evaluating = Diagnostics()
    value = session._evaluate(compiled, evaluating)
    display = "" if evaluating.has_errors else console_text(value, evaluating)
    return Evaluated(value, display, evaluating, "eval")


def _check(row: Row, got: Evaluated) -> None:
    assert (not got.diags.has_errors) == row["ok"], list(got.diags)
    if not row["ok"]:
        if "stage" in row and "mode" not in row:
            assert got.stage == row["stage"], list(got.diags)
        return
    assert got.display == row["display"]
    if "type" in row:
        assert " ".join(type_display(got.value.type).split()) == row["type"]
    plain, marks = got.value.unmark_deep()
    if "console_only" not in row:
        assert (not plain.is_wholly_known) == row.get("unknown", False)
        for name, mark in (("sensitive", SENSITIVE), ("ephemeral", EPHEMERAL)):
            # What is unknown is shown as such, and its marks are not told.
            assert (mark in marks) == row.get(name, False) or row.get("unknown")
    if "json_text" in row:
        assert JSON_ENCODE.call([plain]).as_string() == row["json_text"]


def _all(with_configuration: bool) -> list[Row]:
    return [
        row
        for row in rows(VECTORS)
        if ("config" in row or "args" in row or "mode" in row) == with_configuration
    ]


def _rows(with_configuration: bool) -> list[ParameterSet]:
    return [
        pytest.param(row, id=f"{row['cat']}-{row['id']}", marks=_marks(str(row["id"])))
        for row in _all(with_configuration)
    ]


def _marks(row_id: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.skip(EXPRESSIONS[row_id])] if row_id in EXPRESSIONS else []


@pytest.fixture(scope="module")
def plain_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleSession]:
    """One session for all expressions that need no configuration."""
    directory = tmp_path_factory.mktemp("expressions") / "work"
    shutil.copytree(FIXTURES, directory)
    before = Path.cwd()
    os.chdir(directory)
    try:
        session, problems = _open_session([])
        assert session is not None, list(problems)
        yield session
    finally:
        os.chdir(before)


@pytest.mark.parametrize("row", _rows(False))
def test_expression(row: Row, plain_session: ConsoleSession) -> None:
    _check(row, _evaluate(plain_session, str(row["expr"])))


@pytest.mark.parametrize("row", _rows(True))
def test_with_configuration(row: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(FIXTURES, tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    expression = str(row["expr"])
    if row.get("mode") == "attr":
        Path("main.tf").write_text(f"locals {{\n  {LOCAL} = {expression}\n}}\n", encoding="utf-8")
        expression = f"local.{LOCAL}"
    for name, text in cast(dict[str, str], row.get("config") or {}).items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    session, problems = _open_session(cast(list[str], row.get("args") or []))
    if session is None or problems.has_errors:
        assert not row["ok"], list(problems)
        return
    _check(row, _evaluate(session, expression))
