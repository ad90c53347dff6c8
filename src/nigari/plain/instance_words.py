"""Replacements for `each` and `count` in a block that is written for one instance."""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.keys import InstanceKey
from nigari.config.core.declared import Repetition
from nigari.cty.types import KIND_BOOL, KIND_NUMBER, KIND_STRING
from nigari.cty.values import Value
from nigari.eval.core.module_tree import InstanceData
from nigari.hcl.evaluation import Fault
from nigari.hcl.expressions import Expression
from nigari.hcl.quoting import quoted
from nigari.hcl.render import render_value
from nigari.hcl.static import expr_as_keyword
from nigari.hcl.templates import StringLiteral
from nigari.hcl.traversal import Traversal
from nigari.plain.expressions import InstanceWords, Rewriting, as_operand


def key_literal(key: InstanceKey) -> str:
    """The text of an instance key."""
    return quoted(key) if isinstance(key, str) else str(key)


def instance_words(
    key: InstanceKey,
    repetition: Repetition,
    data: Sequence[InstanceData],
    rewriting: Rewriting,
) -> InstanceWords | None:
    """The words for one instance, given its data in all modules that share the block."""
    if key is None:
        return None
    for_each = repetition.for_each

    def value(steps: Traversal) -> str:
        literal = _literal([each.each_value for each in data], steps)
        if literal is not None or for_each is None:
            return literal or "null"
        text = steps.source.text
        rest = text[steps.steps[0].start : steps.steps[-1].end] if steps.steps else ""
        element = _element(for_each, str(key))
        if element is not None:
            own = rewriting.text(element)
            return f"{as_operand(own, element)}{rest}" if rest else f"({own})"
        collection = as_operand(rewriting.text(for_each), for_each)
        return f"{collection}[{key_literal(key)}]{rest}"

    return InstanceWords(key_literal(key), value)


def _literal(values: Sequence[Value | None], steps: Traversal) -> str | None:
    """The text of a primitive value that is the same in all modules."""
    texts = {None if value is None else _followed(value, steps) for value in values}
    return texts.pop() if len(texts) == 1 else None


def _followed(value: Value, steps: Traversal) -> str | None:
    for step in steps.steps:
        if value.is_null or not value.is_known:
            return None
        result = step.apply(value)
        if isinstance(result, Fault):
            return None
        value = result
    is_primitive = value.type.kind in (KIND_BOOL, KIND_NUMBER, KIND_STRING)
    is_plain = is_primitive and value.is_wholly_known and not value.contains_marked
    return render_value(value) if is_plain and not value.is_null else None


def _element(for_each: Expression, key: str) -> Expression | None:
    """The element with a key of an object that is written out."""
    for name, element in for_each.static_map() or ():
        written = name.text if isinstance(name, StringLiteral) else expr_as_keyword(name)
        if written == key:
            return element
    return None
