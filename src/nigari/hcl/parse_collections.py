"""Parser of bracketed items: tuples, objects, `for` expressions and arguments.

After an error in one item, each of them continues with the next. The items themselves are left to
the expression parser.
"""

# ruff: noqa: SIM109 - two comparisons cost less than making a tuple

from __future__ import annotations

from nigari.hcl.collections import DottedKey, For, KeyName, ObjectConstructor, TupleConstructor
from nigari.hcl.expressions import (
    Expression,
    Literal,
    Reference,
    SyntaxFault,
)
from nigari.hcl.parse_access import AccessParser
from nigari.hcl.token_stream import Abandon
from nigari.hcl.tokens import (
    ARGUMENT,
    ARROW,
    ASSIGN,
    CLOSE_BRACE,
    CLOSE_BRACKET,
    CLOSE_PARENTHESIS,
    COLON,
    COMMA,
    ELLIPSIS,
    END,
    FOR,
    IDENTIFIER,
    IF,
    IN,
    NEWLINE,
    PATH,
)


class CollectionParser(AccessParser):
    __slots__ = ()

    at: int
    depth: int

    def resume(self, begin: int, elements: list[Expression]) -> bool:
        """Recover after an error in an element; return False at the end of the list."""
        start = self.starts[begin]
        self.skip_item(begin, True)
        elements.append(SyntaxFault(self.source, start, max(self.end(self.at - 1), start)))
        kind = self.kinds[self.at]
        if kind == COMMA:
            self.at += 1
            return True
        if kind == CLOSE_PARENTHESIS or kind == CLOSE_BRACKET:
            self.at += 1
        return False

    def tuple_constructor(self) -> Expression:
        """Production: "[" [expression {"," expression} [","]] "]" | "[" for "]"."""
        opening = self.at
        self.enter(opening)
        self.at = opening + 1
        if self.kinds[self.at] == FOR:
            result = self._for(opening, CLOSE_BRACKET)
            self.depth -= 1
            return result
        elements: list[Expression] = []
        depth = self.depth
        kinds = self.kinds
        while True:
            begin = self.at
            if kinds[begin] == CLOSE_BRACKET:
                self.at = begin + 1
                break
            try:
                elements.append(self.expression())
                kind = kinds[self.at]
                if kind == COMMA:
                    self.at += 1
                    continue
                if kind == CLOSE_BRACKET:
                    self.at += 1
                    break
                raise self._bad_element_end(opening)
            except Abandon:
                self.depth = depth
                if not self.resume(begin, elements):
                    break
        self.depth = depth - 1
        end = self.end(self.at - 1)
        return TupleConstructor(self.source, self.starts[opening], end, elements)

    def _bad_element_end(self, opening: int) -> Abandon:
        if self.kinds[self.at] == END:
            return self.fail(
                self.at,
                "Unclosed list",
                "This list has no closing bracket.",
                subject=opening,
            )
        return self.fail(
            self.at,
            "Missing comma between elements",
            "An element must be followed by a comma and the next element, or by the closing "
            "bracket.",
            opening,
        )

    def object_constructor(self) -> Expression:
        """Production: "{" [key ("=" | ":") expression {("," | newline) ...}] "}" | "{" for "}"."""
        opening = self.at
        self.enter(opening)
        kinds = self.kinds
        at = opening + 1
        while kinds[at] == NEWLINE:
            at += 1
        self.at = at
        if self.kinds[self.at] == FOR:
            result = self._for(opening, CLOSE_BRACE)
            self.depth -= 1
            return result
        items: list[tuple[Expression, Expression]] = []
        depth = self.depth
        while True:
            at = self.at
            while kinds[at] == NEWLINE:
                at += 1
            self.at = at
            if kinds[at] == CLOSE_BRACE:
                self.at = at + 1
                break
            try:
                items.append(self._object_item(opening))
                kind = kinds[self.at]
                if kind == COMMA or kind == NEWLINE:
                    self.at += 1
                    continue
                if kind == CLOSE_BRACE:
                    self.at += 1
                    break
                raise self._bad_item_end(opening)
            except Abandon:
                self.depth = depth
                if not self._resume_object(at):
                    break
        self.depth = depth - 1
        end = self.end(self.at - 1)
        return ObjectConstructor(self.source, self.starts[opening], end, items)

    def _resume_object(self, begin: int) -> bool:
        """Recover after an error in an item; return False at the end of the object."""
        self.skip_item(begin, True)
        kind = self.kinds[self.at]
        if kind == COMMA or kind == NEWLINE:
            self.at += 1
            return True
        if kind == CLOSE_BRACE:
            self.at += 1
        return False

    def _object_item(self, opening: int) -> tuple[Expression, Expression]:
        at = self.at
        kind = self.kinds[at]
        start, name = self.starts[at], self.texts[at]
        key: Expression
        if kind == ARGUMENT:
            key = KeyName(self.source, start, start + len(name), name)
            self.at = at + 1
            return key, self.expression()
        following = self.kinds[at + 1] if kind != END else END
        if kind == IDENTIFIER and (following == ASSIGN or following == COLON):
            key = KeyName(self.source, start, start + len(name), name)
            self.at = at + 2
            return key, self.expression()
        key = self._object_key(opening)
        return key, self.expression()

    def _object_key(self, opening: int) -> Expression:
        """Parse a key that is not a bare name, and the sign after it."""
        if self.kinds[self.at] == END:
            raise self.fail(
                self.at,
                "Unclosed object",
                "This object has no closing brace.",
                subject=opening,
            )
        key = self.expression()
        kind = self.kinds[self.at]
        if kind != ASSIGN and kind != COLON:
            raise self._missing_separator(opening)
        self.at += 1
        # The keywords true, false and null are ordinary names as keys.
        if isinstance(key, Literal):
            traversal = key.static_traversal()
            if traversal is not None:
                return KeyName(self.source, key.start, key.end, traversal.root_name)
        # HCL (ObjectConsKeyExpr): a bare name is a key; in parentheses it is a reference.
        if isinstance(key, Reference):
            if len(key.steps) == 1:
                return KeyName(self.source, key.start, key.end, key.traversal.root_name)
            return DottedKey(self.source, key.start, key.end, key)
        return key

    def _missing_separator(self, opening: int) -> Abandon:
        kind = self.kinds[self.at]
        if kind == END:
            return self.fail(
                self.at,
                "Unclosed object",
                "This object has no closing brace.",
                subject=opening,
            )
        if kind in (NEWLINE, COMMA, CLOSE_BRACE):
            return self.fail(
                self.at,
                "Missing value in an object",
                "Each key in an object needs a value, written after an equals sign.",
                opening,
            )
        hint = ""
        if kind == IDENTIFIER or kind == PATH:
            hint = " Put quotes around a key that contains spaces or dots."
        return self.fail(
            self.at,
            "Missing equals sign in an object",
            f"A key must be followed by an equals sign and its value.{hint}",
            opening,
        )

    def _bad_item_end(self, opening: int) -> Abandon:
        if self.kinds[self.at] == END:
            return self.fail(
                self.at,
                "Unclosed object",
                "This object has no closing brace.",
                subject=opening,
            )
        return self.fail(
            self.at,
            "Missing separator between items",
            "The value of a key must be followed by a new line, a comma, or the closing brace.",
            opening,
        )

    # -- for expressions ----------------------------------------------------------------------

    def _for(self, opening: int, closing: int) -> Expression:
        """Production: for name ["," name] in expression ":" [expression "=>"] expression ["..."]
        [if expression]
        """
        key_name, value_name = self._for_names(opening)
        collection = self.expression()
        if self.kinds[self.at] != COLON:
            raise self._bad_for(
                opening, "The collection of a for expression must be followed by a colon."
            )
        self.at += 1
        key: Expression | None = None
        result = self.expression()
        if self.kinds[self.at] == ARROW:
            self.at += 1
            key = result
            result = self.expression()
        ellipsis = -1
        if self.kinds[self.at] == ELLIPSIS:
            ellipsis = self.at
            self.at += 1
        condition: Expression | None = None
        if self.kinds[self.at] == IF:
            self.at += 1
            condition = self.expression()
        if self.kinds[self.at] != closing:
            raise self._bad_for(
                opening, "The for expression is complete, but its closing bracket is missing."
            )
        self.at += 1
        self._check_for(key, result, ellipsis, closing == CLOSE_BRACE)
        return For(
            self.source,
            self.starts[opening],
            self.end(self.at - 1),
            key_name,
            value_name,
            collection,
            key,
            result,
            condition,
            ellipsis >= 0,
            self.end(opening),
        )

    def _for_names(self, opening: int) -> tuple[str, str]:
        """Production: for name ["," name] in; returns the names of key and value."""
        self.at += 1
        key_name, value_name = "", self._for_name(opening, "for")
        if self.kinds[self.at] == COMMA:
            self.at += 1
            key_name, value_name = value_name, self._for_name(opening, "the comma")
        if self.kinds[self.at] != IN:
            raise self._bad_for(
                opening, 'The variable names of a for expression must be followed by "in".'
            )
        self.at += 1
        return key_name, value_name

    def _for_name(self, opening: int, after: str) -> str:
        kind = self.kinds[self.at]
        if kind == PATH:
            self.split_path(self.at)
        # The words of a for expression are names here as well.
        elif kind not in (IDENTIFIER, IN, IF):
            raise self._bad_for(opening, f"A variable name must follow {after}.")
        self.at += 1
        return self.texts[self.at - 1]

    def _bad_for(self, opening: int, detail: str) -> Abandon:
        return self.fail(self.at, "Invalid for expression", detail, opening)

    def _check_for(
        self, key: Expression | None, result: Expression, ellipsis: int, makes_object: bool
    ) -> None:
        if makes_object and key is None:
            self._report_for(
                result,
                "A for expression in braces produces an object, so it needs a key: key => value.",
            )
        elif not makes_object and key is not None:
            self._report_for(
                key,
                "A for expression in brackets produces a tuple, which has no keys. Use "
                "braces to produce an object.",
            )
        elif not makes_object and ellipsis >= 0:
            self.fail(
                ellipsis,
                "Invalid for expression",
                "The ... groups values by key, and a for expression in brackets has no keys.",
            )

    def _report_for(self, expression: Expression, detail: str) -> None:
        self.diags.error("Invalid for expression", detail, expression.range)
