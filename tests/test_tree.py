"""The tree as a reader finds it, above the language: names that are not shared, rooms that are small."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

_TESTS = Path(__file__).resolve().parent
_SOURCE = _TESTS.parent / "src" / "nigari"
_PACKAGES = [
    "apply",
    "backends",
    "config",
    "eval",
    "fleet",
    "packages",
    "plan",
    "providers",
    "running",
    "state",
    "testing",
    "workspace",
]
_SHARED = {
    "Deferred": "what a provider in Python raises, and what comes of it in a plan",
    "Fleet": "with coroutines and without",
    "Output": "as it is declared, and as a session returns it",
    "Plan": "as it is worked out, and as a session returns it",
    "Provider": "one that runs, and one that is written in Python",
}
"""Names that two classes have, because both are the one thing, seen from two sides."""
_MOST_MODULES = 20
_LONG = 200


def test_no_twins() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for package in _PACKAGES:
        for path in (_SOURCE / package).rglob("*.py"):
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found[node.name].append(str(path.relative_to(_SOURCE)))
    twins = {name: paths for name, paths in found.items() if len(paths) > 1}
    assert twins.keys() == _SHARED.keys(), twins


def test_rooms_are_small() -> None:
    rooms = [
        each.parent for package in _PACKAGES for each in (_SOURCE / package).rglob("__init__.py")
    ]
    sizes = {str(room.relative_to(_SOURCE)): len(list(room.glob("*.py"))) - 1 for room in rooms}
    assert {room: size for room, size in sizes.items() if size > _MOST_MODULES} == {}


def test_long_modules_say_what_they_own() -> None:
    """A line is enough for a short module; a long one also says what it does not know."""
    short = []
    for path in _SOURCE.rglob("*.py"):
        text = path.read_text()
        header = ast.get_docstring(ast.parse(text)) or ""
        if text.count("\n") >= _LONG and "\n" not in header:
            short.append(str(path.relative_to(_SOURCE)))
    assert short == []


def test_plans_are_tested_without_the_command_line() -> None:
    """Whatever planning does, a session can have it done."""
    found = [
        str(path.relative_to(_TESTS))
        for path in (_TESTS / "plan").rglob("*.py")
        for module in _imported(ast.parse(path.read_text()))
        if module.startswith(("nigari.cli", "tests.cli", "subprocess"))
    ]
    assert found == []


def _imported(tree: ast.Module) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
        elif isinstance(node, ast.Import):
            found.extend(each.name for each in node.names)
    return found


_HOT = ("cty", "hcl")
"""Packages whose nodes and values are built by position, which is faster, in one place each."""
_MOST_POSITIONS = 6


def test_records_with_many_fields_are_built_by_keyword() -> None:
    """Two fields of one type that change places are found by no type checker."""
    found = []
    for path in _SOURCE.rglob("*.py"):
        if path.relative_to(_SOURCE).parts[0] in _HOT or path.stem.endswith("_pb2"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or len(node.args) <= _MOST_POSITIONS:
                continue
            name = ast.unparse(node.func).rpartition(".")[2]
            if name.lstrip("_")[:1].isupper() and name != "Stages":  # a list of its arguments
                found.append(f"{path.relative_to(_SOURCE)}:{node.lineno}: {name}")
    assert found == []
