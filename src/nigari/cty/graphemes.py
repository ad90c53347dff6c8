"""Grapheme clusters: what people see as one character.

The language counts lengths and columns in them. Clusters follow Unicode 15.0, as the programs we
work with count, whatever newer tables the library at hand has.
"""

import unicodedata
from typing import Final

from nigari.cty.values import normalize

_HANGUL: Final = (("\u1100", "\u11ff"), ("\ua960", "\ua97f"), ("\uac00", "\ud7ff"))

# Nothing that may follow one of these can change how it looks or become part of its cluster.
_ENDS_CLUSTER: Final = frozenset("-_:;/\\,.(){}[]|?!~ \t@#$%^&*+\"'")


def graphemes(text: str) -> list[str]:
    """The grapheme clusters of a text, in order."""
    if text.isascii() and "\r" not in text:
        return list(text)
    from wcwidth import iter_graphemes

    clusters: list[str] = []
    for cluster in iter_graphemes(text):
        if len(cluster) < 3:
            clusters.append(cluster)
        else:
            _append_split(cluster, clusters)
    return clusters


def _append_split(cluster: str, clusters: list[str]) -> None:
    """Undo the joining of Indic consonants, which came with Unicode 15.1."""
    if any(first <= cluster[0] <= last for first, last in _HANGUL):
        clusters.append(cluster)
        return
    start = 0
    for i in range(1, len(cluster)):
        if (
            unicodedata.category(cluster[i]) == "Lo"
            and unicodedata.category(cluster[i - 1]) in ("Mn", "Cf")
            and i - start >= 2
        ):
            clusters.append(cluster[start:i])
            start = i
    clusters.append(cluster[start:])


def grapheme_count(text: str) -> int:
    """How many grapheme clusters a text has."""
    if text.isascii():
        return len(text) - text.count("\r\n")
    return len(graphemes(text))


def safe_prefix(text: str) -> str:
    """The part of a known beginning that stays as it is, whatever follows it.

    The last character may combine with what comes next, so it does not count unless it never does.
    """
    text = normalize(text)
    if not text or text[-1] in _ENDS_CLUSTER:
        return text
    boundary = len(text)
    while boundary and unicodedata.combining(text[boundary - 1]):
        boundary -= 1
    if boundary != len(text):
        return text[: max(boundary - 1, 0)]
    return "".join(graphemes(text)[:-1])
