"""An automaton that finds the end of a match, with states made when a text first leads to them.

A state is an ordered list of instructions, the preferred ones first, together with the kind of the
character that has just been read: whether an assertion holds depends on the characters on both sides.
Reading a character takes one look-up once its state and the way to it are known, so the time is linear
in the text. States are forgotten when they become too many.
"""

from __future__ import annotations

from bisect import bisect_right

from nigari.regexp.fragments import (
    ASSERT,
    BOUNDARY,
    CHARACTER,
    FORK,
    JUMP,
    LINE_BEGIN,
    LINE_END,
    MATCH,
    NO_BOUNDARY,
    TEXT_BEGIN,
    TEXT_END,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.regexp.fragments import Program

# Kinds of characters, as far as assertions tell them apart.
NOTHING: Final = 0
"""The text's beginning or end."""
NEWLINE: Final = 1
WORD: Final = 2
OTHER: Final = 3

_MOST_MOVES: Final = 20_000


def kind_at(text: str, index: int) -> int:
    """Tell the kind of the character at an index, which may be just outside the text."""
    if not 0 <= index < len(text):
        return NOTHING
    character = text[index]
    if character == "\n":
        return NEWLINE
    return WORD if character.isascii() and (character.isalnum() or character == "_") else OTHER


def holds(assertion: int, before: int, after: int) -> bool:
    """Check an assertion between characters of two kinds."""
    if assertion == TEXT_BEGIN:
        return before == NOTHING
    if assertion == TEXT_END:
        return after == NOTHING
    if assertion == LINE_BEGIN:
        return before in (NOTHING, NEWLINE)
    if assertion == LINE_END:
        return after in (NOTHING, NEWLINE)
    assert assertion in (BOUNDARY, NO_BOUNDARY)
    return ((before == WORD) != (after == WORD)) == (assertion == BOUNDARY)


class State:
    """Instructions that may come next, before their forks and assertions are followed."""

    __slots__ = ("kind", "matches", "moves", "targets")

    def __init__(self, targets: tuple[int, ...], kind: int) -> None:
        self.targets: tuple[int, ...] = targets
        self.kind: int = kind
        self.moves: dict[str, tuple[State, bool]] = {}
        self.matches: dict[int, bool] = {}


class Automaton:
    """A program as an automaton that reads a text in one direction."""

    def __init__(self, program: Program, is_backward: bool) -> None:
        self._program = program
        self._is_backward = is_backward
        self._has_assertions = any(instruction[0] == ASSERT for instruction in program)
        self._states: dict[tuple[tuple[int, ...], int], State] = {}
        self._moves = 0

    def end_of_match(self, text: str, start: int, limit: int, is_longest: bool) -> int:
        """Read from `start` to `limit`; give where the preferred (or longest) match ends, or -1."""
        step = -1 if self._is_backward else 1
        # A position lies before a character; backwards, the one to read next is before the position.
        offset = -1 if self._is_backward else 0
        state = self._state((0,), self._kind(text, start - 1 - offset))
        found = -1
        position = start
        while position != limit:
            character = text[position + offset]
            move = state.moves.get(character)
            if move is None:
                move = self._move(state, text, position + offset, is_longest)
            state, is_match = move
            if is_match:
                found = position
            if not state.targets:
                return found
            position += step
        return limit if self._is_match(state, self._kind(text, limit + offset)) else found

    def _kind(self, text: str, index: int) -> int:
        return kind_at(text, index) if self._has_assertions else OTHER

    def _state(self, targets: tuple[int, ...], kind: int) -> State:
        key = (targets, kind)
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = State(targets, kind)
        return state

    def _is_match(self, state: State, kind: int) -> bool:
        """Tell whether the program has matched here, with a character of that kind next."""
        found = state.matches.get(kind)
        if found is None:
            reached = self._reached(state, kind)
            found = any(self._program[each][0] == MATCH for each in reached)
            state.matches[kind] = found
        return found

    def _move(self, state: State, text: str, index: int, is_longest: bool) -> tuple[State, bool]:
        """Work out what reading a character leads to, and whether there was a match before it."""
        point = ord(text[index])
        kind = self._kind(text, index)
        targets: list[int] = []
        is_match = False
        for each in self._reached(state, kind):
            operation, _, _, members = self._program[each]
            if operation == MATCH:
                is_match = True
                if not is_longest:
                    break  # what comes after it is less preferred
            elif bisect_right(members, point) % 2:
                targets.append(each + 1)
        if self._moves >= _MOST_MOVES:
            self._moves = 0
            for known in self._states.values():
                known.moves.clear()
            self._states.clear()
        self._moves += 1
        move = self._state(tuple(targets), kind), is_match
        state.moves[text[index]] = move
        return move

    def _reached(self, state: State, kind: int) -> list[int]:
        """Follow forks, jumps and assertions to instructions that read a character or have matched."""
        before, after = (kind, state.kind) if self._is_backward else (state.kind, kind)
        return reached(self._program, state.targets, before, after)


def reached(program: Program, targets: tuple[int, ...], before: int, after: int) -> list[int]:
    """List the instructions that read a character or have matched, in order of preference."""
    found: list[int] = []
    seen: set[int] = set()
    pending = list(reversed(targets))
    while pending:
        index = pending.pop()
        if index in seen:
            continue
        seen.add(index)
        operation, first, second, _ = program[index]
        if operation in (CHARACTER, MATCH):
            found.append(index)
        elif operation == FORK:
            pending += (index + second, index + first)
        elif operation == JUMP:
            pending.append(index + first)
        elif operation != ASSERT or holds(first, before, after):
            pending.append(index + 1)
    return found
