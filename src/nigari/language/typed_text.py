"""The text before an offset: the unfinished name or reference, and whether it is inside a string.

Works on the text of the argument alone, since the parser has nothing to say of half an expression.
"""

from __future__ import annotations

from nigari.lazy import lazy_pattern
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_REFERENCE = lazy_pattern(
    r"(?:[^\W\d][\w-]*|\.|\[(?:\"[^\"\[\]\n]*\"|[\w.]+|\*)\])*(?:\[\"?[^\"\[\]\n]*)?\Z"
)
_WORD = lazy_pattern(r"[\w-]*\Z")
_LINE = lazy_pattern(r"[ \t]*([^\W\d][\w-]*)[ \t]*=(?![=>])")
_NAME_LINE = lazy_pattern(r"[ \t]*[\w-]*\Z")
_FOR = lazy_pattern(r"[\[{]\s*for\s+([^\W\d][\w-]*)(?:\s*,\s*([^\W\d][\w-]*))?\s+in\b[^:]*:(?!:)")
_HEREDOC = lazy_pattern(r"<<-?([^\W\d][\w-]*)\r?\n")


@record
class TypedReference:
    """A reference that is being typed."""

    base: str
    """The text before the part that is being typed, without the last dot or bracket."""
    word: str
    """The part that is being typed."""
    start: int
    """The start of that part."""
    is_key: bool = False
    """True if it is a key in brackets."""
    is_quoted: bool = False
    """True if the key already has its opening quote."""


@record
class Within:
    """The position of an offset in an expression."""

    is_string: bool
    """True if it is in the literal part of a string."""
    string_start: int
    """The start of that string's text."""


def line_before(text: str, offset: int) -> str:
    """The part of the line before an offset."""
    return text[text.rfind("\n", 0, offset) + 1 : offset]


def is_name_line(text: str, offset: int) -> bool:
    """Return whether the line has nothing but a name."""
    return _NAME_LINE.match(line_before(text, offset)) is not None


def argument_on_line(text: str, offset: int) -> tuple[str, int] | None:
    """The argument whose value is being typed on the line, and where the value begins."""
    line = line_before(text, offset)
    found = _LINE.match(line)
    return None if found is None else (found[1], offset - len(line) + found.end())


def word_start(text: str, offset: int) -> int:
    """The start of the name that is being typed."""
    found = _WORD.search(text, text.rfind("\n", 0, offset) + 1, offset)
    return offset if found is None else found.start()


def typed_reference(text: str, start: int, offset: int) -> TypedReference:
    """The reference that is being typed between two offsets."""
    found = _REFERENCE.search(text, max(start, offset - 1_000), offset)
    begin = offset if found is None else found.start()
    typed = text[begin:offset]
    bracket = typed.rfind("[")
    if bracket >= 0 and "]" not in typed[bracket:]:
        key = typed[bracket + 1 :]
        is_quoted = key.startswith('"')
        word = key[1:] if is_quoted else key
        if not bracket:
            # A list begins here, and in it an element.
            return TypedReference("", word, offset - len(word))
        return TypedReference(typed[:bracket], word, offset - len(word), True, is_quoted)
    base, dot, word = typed.rpartition(".")
    return TypedReference(
        base if dot else "", word if dot else typed, offset - len(word if dot else typed)
    )


def within(text: str, start: int, offset: int) -> Within:
    """Return the position of an offset in an expression that begins at `start`: in the text of a
    string or not.
    """
    strings: list[int] = []
    """The starts of the open strings; a -1 for each open interpolation or brace between them."""
    at = start
    while at < offset:
        char = text[at]
        in_string = bool(strings) and strings[-1] >= 0
        if in_string:
            if char == "\\":
                at += 1
            elif text.startswith(("${", "%{"), at) and not text.startswith(("$${", "%%{"), at - 1):
                strings.append(-1)
                at += 1
            elif char in '"\n':
                strings.pop()
        elif char == '"':
            strings.append(at + 1)
        elif char == "#" or text.startswith("//", at):
            end = text.find("\n", at)
            at = offset if end < 0 else end
        elif char == "{":
            strings.append(-1)
        elif char == "}" and strings:
            strings.pop()
        elif char == "<":
            at = _skip_heredoc(text, at, offset)
        at += 1
    is_string = bool(strings) and strings[-1] >= 0
    return Within(is_string, strings[-1] if is_string else offset)


def _skip_heredoc(text: str, at: int, offset: int) -> int:
    """The last offset of a heredoc that begins here and ends before `offset`, else the given one."""
    found = _HEREDOC.match(text, at)
    if found is None:
        return at
    position = found.end()
    while position < offset:
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        if text[position:end].strip() == found[1]:
            return min(end, offset) - 1
        position = end + 1
    return at


def for_names(text: str, start: int, offset: int) -> list[str]:
    """The names that `for` expressions around an offset bind, the outermost first."""
    found: list[str] = []
    for each in _FOR.finditer(text, start, offset):
        inner = text[each.end() : offset]
        if not any(_closes(inner, *pair) for pair in ("[]", "{}")):
            found += [name for name in each.groups() if name]
    return found


def _closes(text: str, opening: str, closing: str) -> bool:
    """Return whether a text closes a bracket that was open before it."""
    depth = 0
    for char in text:
        depth += (char == opening) - (char == closing)
        if depth < 0:
            return True
    return False


def call_around(text: str, start: int, offset: int) -> tuple[str, int] | None:
    """The function whose arguments are being typed at an offset, and how many are complete."""
    depth, commas, at = 0, 0, offset - 1
    while at >= start:
        char = text[at]
        if char in ")]}":
            depth += 1
        elif char in "([{":
            if depth == 0:
                name = text[word_start_of_function(text, at) : at]
                if char == "(" and name:
                    return name, commas
                if char == "(":
                    return None
                commas = 0
            else:
                depth -= 1
        elif char == "," and depth == 0:
            commas += 1
        elif char == '"':
            opening = text.rfind('"', start, at)
            at = opening if opening >= 0 else start
        at -= 1
    return None


def word_start_of_function(text: str, end: int) -> int:
    """The start of the function name that ends here, with its namespace."""
    at = end
    while at > 0 and (text[at - 1].isalnum() or text[at - 1] in "_-:"):
        at -= 1
    return at


LONGEST: Final = 20_000
"""The most characters of an expression before the offset that are examined."""
