"""Dependencies stay few: each is declared, used, has a note, and is imported where it is used.

Our own modules never depend on each other both ways.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Collection, Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Final

import pytest
from packaging.requirements import Requirement

from nigari.extras import missing_library

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCES: Final = ROOT / "src" / "nigari"
DISTRIBUTIONS: Final = {
    "google": "protobuf",
    "grpc": "grpcio",
    "yaml": "pyyaml",
}
# Declared because another one uses them if they are there.
INDIRECT: Final = {"sniffio"}
# Importing one of these packages costs nothing that it does not itself contain.
LAZY: Final = ("cty", "hcl", "regexp", "addrs", "config", "eval")


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = list(project["dependencies"])
    for name, extra in project["optional-dependencies"].items():
        texts += [] if name == "dev" else extra
    # An extra may consist of others.
    return {Requirement(text).name.lower() for text in texts} - {"nigari"}


def test_the_library_needs_little() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {Requirement(text).name.lower() for text in project["dependencies"]}
    assert needed == {"idna", "pyyaml", "wcwidth"}


def test_what_is_missing_has_advice() -> None:
    modules = {name: module for module, name in DISTRIBUTIONS.items()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extra in ("encryption", "fleet", "network", "pg", "plugins", "ssh"):
        for text in project["optional-dependencies"][extra]:
            name = Requirement(text).name.lower()
            if name not in INDIRECT:
                error = ModuleNotFoundError(name=f"{modules.get(name, name)}.part")
                advice = missing_library(error)
                assert advice is not None
                assert re.search(rf"The library {name}(\[\w+\])? is not installed", advice)
    assert missing_library(ModuleNotFoundError(name="nigari.nothing")) is None


def modules_named(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module is not None:
        return [node.module]
    return []


def third_party(nodes: Iterator[ast.AST]) -> set[str]:
    roots = {name.partition(".")[0] for node in nodes for name in modules_named(node)}
    # What type checkers know of the standard library is a part of them.
    return roots - sys.stdlib_module_names - {"nigari", "_typeshed"}


def syntax(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from outside_functions(node)


def test_what_is_imported_is_declared_and_the_other_way_round() -> None:
    found: set[str] = set()
    for path in SOURCES.rglob("*.py"):
        found |= third_party(ast.walk(syntax(path)))
    assert {DISTRIBUTIONS.get(name, name) for name in found} == declared() - INDIRECT


def imported(tree: ast.Module, modules: Collection[str]) -> set[str]:
    """The modules of ours that a module imports: at its top, for typing, or in a function."""
    found: set[str] = set()
    for node in ast.walk(tree):
        for name in modules_named(node):
            parts = [f"{name}.{alias.name}" for alias in getattr(node, "names", ())]
            found.update([part for part in parts if part in modules] or [name])
    return found.intersection(modules)


def test_no_modules_import_each_other() -> None:
    paths = {}
    for path in SOURCES.rglob("*.py"):
        parts = path.relative_to(SOURCES.parent).with_suffix("").parts
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    graph = {name: imported(syntax(path), paths) - {name} for name, path in paths.items()}
    TopologicalSorter(graph).prepare()  # raises an error that names the cycle


@pytest.mark.parametrize("package", LAZY)
def test_no_library_is_imported_with_a_module_of_the_core(package: str) -> None:
    eager = {
        str(path.relative_to(SOURCES)): names
        for path in (SOURCES / package).rglob("*.py")
        if (names := third_party(outside_functions(syntax(path))))
    }
    assert eager == {}


def test_every_dependency_has_a_note() -> None:
    notes = [path.read_text(encoding="utf-8") for path in ROOT.glob("docs/decisions/*.md")]
    decisions = "".join(note.partition("**Decision.**")[2].lower() for note in notes)
    assert [name for name in declared() if f"`{name}`" not in decisions] == []
