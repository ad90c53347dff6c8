"""Dependencies stay few: each is declared, used, has a note, and is imported where it is used.

Our own modules never depend on each other both ways.
"""

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Collection, Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, Final

import pytest
from packaging.requirements import Requirement

from nigari.extras import missing_library

ROOT: Final = Path(__file__).resolve().parents[1]
CORE: Final = ROOT / "packaging" / "nigari-core"
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


def project(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    return found


def requirements(folder: Path) -> set[str]:
    """What a distribution requires, alone or with any of its extras."""
    texts = list(project(folder)["dependencies"])
    for name, extra in project(folder)["optional-dependencies"].items():
        texts += [] if name in ("dev", "site") else extra
    # An extra may consist of others.
    own = ("nigari[", "nigari-core[")
    return {str(Requirement(text)) for text in texts if not text.startswith(own)}


def declared() -> set[str]:
    return {Requirement(text).name.lower() for text in requirements(ROOT)}


def test_the_library_needs_little() -> None:
    assert set(project(CORE)["dependencies"]) == {"idna>=3.7", "PyYAML>=6.0.2", "wcwidth>=0.3"}


def test_the_library_has_the_rest_as_extras() -> None:
    assert requirements(CORE) == requirements(ROOT)


@pytest.mark.parametrize("name", sorted(declared() - INDIRECT - {"idna", "pyyaml", "wcwidth"}))
def test_advice_for_missing_libraries(name: str) -> None:
    modules = {name: module for module, name in DISTRIBUTIONS.items()}
    advice = missing_library(ModuleNotFoundError(name=f"{modules.get(name, name)}.part"))
    assert advice is not None
    assert re.search(rf"The library {name}(\[\w+\])? is not installed", advice)


def test_no_advice_for_other_modules() -> None:
    assert missing_library(ModuleNotFoundError(name="nigari.nothing")) is None


def test_both_distributions_have_the_same_code(tmp_path: Path) -> None:
    codes = []
    for folder in (ROOT, CORE):
        target = tmp_path / folder.name
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
        subprocess.run(command, cwd=folder, check=True)
        (path,) = target.glob("*.whl")
        with zipfile.ZipFile(path) as wheel:
            names = [each for each in wheel.namelist() if each.startswith("nigari/")]
            codes.append({name: wheel.getinfo(name).CRC for name in names})
    assert codes[0] == codes[1]
    assert "nigari/__init__.py" in codes[0]


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
