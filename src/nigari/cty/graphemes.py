"""Grapheme clusters: the user-perceived characters in which the language counts lengths and
columns.

Clusters follow Unicode 15.0, as in OpenTofu, even if the installed library has newer tables.
"""

from __future__ import annotations

from nigari.cty.values import normalize
from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


# Letters that belong to the character before them, whatever it is.
_FOLLOWERS: Final = "\u0e33\u0eb3"
_JOINERS: Final = frozenset(["\u200c", "\u200d", *map(chr, range(0xE0020, 0xE0080))])

# Nothing that may follow one of these can change how it looks or become part of its cluster.
_ENDS_CLUSTER: Final = frozenset("-_:;/\\,.(){}[]|?!~ \t@#$%^&*+\"'")

_LONE_LINE_END: Final = lazy_pattern(r"(?<!\r)\n|\r(?!\n)")


def graphemes(text: str) -> list[str]:
    """Split a text into its grapheme clusters."""
    if text.isascii() and "\r" not in text:
        return list(text)
    from wcwidth import iter_graphemes

    clusters: list[str] = []
    for cluster in iter_graphemes(text):
        if len(cluster) < 2:
            clusters.append(cluster)
        else:
            _append_split(cluster, clusters)
    return clusters


def _append_split(cluster: str, clusters: list[str]) -> None:
    """Undo the joining of Indic consonants, a rule of Unicode 15.1: before it, no letter continued
    a cluster after a mark.
    """
    import unicodedata

    start = 0
    for i in range(1, len(cluster)):
        before = cluster[i - 1]
        if (
            unicodedata.category(cluster[i]) == "Lo"
            and cluster[i] not in _FOLLOWERS
            and (before in _JOINERS or unicodedata.category(before)[0] == "M")
        ):
            clusters.append(cluster[start:i])
            start = i
    clusters.append(cluster[start:])


def grapheme_count(text: str) -> int:
    if text.isascii():
        return len(text) - text.count("\r\n")
    return len(graphemes(text))


def safe_prefix(text: str) -> str:
    """Return the part of a known beginning that stays unchanged whatever follows it.

    The last character may combine with the next one, so it is dropped unless it never combines. As
    in go-cty, nothing after a lone line feed or carriage return is retained if the last character
    takes no accents.
    """
    text = normalize(text)
    if not text:
        return text
    last = text[-1]
    if last.isascii() and not last.isalpha() and last not in "<=>":
        alone = _LONE_LINE_END.search(text)
        if alone is not None:
            return text[: alone.start()]
    if last in _ENDS_CLUSTER:
        return text
    import unicodedata

    boundary = len(text)
    while boundary and unicodedata.combining(text[boundary - 1]):
        boundary -= 1
    if boundary != len(text):
        return text[: max(boundary - 1, 0)]
    return "".join(graphemes(text)[:-1])
