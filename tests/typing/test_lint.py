"""All of `nigari.lint`, as a user's program has it: type checkers read this file, and it runs as well."""

from collections.abc import Iterator
from pathlib import Path

import nigari
import nigari.lint
from nigari.lint import Violation, configuration_rule, plan_rule


@configuration_rule("acme:outputs", "Output", severity="error")
def outputs(configuration: nigari.Configuration) -> Iterator[Violation]:
    for output in configuration.root.outputs.values():
        yield Violation("No outputs.", output.range)


@plan_rule("acme:creates", "Object")
def creates(plan: nigari.Plan) -> list[Violation]:
    return [Violation("Nothing new.", address=each.address) for each in plan.changes]


def test_rules_are_called_like_functions(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        'resource "terraform_data" "x" {}\noutput "o" {\n  value = 1\n}\n'
    )
    (violation,) = outputs(nigari.load(tmp_path))
    assert violation.range is not None
    assert violation.range.start.line == 2
    session = nigari.open(tmp_path)
    session.init()
    found: tuple[nigari.lint.Violation, ...] = creates(session.plan())
    assert [each.address for each in found] == ["terraform_data.x"]
    assert nigari.lint.configuration_rule is configuration_rule
    assert nigari.lint.plan_rule is plan_rule
