"""Files that several modules have by symbolic links."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from tests.lint.documented import found

_CALLS: Final = 'module "a" {\n  source = "./a"\n}\nmodule "b" {\n  source = "./b"\n}\n'
_DECLARED: Final = 'variable "x" {\n  default = ""\n}\n'
_USES: Final = 'output "x" {\n  value = var.x\n}\n'
_UNUSED: Final = "core:unused-variable"
_UNTYPED: Final = "core:no-type-variable"


@pytest.mark.parametrize(
    ("files", "links", "expected"),
    [
        pytest.param(
            {"main.tf": _CALLS, "a/x.tf": _DECLARED, "a/main.tf": _USES},
            {"b/x.tf": "../a/x.tf"},
            [(_UNTYPED, "a/x.tf")],
            id="used in one module",
        ),
        pytest.param(
            {"main.tf": _CALLS, "a/x.tf": _DECLARED, "b/main.tf": _USES},
            {"b/x.tf": "../a/x.tf"},
            [(_UNTYPED, "a/x.tf")],
            id="used where it is a link",
        ),
        pytest.param(
            {"main.tf": _CALLS, "a/x.tf": _DECLARED},
            {"b/x.tf": "../a/x.tf"},
            [(_UNTYPED, "a/x.tf"), (_UNUSED, "a/x.tf")],
            id="used in no module",
        ),
        pytest.param(
            {"main.tf": _CALLS, "common/x.tf": _DECLARED, "a/main.tf": _USES},
            {"a/x.tf": "../common/x.tf", "b/x.tf": "../common/x.tf"},
            [(_UNTYPED, "a/x.tf")],
            id="outside of the modules",
        ),
        pytest.param(
            {"main.tf": _CALLS.partition('module "b"')[0], "common/x.tf": _DECLARED},
            {"a/x.tf": "../common/x.tf"},
            [(_UNTYPED, "a/x.tf")],
            id="for others, too",
        ),
        pytest.param(
            {"main.tf": _CALLS, "a/x.tf": _DECLARED + _USES},
            {"b": "a"},
            [(_UNTYPED, "a/x.tf")],
            id="a whole module",
        ),
        pytest.param(
            {"main.tf": _CALLS, "a/x.tf": _DECLARED, "b/x.tf": _DECLARED},
            {},
            [(_UNTYPED, "a/x.tf"), (_UNUSED, "a/x.tf"), (_UNTYPED, "b/x.tf"), (_UNUSED, "b/x.tf")],
            id="without links",
        ),
    ],
)
def test_findings(
    tmp_path: Path, files: dict[str, str], links: dict[str, str], expected: list[tuple[str, str]]
) -> None:
    for name, target in links.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        os.symlink(target, tmp_path / name)
    text = "".join(f"# FILE: {name}\n{text}" for name, text in files.items())
    assert found(text, tmp_path, _UNUSED, _UNTYPED) == [
        f"{rule} {name}:1" for rule, name in expected
    ]
