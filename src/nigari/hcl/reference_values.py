"""Values of the references in an expression, in words for a diagnostic.

Values without parts are shown whole, all others by their type and size, and sensitive ones never:
they are mentioned only in diagnostics about sensitive values. Likewise unknown values are mentioned
only in diagnostics about them, since readers would otherwise take them for the cause. Deliberately
unknown here: the layout of the words, and the available marks.
"""

from __future__ import annotations

from nigari.cty import numbers
from nigari.cty.types import DYNAMIC, KIND_OBJECT, CollectionType
from nigari.cty.unknown import Unknown
from nigari.cty.values import NO_MARKS, Value
from nigari.diagnostics import ScopeValue
from nigari.diagnostics.secret_urls import hidden_urls
from nigari.hcl.evaluation import Fault
from nigari.hcl.quoting import quoted
from nigari.hcl.scope import Scope
from nigari.hcl.traversal import Traversal
from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_LONGEST_SHOWN: Final = 200
_MOST_ELEMENTS: Final = 1024
"""Larger bounds of a length are of no interest to a reader."""


class Referring(Protocol):
    """An expression with references."""

    def variables(self) -> list[Traversal]:
        """List the references."""
        ...


def scope_values(
    expression: Referring, scope: Scope, sensitive: bool = False, unknowns: bool = False
) -> tuple[ScopeValue, ...]:
    """Describe the references of an expression.

    A diagnostic about sensitive or unknown values requests those too.
    """
    described: dict[str, ScopeValue] = {}
    for traversal in expression.variables():
        root = scope.variable(traversal.root_name)
        if root is not None:
            found, value = _reach(traversal, root)
            name = str(found)
            if name not in described:
                text = value_text(value, sensitive, unknowns)
                if text:
                    described[name] = ScopeValue(name, text)
    return tuple(described.values())


def _reach(traversal: Traversal, value: Value) -> tuple[Traversal, Value]:
    """Return the longest prefix of a traversal that can be followed, and its value."""
    for position in range(1, len(traversal)):
        result = traversal[position].apply(value)
        if isinstance(result, Fault):
            return traversal.split(position)[0], value
        value = result
    return traversal, value


def value_text(value: Value, sensitive: bool = False, unknowns: bool = False) -> str:
    """Describe a value, completing a sentence that begins with its name; empty to omit it."""
    word = _mark_word(value)
    if word:
        article = "an" if word[0] in "aeiou" else "a"
        return f"has {article} {word} value" if sensitive else ""
    data = value.data
    if data is None:
        return "is null"
    if isinstance(data, Unknown):
        return _unknown_text(value, data, unknowns)
    if isinstance(data, str):
        shown = data if len(data) <= _LONGEST_SHOWN else data[:_LONGEST_SHOWN] + "…"
        return f"is {quoted(hidden_urls(shown))}"
    if isinstance(data, bool):
        return "is true" if data else "is false"
    if isinstance(data, int | numbers.Number):
        return f"is {numbers.to_text(data)}"
    if isinstance(data, dict) and value.type.kind == KIND_OBJECT:
        return f"is {_object_text(data)}"
    if isinstance(data, dict | tuple):
        name = value.type.friendly_name()
        return f"is {name} with {_counted(len(data), 'element')}" if data else f"is empty {name}"
    return f"is {value.type.with_article()}"


def _mark_word(value: Value) -> str:
    """Return the word for the mark that forbids showing the value; empty if there is none.

    A mark names it in `secrecy`; the default is "sensitive".
    """
    if value.marks is NO_MARKS or not value.marks:
        return ""
    words = {str(getattr(mark, "secrecy", "sensitive")) for mark in value.marks}
    return max(words)


def _unknown_text(value: Value, data: Unknown, unknowns: bool) -> str:
    if value.type is DYNAMIC:
        return "is known only after apply" if unknowns else ""
    name = value.type.with_article()
    if not unknowns:
        return f"is {name}"
    length = _length_text(data) if isinstance(value.type, CollectionType) else ""
    return f"is {name}{length}, known only after apply"


def _length_text(data: Unknown) -> str:
    """Describe the known bounds of an unknown collection's length."""
    least, most = data.min_length, data.max_length
    if least == most:
        return f" of length {least}"
    has_most = 0 <= most <= _MOST_ELEMENTS
    if least and has_most:
        return f" with {least} to {most} elements"
    if least:
        return f" with at least {_counted(least, 'element')}"
    return f" with up to {most} elements" if has_most else ""


def _object_text(data: dict[str, Value]) -> str:
    if not data:
        return "object with no attributes"
    if len(data) == 1:
        return f"object with 1 attribute {quoted(next(iter(data)))}"
    return f"object with {len(data)} attributes"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
