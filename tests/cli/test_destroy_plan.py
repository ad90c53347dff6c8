"""What a plan of a destroy says of output values, and what it must not say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.process import Done, inside

_SECRET = "hunter2"
_PLAIN = "harmless"
_OUTPUTS = f"""
output "secret" {{
  value     = "{_SECRET}"
  sensitive = true
}}
output "plain" {{
  value = "{_PLAIN}"
}}
"""
_OBJECT = 'resource "terraform_data" "a" {}\n'


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.tf").write_text(_OBJECT + _OUTPUTS)
    run("apply", "-auto-approve")


def run(*words: str) -> Done:
    done = inside(*words)
    assert not done.code, done.out + done.err
    return done


def events(kind: str, *words: str) -> list[dict[str, dict[str, object]]]:
    """The output values of the events of one kind."""
    told = [json.loads(line) for line in run(*words, "-json").out.splitlines()]
    return [each["outputs"] for each in told if each["type"] == kind]


@pytest.mark.parametrize("remaining", [_OBJECT + _OUTPUTS, _OBJECT, ""])
def test_no_secret_is_shown(remaining: str) -> None:
    Path("main.tf").write_text(remaining)
    planned = run("plan", "-destroy", "-out=p", "-no-color")
    for done in (
        planned,
        run("plan", "-destroy", "-json"),
        run("show", "-no-color", "p"),
        run("destroy", "-auto-approve", "-no-color"),
    ):
        assert _SECRET not in done.out + done.err
    assert _PLAIN in planned.out
    assert "(sensitive value)" in planned.out


@pytest.mark.parametrize("remaining", [_OBJECT + _OUTPUTS, _OBJECT])
def test_all_outputs_of_the_state_are_deleted(remaining: str) -> None:
    Path("main.tf").write_text(remaining)
    run("plan", "-destroy", "-out=p")
    changes = json.loads(run("show", "-json", "p").out)["output_changes"]
    found = {name: (each["actions"], each["before"]) for name, each in changes.items()}
    assert found == {"secret": (["delete"], _SECRET), "plain": (["delete"], _PLAIN)}
    for member in ("before_sensitive", "after_sensitive"):
        assert {name: each[member] for name, each in changes.items()} == {
            "secret": True,
            "plain": False,
        }


def test_events_say_which_outputs_are_sensitive() -> None:
    (planned,) = events("outputs", "plan", "-destroy")
    assert planned == {
        "secret": {"sensitive": True, "action": "delete"},
        "plain": {"sensitive": False, "action": "delete"},
    }
    Path("main.tf").write_text(_OBJECT + _OUTPUTS.replace(_PLAIN, "other"))
    _, applied = events("outputs", "apply", "-auto-approve")
    assert applied == {
        "secret": {"sensitive": True, "type": "string"},
        "plain": {"sensitive": False, "type": "string", "value": "other"},
    }


def test_an_apply_shows_no_secret() -> None:
    done = run("apply", "-auto-approve", "-no-color")
    assert "secret = <sensitive>" in done.out
    assert _SECRET not in done.out + done.err


def test_what_was_sensitive_is_not_shown_when_it_no_longer_is() -> None:
    now = _OUTPUTS.replace("sensitive = true", "").replace(_SECRET, "public")
    Path("main.tf").write_text(_OBJECT + now)
    shown = run("plan", "-no-color").out
    assert "secret" in shown
    assert _SECRET not in shown


@pytest.mark.parametrize(
    ("mistake", "summary"),
    [
        ('resource "terraform_data" "b" {\n  nonsense = 1\n}\n', "Unexpected argument"),
        ('resource "terraform_data" "b" {\n  input = terraform_data.c\n}\n', "undeclared"),
    ],
)
def test_a_destroy_is_validated(mistake: str, summary: str) -> None:
    Path("main.tf").write_text(_OBJECT + mistake)
    done = inside("plan", "-destroy", "-no-color")
    assert done.code == 1
    assert summary in done.out + done.err
