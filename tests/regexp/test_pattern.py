"""Patterns mean what they mean in Go, and every pattern takes linear time.

`tests/real/test_regexp.py` compares random patterns with Go itself.
"""

import time

import pytest

from nigari.regexp.pattern import Pattern, compile_pattern
from nigari.regexp.syntax import PatternError


def found(pattern: str, text: str) -> list[object]:
    """Give the text of each match, with those of its groups if there are any."""
    matches: list[object] = []
    for match in Pattern(pattern).find_all(text):
        texts = [None if start < 0 else text[start:end] for start, end in match]
        matches.append(texts[0] if len(texts) == 1 else texts)
    return matches


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        # Which of several matches: the leftmost one, and of those the one that is preferred.
        ("a|ab", "ab", ["a"]),
        ("ab|a", "ab", ["ab"]),
        ("b|a+", "aab", ["aa", "b"]),
        ("a*?b", "aab", ["aab"]),
        ("(a+)(a*)", "aaa", [["aaa", "aaa", ""]]),
        ("(a+?)(a*)", "aaa", [["aaa", "a", "aa"]]),
        ("(?U)(a+)(a*?)", "aaa", [["aaa", "a", "aa"]]),
        ("a{2,3}", "aaaaa", ["aaa", "aa"]),
        ("a{2,3}?", "aaaaa", ["aa", "aa"]),
        ("a{2,}", "aaaaa", ["aaaaa"]),
        ("(a){0}b", "ab", [["b", None]]),
        # Empty matches: not right after another match, and no endless repetition.
        ("a*", "baac", ["", "aa", ""]),
        ("", "ab", ["", "", ""]),
        ("(|a)*", "aa", [["", ""], ["", ""], ["", ""]]),
        ("(|a)+", "aa", [["", ""], ["", ""], ["", ""]]),
        ("(a|)*", "aa", [["aa", "a"]]),
        ("(^)*a", "aa", [["a", ""], ["a", None]]),
        # A group that has no part in the match, and one that matched nothing.
        ("(a)|(b)", "b", [["b", None, "b"]]),
        ("(a*)b", "b", [["b", ""]]),
        ("(?:(a)|b)*", "ab", [["ab", "a"]]),
        # Positions.
        ("^a", "aa\na", ["a"]),
        ("(?m)^a", "aa\na", ["a", "a"]),
        ("a$", "a\na\n", []),
        ("(?m)a$", "a\na\n", ["a", "a"]),
        (r"a\z", "a\na", ["a"]),
        (r"\bé", "é é", []),
        (r"\Ba", "aa a", ["a"]),
        (r"\b", "a é", ["", ""]),
        # Classes.
        (".", "a\nb", ["a", "b"]),
        ("(?s).", "a\nb", ["a", "\n", "b"]),
        ("[^a]", "a\nb", ["\n", "b"]),
        ("[]a]", "]a[", ["]", "a"]),
        ("[a-]", "a-b", ["a", "-"]),
        ("[a-b-d]", "a-bcd", ["a", "-", "b", "d"]),
        (r"[\d\pL]", "1é-", ["1", "é"]),
        ("[[:^alpha:]]", "a1", ["1"]),
        (r"\s", " \v\t", [" ", "\t"]),
        (r"\w+", "aé_1", ["a", "_1"]),
        (r"\p{Greek}+", "aλΛ", ["λΛ"]),
        (r"\p{^Lu}", "aB", ["a"]),
        (r"\p{Lowercase_Letter}", "aB", ["a"]),
        (r"\PL", "a1", ["1"]),
        # Letters without their case.
        ("(?i)k", "kK\N{KELVIN SIGN}x", ["k", "K", "\N{KELVIN SIGN}"]),
        ("(?i)[^k]", "kK\N{KELVIN SIGN}x", ["x"]),
        (r"(?i)\w", "\N{LATIN SMALL LETTER LONG S}", ["\N{LATIN SMALL LETTER LONG S}"]),
        ("(?i)σ", "Σσς", ["Σ", "σ", "ς"]),
        ("(?i)ß", "ßẞs", ["ß", "ẞ"]),
        ("a(?i)b|c", "ABaBC", ["aB", "C"]),
        ("a(?i:b)c", "aBC aBc", ["aBc"]),
        # Characters by escapes, and what needs none.
        (r"\x41\x{1F600}\101\.\_", "A\U0001f600A._", ["A\U0001f600A._"]),
        (r"\Qa.b\E+", "a.bb", ["a.bb"]),
        (r"\Qa\.", "a\\.", ["a\\."]),
        ("a{,2}|{|}", "a{,2}{}", ["a{,2}", "{", "}"]),
        ("a{2", "a{2", ["a{2"]),
        ("]", "]", ["]"]),
    ],
)
def test_matches(pattern: str, text: str, expected: object) -> None:
    assert found(pattern, text) == expected


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(a", "a closing ) is missing"),
        ("a)", "a ) has no opening ("),
        ("[a", "the closing ] of [a is missing"),
        ("[z-a]", "z-a is not a range"),
        ("[[:foo:]]", "[:foo:] is not a class of characters"),
        (r"\p{Foo}", r"\p{Foo} is not a class of characters"),
        (r"[\pX]", r"\pX is not a class of characters"),
        ("*", "* has nothing to repeat"),
        ("(|+)", "+ has nothing to repeat"),
        ("(?i)*", "* has nothing to repeat"),
        ("a**", "** repeats a repetition"),
        ("a{2}{3}", "{2}{3} repeats a repetition"),
        ("a{1001}", "{1001} is not a valid count"),
        ("a{3,2}", "{3,2} is not a valid count"),
        ("(?:a{100}){100}", "{100} is not a valid count"),
        (r"\1", r"\1 is not an escape sequence"),
        (r"\C", r"\C is not an escape sequence"),
        (r"\x{110000}", r"\x is not an escape sequence"),
        ("a\\", "it ends with a single \\"),
        ("(?=a)", "(?= is not supported"),
        ("(?<=a)", "(?<=a) is not the name of a group"),
        ("(?<=a>)", "(?<=a> is not the name of a group"),
        ("(?P<x y>a)", "(?P<x y> is not the name of a group"),
        ("(?i-)", "(?i-) is not supported"),
        ("(?i", "(?i is not supported"),
        ("(" * 1001 + ")" * 1001, "it is nested too deeply"),
        ("(?:.{1000}){1}" * 1100, "it is too large"),
    ],
)
def test_invalid_patterns(pattern: str, message: str) -> None:
    with pytest.raises(PatternError) as raised:
        Pattern(pattern)
    assert str(raised.value) == message


def test_names_of_groups() -> None:
    assert Pattern("(?P<a>x)(y)(?<b_1>z)(?<a>x)").names == ["a", "", "b_1", "a"]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a*)*b", "a" * 100_000),
        ("(a|a)*b", "a" * 100_000),
        ("(?:a?){50}a{50}", "a" * 50),
        ("a*a*a*a*a*b", "a" * 100_000),
        ("(x+x+)+y", "x" * 100_000),
    ],
)
def test_hostile_patterns(pattern: str, text: str) -> None:
    began = time.process_time()
    matches = list(Pattern(pattern).find_all(text))
    assert time.process_time() - began < 5
    assert len(matches) == (1 if len(text) == 50 else 0)


def test_many_different_characters_are_forgotten() -> None:
    """The states of one pattern stay few, whatever it reads."""
    pattern = Pattern(r"(?:.x){3}")
    text = "".join(map(chr, range(0x4E00, 0x9FFF))) * 2
    assert list(pattern.find_all(text + "axbxcx")) == [[(len(text), len(text) + 6)]]
    assert sum(len(state.moves) for state in pattern._forward._states.values()) <= 20_000


def test_compiled_patterns_are_cached() -> None:
    assert compile_pattern("a+") is compile_pattern("a+")
