"""Group captures of a match whose start and end are known.

All ways through the program are followed side by side, each with the positions that it has saved; the
order of the ways is the order of preference. So the time is linear in the length of the match.
"""

from __future__ import annotations

from bisect import bisect_right

from nigari.regexp.automaton import holds, kind_at
from nigari.regexp.fragments import ASSERT, CHARACTER, FORK, JUMP, MATCH, SAVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from nigari.regexp.fragments import Program

    Saved: TypeAlias = tuple[int, ...]
    Thread: TypeAlias = tuple[int, Saved]


def saved_positions(program: Program, text: str, start: int, end: int, count: int) -> Saved:
    """Give the positions that the preferred match from `start` to `end` has saved; -1 for none."""
    threads: list[Thread] = [(0, (-1,) * count)]
    found: Saved = ()
    for position in range(start, end + 1):
        point = ord(text[position]) if position < end else -1
        following: list[Thread] = []
        for index, saved in _reached(program, threads, text, position):
            operation, _, _, members = program[index]
            if operation == MATCH:
                found = saved
                break
            if point >= 0 and bisect_right(members, point) % 2:
                following.append((index + 1, saved))
        threads = following
    return found


def _reached(program: Program, threads: list[Thread], text: str, position: int) -> list[Thread]:
    before, after = kind_at(text, position - 1), kind_at(text, position)
    found: list[Thread] = []
    seen: set[int] = set()
    pending = threads[::-1]
    while pending:
        index, saved = pending.pop()
        if index in seen:
            continue
        seen.add(index)
        operation, first, second, _ = program[index]
        if operation in (CHARACTER, MATCH):
            found.append((index, saved))
        elif operation == FORK:
            pending += ((index + second, saved), (index + first, saved))
        elif operation == JUMP:
            pending.append((index + first, saved))
        elif operation == SAVE:
            pending.append((index + 1, (*saved[:first], position, *saved[first + 1 :])))
        elif operation == ASSERT and holds(first, before, after):
            pending.append((index + 1, saved))
    return found
