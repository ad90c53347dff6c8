"""References to module instances and outputs that are not there: a mistake where evaluated."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plan.sessions import plan, planned

_CONFIGURATION = """
module "counted" {
  source = "./m"
  count  = 1
}
module "none" {
  source = "./m"
  count  = 0
}
module "each" {
  source   = "./m"
  for_each = { a = 1, 7 = 2 }
}
module "off" {
  source = "./m"
  lifecycle { enabled = false }
}
module "single" { source = "./m" }
resource "terraform_data" "none" { count = 0 }
resource "terraform_data" "off" {
  lifecycle { enabled = false }
}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    module = tmp_path / "m"
    module.mkdir()
    (module / "main.tf").write_text('output "o" { value = "O" }\n')
    return tmp_path


_ABSENT = {
    "module.none[0].o": "No such module instance",
    "module.counted[1].o": "No such module instance",
    'module.counted["a"].o': "Invalid instance key",
    'module.each["b"].o': "No such module instance",
    "module.each.b.o": "Unsupported attribute",
    "module.each.o": "Missing instance key",
    "module.off.o": "Module not enabled",
    "module.none.o": "Missing instance key",
    "module.single[0].o": "Unexpected instance key",
    "module.single.nope": "Reference to undeclared output value",
    "module.counted[0].nope": "Reference to undeclared output value",
    "terraform_data.none[0].input": "Invalid index",
    "terraform_data.off.input": "Attribute of a null value",
}


@pytest.mark.parametrize("reference", _ABSENT)
def test_absent(here: Path, reference: str) -> None:
    caught = f'try({reference}, "no")'
    branch = f"1 > 2 ? {reference} : null"
    mixed = f"[for i in [0] : try(module.counted[0].o, {reference})]"
    assert _output(f"[{caught}, can({reference}), {branch}]") == '["no", false, null]'
    assert _output(mixed) == '["O"]'
    assert _summaries(reference) == [_ABSENT[reference]]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ('[module.counted["0"].o, module.counted[0].o]', '["O", "O"]'),
        ('[module.each[7].o, module.each["7"].o, module.each.a.o]', '["O", "O", "O"]'),
        ("[one(module.none[*].o), length(module.none)]", "[null, 0]"),
        ("[module.off == null, keys(module.each)]", '[true, ["7", "a"]]'),
    ],
)
def test_present(here: Path, expression: str, value: str) -> None:
    assert _output(expression) == value


def test_what_failed_is_reported_once(here: Path) -> None:
    broken = 'module "broken" {\n  source = "./m"\n  count = -1\n}\n'
    resource = 'resource "terraform_data" "broken" { count = -1 }\n'
    names = "[module.broken[0].o, terraform_data.broken[0].id]"
    assert _summaries(names, broken + resource) == ["Invalid count argument"] * 2


def _output(expression: str) -> str:
    text = f'{_CONFIGURATION}output "o" {{ value = jsonencode({expression}) }}\n'
    Path("main.tf").write_text(text)
    return plan().outputs["o"].as_string().replace(",", ", ")


def _summaries(expression: str, more: str = "") -> list[str]:
    text = f'{_CONFIGURATION}{more}output "o" {{ value = {expression} }}\n'
    Path("main.tf").write_text(text)
    made, told = planned()
    assert made is None
    return [each.summary for each in told]
