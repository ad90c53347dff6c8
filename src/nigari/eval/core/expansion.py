"""Expansion: the instances that the values of `count`, `for_each` and `enabled` ask for.

The rules are the same for resources, modules and provider configurations; only the words differ
slightly, so each caller says what is being expanded. An unknown value is no error here: it gives
a deferred expansion, and who needs the instances now reports it with its cause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from nigari.addrs.keys import DEFERRED, InstanceKey
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import (
    BOOL,
    DYNAMIC,
    KIND_DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    KIND_OBJECT,
    KIND_SET,
    KIND_STRING,
    KIND_TUPLE,
    NUMBER,
    STRING,
    SetType,
)
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, number, string, unknown
from nigari.diagnostics import Diagnostics
from nigari.eval.core.causes import caused_by
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.hcl.expressions import Expression
from nigari.hcl.reference_values import scope_values
from nigari.hcl.scope import Scope
from nigari.lang.marks import EPHEMERAL, SENSITIVE
from nigari.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


MAX_INSTANCES: Final = 1_000_000
"""More instances than this are a mistake, and would only exhaust memory."""


@record
class Expansion:
    """The instances of a block by key. `deferred_by` is the value that is not known yet, in which
    case one instance with a deferred key stands for all.
    """

    instances: Mapping[InstanceKey, InstanceData]
    deferred_by: Value | None = None
    is_wrong: bool = False
    """True if a reported mistake is the reason for having no instances."""
    certain: Mapping[InstanceKey, InstanceData] = MappingProxyType({})
    """Those instances of a deferred expansion that there will be in any case."""


SINGLE_INSTANCE: Final = Expansion({None: NO_INSTANCE_DATA})
NO_INSTANCES: Final = Expansion({})
_WRONG: Final = Expansion({}, is_wrong=True)


def deferred_count(value: Value) -> Expansion:
    """The expansion of a `count` that is not known."""
    index = caused_by(value, unknown(NUMBER))
    return Expansion({DEFERRED: InstanceData(count_index=index)}, value)


def deferred_for_each(value: Value) -> Expansion:
    """The expansion of a `for_each` that is not known."""
    key = caused_by(value, unknown(STRING))
    each = caused_by(value, DYNAMIC_UNKNOWN)
    return Expansion({DEFERRED: InstanceData(each_key=key, each_value=each)}, value)


@record
class Asked:
    """An expression that asks for instances, and where to report what is wrong with its value."""

    expr: Expression
    scope: Callable[[], Scope]
    """Gives the names that it was evaluated with."""
    diags: Diagnostics

    def refuse(self, argument: str, detail: str, about_secrets: bool = False) -> Expansion:
        """Report that the value asks for nothing that can be."""
        self.diags.error(
            f"Invalid {argument} argument",
            detail,
            self.expr.range,
            values=scope_values(self.expr, self.scope(), sensitive=about_secrets),
        )
        return _WRONG


def expand_count(value: Value, asked: Asked) -> Expansion:
    """The instances that a `count` asks for."""
    value, marks = value.unmark()
    if EPHEMERAL in marks:
        return asked.refuse(
            "count",
            "An ephemeral value cannot decide how many instances there are: the state records "
            "the instances, but not the value.",
            about_secrets=True,
        )
    try:
        value = convert(value, NUMBER)
    except CtyError:
        return asked.refuse(
            "count", f"A whole number is required, not {value.type.with_article()}."
        )
    if value.is_null:
        return asked.refuse("count", "The value is null. A whole number is required.")
    if not value.is_known:
        return deferred_count(value)
    wanted = value.as_number()
    if not isinstance(wanted, int) or wanted < 0 or wanted > MAX_INSTANCES:
        return asked.refuse("count", f"A whole number between 0 and {MAX_INSTANCES:,} is required.")
    return Expansion({i: InstanceData(count_index=number(i)) for i in range(wanted)})


_SECRETS: Final = (
    (SENSITIVE, "A sensitive", " If it is not secret, use nonsensitive()."),
    (EPHEMERAL, "An ephemeral", ""),
)


def expand_enabled(value: Value, asked: Asked) -> Expansion:
    """One instance without a key, or none."""
    value, marks = value.unmark()
    for mark, word, advice in _SECRETS:
        if mark in marks:
            return asked.refuse(
                "enabled",
                f"{word} value cannot decide whether the object exists: everyone who sees the "
                f"plan could infer the value.{advice}",
                about_secrets=True,
            )
    try:
        value = convert(value, BOOL)
    except CtyError:
        return asked.refuse(
            "enabled", f"True or false is required, not {value.type.with_article()}."
        )
    if value.is_null:
        return asked.refuse("enabled", "The value is null. True or false is required.")
    if not value.is_known:
        return Expansion({None: NO_INSTANCE_DATA}, value)
    return SINGLE_INSTANCE if value.as_bool() else NO_INSTANCES


def expand_for_each(value: Value, asked: Asked) -> Expansion:
    """The instances that a `for_each` asks for. Elements of a map may be anything, also unknown;
    its keys, and the elements of a set, are the keys of the instances.
    """
    for mark, word, advice in _SECRETS:
        if mark in value.marks:
            return asked.refuse(
                "for_each",
                f"{word} value cannot be used here: its keys become part of addresses, which are "
                f"shown and stored.{advice}",
                about_secrets=True,
            )
    value, _ = value.unmark()
    kind = value.type.kind
    if kind not in (KIND_MAP, KIND_OBJECT, KIND_SET, KIND_DYNAMIC):
        is_convertible = kind in (KIND_LIST, KIND_TUPLE)
        hint = " Use toset() to convert it to a set." if is_convertible else ""
        return asked.refuse(
            "for_each",
            f"A map, an object or a set of strings is required, not {value.type.with_article()}."
            f"{hint}",
        )
    if value.is_null:
        return asked.refuse("for_each", "The value is null. A map or a set is required.")
    if kind == KIND_SET:
        return _expand_set(value, asked)
    if not value.is_known:
        return deferred_for_each(value)
    return Expansion(
        {
            key: InstanceData(each_key=string(key), each_value=element)
            for key, element in sorted(value.mapping().items())
        }
    )


def _expand_set(value: Value, asked: Asked) -> Expansion:
    element = value.type.element if isinstance(value.type, SetType) else DYNAMIC
    if element.kind not in (KIND_STRING, KIND_DYNAMIC):
        return asked.refuse(
            "for_each",
            f"The elements of a set become keys, so they must be strings; this is {value.type.with_article()}.",
        )
    if not value.is_known:
        return deferred_for_each(value)
    elements = value.sequence()
    if not value.is_wholly_known:
        # Whatever the others turn out to be, these elements are in the set.
        certain = [each for each in elements if each.is_known and not each.is_null]
        return replace(deferred_for_each(value), certain=_by_element(certain))
    if any(each.is_null for each in elements):
        return asked.refuse("for_each", "The set contains null, which cannot be a key.")
    return Expansion(_by_element(elements))


def _by_element(elements: Iterable[Value]) -> dict[InstanceKey, InstanceData]:
    return {each.as_string(): InstanceData(each_key=each, each_value=each) for each in elements}
