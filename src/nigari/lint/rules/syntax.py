"""Rules about syntax: forms that have a better one, which means the same.

Each is found in the tree of one expression, without its value.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.cty.types import KIND_MAP
from nigari.hcl.calls import FunctionCall
from nigari.hcl.collections import KeyName, ObjectConstructor
from nigari.hcl.expressions import Expression, Parentheses, Reference, RelativeTraversal
from nigari.hcl.scanner import is_identifier
from nigari.hcl.splats import Splat
from nigari.hcl.templates import StringLiteral, TemplateWrap
from nigari.hcl.traversal import TraverseIndex
from nigari.lazy import lazy_pattern
from nigari.lint.model import LintedTree
from nigari.lint.rule import Hit, Rule, replacement
from nigari.lint.written import WrittenExpression, expressions_within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_FORMS: Final = ("style", "recommended")


def _native(tree: LintedTree) -> Iterator[tuple[WrittenExpression, Expression]]:
    """Every part of every expression in the native syntax."""
    for module in tree.modules:
        for written in module.written.expressions:
            if not written.expr.is_json:
                for part, _ in expressions_within(written.expr):
                    yield written, part


def wrapped_expressions(tree: LintedTree) -> Iterator[Hit]:
    """`"${var.x}"`, which is `var.x`."""
    for written, part in _native(tree):
        if isinstance(part, TemplateWrap) and _is_one_line(part) and not _is_key(written, part):
            inner = part.wrapped
            text = inner.source.slice(inner.start, inner.end)
            yield Hit(
                "The quotes and the template around this expression change nothing. Write the "
                "expression alone.",
                part.range,
                fix=replacement("Remove the template", part.source, part.start, part.end, text),
            )


def _is_one_line(part: TemplateWrap) -> bool:
    text = part.source.slice(part.start, part.end)
    return text.startswith('"${') and "\n" not in text and "#" not in text and "${~" not in text


def _is_key(written: WrittenExpression, part: Expression) -> bool:
    """Return whether an expression is an object key, which would need parentheses."""
    for each, _ in expressions_within(written.expr):
        if isinstance(each, ObjectConstructor) and any(key is part for key, _ in each.items):
            return True
    return False


def dotted_indexes(tree: LintedTree) -> Iterator[Hit]:
    """`list.0` and `list.*.id`, forms of old versions."""
    for module in tree.modules:
        for written in module.written.expressions:
            if not written.expr.is_json:
                parts = [part for part, _ in expressions_within(written.expr)]
                splats = [each for each in parts if isinstance(each, Splat) and _is_old(each)]
                for splat in splats:
                    yield from _old_splat(splat)
                # In `a.*.b.0` the index is one of each element, and in `a.*.b[0]` it is not.
                inner = {splat.each for splat in splats}
                for part in parts:
                    if isinstance(part, Reference | RelativeTraversal):
                        yield from _old_indexes(part, part not in inner)


def _is_old(splat: Splat) -> bool:
    return splat.source.slice(splat.marker_start, splat.marker_end) == ".*"


def _old_splat(splat: Splat) -> Iterator[Hit]:
    source, start, end = splat.source, splat.marker_start, splat.marker_end
    # `a.*.b[0]` and `a[*].b[0]` mean different things.
    if source.slice(splat.end, splat.end + 1) != "[" and _has_only_names(splat.each):
        yield Hit(
            "A splat is written as [*]; .* is the form of old versions.",
            source.range(start, end),
            fix=replacement("Write [*]", source, start, end, "[*]"),
        )


def _old_indexes(part: Reference | RelativeTraversal, is_fixable: bool) -> Iterator[Hit]:
    for step in part.steps:
        text = part.source.slice(step.start, step.end)
        if isinstance(step, TraverseIndex) and text[:1] == "." and text[1:].isdigit():
            fix = replacement("Write brackets", part.source, step.start, step.end, f"[{text[1:]}]")
            yield Hit(
                "An index is written in brackets; the dot is the form of old versions.",
                part.source.range(step.start, step.end),
                fix=fix if is_fixable else None,
            )


def _has_only_names(expr: Expression) -> bool:
    """Return whether only names follow a splat."""
    if not isinstance(expr, RelativeTraversal):
        return False
    return not any(isinstance(each, TraverseIndex) for each in expr.steps)


_REFERENCES: Final = frozenset(("depends_on", "ignore_changes", "replace_triggered_by"))


def quoted_references(tree: LintedTree) -> Iterator[Hit]:
    """`depends_on = ["aws_vpc.main"]`."""
    for module in tree.modules:
        for written in module.written.expressions:
            if written.attribute.name not in _REFERENCES or written.expr.is_json:
                continue
            for each in written.expr.static_list() or ():
                if isinstance(each, StringLiteral) and _is_address(each.text):
                    yield Hit(
                        "References are written without quotes; quotes are the form of old versions.",
                        each.range,
                        fix=replacement(
                            "Remove the quotes", each.source, each.start, each.end, each.text
                        ),
                    )


def _is_address(text: str) -> bool:
    return all(is_identifier(each) for each in text.split("."))


def needless_lookups(tree: LintedTree) -> Iterator[Hit]:
    """`lookup(map, key)` without a default, which is `map[key]`."""
    for module in tree.modules:
        for written in module.written.expressions:
            if written.expr.is_json:
                continue
            for part, bound in expressions_within(written.expr):
                if not isinstance(part, FunctionCall) or part.name != "lookup":
                    continue
                if len(part.arguments) != 2 or part.expand_final:
                    continue
                collection, key = part.arguments
                is_map = not (bound or written.bound) and all(
                    tree.value(each, collection).type.kind == KIND_MAP for each in module.instances
                )
                fix = None
                if is_map and isinstance(collection, Reference | Parentheses):
                    source = part.source
                    text = (
                        f"{source.slice(collection.start, collection.end)}"
                        f"[{source.slice(key.start, key.end)}]"
                    )
                    fix = replacement("Write an index", source, part.start, part.end, text)
                yield Hit(
                    "Without a default, lookup does what an index does. Write MAP[KEY], or add a "
                    "default.",
                    part.range,
                    fix=fix,
                )


def duplicate_keys(tree: LintedTree) -> Iterator[Hit]:
    """Keys that an object has twice: the first value is lost."""
    for _, part in _native(tree):
        if isinstance(part, ObjectConstructor):
            seen: set[str] = set()
            for key, _ in part.items:
                name = key.name if isinstance(key, KeyName) else None
                name = key.text if isinstance(key, StringLiteral) else name
                if name is not None and name in seen:
                    yield Hit(
                        f"The object has the key {name} twice, and only the last value counts. "
                        "Remove one of them.",
                        key.range,
                    )
                elif name is not None:
                    seen.add(name)


_SLASHES = lazy_pattern(r"^([ \t]*)//", 8)


def slash_comments(tree: LintedTree) -> Iterator[Hit]:
    """`// comment`."""
    for module in tree.modules:
        for body in module.written.native_files:
            source = body.source
            inside = (
                [
                    (each.expr.start, each.expr.end)
                    for each in module.written.expressions
                    if each.expr.source is source
                ]
                if "//" in source.text
                else []
            )
            for match in _SLASHES.finditer(source.text):
                start = match.end() - 2
                if not any(first <= start < last for first, last in inside):
                    yield Hit(
                        "Comments begin with # in the usual style.",
                        source.range(start, start + 2),
                        fix=replacement("Write #", source, start, start + 2, "#"),
                    )


SYNTAX_RULES: Final = (
    Rule(
        "nigari:wrapped-expression", _FORMS, "Template around one expression", wrapped_expressions
    ),
    Rule("nigari:dotted-index", _FORMS, "Index of old versions", dotted_indexes),
    Rule("nigari:quoted-reference", _FORMS, "Quoted reference", quoted_references),
    Rule("nigari:needless-lookup", _FORMS, "Lookup without a default", needless_lookups),
    Rule("nigari:duplicate-key", ("confusing", "recommended"), "Duplicate key", duplicate_keys),
    Rule("nigari:comment-syntax", ("style",), "Comment with slashes", slash_comments),
)
