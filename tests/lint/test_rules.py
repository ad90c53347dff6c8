"""Rules find what the bad examples of the page have, and nothing in the good ones."""

from pathlib import Path

import pytest

from nigari.lint.fixing import fixed_texts
from nigari.lint.rules import RULES
from tests.lint.documented import RuleExample, examples, found, lint, write_files

EXAMPLES = examples()
# A module of another package cannot be written in one directory.
WITH_FIX = {
    "core:unused-local",
    "nigari:comment-syntax",
    "nigari:dotted-index",
    "nigari:implied-depends-on",
    "nigari:needless-lookup",
    "nigari:quoted-reference",
    "nigari:redundant-bool",
    "nigari:unmarked-secret",
    "nigari:wrapped-expression",
}


def test_every_rule_has_a_section_with_examples() -> None:
    for kind in (True, False):
        documented = {each.rule for each in EXAMPLES if each.is_good is kind}
        assert documented == {each.id for each in RULES}


def test_the_page_names_the_groups_of_each_rule() -> None:
    from tests.lint.documented import PAGE

    for rule in RULES:
        section = PAGE.read_text().split(f"### `{rule.id}`")[1].split("###")[0]
        assert all(f"`{group}`" in section for group in rule.groups), rule.id


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_an_example(example: RuleExample, tmp_path: Path) -> None:
    rules = {each.split(" ")[0] for each in found(example.text, tmp_path, example.rule)}
    assert rules == (set() if example.is_good else {example.rule})


@pytest.mark.parametrize(
    "example",
    [each for each in EXAMPLES if each.rule in WITH_FIX and not each.is_good],
    ids=str,
)
def test_a_fix_leaves_nothing_to_find(example: RuleExample, tmp_path: Path) -> None:
    write_files(example.text, tmp_path)
    result = lint(tmp_path, example.rule)
    texts = fixed_texts(result.findings, result.sources)
    assert texts
    for name, content in texts.items():
        (tmp_path / name).write_bytes(content)
    again = lint(tmp_path, example.rule)
    assert not again.findings
    assert not again.diags.has_errors


def test_only_these_rules_have_fixes(tmp_path: Path) -> None:
    fixable: set[str] = set()
    for position, example in enumerate(EXAMPLES):
        directory = tmp_path / str(position)
        directory.mkdir()
        write_files(example.text, directory)
        result = lint(directory, example.rule)
        fixable.update(each.rule for each in result.findings if each.fix is not None)
    assert fixable == WITH_FIX
