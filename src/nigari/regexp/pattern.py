"""Compiled patterns, and the matches that they find."""

from __future__ import annotations

from functools import lru_cache

from nigari.regexp.automaton import Automaton
from nigari.regexp.captures import saved_positions
from nigari.regexp.fragments import complete, searching
from nigari.regexp.syntax import Parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    Span: TypeAlias = tuple[int, int]
    # Where the whole match is, then each group; (-1, -1) for a group that has no part in it.
    Match: TypeAlias = list[Span]


class Pattern:
    """A compiled pattern."""

    __slots__ = ("_backward", "_captures", "_forward", "names")

    def __init__(self, pattern: str) -> None:
        parser = Parser(pattern)
        fragment = parser.parse()
        self.names: list[str] = parser.names
        """The names of the groups, empty for those without."""
        self._captures = complete(fragment.forward)
        self._forward = Automaton(searching(fragment.forward), is_backward=False)
        self._backward = Automaton(complete(fragment.backward), is_backward=True)

    def search(self, text: str, start: int = 0) -> Match | None:
        """Find the leftmost match that begins at or after a position."""
        length = len(text)
        end = self._forward.end_of_match(text, start, length, is_longest=False)
        if end < 0:
            return None
        # The longest way back to here begins where the leftmost match does.
        begin = self._backward.end_of_match(text, end, start, is_longest=True)
        if not self.names:
            return [(begin, end)]
        count = 2 * (len(self.names) + 1)
        saved = saved_positions(self._captures, text, begin, end, count)
        return [(begin, end), *zip(saved[2::2], saved[3::2], strict=True)]

    def find_all(self, text: str) -> Iterator[Match]:
        """Find matches that do not overlap; an empty one right after another does not count."""
        position = 0
        previous_end = -1
        while position <= len(text):
            match = self.search(text, position)
            if match is None:
                return
            begin, end = match[0]
            if begin < end or begin != previous_end:
                yield match
            previous_end = end
            position = end if end > position else end + 1


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Pattern:
    """Compile a pattern, or find it among those compiled last; raises `PatternError`."""
    return Pattern(pattern)
