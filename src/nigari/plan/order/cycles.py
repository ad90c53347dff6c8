"""Circles: operations that wait for each other, directly or through others."""

from __future__ import annotations

from collections.abc import Sequence


def cycles(followers: Sequence[Sequence[int]]) -> list[int]:
    """For each operation the number of its circle: two have the same where each waits for the
    other. An operation that is in no circle has a number of its own.
    """
    count = len(followers)
    found, lowest, circle = [-1] * count, [0] * count, [-1] * count
    stack: list[int] = []
    visited = 0
    for start in range(count):
        if found[start] >= 0:
            continue
        path = [(start, 0)]
        while path:
            at, done = path.pop()
            if not done:
                found[at] = lowest[at] = visited
                visited += 1
                stack.append(at)
            elif circle[followers[at][done - 1]] < 0:
                lowest[at] = min(lowest[at], lowest[followers[at][done - 1]])
            for number in range(done, len(followers[at])):
                follower = followers[at][number]
                if found[follower] < 0:
                    path += [(at, number + 1), (follower, 0)]
                    break
                if circle[follower] < 0:
                    lowest[at] = min(lowest[at], found[follower])
            else:
                if lowest[at] == found[at]:
                    while circle[at] < 0:
                        circle[stack.pop()] = found[at]
    return circle
