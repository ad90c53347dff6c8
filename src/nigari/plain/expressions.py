"""Expressions rewritten for a plain configuration; everything around what changes stays as it is.

A reference to a block that became several blocks is replaced by an object or a tuple of them, or by
the one that its key selects. In the block of one instance, `each` and `count` are replaced by what
they stand for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from nigari.addrs.keys import InstanceKey
from nigari.config.core.declared import DependencyValue, Repetition
from nigari.hcl.calls import FunctionCall
from nigari.hcl.collections import DottedKey, For
from nigari.hcl.edits import Edit, applied
from nigari.hcl.expressions import (
    Expression,
    Index,
    Literal,
    Parentheses,
    Reference,
    RelativeTraversal,
)
from nigari.hcl.quoting import quoted
from nigari.hcl.render import render_key
from nigari.hcl.templates import StringLiteral, Template, TemplateWrap
from nigari.hcl.traversal import Step, Traversal, TraverseAttr, TraverseIndex, TraverseRoot
from nigari.lazy import lazy_pattern
from nigari.plain.spots import Spot, spot_of
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_LITERAL: Final = lazy_pattern(r'"[^"\\$%{}]*"|[0-9]+')
"""A string without sequences and templates, or a number."""


@record
class SplitBlock:
    """A block that became several blocks, as expressions refer to it."""

    whole: str
    """The object or tuple of all instances."""
    parts: Mapping[InstanceKey, str]
    """The address of each instance."""
    blocks: tuple[str, ...]
    """The addresses of the blocks."""


def object_of(parts: Mapping[InstanceKey, str], repetition: Repetition) -> str:
    """The value that a block with these instances has: an object, a tuple, or one element."""
    if repetition.count is not None:
        return f"[{', '.join(parts.values())}]"
    if repetition.has_one_value:
        return parts.get(None, "null")
    items = [f"{render_key(str(key))} = {text}" for key, text in parts.items()]
    return f"{{ {', '.join(items)} }}"


@record
class InstanceWords:
    """The replacements for `each` and `count` in a block for one instance."""

    key: str
    """The text for `each.key` or `count.index`."""
    value: Callable[[Traversal], str]
    """The text for `each.value` and the steps after it."""


@record
class Rewriting:
    """All that changes in the expressions of one module."""

    literals: Mapping[Spot, str]
    """Positions that became literals."""
    split: Mapping[str, SplitBlock]
    """The blocks that became several ones, by address."""
    module_path: str | None = None
    """The replacement for `path.module`, in a copy of a module."""
    terraform_root: str = "tofu"
    """The root name that replaces `tofu`."""

    def text(
        self,
        expr: Expression,
        words: InstanceWords | None = None,
        bound: frozenset[str] = frozenset(),
    ) -> str:
        """The rewritten source of an expression."""
        edits = self.edits(expr, words, bound)
        start = expr.start
        moved = [Edit(each.start - start, each.end - start, each.text) for each in edits]
        return applied(expr.source.text[start : expr.end], moved)

    def edits(
        self,
        expr: Expression,
        words: InstanceWords | None = None,
        bound: frozenset[str] = frozenset(),
    ) -> list[Edit]:
        """The edits of an expression, in which some names may be bound to something else."""
        found: list[Edit] = []
        pending = [(expr, bound)]
        while pending:
            current, names = pending.pop()
            text = self._replacement(current, words, names)
            if text is not None:
                found.append(Edit(current.start, current.end, text))
            elif isinstance(current, TemplateWrap):
                own = self.text(current.wrapped, words, names)
                is_literal = own.startswith('"') and own != _written(current.wrapped)
                found += (
                    [Edit(current.start, current.end, own)]
                    if is_literal
                    else self.edits(current.wrapped, words, names)
                )
            elif isinstance(current, Template):
                for part in current.parts:
                    edits = self.edits(part, words, names)
                    found += _without_marks(current, part, edits)
            elif isinstance(current, For):
                inner = names | {current.key_name, current.value_name}
                pending.append((current.collection, names))
                rest = (current.key, current.result, current.condition)
                pending.extend((each, inner) for each in rest if each is not None)
            elif not isinstance(current, DottedKey):
                pending.extend((each, names) for each in current.children())
        return found

    def _replacement(
        self, expr: Expression, words: InstanceWords | None, bound: frozenset[str]
    ) -> str | None:
        literal = self.literals.get(spot_of(expr))
        if literal is not None:
            return literal
        if isinstance(expr, Index) and isinstance(expr.collection, Reference):
            return self._indexed(expr.collection, expr.key, words, bound)
        if isinstance(expr, Reference):
            return self._reference(expr, words, bound)
        return None

    def _indexed(
        self,
        reference: Reference,
        key: Expression,
        words: InstanceWords | None,
        bound: frozenset[str],
    ) -> str | None:
        """An element of a block that became several, selected by a key that may be a literal now."""
        found = None if _root(reference) in bound else self._split(reference.steps)
        if found is None or found[1] != len(reference.steps):
            return None
        text = self.text(key, words, bound)
        for instance, part in found[0].parts.items():
            if text == (quoted(instance) if isinstance(instance, str) else str(instance)):
                return part
        return f"{found[0].whole}[{text}]"

    def _reference(
        self, reference: Reference, words: InstanceWords | None, bound: frozenset[str]
    ) -> str | None:
        steps, root = reference.steps, _root(reference)
        if root in bound:
            return None
        second = steps[1] if len(steps) > 1 else None
        name = second.name if isinstance(second, TraverseAttr) else ""
        text = reference.source.text
        if words is not None and f"{root}.{name}" in ("each.key", "count.index"):
            return words.key
        if words is not None and f"{root}.{name}" == "each.value":
            return words.value(Traversal(reference.source, steps[2:]))
        if self.module_path is not None and f"{root}.{name}" == "path.module":
            return quoted(self.module_path)
        if root == "tofu" and self.terraform_root != root and name:
            return f"{self.terraform_root}{text[steps[0].end : reference.end]}"
        found = self._split(steps)
        if found is None:
            return None
        block, used = found
        if used < len(steps):
            after = steps[used]
            key = after.key.data if isinstance(after, TraverseIndex) else None
            if isinstance(key, int | str) and key in block.parts:
                return f"{block.parts[key]}{text[after.end : reference.end]}"
        return f"{block.whole}{text[steps[used - 1].end : reference.end]}"

    def _split(self, steps: list[Step]) -> tuple[SplitBlock, int] | None:
        """The block that steps begin with, if it became several, and how many steps name it."""
        names: list[str] = []
        for step in steps[:4]:
            if not isinstance(step, TraverseRoot | TraverseAttr):
                break
            names.append(step.name)
        skipped = 1 if names[:1] == ["resource"] else 0
        count = 3 if names[:1] in (["data"], ["ephemeral"], ["action"]) else 2
        block = self.split.get(".".join(names[skipped : skipped + count]))
        return None if block is None else (block, skipped + count)

    def addresses(self, expr: Expression, words: InstanceWords | None = None) -> list[str]:
        """Return the replacement for an element of `depends_on` or `replace_triggered_by`."""
        reference = expr.collection if isinstance(expr, Index) else expr
        if isinstance(reference, Reference):
            found = self._split(reference.steps)
            if found is not None:
                text = self.text(expr, words)
                return [*found[0].blocks] if text.startswith(found[0].whole) else [text]
        return [self.text(expr, words)]

    def whole_addresses(self, value: DependencyValue) -> list[str]:
        """Return the whole addresses for a value in `depends_on`; the target accepts no others."""
        texts: list[str] = []
        for address in value.addresses:
            found = self._split(address.steps)
            texts += [str(address)] if found is None else found[0].blocks
        return [*dict.fromkeys(texts)]


def _written(expr: Expression) -> str:
    return expr.source.text[expr.start : expr.end]


def _without_marks(template: Template, part: Expression, edits: list[Edit]) -> list[Edit]:
    """The edits of a part of a template; a string that replaces it whole becomes a part of the text."""
    text = part.source.text
    start, end = part.start - 2, part.end + 1
    if len(edits) != 1 or text[template.start] != '"':
        return edits
    new = edits[0].text
    is_whole = (edits[0].start, edits[0].end) == (part.start, part.end)
    is_marked = text[start : part.start] == "${" and text[part.end : end] == "}"
    is_literal = _LITERAL.fullmatch(new) is not None
    return [Edit(start, end, new.strip('"'))] if is_whole and is_marked and is_literal else edits


def _root(reference: Reference) -> str:
    root = reference.steps[0]
    return root.name if isinstance(root, TraverseRoot) else ""


_TERMS: Final = (
    FunctionCall,
    Index,
    Literal,
    Parentheses,
    Reference,
    RelativeTraversal,
    StringLiteral,
    Template,
)


def as_operand(text: str, expr: Expression) -> str:
    """The text of an expression, in parentheses unless steps can follow it."""
    is_term = isinstance(expr, _TERMS) or expr.static_map() is not None
    return text if is_term else f"({text})"
