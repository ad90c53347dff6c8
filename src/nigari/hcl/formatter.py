"""The standard form of a file, as `tofu fmt` writes it.

Besides the layout, some constructs are modernised: block labels are quoted, an argument that is
only an interpolation becomes the expression in it, and the type of a `variable` loses its quotes.
In a text with syntax errors only the layout changes.
"""

from __future__ import annotations

from bisect import bisect_left

from nigari.cty.values import normalize
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import Attribute, Block
from nigari.hcl.native_body import NativeBody
from nigari.hcl.parser import parse_body
from nigari.hcl.quoting import quoted
from nigari.hcl.scanner import scan_lossless
from nigari.hcl.source import Source
from nigari.hcl.token_layout import laid_out
from nigari.hcl.tokens import (
    CLOSE_PARENTHESIS,
    CLOSE_QUOTE,
    COMMENT,
    ESCAPED_STRING,
    IDENTIFIER,
    INTERPOLATION,
    NEWLINE,
    OPEN_PARENTHESIS,
    OPEN_QUOTE,
    QUOTED_TEXT,
    SEQUENCE_END,
    STRING,
    Tokens,
)

# formatTypeExpr of tofu: collections without an element type date from before version 0.12.
_ELEMENTS_OF_ANYTHING = {"list": "any", "map": "any", "set": "any"}
_QUOTED_TYPES = {
    '"string"': ("string", ""),
    '"list"': ("list", "string"),
    '"map"': ("map", "string"),
}


def format(text: str) -> str:
    """Format a text. Formatting is idempotent."""
    diags = Diagnostics()
    body = parse_body(Source("", text), diags)
    return format_body(body, text, diags.has_errors)


def format_body(body: NativeBody, text: str, has_errors: bool = False) -> str:
    """Format a text that is already parsed."""
    tokens = scan_lossless(text)
    # tofu fmt changes nothing but layout in an invalid file, whose structure is uncertain.
    rewrites = [] if has_errors else _Rewrites(tokens, text).of(body)
    kinds: list[int] = []
    texts: list[str] = []
    position = 0
    for rewrite in rewrites:
        _copy(tokens, position, rewrite.start, kinds, texts)
        kinds.extend(rewrite.kinds)
        texts.extend(rewrite.texts)
        position = rewrite.end
    last = len(tokens) - 1
    _copy(tokens, position, last, kinds, texts)
    # Spaces at the very end belong to no line, so they stay, as in OpenTofu.
    end = tokens.starts[last - 1] + len(tokens.texts[last - 1]) if last else 0
    return laid_out(kinds, texts) + " " * (len(text) - end)


def _copy(tokens: Tokens, start: int, end: int, kinds: list[int], texts: list[str]) -> None:
    kinds.extend(tokens.kinds[start:end])
    texts.extend(tokens.texts[start:end])


class Rewrite:
    """Tokens that replace those from `start` to `end`."""

    __slots__ = ("end", "kinds", "start", "texts")

    start: int
    end: int
    kinds: list[int]
    texts: list[str]

    def __init__(self, start: int, end: int, kinds: list[int], texts: list[str]) -> None:
        self.start = start
        self.end = end
        self.kinds = kinds
        self.texts = texts


