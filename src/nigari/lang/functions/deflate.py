"""DEFLATE compression (RFC 1951), bit for bit as in OpenTofu's `base64gzip`.

The same text must produce the same bytes in both programs: states store them, and other bytes would
be a changed value, which may replace a machine. Every choice that the format leaves open is made as
by Go's library at its default level: the repetitions used, the ends of blocks, and their codes.
Deliberately unknown here: gzip's header and trailer, and decompression, which has no choices.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import groupby
from typing import Final, NamedTuple

from nigari.lang.functions.prefix_codes import code_lengths, codes_of

_WINDOW: Final = 1 << 15
_SHORTEST: Final = 4
_LONGEST: Final = 258
_LOOKAHEAD: Final = _SHORTEST + _LONGEST
_FAR: Final = 4096
"""Distance beyond which a repetition of the shortest length does not pay."""
_GOOD_ENOUGH: Final = 16
"""Length of a repetition after which the next byte is not searched for a longer one."""
_LONG_ENOUGH: Final = 128
_MOST_TRIES: Final = 128
_MOST_TOKENS: Final = 1 << 14
_MOST_STORED: Final = 65535

_HASH_FACTOR: Final = 0x1E35A7BD
_HASH_SHIFT: Final = 32 - 17

_END: Final = 256
_CODES: Final = 286
_DISTANCE_CODES: Final = 30
_LONGEST_CODE: Final = 15
_LONGEST_LENGTH_CODE: Final = 7
_LENGTH_ORDER: Final = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)
_REPEAT, _FEW_ZEROS, _MANY_ZEROS = 16, 17, 18
_REPEAT_BITS: Final = {_REPEAT: 2, _FEW_ZEROS: 3, _MANY_ZEROS: 7}

_REPETITION: Final = 512
"""Factor of the distance in a token; the length is added."""
_WORD: Final = 64
_STORED, _FIXED, _DYNAMIC = 0, 2, 4
_LAST: Final = 1


class _Block(NamedTuple):
    """Tokens of a block. A literal byte is one token; a repetition combines distance and length."""

    tokens: list[int]
    stored: bytes | None
    """The uncompressed data of the block, unless it has left the window."""


def deflated(data: bytes) -> bytes:
    """Compress data, with an empty block after it and a final one at the end."""
    bits = _Bits()
    for block in _blocks(data):
        _write_block(bits, block)
    _write_stored(bits, b"", _STORED)
    _write_stored(bits, b"", _STORED | _LAST)
    return bytes(bits.done)


class _Bits:
    """A bit buffer that fills bytes from their lowest bit."""

    __slots__ = ("count", "done", "pending")

    def __init__(self) -> None:
        self.done = bytearray()
        self.pending = 0
        self.count = 0

    def add(self, value: int, count: int) -> None:
        self.pending |= value << self.count
        self.count += count
        if self.count >= _WORD:
            self.done += (self.pending & (1 << _WORD) - 1).to_bytes(_WORD // 8, "little")
            self.pending >>= _WORD
            self.count -= _WORD

    def end_byte(self) -> None:
        """Pad the last byte and flush all bits."""
        self.done += self.pending.to_bytes((self.count + 7) // 8, "little")
        self.pending = self.count = 0


# -- finding repetitions --------------------------------------------------------------------------


class _Search:
    """Index of the previous occurrences of each four bytes, and search for the longest repetition."""

    __slots__ = ("before", "data", "end", "heads", "oldest")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.end = max(len(data) - (_SHORTEST - 1), 0)
        """Offset from which fewer than four bytes are left."""
        self.heads: dict[int, int] = {}
        self.before = [-1] * self.end
        self.oldest = 0
        """Offset before which data has left the window."""

    def remember(self, at: int) -> int:
        """Index the four bytes at an offset; return their previous occurrence, or -1."""
        word = int.from_bytes(self.data[at : at + _SHORTEST], "big")
        slot = (word * _HASH_FACTOR & 0xFFFFFFFF) >> _HASH_SHIFT
        last = self.before[at] = self.heads.get(slot, -1)
        self.heads[slot] = at
        return last

    def longest(self, at: int, candidate: int) -> tuple[int, int]:
        """Return the length and distance of the longest repetition; a length below the minimum if
        there is none.
        """
        data, before = self.data, self.before
        ahead = data[at : at + _LONGEST]
        enough = min(_LONG_ENOUGH, len(ahead))
        earliest = max(at - _WINDOW, self.oldest)
        length, distance = _SHORTEST - 1, 0
        wanted = ahead[: length + 1]
        for _ in range(_MOST_TRIES):
            if data.startswith(wanted, candidate):
                found = _shared(ahead, data[candidate : candidate + len(ahead)])
                if found > _SHORTEST or at - candidate <= _FAR:
                    length, distance = found, at - candidate
                    if found >= enough:
                        break
                    wanted = ahead[: length + 1]
            if candidate == at - _WINDOW:
                break
            candidate = before[candidate]
            if candidate < earliest:
                break
        return length, distance


def _shared(one: bytes, other: bytes) -> int:
    """Count the common leading bytes of two byte strings of equal length."""
    difference = int.from_bytes(one, "little") ^ int.from_bytes(other, "little")
    if not difference:
        return len(one)
    return ((difference & -difference).bit_length() - 1) // 8


def _blocks(data: bytes) -> Iterator[_Block]:
    """Split data into tokens. A repetition is used unless a longer one begins at the next byte."""
    search = _Search(data)
    tokens: list[int] = []
    start: int | None = 0
    filled = 2 * _WINDOW
    candidate = -1
    at, length, distance, has_byte = 0, _SHORTEST - 1, 0, False
    while at < len(data):
        if filled < len(data) and filled - at < _LOOKAHEAD:
            filled += _WINDOW
            search.oldest += _WINDOW
            if start is not None and start < search.oldest:
                start = None
        if at < search.end:
            candidate = search.remember(at)
        previous, previous_distance = length, distance
        length, distance = _SHORTEST - 1, 0
        is_open = previous < min(_GOOD_ENOUGH, len(data) - at)
        if is_open and candidate >= max(at - _WINDOW, search.oldest):
            length, distance = search.longest(at, candidate)
        if previous >= _SHORTEST and length <= previous:
            tokens.append(_REPETITION * previous_distance + previous)
            end = at + previous - 1
            for skipped in range(at + 1, min(end, search.end)):
                search.remember(skipped)
            at, length, has_byte = end, _SHORTEST - 1, False
        else:
            if has_byte:
                tokens.append(data[at - 1])
            has_byte = True
        if len(tokens) == _MOST_TOKENS:
            yield _Block(tokens, None if start is None else data[start:at])
            tokens, start = [], at
        if has_byte:
            at += 1
    if has_byte:
        tokens.append(data[-1])
    if tokens:
        yield _Block(tokens, None if start is None else data[start:])


# -- codes ----------------------------------------------------------------------------------------


def _ranges(groups: tuple[tuple[int, int], ...], first: int) -> list[tuple[int, int]]:
    """List the first value of each code and the number of its extra bits."""
    found: list[tuple[int, int]] = []
    for count, extra in groups:
        for _ in range(count):
            found.append((first, extra))
            first += 1 << extra
    return found


_LENGTHS: Final = [
    *_ranges(((8, 0), (4, 1), (4, 2), (4, 3), (4, 4), (4, 5)), 3),
    (_LONGEST, 0),
]
_DISTANCES: Final = _ranges(((4, 0), *((2, extra) for extra in range(1, 14))), 1)


_FIRST_LENGTHS: Final = [first for first, _ in _LENGTHS]
_FIRST_DISTANCES: Final = [first for first, _ in _DISTANCES]


_FIXED_LENGTHS: Final = [8] * 144 + [9] * 112 + [7] * 24 + [8] * 8
_FIXED_DISTANCES: Final = [5] * _DISTANCE_CODES


# -- blocks ---------------------------------------------------------------------------------------


def _write_block(bits: _Bits, block: _Block) -> None:
    """Write a block in the form that takes the fewest bits."""
    counts, distance_counts = _count(block.tokens)
    lengths = code_lengths(counts, _LONGEST_CODE)
    distances = code_lengths(distance_counts, _LONGEST_CODE)
    header = _header(lengths, distances)
    extra = sum(counts[_END + 1 + code] * extra for code, (_, extra) in enumerate(_LENGTHS)) + sum(
        distance_counts[code] * extra for code, (_, extra) in enumerate(_DISTANCES)
    )
    fixed = 3 + _size(counts, _FIXED_LENGTHS) + _size(distance_counts, _FIXED_DISTANCES) + extra
    dynamic = header.size + _size(counts, lengths) + _size(distance_counts, distances) + extra
    stored = block.stored
    if stored is not None and len(stored) <= _MOST_STORED:
        if (len(stored) + 5) * 8 < min(fixed, dynamic):
            _write_stored(bits, stored, _STORED)
            return
    if dynamic < fixed:
        header.write(bits)
    else:
        lengths, distances = _FIXED_LENGTHS, _FIXED_DISTANCES
        bits.add(_FIXED, 3)
    _write_tokens(bits, block.tokens, codes_of(lengths), codes_of(distances))


def _write_stored(bits: _Bits, data: bytes, kind: int) -> None:
    bits.add(kind, 3)
    bits.end_byte()
    bits.add(len(data), 16)
    bits.add(len(data) ^ 0xFFFF, 16)
    bits.end_byte()
    bits.done += data


def _count(tokens: list[int]) -> tuple[list[int], list[int]]:
    """Count the occurrences of each code; the format requires at least one distance."""
    counts, distances = [0] * _CODES, [0] * _DISTANCE_CODES
    counts[_END] = 1
    for token in tokens:
        if token < _REPETITION:
            counts[token] += 1
        else:
            distance, length = divmod(token, _REPETITION)
            counts[_END + bisect_right(_FIRST_LENGTHS, length)] += 1
            distances[bisect_right(_FIRST_DISTANCES, distance) - 1] += 1
    if not any(distances):
        distances[0] = 1
    return counts, distances


def _size(counts: list[int], lengths: list[int]) -> int:
    return sum(count * length for count, length in zip(counts, lengths, strict=False))


class _Header(NamedTuple):
    """Header of a block with its own codes: their lengths, which are themselves encoded."""

    numbers: tuple[int, int, int]
    """Number of lengths of each kind, less its minimum."""
    length_codes: list[tuple[int, int]]
    order: tuple[int, ...]
    runs: list[tuple[int, int]]

    @property
    def size(self) -> int:
        bits = sum(self.length_codes[code][1] + _REPEAT_BITS.get(code, 0) for code, _ in self.runs)
        return 3 + 5 + 5 + 4 + 3 * len(self.order) + bits

    def write(self, bits: _Bits) -> None:
        bits.add(_DYNAMIC, 3)
        for number, count in zip(self.numbers, (5, 5, 4), strict=True):
            bits.add(number, count)
        for code in self.order:
            bits.add(self.length_codes[code][1], 3)
        for code, repeated in self.runs:
            bits.add(*self.length_codes[code])
            if code in _REPEAT_BITS:
                bits.add(repeated, _REPEAT_BITS[code])


def _header(lengths: list[int], distances: list[int]) -> _Header:
    lengths, distances = _without_zeros(lengths), _without_zeros(distances)
    runs = _runs(lengths + distances)
    counts = [0] * len(_LENGTH_ORDER)
    for code, _ in runs:
        counts[code] += 1
    order = len(_LENGTH_ORDER)
    while order > 4 and not counts[_LENGTH_ORDER[order - 1]]:
        order -= 1
    numbers = (len(lengths) - (_END + 1), len(distances) - 1, order - 4)
    codes = codes_of(code_lengths(counts, _LONGEST_LENGTH_CODE))
    return _Header(numbers, codes, _LENGTH_ORDER[:order], runs)


def _without_zeros(lengths: list[int]) -> list[int]:
    end = len(lengths)
    while not lengths[end - 1]:
        end -= 1
    return lengths[:end]


def _runs(lengths: list[int]) -> list[tuple[int, int]]:
    """Encode the lengths individually, and runs of them as repetition codes with their counts."""
    runs: list[tuple[int, int]] = []
    for size, equal in groupby(lengths):
        left = sum(1 for _ in equal)
        if size:
            runs.append((size, 0))
            left -= 1
            while left >= 3:
                count = min(left, 6)
                runs.append((_REPEAT, count - 3))
                left -= count
        else:
            while left >= 11:
                count = min(left, 138)
                runs.append((_MANY_ZEROS, count - 11))
                left -= count
            if left >= 3:
                runs.append((_FEW_ZEROS, left - 3))
                left = 0
        runs += [(size, 0)] * left
    return runs


def _write_tokens(
    bits: _Bits,
    tokens: list[int],
    codes: list[tuple[int, int]],
    distance_codes: list[tuple[int, int]],
) -> None:
    for token in tokens:
        if token < _REPETITION:
            bits.add(*codes[token])
            continue
        distance, length = divmod(token, _REPETITION)
        code = bisect_right(_FIRST_LENGTHS, length) - 1
        bits.add(*codes[_END + 1 + code])
        first, extra = _LENGTHS[code]
        bits.add(length - first, extra)
        code = bisect_right(_FIRST_DISTANCES, distance) - 1
        bits.add(*distance_codes[code])
        first, extra = _DISTANCES[code]
        bits.add(distance - first, extra)
    bits.add(*codes[_END])
