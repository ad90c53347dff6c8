"""The files beside this one use every public name, so that type checkers see all of them used."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.api_page import DOORS


def names(tree: ast.AST) -> Iterator[str]:
    """The public names that a module uses, with the modules that they are in."""
    homes: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            homes.update({each.name.partition(".")[0]: "nigari" for each in node.names})
        elif isinstance(node, ast.ImportFrom):
            for each in node.names:
                homes[each.asname or each.name] = f"{node.module}.{each.name}"
                yield f"{node.module}.{each.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            path = ast.unparse(node)
            root, _, rest = path.partition(".")
            yield f"{homes.get(root, root)}.{rest}"


USED = frozenset(
    name
    for path in Path(__file__).parent.glob("test_*.py")
    for name in names(ast.parse(path.read_text(encoding="utf-8")))
)


@pytest.mark.parametrize("door", DOORS)
def test_every_public_name_is_used(door: str) -> None:
    public: list[str] = importlib.import_module(door).__all__
    unused = [name for name in public if f"{door}.{name}" not in USED]
    assert unused == [], "use them in a file beside this one, as a user's program would"
