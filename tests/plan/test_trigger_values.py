"""`replace_triggered_by` with any expression: the object is replaced when the value changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from nigari.cty.types import STRING
from nigari.cty.values import Value, null, number, object_value, string, tuple_value, unknown
from nigari.lang.marks import SENSITIVE
from nigari.plan.model.changes import Reason
from nigari.plan.objects.triggers import have_changed, trigger_digests
from tests.plan import sessions
from tests.plan.sessions import Variables, applied, failed

A, B, C = string("a"), string("b"), string("c")
_ANY = unknown(STRING)


@pytest.mark.parametrize(
    ("before", "now", "changed"),
    [
        ([A], [A], False),
        ([A], [B], True),
        ([A, B], [B, A], False),
        ([A], [A, B], False),
        ([A, B], [A], False),
        ([A, B], [A, C], True),
        ([A], [B, A, A], False),
        ([A, A], [A, B], True),
        ([], [A], False),
        ([A], [_ANY], True),
        ([A, B], [A, _ANY], True),
        ([A], [A, _ANY], False),
        ([], [_ANY], False),
        ([A], [A.mark(SENSITIVE)], False),
        ([null(STRING)], [A], True),
        ([string("1")], [number(1)], True),
        ([object_value({"x": A, "y": B})], [object_value({"y": B, "x": A})], False),
        ([tuple_value([A, B])], [tuple_value([B, A])], True),
    ],
)
def test_change_is_a_value_in_place_of_another(
    before: list[Value], now: list[Value], changed: bool
) -> None:
    stored = trigger_digests(before)
    assert stored is not None
    assert have_changed(stored, now) is changed


_CONFIGURATION = """
variable "n" { default = 1 }
variable "of" { default = { a = 1, b = 1 } }
variable "first" { default = true }
locals { revision = var.n > 5 ? "new" : "old" }
resource "terraform_data" "p" { input = var.n }
resource "terraform_data" "q" { input = "q" }
resource "terraform_data" "x" {
  for_each = var.of
  lifecycle { replace_triggered_by = [%s] }
}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _replaced(triggers: str, variables: Variables) -> list[str]:
    """The instances that a plan replaces because of triggers."""
    Path("main.tf").write_text(_CONFIGURATION % triggers)
    changes = [
        each for each in sessions.plan(variables).changes if each.steps == ("delete", "create")
    ]
    assert all(each.reason == Reason.TRIGGERED.value for each in changes)
    return [each.address.removeprefix("terraform_data.x") for each in changes]


_BOTH = ['["a"]', '["b"]']


@pytest.mark.parametrize(
    ("triggers", "variables", "replaced"),
    [
        ("var.n", {"n": 2}, _BOTH),
        ("local.revision", {"n": 2}, []),
        ("local.revision", {"n": 6}, _BOTH),
        ("each.value", {"of": {"a": 1, "b": 2}}, ['["b"]']),
        ('each.key == "a" ? var.n : 0', {"n": 2}, ['["a"]']),
        ("each.key, var.n", {"of": {"a": 1, "c": 2}}, []),
        # Not known while planning, as it may be another.
        ("terraform_data.p.output + 0", {"n": 2}, _BOTH),
        ("var.first ? terraform_data.q.output : terraform_data.p.output", {"n": 2}, []),
        ("var.first ? terraform_data.q.output : 1", {"first": False}, _BOTH),
    ],
)
def test_plan_replaces_when_a_value_changes(
    here: Path, triggers: str, variables: Variables, replaced: list[str]
) -> None:
    Path("main.tf").write_text(_CONFIGURATION % triggers)
    applied()
    assert _replaced(triggers, {}) == []
    assert _replaced(triggers, variables) == replaced
    applied(variables)
    assert _replaced(triggers, variables) == []


def test_elements_that_come_and_go_replace_nothing(here: Path) -> None:
    Path("main.tf").write_text(_CONFIGURATION % "")
    applied()
    assert _replaced("var.n", {}) == []
    # Nothing was applied, so there is still nothing to compare with.
    assert _replaced("var.n", {"n": 2}) == []
    applied({"n": 2})
    assert _replaced("var.n", {"n": 3}) == _BOTH
    assert _replaced("var.n, local.revision", {"n": 2}) == []
    assert _replaced("", {"n": 3}) == []
    applied({"n": 3})
    assert "nigari_triggers" not in Path("terraform.tfstate").read_text()
    assert _replaced("var.n", {"n": 4}) == []


def test_state_has_digests_and_no_values(here: Path) -> None:
    Path("main.tf").write_text(
        'variable "s" {\n sensitive = true\n}\nresource "terraform_data" "x" {\n'
        "  lifecycle {\n    replace_triggered_by = [var.s]\n  }\n}\n"
    )
    applied({"s": "hunter2"})
    text = Path("terraform.tfstate").read_text()
    assert "nigari_triggers" in text
    assert "hunter2" not in text


@pytest.mark.parametrize(
    ("trigger", "summary"),
    [
        ("local.nope", "Reference to undeclared local value"),
        ("self.id", "Reference to self outside of a resource"),
        ("terraform_data.x", "Reference to itself"),
        ("var.secret", "Invalid replace_triggered_by"),
        ("1 + nope", "Incomplete reference"),
    ],
)
def test_mistakes_in_triggers(here: Path, trigger: str, summary: str) -> None:
    Path("main.tf").write_text(
        'variable "secret" {\n  ephemeral = true\n  default = "x"\n}\n'
        'resource "terraform_data" "x" {\n'
        f"  lifecycle {{\n    replace_triggered_by = [{trigger}]\n  }}\n}}\n"
    )
    (found,) = failed().diagnostics
    assert found.summary == summary
    assert found.subject is not None
    is_cycle = summary == "Reference to itself"
    assert found.subject.start.line == (5 if is_cycle else 7)


def test_objects_that_are_made_differently_stay_recorded(here: Path) -> None:
    """A plan alone records nothing, and neither does an apply that fails before the object goes."""
    Path("main.tf").write_text(_CONFIGURATION % "var.n")
    applied()
    before = Path("terraform.tfstate").read_text()
    assert _replaced("var.n", {"n": 2}) == _BOTH
    assert Path("terraform.tfstate").read_text() == before
