"""Saved plans: what was planned is what is done, or nothing is."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

import nigari
from nigari.workspace.plans import planning
from tests.plan.sessions import applied, apply_saved, saved, words

_TEXT = """
variable "v" {}
resource "terraform_data" "a" { input = var.v }
resource "terraform_data" "b" { input = [terraform_data.a.output, file("x.txt")] }
output "o" { value = terraform_data.b.output }
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.tf").write_text(_TEXT)
    (tmp_path / "x.txt").write_text("hello")
    return tmp_path


def _refused() -> str:
    """Why the plan that was saved is not applied."""
    with pytest.raises(nigari.SessionError) as caught:
        apply_saved()
    return words(caught.value)


def test_applied_later(here: Path) -> None:
    saved({"v": "1"})
    (here / "main.tf").write_text("this is not even a configuration")
    assert apply_saved().outputs["o"].to_python() == ["1", "hello"]


def test_timestamp_of_the_plan(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "main.tf").write_text("""
        resource "terraform_data" "a" { input = uuid() }
        output "o" { value = [plantimestamp(), terraform_data.a.output != ""] }
    """)
    then, now = "2031-01-02T03:04:05Z", "2032-01-02T03:04:05Z"
    monkeypatch.setattr(planning, "plan_timestamp", lambda: then)
    saved({})
    monkeypatch.setattr(planning, "plan_timestamp", lambda: now)
    assert apply_saved().outputs["o"].to_python() == [then, True]


def test_refused_after_the_state_has_changed(here: Path) -> None:
    saved({"v": "1"})
    applied({"v": "2"})
    assert "the state has changed" in _refused()


def test_refused_after_a_file_has_changed(here: Path) -> None:
    saved({"v": "1"})
    (here / "x.txt").write_text("other")
    assert "x.txt has changed since the plan was made" in _refused()


def test_refused_when_altered(here: Path) -> None:
    saved({"v": "1"})
    with zipfile.ZipFile("p", "a") as archive:
        archive.writestr("sources/other.tf", "")
    assert "contents were changed" in _refused()


def test_refused_when_it_is_no_plan(here: Path) -> None:
    (here / "p").write_text("something")
    assert "does not contain a plan" in _refused()
