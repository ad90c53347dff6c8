"""Parser of accesses to parts of a value: attributes, indexes and splats.

Owns all traversal forms, including legacy ones. The content of an index is left to the expression
parser.
"""

from __future__ import annotations

from nigari.cty.errors import CtyError
from nigari.cty.types import NUMBER as NUMBER_TYPE
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, number, unknown
from nigari.diagnostics import Diagnostics
from nigari.hcl.expressions import (
    Expression,
    Index,
    Literal,
    Reference,
    RelativeTraversal,
    dotted_steps,
)
from nigari.hcl.parse_template import TemplateParser
from nigari.hcl.source import Source
from nigari.hcl.splats import Splat, SplatItem
from nigari.hcl.templates import StringLiteral
from nigari.hcl.tokens import (
    CLOSE_BRACKET,
    DOT,
    IDENTIFIER,
    NUMBER,
    OPEN_BRACKET,
    PATH,
    STAR,
    Tokens,
)
from nigari.hcl.traversal import Step, TraverseAttr, TraverseIndex, TraverseRoot


class AccessParser(TemplateParser):
    __slots__ = ("numbers",)

    at: int
    depth: int

    def __init__(self, source: Source, tokens: Tokens, diags: Diagnostics) -> None:
        super().__init__(source, tokens, diags)
        self.numbers: dict[str, Value] = {}

    def number(self, index: int) -> Value:
        """Return the value of a number token; equal literals share one."""
        text = self.texts[index]
        value = self.numbers.get(text)
        if value is None:
            try:
                value = number(text)
            except CtyError:
                self._report_number(index)
                return unknown(NUMBER_TYPE)
            self.numbers[text] = value
        return value

    def _report_number(self, index: int) -> None:
        self.fail(
            index,
            "Invalid number",
            "A number consists of digits, with an optional decimal point between digits and an "
            "optional exponent, as in 1.5e3.",
        )

    # -- accesses -----------------------------------------------------------------------------

    def accesses(self, base: Expression) -> Expression:
        """Parse all accesses after a primary expression: attributes, indexes and splats."""
        start = base.start
        steps: list[Step] = []
        while True:
            at = self.at
            kind = self.kinds[at]
            if kind == DOT:
                following = self.kinds[at + 1]
                # HCL: .* applies to attributes only and ends at the next index;
                # [*] applies to all that follows.
                if following == STAR:
                    base = self._attribute_splat(self._with_steps(base, steps), start)
                    steps = []
                    continue
                self.at = at + 1
                self._attribute_step(at, steps)
            elif kind == OPEN_BRACKET:
                if self.kinds[at + 1] == STAR:
                    return self._full_splat(self._with_steps(base, steps), start)
                key = self._index_key()
                begin, end = self.starts[at], self.end(self.at - 1)
                literal = _literal_key(key)
                # A literal key makes the index part of a traversal, which can be
                # read without evaluation.
                if literal is not None:
                    steps.append(TraverseIndex(literal, begin, end))
                    continue
                base = self._with_steps(base, steps)
                steps = []
                base = Index(self.source, start, end, base, key, begin)
            else:
                return self._with_steps(base, steps)

    def _with_steps(self, base: Expression, steps: list[Step]) -> Expression:
        if not steps:
            return base
        end = steps[-1].end
        if isinstance(base, Reference):
            return Reference(self.source, base.start, end, base.steps + steps)
        return RelativeTraversal(self.source, base.start, end, base, steps)

    def _attribute_step(self, dot: int, steps: list[Step]) -> None:
        """Parse the name, dotted names or number after a dot."""
        at = self.at
        kind = self.kinds[at]
        start, end = self.starts[dot], self.end(at)
        if kind == IDENTIFIER:
            steps.append(TraverseAttr(self.texts[at], start, end))
        elif kind == PATH:
            names = dotted_steps(self.texts[at], self.starts[at])
            root = names[0]
            assert isinstance(root, TraverseRoot)
            steps.append(TraverseAttr(root.name, start, root.end))
            steps.extend(names[1:])
        elif kind == NUMBER:
            steps.append(TraverseIndex(self._legacy_index(at), start, end))
        else:
            raise self.fail(
                at, "Missing attribute name", "A dot must be followed by an attribute name."
            )
        self.at = at + 1

    def _legacy_index(self, at: int) -> Value:
        text = self.texts[at]
        if "." not in text:
            return self.number(at)
        # HCL: the scanner takes 0.1 in a.0.1 for one number; older versions of the
        # language accepted it.
        first, _, second = text.partition(".")
        self.fail(
            at,
            "Invalid index",
            f"Two numbers joined by a dot are read as one number. Write [{first}][{second}].",
        )
        return DYNAMIC_UNKNOWN

    def _attribute_splat(self, operand: Expression, start: int) -> Expression:
        """Production: ".*" {"." name | "." number}."""
        dot = self.at
        star = dot + 1
        self.at = star + 1
        item = SplatItem(self.source, self.starts[dot], self.end(star))
        each: Expression = item
        steps: list[Step] = []
        while self.kinds[self.at] == DOT:
            if self.kinds[self.at + 1] == STAR:
                raise self.fail(
                    self.at + 1,
                    "Splat inside a splat",
                    "Only attributes can follow .*. To apply a splat to each element, use [*].",
                )
            self.at += 1
            self._attribute_step(self.at - 1, steps)
        end = self.end(self.at - 1)
        if steps:
            each = RelativeTraversal(self.source, steps[0].start, end, item, steps)
        return Splat(self.source, start, end, operand, each, item.start, item.end)

    def _full_splat(self, operand: Expression, start: int) -> Expression:
        """Production: "[*]" and every access after it."""
        opening = self.at
        if self.kinds[opening + 2] != CLOSE_BRACKET:
            raise self.fail(
                opening + 2,
                "Unclosed splat",
                "The star in [*] must be followed by a closing bracket.",
                opening,
            )
        self.enter(opening)
        self.at = opening + 3
        item = SplatItem(self.source, self.starts[opening], self.end(opening + 2))
        each = self.accesses(item)
        self.depth -= 1
        return Splat(self.source, start, each.end, operand, each, item.start, item.end)

    def _index_key(self) -> Expression:
        """Production: "[" expression "]"."""
        opening = self.at
        self.enter(opening)
        self.at = opening + 1
        key = self.expression()
        self.depth -= 1
        if self.kinds[self.at] != CLOSE_BRACKET:
            raise self.fail(
                self.at,
                "Unclosed index",
                "This index has no closing bracket.",
                opening,
            )
        self.at += 1
        return key


def _literal_key(key: Expression) -> Value | None:
    """Return the key of an index if it is a literal."""
    if isinstance(key, Literal):
        return key.literal
    if isinstance(key, StringLiteral):
        return key.literal
    return None
