"""What `explain` says about rounds beside what an apply needs: never more, and nothing where one does."""

from __future__ import annotations

from pathlib import Path

import pytest

import nigari
from tests.plan.colony import REQUIRED, install

FIRST = """\
resource "colony_site" "a" {
  name  = "a"
  wants = ["x", "y"]
}
"""


@pytest.mark.parametrize(
    ("text", "address", "least", "actual"),
    [
        pytest.param(
            'resource "colony_site" "b" {\n  name = colony_site.a.id\n}\n',
            "colony_site.b",
            1,
            1,
            id="an argument is planned as unknown",
        ),
        pytest.param(
            'resource "colony_site" "b" {\n  name = "b"\n  wants = colony_site.a.parts\n}\n'
            'output "parts" {\n  value = colony_site.b.parts\n}\n',
            "output.parts",
            1,
            1,
            id="an output is known after apply",
        ),
        pytest.param(
            'resource "colony_site" "b" {\n  count = length(colony_site.a.parts)\n'
            '  name = "b${count.index}"\n}\n',
            "colony_site.b",
            2,
            2,
            id="a count depends on an attribute",
        ),
        pytest.param(
            'resource "colony_site" "b" {\n  for_each = toset(colony_site.a.wants)\n'
            "  name = each.key\n}\n",
            "colony_site.b",
            1,
            1,
            id="a for_each depends on an argument",
        ),
        pytest.param(
            'provider "strict" {\n  server = colony_site.a.id\n}\n'
            'resource "strict_site" "b" {\n  name = "b"\n}\n',
            "strict_site.b",
            2,
            2,
            id="a required argument of a provider is unknown",
        ),
        pytest.param(
            'provider "strict" {\n  server = colony_site.a.id\n}\n'
            'resource "strict_site" "b" {\n  count = 2\n  name = "b${count.index}"\n}\n'
            'output "ids" {\n  value = strict_site.b[*].id\n}\n',
            "output.ids",
            2,
            2,
            id="an output waits for a provider",
        ),
        pytest.param(
            'provider "colony" {\n  alias = "in"\n  server = colony_site.a.id\n}\n'
            'resource "colony_site" "b" {\n  provider = colony.in\n  name = "b"\n}\n',
            "colony_site.b",
            1,
            1,
            id="a provider accepts an unknown argument",
        ),
        pytest.param(
            'provider "colony" {\n  alias = "in"\n  for_each = toset(colony_site.a.parts)\n}\n'
            'resource "colony_site" "b" {\n  for_each = toset(colony_site.a.parts)\n'
            "  provider = colony.in[each.key]\n  name = each.key\n}\n",
            "colony_site.b",
            2,
            2,
            id="the instances of a provider are unknown",
        ),
    ],
)
def test_rounds_that_are_certain(
    text: str,
    address: str,
    least: int,
    actual: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch)
    (tmp_path / "main.tf").write_text(REQUIRED + FIRST + text)
    session = nigari.open(tmp_path)
    session.init()
    explanation = nigari.load(tmp_path).explain(address)
    assert explanation.least_rounds == least
    assert ("round" in str(explanation)) is (least > 1)
    numbers = [(each.number, each.plan.deferred) for each in session.rounds()]
    assert len(numbers) == actual
    first = numbers[0][1]
    assert max((each.earliest_round for each in first), default=1) == actual
