"""The backends of the program, each known to its own module only."""

import ast
from pathlib import Path

import nigari
from nigari.backends.known_backends import OURS

_SOURCES = Path(nigari.__file__).parent
_ALSO_OTHER_THINGS = {"cloud", "gcs", "http", "local", "pg", "remote", "s3"}
"""Names that mean a block, a URL scheme, a module source or an extra of the package, too."""


def test_no_other_module_names_a_backend() -> None:
    names = set(OURS) - _ALSO_OTHER_THINGS
    found: set[str] = set()
    for path in _SOURCES.rglob("*.py"):
        inside = path.relative_to(_SOURCES)
        if inside.parts[:2] == ("backends", "stores") or inside.stem.endswith("_pb2"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and node.value in names:
                found.add(inside.as_posix())
    # Terragrunt has backend arguments of its own, which must not reach the backends.
    assert found == {"backends/known_backends.py", "fleet/terragrunt/unit_files.py"}
