"""Lists of rules: the grammar and the precedence of OpenTofu."""

import pytest

from nigari.lint.rule_list import parse_rule_list

RULE = "core:unused-local"
GROUPS = ("core:all", "core:improvement")


@pytest.mark.parametrize(
    ("texts", "allowed"),
    [
        (["all"], True),
        (["core:all"], True),
        (["core:improvement"], True),
        ([RULE], True),
        ([], False),
        (["foo"], False),
        (["core:confusing"], False),
        (["!all"], False),
        (["all", f"!{RULE}"], False),
        ([f"all,!{RULE}"], False),
        ([f" all , !{RULE} "], False),
        (["all,!core:improvement"], False),
        (["all,!core:all"], False),
        # What is more specific wins, then what is included.
        ([f"!core:all,{RULE}"], True),
        ([f"{RULE},!{RULE}"], True),
        (["core:all,!core:improvement"], True),
        (["!all,all"], True),
    ],
)
def test_a_list_allows_a_rule(texts: list[str], allowed: bool) -> None:
    assert parse_rule_list(texts).allows(RULE, GROUPS) is allowed


@pytest.mark.parametrize("text", ["#foo", "Core:all", "a:b:c", ":x", "x:", "", "-x", "a b", "!"])
def test_what_is_no_identifier_is_ignored(text: str) -> None:
    assert not parse_rule_list([text])


@pytest.mark.parametrize("text", ["foo", "core:x", "registry/ns/name:rule", "!core:all", "0a:b_c"])
def test_identifiers(text: str) -> None:
    assert parse_rule_list([text])
