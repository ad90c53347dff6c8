"""Saved plans: what was planned is what is done, or nothing is."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

import nigari
from nigari.cty.types import STRING
from nigari.cty.values import object_value, string, unknown
from nigari.plan.model.plan_file import seal_of
from nigari.workspace.plans import plan_context
from tests.plan.sessions import applied, apply_saved, saved, session, words

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
    monkeypatch.setattr(plan_context, "plan_timestamp", lambda: then)
    saved({})
    monkeypatch.setattr(plan_context, "plan_timestamp", lambda: now)
    assert apply_saved().outputs["o"].to_python() == [then, True]


def test_values_that_another_unit_of_a_fleet_makes_known(here: Path) -> None:
    path = saved({"v": object_value({"a": unknown(STRING), "b": string("x")})})
    variables = session().read_plan(path).to_json()["variables"]
    assert variables == {"v": {"value": {"b": "x"}}}


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


def test_refused_when_a_byte_is_damaged(here: Path) -> None:
    data = saved({"v": "1"}).read_bytes()
    at = data.index(b"plan.json") + 40
    (here / "p").write_bytes(data[:at] + b"\xff\xff" + data[at + 2 :])
    assert "damaged" in _refused()


def test_refused_when_it_would_fill_the_memory(here: Path) -> None:
    with zipfile.ZipFile("p", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("plan.json", bytes(64 << 20))
    assert "times its size" in _refused()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"workspace": "../x"}, "workspace is not the name of a workspace"),
        ({"serial": "1"}, "serial is not a whole number"),
        ({"changes": None}, "changes is not an array"),
        ({"changes": [{"address": "module.m"}]}, "changes[0].address is not the address"),
        ({"graph": [{"kind": "open", "address": "", "after": [1]}]}, "graph[0].after names an"),
        (
            {"graph": [{"kind": "delete", "address": "terraform_data.a", "after": []}]},
            "graph[0] carries out no change",
        ),
        ({"variables": {"v": {"value": "AAAA"}}}, "variables.v is not a value"),
        ({"timestamp": "now"}, "timestamp is invalid"),
        (
            {
                "checks": [
                    {
                        "kind": "check",
                        "block": "check.c",
                        "status": "pass",
                        "objects": [["module.m", "pass", []]],
                    }
                ]
            },
            "is invalid",
        ),
        ({"backend": {"type": "local", "config": {"path": "a\0"}, "hash": 1}}, "a null character"),
    ],
)
def test_refused_when_it_was_edited_and_sealed_again(
    change: dict[str, object], reason: str, here: Path
) -> None:
    with zipfile.ZipFile(saved({"v": "1"})) as archive:
        contents = {name: archive.read(name) for name in archive.namelist() if name != "seal"}
    contents["plan.json"] = json.dumps({**json.loads(contents["plan.json"]), **change}).encode()
    with zipfile.ZipFile("p", "w") as archive:
        for name, content in {**contents, "seal": seal_of(contents)}.items():
            archive.writestr(name, content)
    assert reason in _refused()


def test_refused_when_it_is_no_plan(here: Path) -> None:
    (here / "p").write_text("something")
    assert "does not contain a plan" in _refused()