class _Rewrites:
    """Finds constructs to modernise."""

    def __init__(self, tokens: Tokens, text: str) -> None:
        self.tokens = tokens
        self.text = text

    def of(self, body: NativeBody) -> list[Rewrite]:
        found: list[Rewrite | None] = []
        pending: list[tuple[NativeBody, bool]] = [(body, False)]
        while pending:
            current, is_variable = pending.pop()
            for attribute in current.attributes.values():
                is_type = is_variable and attribute.name == "type"
                found.append(self._type(attribute) if is_type else self._value(attribute))
            for block in current.blocks:
                found.append(self._labels(block))
                if isinstance(block.body, NativeBody):
                    # formatBody: only a variable block at the top of a file
                    # has type constraints.
                    pending.append((block.body, current is body and block.type == "variable"))
        return sorted([each for each in found if each is not None], key=_start_of)

    def _labels(self, block: Block) -> Rewrite | None:
        if not block.labels:
            return None
        start = bisect_left(self.tokens.starts, block.type_end)
        end = bisect_left(self.tokens.starts, block.label_spans[-1][1])
        # formatBody of tofu: labels are quoted, and comments between them are lost.
        texts = [quoted(normalize(label)) for label in block.labels]
        return Rewrite(start, end, [STRING] * len(texts), texts)

    def _tokens_of(self, attribute: Attribute) -> tuple[int, int]:
        """Return the start and end index of an argument's expression tokens."""
        expr = attribute.expr
        starts = self.tokens.starts
        return bisect_left(starts, expr.start), bisect_left(starts, expr.end)

    def _type(self, attribute: Attribute) -> Rewrite | None:
        start, end = self._tokens_of(attribute)
        # formatTypeExpr: only a single word or quoted word is an old form.
        if end - start != 1:
            return None
        kind, word = self.tokens.kinds[start], self.tokens.texts[start]
        name, element = word, ""
        if kind == IDENTIFIER:
            element = _ELEMENTS_OF_ANYTHING.get(word, "")
        elif kind in (STRING, ESCAPED_STRING):
            name, element = _QUOTED_TYPES.get(word, (word, ""))
        if name == word and not element:
            return None
        if not element:
            return Rewrite(start, end, [IDENTIFIER], [name])
        kinds = [IDENTIFIER, OPEN_PARENTHESIS, IDENTIFIER, CLOSE_PARENTHESIS]
        return Rewrite(start, end, kinds, [name, "(", element, ")"])

    def _value(self, attribute: Attribute) -> Rewrite | None:
        if not self.text.startswith('"${', attribute.expr.start):
            return None
        start, end = self._tokens_of(attribute)
        kinds = self.tokens.kinds
        start_inside, end_inside = start, end
        # An interpolation may contain nothing but another one.
        # formatValueExpr: "${…}" around a whole value dates from before version 0.12.
        while self._is_one_interpolation(start_inside, end_inside):
            start_inside, end_inside = start_inside + 2, end_inside - 2
            while start_inside < end_inside and kinds[start_inside] == NEWLINE:
                start_inside += 1
            while end_inside > start_inside and kinds[end_inside - 1] == NEWLINE:
                end_inside -= 1
        if start_inside == start:
            return None
        inside = kinds[start_inside:end_inside]
        texts = [self.tokens.texts[position] for position in range(start_inside, end_inside)]
        if self._needs_parentheses(inside, texts):
            inside = [OPEN_PARENTHESIS, *inside, CLOSE_PARENTHESIS]
            texts = ["(", *texts, ")"]
        return Rewrite(start, end, inside, texts)

    def _is_one_interpolation(self, start: int, end: int) -> bool:
        """Check for quotes around a single interpolation and nothing else."""
        kinds = self.tokens.kinds
        if end - start < 5 or kinds[start] != OPEN_QUOTE or kinds[start + 1] != INTERPOLATION:
            return False
        if kinds[end - 2] != SEQUENCE_END or kinds[end - 1] != CLOSE_QUOTE:
            return False
        quotes = 0
        for position in range(start + 2, end - 2):
            kind = kinds[position]
            if kind == OPEN_QUOTE:
                quotes += 1
            elif kind == CLOSE_QUOTE:
                quotes -= 1
            elif quotes <= 0 and kind in (INTERPOLATION, SEQUENCE_END, QUOTED_TEXT):
                return False
        return True

    def _needs_parentheses(self, kinds: list[int], texts: list[str]) -> bool:
        """Check for an expression that spans several lines, which it may only within brackets."""
        if kinds and kinds[0] == OPEN_PARENTHESIS and kinds[-1] == CLOSE_PARENTHESIS:
            return False
        for kind, text in zip(kinds, texts, strict=True):
            if kind == NEWLINE or (kind == COMMENT and text.endswith("\n")):
                return True
        return False


def _start_of(rewrite: Rewrite) -> int:
    return rewrite.start
