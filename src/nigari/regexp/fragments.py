"""Pieces of programs, and how a pattern's operators join them.

A piece is a list of instructions that is entered at its first one and left past its last one; jumps are
relative, so a repeated piece is repeated as a list. Each piece exists twice: forwards, and backwards
for the search for a match's beginning. The order of the two ways of a fork says which is preferred.

The shapes are those that Go's compiler gives to repetitions, since they decide which of several
possible matches is found.
"""

from __future__ import annotations

from nigari.regexp.character_classes import ANY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeAlias

    from nigari.regexp.character_classes import CharacterClass

    # What to do, and its operands: the class of a character; both ways of a fork; the way of a jump;
    # the number of a position to save; the assertion.
    Instruction: TypeAlias = tuple[int, int, int, CharacterClass]
    Program: TypeAlias = list[Instruction]

CHARACTER: Final = 0
FORK: Final = 1
JUMP: Final = 2
SAVE: Final = 3
ASSERT: Final = 4
MATCH: Final = 5

# Assertions.
TEXT_BEGIN: Final = 0
TEXT_END: Final = 1
LINE_BEGIN: Final = 2
LINE_END: Final = 3
BOUNDARY: Final = 4
NO_BOUNDARY: Final = 5

MOST_INSTRUCTIONS: Final = 1 << 20
"""More than this take long to build, so such a pattern is refused; Go's limit is three times that."""


class TooLarge(Exception):
    """A pattern needs too many instructions."""


class Fragment:
    """The program of a part of a pattern, in both directions."""

    __slots__ = ("backward", "forward", "height", "is_nullable")

    def __init__(
        self, forward: Program, backward: Program, is_nullable: bool, height: int = 1
    ) -> None:
        if len(forward) > MOST_INSTRUCTIONS:
            raise TooLarge
        self.forward: Program = forward
        self.backward: Program = backward
        self.is_nullable: bool = is_nullable
        """True if it can match the empty string."""
        self.height: int = height
        """The nesting depth of the pattern here."""


def empty() -> Fragment:
    """Match without a character."""
    return Fragment([], [], True)


def character(members: CharacterClass) -> Fragment:
    """Match one character of a class."""
    program = [(CHARACTER, 0, 0, members)]
    return Fragment(program, program, False)


def assertion(kind: int) -> Fragment:
    """Match where something holds of the characters on both sides."""
    program: Program = [(ASSERT, kind, 0, ())]
    return Fragment(program, program, True)


def sequence(parts: list[Fragment]) -> Fragment:
    """Match one part after the other."""
    if len(parts) == 1:
        return parts[0]
    forward: Program = []
    backward: Program = []
    for part in parts:
        forward += part.forward
    for part in reversed(parts):
        backward += part.backward
    height = 1 + max([part.height for part in parts], default=0)
    return Fragment(forward, backward, all(part.is_nullable for part in parts), height)


def alternatives(parts: list[Fragment]) -> Fragment:
    """Match one of several parts, the first that leads to a match."""
    if len(parts) == 1:
        return parts[0]
    return Fragment(
        _alternatives([part.forward for part in parts]),
        _alternatives([part.backward for part in parts]),
        any(part.is_nullable for part in parts),
        1 + max(part.height for part in parts),
    )


def _alternatives(programs: list[Program]) -> Program:
    remaining = sum(len(program) + 2 for program in programs) - 2
    joined: Program = []
    for program in programs[:-1]:
        # The fork leads into this one or past its jump; the jump, past all others.
        remaining -= len(program) + 2
        joined.append((FORK, 1, len(program) + 2, ()))
        joined += program
        joined.append((JUMP, remaining + 1, 0, ()))
    return joined + programs[-1]


def group(part: Fragment, number: int) -> Fragment:
    """Remember where a part begins and ends; backwards, groups do not matter."""
    forward = [(SAVE, 2 * number, 0, ()), *part.forward, (SAVE, 2 * number + 1, 0, ())]
    return Fragment(forward, part.backward, part.is_nullable, part.height + 1)


def repeated(part: Fragment, least: int, most: int | None, is_greedy: bool) -> Fragment:
    """Match a part several times; `most` is None where there is no limit."""
    copies = max(least, most or 0, 1)
    if copies * (len(part.forward) + 1) > MOST_INSTRUCTIONS:
        raise TooLarge
    is_nullable = part.is_nullable or least == 0
    programs = [
        _repeated(program, least, most, is_greedy, part.is_nullable)
        for program in (part.forward, part.backward)
    ]
    return Fragment(programs[0], programs[1], is_nullable, part.height + 1)


def _repeated(
    program: Program, least: int, most: int | None, is_greedy: bool, is_nullable: bool
) -> Program:
    if most is not None:
        return program * least + _optional(program, most - least, is_greedy)
    if least > 0:
        return program * least + [_fork(-len(program), 1, is_greedy)]
    if is_nullable:
        # (x+)?: so that the empty match that x prefers ends the repetition.
        loop = [*program, _fork(-len(program), 1, is_greedy)]
        return [_fork(1, len(loop) + 1, is_greedy), *loop]
    loop = [*program, (JUMP, -len(program) - 1, 0, ())]
    return [_fork(1, len(loop) + 1, is_greedy), *loop]


def _optional(program: Program, times: int, is_greedy: bool) -> Program:
    """(x(x(x)?)?)?: each fork leads to the end of all."""
    size = len(program) + 1
    joined: Program = []
    for remaining in range(times, 0, -1):
        joined.append(_fork(1, remaining * size, is_greedy))
        joined += program
    return joined


def _fork(inside: int, outside: int, is_greedy: bool) -> Instruction:
    return (FORK, inside, outside, ()) if is_greedy else (FORK, outside, inside, ())


def searching(program: Program) -> Program:
    """Look for a match further on, too, where one from here is not found."""
    prefix: Program = [(FORK, 3, 1, ()), (CHARACTER, 0, 0, ANY), (JUMP, -2, 0, ())]
    return [*prefix, *complete(program)]


def complete(program: Program) -> Program:
    """Say where the program has found a match."""
    return [*program, (MATCH, 0, 0, ())]
