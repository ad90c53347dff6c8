"""Conversion of files to data in the shape of python-hcl2.

Strings keep their quotes, expressions are source in `${ }`, a single name is the name itself.
Blocks are lists under their type, wrapped in dicts for their labels.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TypeVar

from nigari.compat.hcl2.const import (
    COMMENTS_KEY,
    END_LINE,
    INLINE_COMMENTS_KEY,
    IS_BLOCK,
    START_LINE,
)
from nigari.compat.hcl2.expression_text import inline, source_text
from nigari.compat.hcl2.utils import SerializationOptions
from nigari.hcl.body import Attribute, Block
from nigari.hcl.collections import KeyName, ObjectConstructor, TupleConstructor
from nigari.hcl.expressions import Expression, Literal, Reference
from nigari.hcl.native_body import NativeBody
from nigari.hcl.operators import Operation, UnaryOperation
from nigari.hcl.quoting import escaped_template
from nigari.hcl.scanner import scan_lossless
from nigari.hcl.templates import StringLiteral, Template, TemplateWrap
from nigari.hcl.tokens import COMMENT

Data = dict[str, object]

_HEREDOC = re.compile(r"<<(-?)[^\n]*\n(.*)\n[ \t]*\S+\s*\Z", re.DOTALL)


def serialize_file(body: NativeBody, options: SerializationOptions, comments: bool) -> Data:
    """Convert a whole file; `comments` is false if the document discarded its comments."""
    found = comments_of(body.source.text) if options.with_comments and comments else []
    return Serializer(options, found).body(body)


class Serializer:
    """Converts parts of a tree to data; `comments` are those of the whole text."""

    def __init__(self, options: SerializationOptions, comments: list[tuple[int, int, str]]) -> None:
        self.options = options
        self.comments = comments

    def body(self, body: NativeBody) -> Data:
        """Convert the content of a file or block."""
        result: Data = {}
        items: list[Attribute | Block] = [*body.attributes.values(), *body.blocks]
        for item in sorted(items, key=_start_of):
            if isinstance(item, Block):
                blocks = result.setdefault(item.type, [])
                assert isinstance(blocks, list)
                blocks.append(self.block(item))
            else:
                result[item.name] = self.value(item.expr)
        self._add_comments(body, result)
        return result

    def block(self, block: Block) -> Data:
        """Convert a block, wrapped in its labels."""
        assert isinstance(block.body, NativeBody)
        content = self.body(block.body)
        if self.options.explicit_blocks:
            content[IS_BLOCK] = True
        if self.options.with_meta:
            content[START_LINE] = block.range.start.line
            content[END_LINE] = block.range.end.line
        text = block.source.text
        for start, end in reversed(block.label_spans):
            content = {self._stripped(text[start:end]): content}
        return content

    def _add_comments(self, body: NativeBody, result: Data) -> None:
        standalone: list[Data] = []
        behind: list[Data] = []
        first = bisect_left(self.comments, (body.start, 0, ""))
        last = bisect_left(self.comments, (body.end, 0, ""))
        attributes = sorted(body.attributes.values(), key=_start_of)
        for start, _, comment in self.comments[first:last]:
            block = _last_before(body.blocks, start)
            if block is not None and start < block.end:
                continue
            attribute = _last_before(attributes, start)
            is_behind = attribute is not None and _is_behind(attribute, start)
            (behind if is_behind else standalone).append({"value": comment})
        if standalone:
            result[COMMENTS_KEY] = standalone
        if behind:
            result[INLINE_COMMENTS_KEY] = behind

    def value(self, expr: Expression) -> object:
        """Convert the value of an argument, or a part of it."""
        if isinstance(expr, Literal):
            return self._number_or_word(expr, source_text(expr))
        if isinstance(expr, UnaryOperation) and isinstance(expr.operand, Literal):
            if not expr.is_not and source_text(expr.operand)[:1].isdigit():
                return self._number_or_word(expr, "".join(source_text(expr).split()))
        if isinstance(expr, StringLiteral | Template | TemplateWrap):
            return self._string(source_text(expr))
        if isinstance(expr, Reference) and len(expr.steps) == 1:
            return source_text(expr)
        if isinstance(expr, TupleConstructor) and not self.options.wrap_tuples:
            return [self.value(each) for each in expr.elements]
        if isinstance(expr, ObjectConstructor) and not self.options.wrap_objects:
            return {self._key(key): self.value(value) for key, value in expr.items}
        return f"${{{inline(expr, self.options.force_operation_parentheses)}}}"

    def _number_or_word(self, expr: Expression, text: str) -> object:
        words: dict[str, object] = {"true": True, "false": False, "null": None}
        if text in words:
            return words[text]
        if "e" in text.lower():
            return f"${{{text}}}" if self.options.preserve_scientific_notation else float(text)
        return float(text) if "." in text else int(text)

    def _string(self, source: str) -> str:
        if source.startswith("<<") and not self.options.preserve_heredocs:
            source = _flattened(source)
        elif source.startswith("<<"):
            source = f'"{source}"'
        return self._stripped(source)

    def _stripped(self, source: str) -> str:
        if self.options.strip_string_quotes and source.startswith('"') and len(source) > 1:
            return source[1:-1]
        return source

    def _key(self, key: Expression) -> str:
        if isinstance(key, KeyName):
            return key.name
        value = self.value(key)
        return value if isinstance(value, str) else str(value)


_I = TypeVar("_I", Attribute, Block)


def _start_of(item: Attribute | Block) -> int:
    return item.start


def _last_before(items: list[_I], offset: int) -> _I | None:
    position = bisect_right(items, offset, key=_start_of)
    return items[position - 1] if position else None


def _is_behind(attribute: Attribute, offset: int) -> bool:
    """Check whether a comment belongs to the value: inside it, or where an operator could follow."""
    end = attribute.expr.end
    if offset < end:
        return offset >= attribute.expr.start
    between = attribute.source.text[end:offset]
    return isinstance(attribute.expr, Operation) and "\n" not in between


def _flattened(source: str) -> str:
    """Convert a heredoc to a quoted string, without the line end before its closing marker."""
    match = _HEREDOC.match(source)
    if match is None:
        return '""'
    lines = match[2].split("\n")
    if match[1]:
        margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
        margin = min(margins, default=0)
        lines = [line[margin:] for line in lines]
    content = "\n".join(lines)
    return f'"{escaped_template(content)}"'


def comments_of(text: str) -> list[tuple[int, int, str]]:
    """List the comments of a text with their start, end and content."""
    tokens = scan_lossless(text)
    found: list[tuple[int, int, str]] = []
    for kind, start, token in zip(tokens.kinds, tokens.starts, tokens.texts, strict=True):
        if kind != COMMENT:
            continue
        content = token.strip()
        if content.startswith("/*"):
            content = content[2:].removesuffix("*/").strip()
        else:
            content = content.removeprefix("//" if content.startswith("//") else "#").strip()
        if content:
            found.append((start, start + len(token), content))
    return found
