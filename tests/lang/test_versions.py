"""Versions, their order, and both grammars of constraints."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari.diagnostics import Diagnostics
from nigari.lang.versions import (
    ModuleConstraints,
    ProviderConstraints,
    Version,
    parse_exact_version,
    parse_module_constraints,
    parse_provider_constraints,
    parse_version,
)


def version(text: str) -> Version:
    parsed = parse_version(text)
    assert parsed is not None, text
    return parsed


def module(text: str) -> ModuleConstraints:
    diags = Diagnostics()
    parsed = parse_module_constraints(text, diags)
    assert parsed is not None, list(diags)
    return parsed


def provider(text: str) -> ProviderConstraints:
    diags = Diagnostics()
    parsed = parse_provider_constraints(text, diags)
    assert parsed is not None, list(diags)
    return parsed


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1", "1.0.0"),
        ("1.2", "1.2.0"),
        ("v1.2.3", "1.2.3"),
        ("1.2.3.4", "1.2.3.4"),
        ("1.2.3-beta.1+build.5", "1.2.3-beta.1+build.5"),
        ("1.2.3-0.beta", "1.2.3-0.beta"),
        ("1.2beta", "1.2.0-beta"),
        ("1.2.3+meta", "1.2.3+meta"),
    ],
)
def test_loose_version_reads_and_prints(text: str, wanted: str) -> None:
    assert str(version(text)) == wanted


@pytest.mark.parametrize("text", ["", "v", "a", "1.", ".1", "1..2", "1.2 ", "9" * 30])
def test_what_is_no_version(text: str) -> None:
    assert parse_version(text) is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1.2.3", "1.2.3"),
        ("1.2", "1.2.0"),
        ("1.2.3-rc1+m", "1.2.3-rc1+m"),
        ("v1.2.3", None),
        ("1.2.3.4", None),
        (" 1.2.3", None),
        ("1.x", None),
        ("=1.2.3", None),
    ],
)
def test_exact_version_is_strict(text: str, wanted: str | None) -> None:
    parsed = parse_exact_version(text)
    assert (None if parsed is None else str(parsed)) == wanted


def test_versions_in_order() -> None:
    texts = [
        "0.9.9",
        "1.0.0-1",
        "1.0.0-2",
        "1.0.0-10",
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta",
        "1.0.0",
        "1.0.0+a",
        "1.0.0.1",
        "1.0.1",
        "1.10.0",
    ]
    backwards = [version(text) for text in texts[::-1]]
    assert [str(v) for v in sorted(backwards)] == texts
    assert version("1.0.0").is_same_release(version("1.0.0+a"))
    assert version("1.0.0.0") == version("1.0.0")


@pytest.mark.parametrize(
    ("constraint", "candidate", "allowed"),
    [
        ("1.2.3", "1.2.3", True),
        ("1.2.3", "1.2.3+meta", True),
        ("= 1.2", "1.2.0", True),
        ("!= 1.2", "1.2.1", True),
        ("> 1.0", "1.0.0", False),
        (">= 1.0", "1.0.0", True),
        ("< 1.0", "0.9", True),
        ("<= 1.0", "1.0.1", False),
        (">= 1.0, < 2.0", "1.5", True),
        (">=1.0,<2.0", "2.0", False),
        ("~> 1", "9.0.0", True),
        ("~> 1", "0.9.0", False),
        ("~> 1.2", "1.9.0", True),
        ("~> 1.2", "2.0.0", False),
        ("~> 1.2", "1.1.9", False),
        ("~> 1.2.3", "1.2.9", True),
        ("~> 1.2.3", "1.3.0", False),
        ("~> 1.2.3.4", "1.2.3.9", True),
        ("~> 1.2.3.4", "1.2.3", False),
        ("> 1.0", "2.0.0-beta", False),
        ("> 1.0-alpha", "1.0-beta", True),
        ("> 1.0-alpha", "1.1-beta", False),
        ("> 1.0-alpha", "1.1", True),
        ("~> 1.0-alpha", "1.0", False),
        ("~> 1.0-alpha", "1.0-beta", True),
        ("= 1.0-beta", "1.0-beta", True),
        ("!= 1.0", "1.0-beta", True),
        ("v1.2.3", "1.2.3", True),
        ("  >=   v1.2.3  ", "1.2.3", True),
    ],
)
def test_module_constraints(constraint: str, candidate: str, allowed: bool) -> None:
    assert module(constraint).allows(version(candidate)) is allowed


@pytest.mark.parametrize(
    ("constraint", "candidate", "allowed"),
    [
        ("1.2.3", "1.2.3", True),
        ("1.2.3", "1.2.3+meta", False),
        ("1.2.3+meta", "1.2.3+meta", True),
        ("!= 1.2.3", "1.2.3+meta", True),
        (">= 1.2.3+meta", "1.2.3", True),
        ("> 1.2.3", "1.2.3+meta", False),
        ("~> 1", "1.9.0", True),
        ("~> 1", "2.0.0", False),
        ("~> 1.2", "1.9.0", True),
        ("~> 1.2", "2.0.0", False),
        ("~> 1.2.3", "1.2.9", True),
        ("~> 1.2.3", "1.3.0", False),
        (">= 1.0, != 1.5", "1.5.0", False),
        (">= 1.0", "1.5.0-beta", False),
        (">= 1.0.0-alpha", "1.0.0-beta", False),
        ("1.5.0-beta", "1.5.0-beta", True),
        ("1.5.0-beta, >= 1.0", "1.5.0-beta", True),
        ("1.5.0-beta, >= 2.0", "1.5.0-beta", False),
        ("< 1.0.0", "1.0.0-beta", False),
    ],
)
def test_provider_constraints(constraint: str, candidate: str, allowed: bool) -> None:
    assert provider(constraint).allows(version(candidate)) is allowed


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("1.2.3", "1.2.3"),
        ("= 1.2", "1.2.0"),
        (">=1", ">= 1.0.0"),
        ("~> 1", "~> 1.0"),
        ("~> 1.2", "~> 1.2"),
        ("~> 1.2.0", "~> 1.2.0"),
        ("~> 1.2-beta", "~> 1.2-beta"),
        (">= 1.0.0, >= 1.0", ">= 1.0.0"),
        ("< 2.0.0, >= 1.0.0, != 1.5.0", ">= 1.0.0, != 1.5.0, < 2.0.0"),
        ("!= 1.0.0, < 1.0.0, <= 1.0.0, ~> 1.0, ~> 1.0.0, 1.0.0, >= 1.0.0, > 1.0.0",
         "> 1.0.0, >= 1.0.0, 1.0.0, ~> 1.0.0, ~> 1.0, <= 1.0.0, < 1.0.0, != 1.0.0"),
        (">= 1.0.0+b, >= 1.0.0+a", ">= 1.0.0+a, >= 1.0.0+b"),
    ],
)  # fmt: skip
def test_provider_constraints_have_one_spelling(text: str, canonical: str) -> None:
    constraints = provider(text)
    assert str(constraints) == canonical
    assert provider(canonical) == constraints


def test_combining_provider_constraints() -> None:
    both = provider(">= 1.0") & provider("< 2.0, >= 1.0.0")
    assert str(both) == ">= 1.0.0, < 2.0.0"
    assert str(ProviderConstraints()) == ""
    assert ProviderConstraints().allows(version("3.0.0"))


@pytest.mark.parametrize("constraint", ["= 0.0.0", ">= 0", "< 1"])
def test_the_version_that_is_none(constraint: str) -> None:
    assert not provider(constraint).allows(version("0.0.0"))
    assert not ProviderConstraints().allows(version("0.0.0"))
    assert module(constraint).allows(version("0.0.0"))
    assert not ProviderConstraints()


@pytest.mark.parametrize(
    ("constraint", "wanted"),
    [
        (">= 1.0", "1.10.0"),
        ("~> 1.2.0", "1.2.5"),
        ("2.0.0-rc1", "2.0.0-rc1"),
        (">= 2.0.0-rc1", None),
        ("> 5", None),
    ],
)
def test_newest_match(constraint: str, wanted: str | None) -> None:
    versions = [version(v) for v in ("1.2.5", "1.10.0", "2.0.0-rc1", "1.2.0", "0.1.0")]
    for constraints in (module(constraint), provider(constraint)):
        newest = constraints.newest(versions)
        assert (None if newest is None else str(newest)) == wanted


@pytest.mark.parametrize(
    ("text", "start", "end", "advice"),
    [
        ("", 0, 0, "There must be a condition"),
        (">= 1.0, ", 8, 8, "There must be a condition"),
        (">= 1.0, => 2.0", 8, 14, ">="),
        ("=< 2.0", 0, 6, "<="),
        ("== 2.0", 0, 6, "single ="),
        ("^1.0", 0, 4, "~>"),
        ("~1.0", 0, 4, "~>"),
        ("1.x", 0, 3, "Wildcards"),
        ("*", 0, 1, "Wildcards"),
        ("1.0 || 2.0", 0, 10, "Alternatives"),
        (">= 1.0 < 2.0", 0, 12, "commas"),
        (">=", 0, 2, "followed by"),
        ("latest", 0, 6, "newest"),
        ("nonsense!", 0, 9, "operator"),
    ],
)
@pytest.mark.parametrize("parse", [parse_module_constraints, parse_provider_constraints])
def test_mistakes_in_constraints(
    parse: object, text: str, start: int, end: int, advice: str
) -> None:
    diags = Diagnostics()
    assert callable(parse)
    assert parse(text, diags) is None
    (diagnostic,) = diags
    assert diagnostic.subject is not None
    assert (diagnostic.subject.start.byte, diagnostic.subject.end.byte) == (start, end)
    assert advice in diagnostic.detail


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("v1.0", "without a v"),
        (">= v1.0", "without a v"),
        (">=  1.0", "one space"),
        ("1.2.3.4", "three numbers"),
    ],
)
def test_what_only_providers_refuse(text: str, advice: str) -> None:
    assert module(text).items
    diags = Diagnostics()
    assert parse_provider_constraints(text, diags) is None
    assert advice in diags[0].detail


_numbers = st.lists(st.integers(0, 30), min_size=1, max_size=3).map(tuple)
_tags = st.sampled_from(["", "alpha", "beta.2", "rc.10", "1"])
_versions = st.builds(Version, _numbers, _tags)


@given(_versions, _versions)
def test_order_is_total_and_printing_round_trips(a: Version, b: Version) -> None:
    assert (a < b) + (a == b) + (a > b) == 1
    assert parse_exact_version(str(a)) == a == parse_version(str(a))


@pytest.mark.parametrize("constraint", [">= 1.0", "~> 1.0", "< 2"])
def test_of_versions_that_differ_in_build_metadata_the_first_counts(constraint: str) -> None:
    listed = [version(v) for v in ("0.9.0", "1.0.0+b", "1.0.0+c", "1.0.0", "1.0.0+a")]
    for constraints in (module(constraint), provider(constraint)):
        assert str(constraints.newest(listed)) == "1.0.0+b"
        assert str(constraints.newest(reversed(listed))) == "1.0.0+a"


@given(st.lists(_versions), st.sampled_from([">= 1", "~> 3.1", "!= 2.0.0", "< 9, > 2"]))
def test_newest_is_the_largest_allowed(versions: list[Version], constraint: str) -> None:
    constraints = provider(constraint)
    allowed = [v for v in versions if constraints.allows(v)]
    assert constraints.newest(versions) == max(allowed, key=Version.precedence, default=None)
