"""YAML parser for values, with OpenTofu's interpretation.

A library produces the events; they are interpreted here: YAML 1.1's many words for bools,
timestamps as strings, merge keys, and a single document. Aliases share their value, and the size of
the expanded document is limited.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.function import FunctionError
from nigari.cty.stdlib.timestamps import parse_timestamp
from nigari.cty.types import MAX_DEPTH, STRING, ObjectType, TupleType
from nigari.cty.values import (
    DYNAMIC_NULL,
    FALSE,
    TRUE,
    Value,
    number,
    object_value,
    string,
    tuple_value,
)
from nigari.lang.functions.encoding import from_base64
from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from yaml.events import AliasEvent, CollectionStartEvent, Event, ScalarEvent

_LARGEST: Final = 5_000_000
_VERSION: Final = (1, 1)
_PREFIX: Final = "tag:yaml.org,2002:"
_TAGS: Final = frozenset({"", "str", "bool", "int", "float", "null", "timestamp", "binary"})
_QUOTES: Final = ("'", '"')
_BLOCKS: Final = ("|", ">")
_MERGE_KEY: Final = "<<"

_WORDS: Final[dict[str, Value]] = {
    **dict.fromkeys(["", "~", "null", "Null", "NULL"], DYNAMIC_NULL),
    **dict.fromkeys(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE"], TRUE),
    **dict.fromkeys(["on", "On", "ON"], TRUE),
    **dict.fromkeys(["n", "N", "no", "No", "NO", "false", "False", "FALSE"], FALSE),
    **dict.fromkeys(["off", "Off", "OFF"], FALSE),
    **dict.fromkeys([".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"], number(float("inf"))),
    **dict.fromkeys(["-.inf", "-.Inf", "-.INF"], number(float("-inf"))),
}
_SPECIAL_STARTS: Final = frozenset("+-0123456789yYnNtTfFoO~.")
_NOT_A_NUMBER: Final = (".nan", ".NaN", ".NAN")
_INTEGER: Final = lazy_pattern(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT: Final = lazy_pattern(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_BASED: Final = lazy_pattern(r"([-+]?)0(?:[xX]([0-9a-fA-F]+)|[oO]?([0-7]+)|[bB]([01]+))", re.ASCII)
_TIMESTAMP: Final = lazy_pattern(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:([Tt ])([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,]([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})?)?",
    re.ASCII,
)


def read_yaml(text: str) -> Value:
    """Parse a text with one YAML document; raise a `FunctionError` for anything else."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Reader().read(yaml.parse(text or "\n", Loader=loader))
    except yaml.MarkedYAMLError as error:
        place = error.problem_mark or error.context_mark
        where = "" if place is None else f"line {place.line + 1}: "
        raise FunctionError(f"{where}{error.problem or error.context}") from None
    except (yaml.YAMLError, UnicodeEncodeError):
        raise FunctionError("the text has characters that YAML does not allow") from None


class _Open:
    """A collection whose end has not been reached, with its elements so far."""

    __slots__ = ("anchor", "elements", "is_mapping", "items", "key", "merges", "size")

    def __init__(self, is_mapping: bool, anchor: str | None) -> None:
        self.is_mapping = is_mapping
        self.anchor = anchor
        self.items: dict[str, Value] = {}
        self.elements: list[Value] = []
        self.key: str | None = None
        self.merges = False
        self.size = 1

    @property
    def wants_key(self) -> bool:
        return self.is_mapping and self.key is None and not self.merges


class _Reader:
    """Builds the value from the parser's events, without recursion."""

    __slots__ = ("anchors", "open", "result")

    def __init__(self) -> None:
        self.open: list[_Open] = []
        self.anchors: dict[str, tuple[Value, int] | None] = {}
        self.result: Value | None = None

    def read(self, events: Iterable[Event]) -> Value:
        from yaml import events as kinds

        documents = 0
        for event in events:
            if isinstance(event, kinds.ScalarEvent):
                self._scalar(event)
            elif isinstance(event, kinds.AliasEvent):
                self._alias(event)
            elif isinstance(event, kinds.CollectionStartEvent):
                self._start(event, isinstance(event, kinds.MappingStartEvent))
            elif isinstance(event, kinds.CollectionEndEvent):
                self._end()
            elif isinstance(event, kinds.DocumentStartEvent):
                documents += 1
                # go-cty-yaml: a value is one document.
                if documents > 1:
                    raise _fault(event, "only one document is allowed")
                if event.version not in (None, _VERSION):
                    raise _fault(event, "only YAML 1.1 is supported")
        if self.result is None:
            raise FunctionError("there is no document")
        return self.result

    def _scalar(self, event: ScalarEvent) -> None:
        tag = event.tag or ""
        if self.open and self.open[-1].wants_key:
            self._key(event, tag)
            return
        value = _resolve(event, tag)
        if not tag and event.style in _BLOCKS:
            # OpenTofu resolves it as a plain scalar nevertheless, so that "yes" in a block becomes
            # "true".
            value = convert(value, STRING)
        if event.anchor:
            self.anchors[event.anchor] = value, 1
        self._add(event, value, 1)

    def _key(self, event: ScalarEvent, tag: str) -> None:
        current = self.open[-1]
        if (not tag and event.value == _MERGE_KEY) or tag == f"{_PREFIX}merge":
            current.merges = True
            return
        try:
            key = convert(_resolve(event, tag), STRING)
        except FunctionError:
            raise
        except CtyError:
            raise _fault(event, "a key must be a string") from None
        if key.data is None:
            raise _fault(event, "a key must not be null")
        current.key = key.as_string()

    def _alias(self, event: AliasEvent) -> None:
        name = event.anchor
        if self.open and self.open[-1].wants_key:
            raise _fault(event, "a key must be a string")
        if name not in self.anchors:
            raise _fault(event, f'there is no anchor "{name}"')
        found = self.anchors[name]
        if found is None:
            raise _fault(event, f'the anchor "{name}" cannot be used inside itself')
        self._add(event, *found)

    def _start(self, event: CollectionStartEvent, is_mapping: bool) -> None:
        if self.open and self.open[-1].wants_key:
            raise _fault(event, "a key must be a string")
        if event.tag and event.tag != f"{_PREFIX}{'map' if is_mapping else 'seq'}":
            raise _fault(event, f"a collection cannot be a {event.tag}")
        if event.anchor:
            self.anchors[event.anchor] = None
        self.open.append(_Open(is_mapping, event.anchor))
        if len(self.open) > MAX_DEPTH:
            raise _fault(event, f"collections can be nested at most {MAX_DEPTH} levels deep")

    def _end(self) -> None:
        ended = self.open.pop()
        value = object_value(ended.items) if ended.is_mapping else tuple_value(ended.elements)
        if ended.anchor:
            self.anchors[ended.anchor] = value, ended.size
        self._add(None, value, ended.size)

    def _add(self, event: Event | None, value: Value, size: int) -> None:
        if not self.open:
            self.result = value
            return
        current = self.open[-1]
        current.size += size
        if current.size > _LARGEST:
            raise FunctionError("the document is too large once its aliases are expanded")
        if not current.is_mapping:
            current.elements.append(value)
        elif current.merges:
            current.merges = False
            _merge(value, current.items)
        else:
            assert current.key is not None
            current.items[current.key] = value
            current.key = None


