"""Meanings of the words in a document, for an editor to colour: what a scanner alone cannot say."""

from __future__ import annotations

from collections.abc import Iterator

from nigari.hcl import tokens as tokens_of
from nigari.hcl.body import Attribute, Block
from nigari.hcl.calls import FunctionCall
from nigari.hcl.collections import KeyName
from nigari.hcl.expressions import Expression, Literal, Reference
from nigari.hcl.scanner import scan_lossless
from nigari.hcl.tokens import COMMENT
from nigari.hcl.traversal import TraverseAttr, TraverseRoot
from nigari.language.document import Document
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

KEYWORD: Final = "keyword"
TYPE: Final = "type"
STRING: Final = "string"
PROPERTY: Final = "property"
VARIABLE: Final = "variable"
NAMESPACE: Final = "namespace"
FUNCTION: Final = "function"
NUMBER: Final = "number"
COMMENT_KIND: Final = "comment"
KINDS: Final = (
    KEYWORD,
    TYPE,
    STRING,
    PROPERTY,
    VARIABLE,
    NAMESPACE,
    FUNCTION,
    NUMBER,
    COMMENT_KIND,
)
_TEXTS: Final = frozenset(
    (
        tokens_of.STRING,
        tokens_of.ESCAPED_STRING,
        tokens_of.OPEN_QUOTE,
        tokens_of.CLOSE_QUOTE,
        tokens_of.QUOTED_TEXT,
        tokens_of.OPEN_HEREDOC,
        tokens_of.CLOSE_HEREDOC,
        tokens_of.TEXT,
    )
)
"""The tokens that strings and heredocs are made of."""
_ROOTS: Final = frozenset(
    (
        "var",
        "local",
        "module",
        "data",
        "ephemeral",
        "action",
        "resource",
        "each",
        "count",
        "path",
        "terraform",
        "tofu",
        "self",
        "caller",
        "run",
    )
)
_TYPES: Final = frozenset(
    ("string", "number", "bool", "any", "list", "set", "map", "object", "tuple", "optional")
)


@record
class Colored:
    """A word and what it means."""

    start: int
    end: int
    kind: str
    is_declared: bool = False


def colored(document: Document) -> list[Colored]:
    """The words of a document that mean something, in order; they do not overlap."""
    if document.body is None:
        return []
    found: list[Colored] = []
    for attribute in document.body.attributes.values():
        found += _of_attribute(attribute, PROPERTY)
    for block in document.body.blocks:
        found += _of_block(block, KEYWORD)
    # Behind the others: of two words at one place, such as a label, the first one counts.
    found += _of_tokens(document.text)
    ordered = sorted(found, key=_order)
    apart: list[Colored] = []
    for each in ordered:
        if each.start < each.end and (not apart or each.start >= apart[-1].end):
            apart.append(each)
    return apart


def _order(each: Colored) -> tuple[int, int]:
    return each.start, each.end


def _of_tokens(text: str) -> Iterator[Colored]:
    """Find comments and the texts of strings, line by line: not every client takes more than one."""
    tokens = scan_lossless(text)
    for kind, start, part in zip(tokens.kinds, tokens.starts, tokens.texts, strict=True):
        shown = COMMENT_KIND if kind == COMMENT else STRING if kind in _TEXTS else ""
        if not shown:
            continue
        for line in part.splitlines(keepends=True):
            yield Colored(start, start + len(line.rstrip("\r\n")), shown)
            start += len(line)


def _of_block(block: Block, kind: str) -> Iterator[Colored]:
    pending = [(block, kind)]
    while pending:
        current, word = pending.pop()
        yield Colored(current.type_start, current.type_end, word)
        for index, (start, end) in enumerate(current.label_spans):
            is_type = len(current.label_spans) > 1 and index == 0
            yield Colored(start, end, TYPE if is_type else VARIABLE, not is_type)
        is_locals = current.type == "locals"
        for attribute in current.attributes.values():
            is_type = current.type == "variable" and attribute.name == "type"
            yield from _of_attribute(attribute, PROPERTY, is_locals, is_type)
        pending.extend((inner, TYPE) for inner in current.blocks)


def _of_attribute(
    attribute: Attribute, kind: str, is_declared: bool = False, is_type: bool = False
) -> Iterator[Colored]:
    yield Colored(attribute.name_start, attribute.name_end, kind, is_declared)
    pending = [attribute.expr]
    while pending:
        expr = pending.pop()
        if is_type:
            yield from _of_type(expr)
        else:
            yield from _of_expression(expr)
        pending.extend(expr.children())


def _of_type(expr: Expression) -> Iterator[Colored]:
    if isinstance(expr, FunctionCall):
        yield Colored(expr.start, expr.name_end, TYPE)
    elif (
        isinstance(expr, Reference) and expr.end - expr.start and expr.traversal.root_name in _TYPES
    ):
        yield Colored(expr.start, expr.end, TYPE)
    elif isinstance(expr, KeyName):
        yield Colored(expr.start, expr.end, PROPERTY)


def _of_expression(expr: Expression) -> Iterator[Colored]:
    if isinstance(expr, FunctionCall):
        yield Colored(expr.start, expr.name_end, FUNCTION)
    elif isinstance(expr, KeyName):
        yield Colored(expr.start, expr.end, PROPERTY)
    elif isinstance(expr, Literal):
        is_number = expr.source.text[expr.start : expr.start + 1].isdigit()
        yield Colored(expr.start, expr.end, NUMBER if is_number else KEYWORD)
    elif isinstance(expr, Reference):
        for index, step in enumerate(expr.steps):
            if isinstance(step, TraverseRoot):
                yield Colored(
                    step.start,
                    step.end,
                    NAMESPACE if step.name in _ROOTS else TYPE if len(expr.steps) > 1 else VARIABLE,
                )
            elif isinstance(step, TraverseAttr):
                start = step.end - len(step.name)
                yield Colored(start, step.end, VARIABLE if index == 1 else PROPERTY)
