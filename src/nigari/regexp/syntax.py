"""Patterns: the syntax of Go's `regexp`, read from left to right into a program.

Rules that surprise are Go's: `$` is the end of the text without the flag `m`, a repetition cannot follow
another, `{` that begins no repetition stands for itself, and a count is at most 1,000 with all counts
around it.
"""

from __future__ import annotations

from nigari.regexp.character_classes import (
    ANY,
    NOT_NEWLINE,
    PERL,
    POSIX,
    folded,
    negated,
    unicode_class,
    union,
)
from nigari.regexp.fragments import (
    BOUNDARY,
    LINE_BEGIN,
    LINE_END,
    NO_BOUNDARY,
    TEXT_BEGIN,
    TEXT_END,
    Fragment,
    TooLarge,
    alternatives,
    assertion,
    character,
    empty,
    group,
    repeated,
    sequence,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.regexp.character_classes import CharacterClass

_MOST_NESTED: Final = 1000
_MOST_REPEATED: Final = 1000
_LARGEST: Final = 0x10FFFF

_FOLD: Final = 1
_MULTILINE: Final = 2
_DOT_NEWLINE: Final = 4
_LAZY: Final = 8
_FLAGS: Final = {"i": _FOLD, "m": _MULTILINE, "s": _DOT_NEWLINE, "U": _LAZY}

_ASSERTIONS: Final = {"A": TEXT_BEGIN, "z": TEXT_END, "b": BOUNDARY, "B": NO_BOUNDARY}
_CONTROL: Final = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_OCTAL: Final = "01234567"
_DECIMAL: Final = "0123456789"
_HEXADECIMAL: Final = "0123456789abcdefABCDEF"


class PatternError(ValueError):
    """A pattern is not valid; the text says where and why."""


class _Group:
    """An open group: its finished alternatives, and the parts of the one that is being read."""

    __slots__ = ("alternatives", "counts", "flags", "number", "parts")

    def __init__(self, number: int, flags: int) -> None:
        self.number = number
        """Zero for a group that captures nothing."""
        self.flags = flags
        """The flags outside the group, which apply again after it."""
        self.alternatives: list[tuple[Fragment, int]] = []
        self.parts: list[Fragment] = []
        self.counts: list[int] = []
        """For each part, how often counted repetitions can repeat something in it."""

    def add(self, part: Fragment, count: int = 1) -> None:
        self.parts.append(part)
        self.counts.append(count)

    def finish_alternative(self) -> None:
        part = sequence(self.parts) if self.parts else empty()
        self.alternatives.append((part, max(self.counts, default=1)))
        self.parts = []
        self.counts = []


class Parser:
    """Reads one pattern."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._position = 0
        self._flags = 0
        self._groups = [_Group(0, 0)]
        self.names: list[str] = []
        """The name of each capturing group, empty for those without."""

    def parse(self) -> Fragment:
        """Read the whole pattern."""
        try:
            return self._parse()
        except TooLarge:
            raise PatternError("it is too large") from None

    def _parse(self) -> Fragment:
        repetition = ""  # the one just before, if there is one
        while self._position < len(self._pattern):
            start = self._position
            letter = self._pattern[start]
            if self._is_repetition(letter):
                self._repetition(repetition)
                repetition = self._pattern[start : self._position]
            else:
                self._position += 1
                self._item(letter)
                repetition = ""
        if len(self._groups) > 1:
            raise PatternError("a closing ) is missing")
        return self._closed(self._groups.pop())[0]

    # Parts of a sequence.

    def _item(self, letter: str) -> None:
        current = self._groups[-1]
        if letter == "(":
            self._open_group()
        elif letter == ")":
            self._close_group()
        elif letter == "|":
            current.finish_alternative()
        elif letter == "^":
            current.add(assertion(LINE_BEGIN if self._flags & _MULTILINE else TEXT_BEGIN))
        elif letter == "$":
            current.add(assertion(LINE_END if self._flags & _MULTILINE else TEXT_END))
        elif letter == ".":
            current.add(character(ANY if self._flags & _DOT_NEWLINE else NOT_NEWLINE))
        elif letter == "[":
            current.add(character(self._class()))
        elif letter == "\\":
            self._escape()
        else:
            self._literal(ord(letter))

    def _literal(self, point: int) -> None:
        members = (point, point + 1)
        self._groups[-1].add(character(folded(members) if self._flags & _FOLD else members))

    def _escape(self) -> None:
        current = self._groups[-1]
        letter = self._pattern[self._position : self._position + 1]
        if letter in _ASSERTIONS:
            self._position += 1
            current.add(assertion(_ASSERTIONS[letter]))
        elif letter == "Q":
            start = self._position + 1
            end = self._pattern.find("\\E", start)
            stop = len(self._pattern) if end < 0 else end
            for each in self._pattern[start:stop]:
                self._literal(ord(each))
            self._position = stop if end < 0 else stop + 2
        elif (members := self._named_escape()) is not None:
            current.add(character(members))
        else:
            self._literal(self._escaped_character())

    # Groups.

    def _open_group(self) -> None:
        flags = self._flags
        number = 0
        if self._pattern[self._position : self._position + 1] != "?":
            self.names.append("")
            number = len(self.names)
        elif (name := self._group_name()) is not None:
            self.names.append(name)
            number = len(self.names)
        elif self._change_flags():
            return  # they hold until the group around ends
        self._groups.append(_Group(number, flags))

    def _group_name(self) -> str | None:
        """Read `?<name>` or `?P<name>`."""
        rest = self._pattern[self._position - 1 : self._position + 4]
        skipped = next((each for each in ("(?P<", "(?<") if rest.startswith(each)), None)
        if skipped is None or len(rest) == len(skipped):
            return None
        begin = self._position - 1 + len(skipped)
        end = self._pattern.find(">", begin)
        name = self._pattern[begin : max(end, begin)]
        if not name.isascii() or not name.replace("_", "a").isalnum():
            shown = self._pattern[self._position - 1 : end + 1 if end >= 0 else None]
            raise PatternError(f"{shown} is not the name of a group")
        self._position = end + 1
        return name

    def _change_flags(self) -> bool:
        """Read `?flags)`, which gives True, or `?flags:`."""
        start = self._position - 1
        flags = self._flags
        is_negative = False
        has_flag = True  # a `-` needs one after it
        for index in range(self._position + 1, len(self._pattern)):
            letter = self._pattern[index]
            if letter in _FLAGS:
                flags = flags & ~_FLAGS[letter] if is_negative else flags | _FLAGS[letter]
                has_flag = True
            elif letter == "-" and not is_negative:
                is_negative = True
                has_flag = False
            elif letter in ":)" and has_flag:
                self._flags = flags
                self._position = index + 1
                return letter == ")"
            else:
                raise PatternError(f"{self._pattern[start : index + 1]} is not supported")
        raise PatternError(f"{self._pattern[start:]} is not supported")

    def _close_group(self) -> None:
        if len(self._groups) == 1:
            raise PatternError("a ) has no opening (")
        closed = self._groups.pop()
        part, count = self._closed(closed)
        self._flags = closed.flags
        self._groups[-1].add(group(part, closed.number) if closed.number else part, count)

    def _closed(self, closed: _Group) -> tuple[Fragment, int]:
        closed.finish_alternative()
        part = alternatives([each for each, _ in closed.alternatives])
        if part.height > _MOST_NESTED:
            raise PatternError("it is nested too deeply")
        return part, max(count for _, count in closed.alternatives)

    # Repetitions.

    def _is_repetition(self, letter: str) -> bool:
        return letter in "*+?" or (letter == "{" and self._counts() is not None)

    def _counts(self) -> tuple[int, int | None, int] | None:
        """Read `{2}`, `{2,}` or `{2,3}` without moving on; give the numbers and where it ends."""
        least, position = self._count(self._position + 1)
        if least is None:
            return None
        most: int | None = least
        if self._pattern[position : position + 1] == ",":
            most, position = self._count(position + 1)
            if most is None and self._pattern[position : position + 1] != "}":
                return None
        return (least, most, position + 1) if self._pattern.startswith("}", position) else None

    def _count(self, position: int) -> tuple[int | None, int]:
        start = position
        while position < len(self._pattern) and self._pattern[position] in _DECIMAL:
            position += 1
        digits = self._pattern[start:position]
        if not digits or (digits[0] == "0" and len(digits) > 1):
            return None, start
        # Longer numbers are too large, whichever they are.
        return int(digits[:9]), position

    def _repetition(self, before: str) -> None:
        start = self._position
        letter = self._pattern[start]
        least, most, end = (
            {
                "*": (0, None, start + 1),
                "+": (1, None, start + 1),
                "?": (0, 1, start + 1),
            }.get(letter)
            or self._counts()
            or (0, 0, 0)
        )
        counted = letter == "{"
        shown = self._pattern[start:end]
        if counted and (
            max(least, most or 0) > _MOST_REPEATED or (most is not None and most < least)
        ):
            raise PatternError(f"{shown} is not a valid count")
        is_greedy = not self._flags & _LAZY
        if self._pattern.startswith("?", end):
            end += 1
            is_greedy = not is_greedy
        if before:
            raise PatternError(f"{before}{self._pattern[start:end]} repeats a repetition")
        current = self._groups[-1]
        if not current.parts:
            raise PatternError(f"{self._pattern[start:end]} has nothing to repeat")
        part, count = current.parts.pop(), current.counts.pop()
        if counted:
            # Copies of copies: a pattern of a few letters would become a program of any size.
            times = least if most is None else most
            count *= max(times, 1)
            if times >= 2 and count > _MOST_REPEATED:
                raise PatternError(f"{shown} is not a valid count")
        current.add(repeated(part, least, most, is_greedy), count)
        self._position = end

    # Characters and classes of them.

    def _class(self) -> CharacterClass:
        start = self._position - 1
        is_negative = self._pattern.startswith("^", self._position)
        if is_negative:
            self._position += 1
        first = self._position
        parts: list[CharacterClass] = []
        while self._position == first or not self._pattern.startswith("]", self._position):
            if self._position >= len(self._pattern):
                raise PatternError(f"the closing ] of {self._pattern[start:]} is missing")
            parts.append(self._class_part(start))
        self._position += 1
        members = union(parts)
        return negated(members) if is_negative else members

    def _class_part(self, start: int) -> CharacterClass:
        members = self._posix_class()
        if members is None and self._pattern.startswith("\\", self._position):
            self._position += 1
            members = self._named_escape()
            if members is None:
                self._position -= 1
        return self._class_range(start) if members is None else members

    def _class_range(self, start: int) -> CharacterClass:
        begin = self._position
        low = high = self._class_character(start)
        rest = self._pattern[self._position : self._position + 2]
        if len(rest) == 2 and rest[0] == "-" and rest[1] != "]":
            self._position += 1
            high = self._class_character(start)
            if high < low:
                raise PatternError(f"{self._pattern[begin : self._position]} is not a range")
        members = (low, high + 1)
        return folded(members) if self._flags & _FOLD else members

    def _class_character(self, start: int) -> int:
        if self._position >= len(self._pattern):
            raise PatternError(f"the closing ] of {self._pattern[start:]} is missing")
        letter = self._pattern[self._position]
        self._position += 1
        return self._escaped_character() if letter == "\\" else ord(letter)

    def _posix_class(self) -> CharacterClass | None:
        """Read `[:name:]` or `[:^name:]`."""
        start = self._position
        if not self._pattern.startswith("[:", start):
            return None
        end = self._pattern.find(":]", start + 2)
        if end < 0:
            return None
        shown = self._pattern[start : end + 2]
        name = shown[2:-2]
        members = POSIX.get(name.removeprefix("^"))
        if members is None:
            raise PatternError(f"{shown} is not a class of characters")
        self._position = end + 2
        return self._group_class(members, name.startswith("^"))

    def _named_escape(self) -> CharacterClass | None:
        r"""Read what follows a `\` if it names a class: `d`, `W`, `pL`, `P{Greek}`."""
        letter = self._pattern[self._position : self._position + 1]
        if letter.lower() in PERL:
            self._position += 1
            return self._group_class(PERL[letter.lower()], letter.isupper())
        if letter and letter in "pP":
            return self._unicode_class(letter == "P")
        return None

    def _unicode_class(self, is_negative: bool) -> CharacterClass:
        start = self._position - 1
        begin = self._position + 1
        end = begin + 1
        name = self._pattern[begin:end]
        if name == "{":
            end = self._pattern.find("}", begin) + 1
            name = self._pattern[begin + 1 : end - 1] if end else ""
        shown = self._pattern[start:end] if end else self._pattern[start:]
        is_negative ^= name.startswith("^") and len(name) > 1
        members = unicode_class(name.removeprefix("^")) if name else None
        if members is None:
            raise PatternError(f"{shown} is not a class of characters")
        self._position = end
        return self._group_class(members, is_negative)

    def _group_class(self, members: CharacterClass, is_negative: bool) -> CharacterClass:
        if self._flags & _FOLD:
            members = folded(members)
        return negated(members) if is_negative else members

    def _escaped_character(self) -> int:
        r"""Read what follows a `\` and stands for one character."""
        start = self._position
        letter = self._pattern[start : start + 1]
        if not letter:
            raise PatternError("it ends with a single \\")
        self._position += 1
        if letter in _CONTROL:
            return _CONTROL[letter]
        if letter == "x":
            return self._hexadecimal(start)
        following = self._pattern[start + 1 : start + 2]
        if letter == "0" or (letter in _OCTAL and following and following in _OCTAL):
            return self._octal(start)
        if letter.isascii() and not letter.isalnum():
            return ord(letter)
        raise self._invalid_escape(start)

    def _octal(self, start: int) -> int:
        end = start + 1
        while end < min(start + 3, len(self._pattern)) and self._pattern[end] in _OCTAL:
            end += 1
        self._position = end
        return int(self._pattern[start:end], 8)

    def _hexadecimal(self, start: int) -> int:
        if self._pattern.startswith("{", self._position):
            end = self._pattern.find("}", self._position)
            digits = self._pattern[self._position + 1 : max(end, self._position)]
            after = end + 1
        else:
            after = self._position + 2
            digits = self._pattern[self._position : after]
            if len(digits) < 2:
                raise self._invalid_escape(start)
        if not digits or any(digit not in _HEXADECIMAL for digit in digits):
            raise self._invalid_escape(start)
        point = int(digits, 16)
        if point > _LARGEST:
            raise self._invalid_escape(start)
        self._position = after
        return point

    def _invalid_escape(self, start: int) -> PatternError:
        return PatternError(f"\\{self._pattern[start : self._position]} is not an escape sequence")