def _merge(value: Value, into: dict[str, Value]) -> None:
    mappings = value.sequence() if isinstance(value.type, TupleType) else (value,)
    for mapping in mappings:
        if not isinstance(mapping.type, ObjectType):
            name = mapping.type.friendly_name()
            raise FunctionError(f"only a mapping can be merged into a mapping, not {name}")
        # go-cty-yaml: merged keys replace earlier ones, and later keys replace them, in
        # the order of the text.
        into.update(mapping.mapping())


def _fault(event: Event, message: str) -> FunctionError:
    mark = event.start_mark
    return FunctionError(message if mark is None else f"line {mark.line + 1}: {message}")


# -- scalars ------------------------------------------------------------------------------------


def _resolve(event: ScalarEvent, tag: str) -> Value:
    """Resolve a scalar by its tag, or by its form if it has none."""
    text = event.value
    short = tag.removeprefix(_PREFIX)
    if short not in _TAGS or (tag and short == tag):
        raise _fault(event, f"the tag {tag} is not supported")
    if short not in ("str", "binary") and (not text or text[0] in _SPECIAL_STARTS):
        # A quoted scalar is a string, whatever it looks like.
        if event.style in _QUOTES:
            return string(text)
        found = _by_looks(event, text, short)
        if found is not None:
            return found
    return _by_tag(event, text, short)


def _by_looks(event: ScalarEvent, text: str, short: str) -> Value | None:
    word = _WORDS.get(text)
    if word is not None:
        return word
    if not short and text in _NOT_A_NUMBER:
        raise _fault(event, "NaN is not a supported number")
    if text[0] == ".":
        return _decimal(text)
    if text[0] not in "+-0123456789":
        return None
    if short in ("", "timestamp"):
        moment = _timestamp(text)
        if moment is not None:
            return moment
    if _INTEGER.fullmatch(text) or _FLOAT.fullmatch(text):
        return _number(event, text)
    return None


def _by_tag(event: ScalarEvent, text: str, short: str) -> Value:
    if short in ("", "str"):
        return string(text)
    if short == "null":
        return DYNAMIC_NULL
    if short in ("int", "float"):
        return _number(event, text)
    if short == "binary" and from_base64(text) is not None:
        return string(text)
    raise _fault(event, f'"{text}" is not a valid {short}')


def _decimal(text: str) -> Value | None:
    try:
        return number(text)
    except CtyError:
        return None


def _number(event: ScalarEvent, text: str) -> Value:
    # YAML 1.1 allows underscores between digits.
    plain = text.replace("_", "")
    found = _decimal(plain)
    if found is not None:
        return found
    based = _BASED.fullmatch(plain)
    if based is not None and len(plain) < 80:
        sign, hexadecimal, octal, binary = based.groups()
        whole = int(hexadecimal or octal or binary, 16 if hexadecimal else 8 if octal else 2)
        if sign == "-":
            whole = -whole
        # strconv.ParseInt and ParseUint of Go: 64 bits.
        if -(2**63) <= whole < (2**63 if sign else 2**64):
            return number(whole)
    raise _fault(event, f'"{text}" is not a number')


def _timestamp(text: str) -> Value | None:
    """Convert a date or time in a common notation to RFC 3339; None for anything else."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    year, month, day, between, hour, minute, second, _fraction, zone = match.groups()
    if between is not None and (between == " ") != (zone is None):
        return None
    date = f"{year}-{month:0>2}-{day:0>2}"
    time = f"{hour or '0':0>2}:{minute or '0':0>2}:{second or '0':0>2}"
    try:
        return string(str(parse_timestamp(f"{date}T{time}{zone or 'Z'}")))
    except FunctionError:
        return None
