"""Moves that make no sense are refused whatever is in the state: where, as OpenTofu says it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from nigari.diagnostics import Severity
from tests.plan.sessions import Options, planned

_R: Final = 'resource "terraform_data" '
_X: Final = f'{_R}"x" {{}}\n'


def moved(source: str, target: str) -> str:
    source, target = (
        each if each.startswith("module.") else f"terraform_data.{each}"
        for each in (source, target)
    )
    return f"moved {{\n  from = {source}\n  to   = {target}\n}}\n"


def things(*names: str, more: str = "") -> str:
    return "".join(f'{_R}"{name}" {{\n{more}}}\n' for name in names)


def call(name: str, more: str = "") -> str:
    return f'module "{name}" {{\n  source = "./m"\n{more}}}\n'


_COUNT: Final = "  count = 2\n"
_EACH: Final = '  for_each = toset(["p", "q"])\n'
_SAME: Final = "Move without effect"
_STILL: Final = "Moved object is still declared"
_AGAINST: Final = "Contradicting moves"
_CIRCLE: Final = "Cycle of moves"

_ROWS: Final[list[tuple[str, str, str, list[str]]]] = [
    ("declared", things("a", "b") + moved("a", "b"), "", [f"main.tf 5 {_STILL}"]),
    (
        "declared without instances",
        things("a", more="  count = 0\n") + moved("a", "b"),
        "",
        [f"main.tf 4 {_STILL}"],
    ),
    ("instance", things("a", more=_COUNT) + moved("a[1]", "b"), "", [f"main.tf 4 {_STILL}"]),
    ("no such instance", things("a", more=_COUNT) + moved("a[5]", "b"), "", []),
    ("a key is given", things("a", more=_COUNT) + moved("a", "a[0]"), "", []),
    (
        "all to one instance",
        things("a") + things("b", more=_COUNT) + moved("a", "b[0]"),
        "",
        [f"main.tf 6 {_STILL}"],
    ),
    ("same", things("a") + moved("a", "a"), "", [f"main.tf 3 {_SAME}"]),
    ("same, and nothing there", moved("a", "a"), "", [f"main.tf 1 {_SAME}"]),
    ("same module", moved("module.a", "module.a"), "", [f"main.tf 1 {_SAME}"]),
    ("same instance", moved("a[0]", "a[0]"), "", [f"main.tf 1 {_SAME}"]),
    ("two targets", moved("a", "b") + moved("a", "c"), "", [f"main.tf 5 {_AGAINST}"]),
    ("two sources", moved("a", "c") + moved("b", "c"), "", [f"main.tf 5 {_AGAINST}"]),
    ("said twice", things("b") + moved("a", "b") * 2, "", []),
    ("all, and an instance", things("b") + moved("a", "b") + moved("a[0]", "c"), "", []),
    ("chain", things("c") + moved("a", "b") + moved("b", "c"), "", []),
    ("circle", moved("a", "b") + moved("b", "a"), "", [f"main.tf 5 {_CIRCLE}"]),
    (
        "circle of something declared",
        things("a") + moved("a", "b") + moved("b", "a"),
        "",
        [f"main.tf 3 {_STILL}"],
    ),
    (
        "circle of modules",
        moved("module.a", "module.b") + moved("module.b", "module.a"),
        "",
        [f"main.tf 5 {_CIRCLE}"],
    ),
    (
        "module declared",
        call("a") + call("b") + moved("module.a", "module.b"),
        _X,
        [f"main.tf 7 {_STILL}"],
    ),
    (
        "module without instances",
        call("a", "  count = 0\n") + moved("module.a", "module.b"),
        _X,
        [f"main.tf 5 {_STILL}"],
    ),
    (
        "module instance",
        call("a", _COUNT) + moved("module.a[0]", "module.b"),
        _X,
        [f"main.tf 5 {_STILL}"],
    ),
    ("no such module instance", call("a", _COUNT) + moved("module.a[3]", "module.b"), _X, []),
    (
        "in a module",
        call("a") + moved("module.a.terraform_data.x", "y"),
        _X,
        [f"main.tf 4 {_STILL}"],
    ),
    ("into a module", call("a") + moved("y", "module.a.terraform_data.x"), _X, []),
    ("said by a module", call("a") + call("b"), _X + moved("x", "z"), [f"m/main.tf 2 {_STILL}"] * 2),
    ("for each instance", call("a", _EACH), _X + moved("x", "z"), [f"m/main.tf 2 {_STILL}"] * 2),
    ("by a module without instances", call("a", "  count = 0\n"), _X + moved("x", "z"), []),
    (
        "a module and its caller, other targets",
        call("a", _EACH) + moved('module.a["p"].terraform_data.o', 'module.a["p"].terraform_data.t'),
        _X + moved("o", "x"),
        [f"m/main.tf 2 {_AGAINST}"],
    ),
    (
        "a module and its caller, other sources",
        call("a", _EACH) + moved("r", 'module.a["p"].terraform_data.x'),
        _X + moved("o", "x"),
        [f"m/main.tf 2 {_AGAINST}"],
    ),
    (
        "whatever else is wrong",
        things("a", more='  lifecycle {\n    precondition {\n      condition = var.no\n'
               '      error_message = "No."\n    }\n  }\n')
        + 'variable "no" {\n  default = false\n}\n' + moved("a", "b"),
        "",
        [f"main.tf 12 {_STILL}"],
    ),
]  # fmt: skip


@pytest.mark.parametrize("stored", [(), ("a",), ("a", "b", "c")])
@pytest.mark.parametrize(
    ("root", "module", "wanted"), [row[1:] for row in _ROWS], ids=[row[0] for row in _ROWS]
)
def test_refused(
    root: str,
    module: str,
    wanted: list[str],
    stored: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(root, module, stored)
    for refresh_only in (False, True):
        plan, found = planned(refresh_only=refresh_only)
        told = [
            f"{d.subject.filename} {d.subject.start.line} {d.summary}"
            for d in found
            if d.severity is Severity.ERROR and d.subject is not None
        ]
        assert told == wanted
        assert (plan is None) == bool(wanted)


@pytest.mark.parametrize(
    ("text", "options", "is_refused"),
    [
        ("a -> b", Options(targets=["terraform_data.b"]), True),
        ("a -> b", Options(targets=["terraform_data.a"]), True),
        ("a -> b", Options(targets=["terraform_data.z"]), True),
        ("a -> b", Options(targets=["terraform_data.a", "terraform_data.b"]), False),
        ("a -> b", Options(excludes=["terraform_data.z"]), False),
        ("a -> b", Options(excludes=["terraform_data.a"]), True),
        ("a -> b", Options(excludes=["terraform_data.b"]), True),
        ("y -> b", Options(targets=["terraform_data.z"]), False),
    ],
)
def test_left_out(
    text: str, options: Options, is_refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source, _, target = text.partition(" -> ")
    write(things("b", "z") + moved(source, target), "", ("a",))
    plan, found = planned(**options)
    assert (plan is None) == is_refused
    assert ["Moved objects are left out" in d.summary for d in found].count(True) == is_refused


def write(root: str, module: str, stored: tuple[str, ...]) -> None:
    Path("main.tf").write_text(root)
    Path("m").mkdir()
    Path("m/main.tf").write_text(module)
    attributes = {"id": "1", "input": None, "output": None, "triggers_replace": None}
    resources = [
        {
            "mode": "managed",
            "type": "terraform_data",
            "name": name,
            "provider": 'provider["terraform.io/builtin/terraform"]',
            "instances": [{"schema_version": 0, "attributes": attributes}],
        }
        for name in stored
    ]
    state = {"version": 4, "terraform_version": "1.12.6", "serial": 1, "lineage": "x"}
    if stored:
        Path("terraform.tfstate").write_text(json.dumps(state | {"resources": resources}))
