"""Grapheme clusters and safe prefixes."""

import pytest

from nigari.cty.graphemes import grapheme_count, graphemes, safe_prefix


@pytest.mark.parametrize(
    ("text", "clusters"),
    [
        ("", []),
        ("abc", ["a", "b", "c"]),
        ("a\r\nb", ["a", "\r\n", "b"]),
        ("e\u0301a", ["e\u0301", "a"]),
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467!", ["\U0001f468\u200d\U0001f469\u200d\U0001f467", "!"]),
        ("\U0001f1e6\U0001f1fa\U0001f1e6", ["\U0001f1e6\U0001f1fa", "\U0001f1e6"]),
        ("\u1112\u1161\u11ab", ["\u1112\u1161\u11ab"]),
        ("\u0915\u094d\u0937", ["\u0915\u094d", "\u0937"]),
        ("\u0e01\u0e33", ["\u0e01\u0e33"]),
        ("a\u0301\u0e33", ["a\u0301\u0e33"]),
        ("\u094d\u0937", ["\u094d", "\u0937"]),
        ("\uac01\ua9c0\u0937", ["\uac01\ua9c0", "\u0937"]),
    ],
    ids=["empty", "ascii", "line break", "combining", "joined", "flags", "jamo", "indic", "thai",
         "thai after a mark", "indic mark first", "mark after a syllable"],
)  # fmt: skip
def test_graphemes(text: str, clusters: list[str]) -> None:
    assert graphemes(text) == clusters
    assert grapheme_count(text) == len(clusters)


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("", ""),
        ("a", ""),
        ("ami-", "ami-"),
        ("boo", "bo"),
        ("xe\u0301", "x"),
        ("a\u0327", ""),
        ("x/é", "x/"),
        ("x\ny: ", "x"),
        ("x\r\ny: ", "x\r\ny: "),
        ("x\ny", "x\n"),
    ],
)
def test_safe_prefix(text: str, prefix: str) -> None:
    assert safe_prefix(text) == prefix
