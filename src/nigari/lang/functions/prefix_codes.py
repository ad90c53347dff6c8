"""Prefix codes of bounded length: frequent symbols get shorter codes (RFC 1951).

Several sets of codes may be optimal. The choice affects the compressed bytes, so ties are broken as
in Go's library.
"""

from __future__ import annotations


def code_lengths(counts: list[int], longest: int) -> list[int]:
    """Compute the lengths of optimal prefix codes for symbols with these counts; 0 for unused ones."""
    lengths = [0] * len(counts)
    used = sorted((count, symbol) for symbol, count in enumerate(counts) if count)
    if len(used) <= 2:
        for _, symbol in used:
            lengths[symbol] = 1
        return lengths
    weights = [count for count, _ in used]
    longest = min(longest, len(used) - 1)
    left = len(used)
    for size, count in enumerate(_how_many(weights, longest), 1):
        for _, symbol in used[left - count : left]:
            lengths[symbol] = size
        left -= count
    return lengths


def _how_many(weights: list[int], longest: int) -> list[int]:
    """Count the codes of each length, from one bit on, by the package-merge algorithm.

    Each level has all symbols, and pairs of the items of the level below, sorted by weight; a pair
    precedes a symbol of equal weight.
    """
    levels: list[list[tuple[int, bool]]] = []
    pairs: list[int] = []
    for _ in range(longest):
        level = sorted(
            [(weight, False) for weight in pairs] + [(weight, True) for weight in weights]
        )
        levels.append(level)
        pairs = [level[i][0] + level[i + 1][0] for i in range(0, len(level) - 1, 2)]
    taken = 2 * len(weights) - 2
    symbols: list[int] = []
    for level in reversed(levels):
        here = sum(is_symbol for _, is_symbol in level[:taken])
        symbols.append(here)
        taken = 2 * (taken - here)
    return [here - below for here, below in zip(symbols, [*symbols[1:], 0], strict=True)]


def codes_of(lengths: list[int]) -> list[tuple[int, int]]:
    """Return each symbol's code, with its first bit lowest, and its length."""
    codes = [(0, 0)] * len(lengths)
    code = 0
    for size in range(1, max(lengths) + 1):
        for symbol, length in enumerate(lengths):
            if length == size:
                codes[symbol] = int(f"{code:0{size}b}"[::-1], 2), size
                code += 1
        code <<= 1
    return codes
