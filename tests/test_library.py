"""What a Python developer sees first: the doors, their names and docstrings, how objects look."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

import nigari
from nigari import hcl
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import AttributeSchema, BodySchema
from nigari.hcl.parser import parse_expression
from nigari.hcl.source import Source

DOORS: Final = (
    "nigari",
    "nigari.config",
    "nigari.cty",
    "nigari.diagnostics",
    "nigari.hcl",
    "nigari.providers.python",
)
SCHEMA: Final = BodySchema((AttributeSchema("a"),))
TEXT: Final = 'a = 1 + b\nx "y" {\n  c = [1, "${d}"]\n}\n'


@pytest.mark.parametrize("door", DOORS)
def test_public_names_are_there_and_told_about(door: str) -> None:
    module = importlib.import_module(door)
    assert module.__doc__
    for name in module.__all__:
        found = getattr(module, name)
        if inspect.isclass(found) or inspect.isfunction(found):
            assert inspect.getdoc(found), name


def test_doors_open_by_themselves_and_only_when_used() -> None:
    program = (
        "import sys, nigari\n"
        "assert 'nigari.cty' not in sys.modules\n"
        "assert set(nigari.__all__) <= set(dir(nigari))\n"
        "print(nigari.hcl.loads('a = 1'), nigari.cty.number(1), nigari.diagnostics.Severity.ERROR)\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "{'a': 1} <number 1> Severity.ERROR\n"


def test_how_a_file_looks() -> None:
    file = hcl.parse(TEXT, "t.hcl")
    assert repr(file.source) == "<Source t.hcl, 38 characters>"
    assert repr(file.body) == "<NativeBody a, x>"
    assert repr(hcl.parse("").body) == "<NativeBody, empty>"
    content, _ = file.body.partial_content(SCHEMA, file.diagnostics)
    attribute = content.attributes["a"]
    assert repr(attribute) == "<Attribute a = 1 + b>"
    assert repr(attribute.expr) == "<Operation 1 + b>"


def test_how_a_long_text_looks() -> None:
    expr = parse_expression(Source("t", f"[\n  {'very + ' * 50}long\n]"), Diagnostics())
    assert repr(expr).startswith("<TupleConstructor [ very + very")
    assert repr(expr).endswith("…>")
    assert "\n" not in repr(expr)


def test_how_a_document_looks() -> None:
    document = hcl.edit(TEXT)
    assert repr(document) == "<Document <BodyText a, x>>"
    assert repr(document.body.get("a")) == "<AttributeText a = 1 + b>"
    assert repr(document.body.blocks) == '[<BlockText x "y" { c = [1, "${d}"] }>]'


def test_how_a_configuration_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m").mkdir()
    Path("m", "main.tf").write_text("")
    Path("main.tf").write_text(
        'module "m" {\n  source = "./m"\n}\n'
        'resource "terraform_data" "r" {\n  provisioner "local-exec" {\n    command = "x"\n  }\n}\n'
    )
    configuration = nigari.load(".")
    assert repr(configuration) == "<Configuration of <root module in .>>"
    assert repr(configuration.root.children) == "[<module.m in m>]"
    (resource,) = configuration.root.resources.values()
    assert repr(resource) == "<resource terraform_data.r>"


def test_what_is_wrong_is_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.tf").write_text("locals {\n  a = [1\n}\n")
    assert "on main.tf line" in nigari.load(".").describe()


def test_a_configuration_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError, match="no-such-directory"):
        nigari.load("no-such-directory")
