"""Parser of expressions in the native syntax.

Recursive descent with a function for each production; operators by precedence. Chains of operators
and of conditionals are parsed in loops, so that only actual nesting costs depth. After an error in
one item, every list continues with the next. The base class parses templates.
"""

# ruff: noqa: SIM109 - two comparisons cost less than making a tuple

from __future__ import annotations

from nigari.cty.values import DYNAMIC_NULL, FALSE, TRUE, Value
from nigari.hcl.calls import FunctionCall
from nigari.hcl.expressions import (
    Expression,
    Literal,
    Parentheses,
    Reference,
    RelativeTraversal,
    dotted_steps,
)
from nigari.hcl.operators import Conditional, Operation, UnaryOperation
from nigari.hcl.parse_collections import CollectionParser
from nigari.hcl.source import Source
from nigari.hcl.templates import StringLiteral
from nigari.hcl.token_stream import Abandon
from nigari.hcl.tokens import (
    ARROW,
    ASSIGN,
    BANG,
    CLOSE_HEREDOC,
    CLOSE_PARENTHESIS,
    CLOSE_QUOTE,
    COLON,
    COMMA,
    DOT,
    DOUBLE_COLON,
    ELLIPSIS,
    END,
    ESCAPED_STRING,
    FIRST_OPERATOR,
    FOR,
    IDENTIFIER,
    IF,
    IN,
    LAST_OPERATOR,
    MINUS,
    NEWLINE,
    NUMBER,
    OPEN_BRACE,
    OPEN_BRACKET,
    OPEN_HEREDOC,
    OPEN_PARENTHESIS,
    OPEN_QUOTE,
    PATH,
    QUESTION,
    STAR,
    STRING,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


# HCL: ||, &&, equality, comparison, sum and product, from loose to tight.
_LEVELS: Final = (0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 5)
"""Precedence of each operator, in the order of their tokens; higher binds tighter."""

KEYWORDS: Final[dict[str, Value]] = {"true": TRUE, "false": FALSE, "null": DYNAMIC_NULL}
_DOTTED_KEYWORDS: Final = tuple([f"{keyword}." for keyword in KEYWORDS])

_BEFORE_EXPRESSION: Final = {
    ASSIGN: "To compare two values, use == with two equals signs.",
    ARROW: "The arrow => is used only between the key and value of a for expression in braces.",
    STAR: "A splat, [*] or .*, must follow the value whose elements it selects.",
}


def dotted_names(source: Source, start: int, end: int) -> Expression:
    """Build the expression of a dotted name: a reference, or an access to `true`, `false` or
    `null`.
    """
    text = source.text
    if not text.startswith(_DOTTED_KEYWORDS, start):
        return Reference(source, start, end)
    root, *steps = dotted_steps(text[start:end], start)
    literal = Literal(source, start, root.end, KEYWORDS[text[start : root.end]])
    return RelativeTraversal(source, start, end, literal, steps)


class ExpressionParser(CollectionParser):
    __slots__ = ()

    at: int
    depth: int

    def expression(self) -> Expression:
        """Production: operation ["?" expression ":" expression]"""
        start = self.at
        first = self.term()
        kind = self.kinds[self.at]
        if FIRST_OPERATOR <= kind <= LAST_OPERATOR:
            first = self._operation(first, 0)
            kind = self.kinds[self.at]
        if kind == QUESTION:
            return self._conditional(first, start)
        return first

    def _conditional(self, condition: Expression, start: int) -> Expression:
        conditions: list[Expression] = []
        results: list[Expression] = []
        while True:
            # HCL: conditionals are right-associative. A chain is one node here, so that it costs no
            # depth.
            conditions.append(condition)
            self.enter(self.at)
            self.at += 1
            results.append(self.expression())
            self.depth -= 1
            if self.kinds[self.at] != COLON:
                raise self._missing_colon(start)
            self.at += 1
            condition = self.term()
            if FIRST_OPERATOR <= self.kinds[self.at] <= LAST_OPERATOR:
                condition = self._operation(condition, 0)
            if self.kinds[self.at] != QUESTION:
                break
        begin, end = self.starts[start], condition.end
        return Conditional(self.source, begin, end, conditions, results, condition)

    def _missing_colon(self, start: int) -> Abandon:
        return self.fail(
            self.at,
            "Incomplete conditional",
            "A conditional has three parts, as in condition ? one : other. The colon and the "
            "last part are missing. An expression ends at the end of the line unless it is "
            "inside parentheses.",
            start,
        )

    def _operation(self, left: Expression, least: int) -> Expression:
        """Production: term {operator term}, for operators from a precedence up."""
        kinds = self.kinds
        while True:
            kind = kinds[self.at]
            if not FIRST_OPERATOR <= kind <= LAST_OPERATOR:
                return left
            level = _LEVELS[kind - FIRST_OPERATOR]
            if level < least:
                return left
            operands = [left]
            operators: list[int] = []
            while FIRST_OPERATOR <= kind <= LAST_OPERATOR:
                found = _LEVELS[kind - FIRST_OPERATOR]
                if found != level:
                    if found < level:
                        break
                    operands[-1] = self._operation(operands[-1], level + 1)
                    kind = kinds[self.at]
                    continue
                operators.append(kind - FIRST_OPERATOR)
                self.at += 1
                operands.append(self.term())
                kind = kinds[self.at]
            left = Operation(self.source, operands[0].start, operands[-1].end, operands, operators)

    # -- terms --------------------------------------------------------------------------------

    def term(self) -> Expression:
        """Production: primary {"." name | "." number | ".*" | "[" expression "]" | "[*]"}"""
        at = self.at
        kinds = self.kinds
        kind = kinds[at]
        start = self.starts[at]
        term: Expression
        if kind == STRING:
            self.at = at + 1
            text = self.texts[at]
            term = StringLiteral(self.source, start, start + len(text), text[1:-1])
        elif kind == PATH:
            self.at = at + 1
            term = dotted_names(self.source, start, start + len(self.texts[at]))
        elif kind == IDENTIFIER:
            following = kinds[at + 1]
            if following == OPEN_PARENTHESIS or following == DOUBLE_COLON:
                term = self._call()
            else:
                self.at = at + 1
                text = self.texts[at]
                end = start + len(text)
                keyword = KEYWORDS.get(text)
                if keyword is None:
                    term = Reference(self.source, start, end)
                else:
                    term = Literal(self.source, start, end, keyword)
        elif kind == NUMBER:
            self.at = at + 1
            term = Literal(self.source, start, self.end(at), self.number(at))
        elif kind == OPEN_BRACKET:
            term = self.tuple_constructor()
        elif kind == OPEN_BRACE:
            term = self.object_constructor()
        else:
            term = self._other_term(kind)
        kind = kinds[self.at]
        if kind == DOT or kind == OPEN_BRACKET:
            return self.accesses(term)
        return term

    def _other_term(self, kind: int) -> Expression:
        at = self.at
        start = self.starts[at]
        if kind == OPEN_QUOTE:
            self.at = at + 1
            return self.template(at, CLOSE_QUOTE, False)
        if kind == ESCAPED_STRING:
            self.at = at + 1
            return StringLiteral(self.source, start, self.end(at), self.string_text(at))
        if kind == OPEN_PARENTHESIS:
            return self._parentheses()
        if kind == OPEN_HEREDOC:
            self.at = at + 1
            return self.template(at, CLOSE_HEREDOC, self.text.startswith("<<-", start))
        if kind == MINUS or kind == BANG:
            self.enter(at)
            self.at = at + 1
            # HCL: a sign applies to the term with its accesses, so that -a.b is -(a.b).
            operand = self.term()
            self.depth -= 1
            return UnaryOperation(self.source, start, operand.end, operand, kind == BANG)
        if kind == IN or kind == IF or kind == FOR:
            # HCL: the words of a for expression are ordinary names everywhere else.
            self.kinds[at] = IDENTIFIER
            return self.term()
        raise self._no_expression(at)

    def _no_expression(self, at: int) -> Abandon:
        kind = self.kinds[at]
        if kind == END:
            return self.fail(
                at, "Missing expression", "The text ends where an expression is expected."
            )
        if kind == NEWLINE:
            return self.fail(
                at,
                "Missing expression",
                "The line ends where an expression is expected. To continue an expression on the "
                "next line, put it in parentheses.",
            )
        hint = _BEFORE_EXPRESSION.get(kind, "")
        return self.fail(
            at,
            "Invalid expression",
            f"An expression is expected here, and {self.texts[at]} cannot begin one. {hint}".rstrip(),
        )

    def _parentheses(self) -> Expression:
        """Production: "(" expression ")"."""
        opening = self.at
        self.enter(opening)
        self.at += 1
        inner = self.expression()
        self.depth -= 1
        closing = self.at
        if self.kinds[closing] != CLOSE_PARENTHESIS:
            raise self.fail(
                closing,
                "Unclosed parenthesis",
                "This expression has no closing parenthesis.",
                opening,
            )
        self.at = closing + 1
        return Parentheses(self.source, self.starts[opening], self.end(closing), inner)

    # -- calls --------------------------------------------------------------------------------

    def _call(self) -> Expression:
        """Production: name {"::" name} "(" [expression {"," expression} ["," | "..."]] ")"."""
        first = self.at
        name = self.texts[first]
        self.at += 1
        # Namespaces of functions: provider::NAME::FUNCTION and core::FUNCTION.
        while self.kinds[self.at] == DOUBLE_COLON:
            if self.kinds[self.at + 1] != IDENTIFIER:
                raise self.fail(
                    self.at + 1,
                    "Missing function name",
                    "A :: must be followed by the name of a function or of another namespace.",
                    first,
                )
            name = f"{name}::{self.texts[self.at + 1]}"
            self.at += 2
        opening = self.at
        if self.kinds[opening] != OPEN_PARENTHESIS:
            raise self.fail(
                opening,
                "Missing arguments",
                "A name that contains :: refers to a function, and its arguments in parentheses "
                "are missing.",
                first,
            )
        self.enter(opening)
        self.at = opening + 1
        arguments: list[Expression] = []
        expands = self._arguments(arguments, first)
        self.depth -= 1
        return FunctionCall(
            self.source,
            self.starts[first],
            self.end(self.at - 1),
            name,
            arguments,
            expands,
            self.end(opening - 1),
            self.starts[opening],
        )

    def _arguments(self, arguments: list[Expression], first: int) -> bool:
        """Parse the arguments of a call up to its closing parenthesis; return whether the last is
        expanded.
        """
        depth = self.depth
        while True:
            kind = self.kinds[self.at]
            if kind == CLOSE_PARENTHESIS:
                self.at += 1
                return False
            begin = self.at
            try:
                arguments.append(self.expression())
                kind = self.kinds[self.at]
                if kind == COMMA:
                    self.at += 1
                    continue
                if kind == CLOSE_PARENTHESIS:
                    self.at += 1
                    return False
                if kind == ELLIPSIS:
                    if self.kinds[self.at + 1] == CLOSE_PARENTHESIS:
                        self.at += 2
                        return True
                    raise self._after_ellipsis(first)
                raise self._bad_argument_end(first)
            except Abandon:
                self.depth = depth
                if not self.resume(begin, arguments):
                    return False

    def _after_ellipsis(self, first: int) -> Abandon:
        return self.fail(
            self.at,
            "Expanded argument is not the last",
            "Only the last argument can be expanded with ..., so a closing parenthesis must "
            "follow it.",
            first,
        )

    def _bad_argument_end(self, first: int) -> Abandon:
        if self.kinds[self.at] == END:
            return self.fail(
                self.at,
                "Unclosed function call",
                "This function call has no closing parenthesis.",
                subject=first,
            )
        return self.fail(
            self.at,
            "Missing comma between arguments",
            "An argument must be followed by a comma and the next argument, or by the closing "
            "parenthesis.",
            first,
        )
