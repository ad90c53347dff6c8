"""Advice in exceptions of the Python API: arguments and calls, never options of the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import nigari
from nigari.audience import set_command_line
from nigari.diagnostics.advice import Advice, LibraryAdvice, advice
from nigari.fleet.units.advice import FLEET_ADVICE

_OPTION = re.compile(r"(?<![\w-])-[a-z]+(?:-[a-z]+)*\b|\"nigari ")
_DEFERRED = """
resource "terraform_data" "first" {}
resource "terraform_data" "many" {
  for_each = toset([terraform_data.first.id])
}
"""
_PROTECTED = """
variable "input" { default = "x" }
resource "terraform_data" "kept" {
  triggers_replace = var.input
  lifecycle {
    prevent_destroy = true
  }
}
"""
_MOVED = """
resource "terraform_data" "new" {}
resource "terraform_data" "other" {}
moved {
  from = terraform_data.old
  to   = terraform_data.new
}
"""


@pytest.fixture(autouse=True)
def in_a_program() -> None:
    """The fixture for all tests sets the audience back."""
    set_command_line(False)


def _raised(text: str, **arguments: object) -> str:
    Path("main.tf").write_text(text)
    with pytest.raises(nigari.SessionError) as caught:
        nigari.open(".").plan(**arguments)  # type: ignore[arg-type]  # each row has its own
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        ('variable "x" {}', {}, 'variables={"x": ...}'),
        ('variable "x" { const = true }', {}, "variables={...}"),
        (_DEFERRED, {}, "allow_deferral=True"),
        ('provider "thing" {}\nresource "thing_it" "a" {}', {}, "nigari.open(...).init()"),
        ('terraform {\n  backend "local" { path = "x" }\n}', {}, "nigari.open(...).init()"),
        (
            'import {\n  to = terraform_data.a\n  id = "x"\n}',
            {},
            "generate_config_out",
        ),
    ],
)
def test_what_a_plan_needs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    arguments: dict[str, object],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    found = _raised(text, **arguments)
    assert said in " ".join(found.split())
    assert not _OPTION.search(found), found


def test_what_is_in_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.tf").write_text(_PROTECTED)
    session = nigari.open(".", {"input": "a"})
    session.apply()
    with pytest.raises(nigari.SessionError) as protected:
        nigari.open(".", {"input": "b"}).plan()
    assert "leave the object out with excludes" in " ".join(str(protected.value).split())
    with pytest.raises(nigari.SessionError) as unknown:
        session.select_workspace("other")
    assert 'new_workspace("other")' in " ".join(str(unknown.value).split())
    assert not _OPTION.search(str(protected.value) + str(unknown.value))
    plan = session.plan(replace=["terraform_data.none"])
    assert [each.detail for each in plan.warnings if "replace" in each.detail]
    assert not any(_OPTION.search(each.detail) for each in plan.warnings)


def test_moved_objects_that_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.tf").write_text('resource "terraform_data" "old" {}')
    nigari.open(".").apply()
    assert "targets=['terraform_data.new']" in _raised(_MOVED, targets=["terraform_data.other"])


def test_each_reader_has_every_sentence() -> None:
    """Words that only one of the three audiences had would be read by the others."""
    sentences = [name for name in vars(LibraryAdvice) if not name.startswith("_")]
    assert {name for name in vars(Advice) if not name.startswith("_")} == {*sentences}
    for words in (LibraryAdvice(), Advice(), FLEET_ADVICE):
        assert words.init("-upgrade", variables=["x"])
        assert "-target" in words.option("-target") or words.option("-target") == "targets"
    assert LibraryAdvice().init("-upgrade") == "nigari.open(...).init(upgrade=True)"
    assert Advice().init(variables=["x"]) == '"nigari init -var x=..."'
    assert Advice().option("-target", 'a.b["c"]') == "-target='a.b[\"c\"]'"
    assert isinstance(advice(), LibraryAdvice)
    assert not isinstance(advice(), Advice)
