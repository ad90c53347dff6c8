"""Template nodes: text with interpolated values.

Owns the concatenation of parts, and the refinements of a string with unknown parts. The directives
`%{ if }` and `%{ for }` are a `Conditional` and a `TemplateLoop` around templates. Deliberately
unknown here: quotes, heredocs, escapes and strip markers, which the parser resolves.
"""

from __future__ import annotations

from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.graphemes import safe_prefix
from nigari.cty.refinements import Refinement, refine
from nigari.cty.types import DYNAMIC, STRING
from nigari.cty.unknown import Unknown, join_causes
from nigari.cty.values import NO_MARKS, Mark, Value, string, unknown
from nigari.diagnostics import Diagnostics
from nigari.hcl.collections import For
from nigari.hcl.evaluation import sentence, unknown_from
from nigari.hcl.expressions import CostlyExpression, Expression
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source

_LONGEST_PREFIX = 128
"""Bytes of a known prefix that an unknown string retains."""


class StringLiteral(Expression):
    """Text without sequences: a quoted string, a heredoc, or a part of a template."""

    __slots__ = ("_value", "text")

    text: str

    def __init__(self, source: Source, start: int, end: int, text: str) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.text = text
        self._value: Value | None = None

    def start_span(self) -> tuple[int, int]:
        """Return the span of the text without quotes or heredoc markers, as for every template."""
        text, start, end = self.source.text, self.start, self.end
        if self.text and text.startswith('"', start):
            return start + 1, end - 1
        if text.startswith("<<", start) and text[start:end] != self.text:
            return self._heredoc_span(text.find("\n", start, end) + 1)
        return start, end

    def _heredoc_span(self, first: int) -> tuple[int, int]:
        """Return the span of the lines between the markers, without the indentation that `<<-`
        removes.
        """
        text = self.source.text
        after = text.rfind("\n", first, self.end) + 1
        if not 0 < first < after:
            return self.start, self.end
        line = text[first:after]
        removed = _indentation(line) - _indentation(self.text)
        return first + max(removed, 0), after

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        return self.literal

    @property
    def literal(self) -> Value:
        value = self._value
        if value is None:
            value = string(self.text)
            self._value = value
        return value


def _indentation(text: str) -> int:
    return len(text) - len(text.lstrip(" \t"))


class Template(Expression):
    """Parts that are concatenated to a string: literals, interpolated expressions and directives."""

    __slots__ = ("parts",)

    parts: list[Expression]

    def __init__(self, source: Source, start: int, end: int, parts: list[Expression]) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.parts = parts

    def start_span(self) -> tuple[int, int]:
        return self.parts[0].start_span() if self.parts else (self.start, self.end)

    def children(self) -> list[Expression]:
        return self.parts

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        errors = diags.error_count
        texts: list[str] = []
        marks: frozenset[Mark] = NO_MARKS
        causes: tuple[object, ...] = ()
        is_known = True
        goes_on = True
        for part in self.parts:
            if isinstance(part, StringLiteral):
                if goes_on:
                    texts.append(part.text)
                continue
            # TemplateExpr.Value: every part is evaluated even after an unknown one,
            # for its errors and marks.
            value = part.value(scope, diags)
            if value.marks:
                marks |= value.marks
            data = value.data
            if isinstance(data, Unknown):
                # The text before the first unknown part is a known prefix of the
                # result.
                is_known = goes_on = False
                causes = join_causes(causes, data.causes)
                continue
            text = self._text(part, value, scope, diags)
            if diags.error_count > errors:
                goes_on = False
            if goes_on and text is not None:
                texts.append(text)
        if is_known:
            result = string("".join(texts))
        else:
            prefix = "" if diags.error_count > errors else "".join(texts)
            result = unknown_string(prefix, causes)
        return result.with_marks(marks)

    def _text(self, part: Expression, value: Value, scope: Scope, diags: Diagnostics) -> str | None:
        data = value.data
        if isinstance(data, str):
            return data
        if data is None:
            detail = "The value is null, and null cannot be converted to a string."
            part.report(diags, scope, "Invalid value in a template", detail, self)
            return None
        try:
            return convert(value.unmark()[0], STRING).as_string()
        except CtyError as error:
            detail = f"This value cannot be included in a string: {sentence(error)}"
            part.report(diags, scope, "Invalid value in a template", detail, self)
            return None


def unknown_string(prefix: str, causes: tuple[object, ...]) -> Value:
    """Build an unknown, non-null string, of which a prefix may be known."""
    result = unknown(STRING).with_causes(causes)
    if prefix:
        data = prefix.encode("utf-8", "surrogatepass")[:_LONGEST_PREFIX]
        # go-cty: characters that may combine with unknown ones after them are not part of
        # the prefix.
        prefix = safe_prefix(data.decode("utf-8", "ignore"))
    return refine(result, Refinement(not_null=True, prefix=prefix))


class TemplateWrap(Expression):
    """A template that consists of a single interpolation: its value keeps its own type."""

    __slots__ = ("wrapped",)

    wrapped: Expression

    def __init__(self, source: Source, start: int, end: int, wrapped: Expression) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.wrapped = wrapped

    def children(self) -> list[Expression]:
        return [self.wrapped]

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        return self.wrapped.value(scope, diags)


class TemplateLoop(CostlyExpression):
    """`%{ for }`: the results of a for expression, joined into one string."""

    __slots__ = ("loop",)

    loop: For

    def __init__(self, source: Source, start: int, end: int, loop: For) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.loop = loop

    def start_span(self) -> tuple[int, int]:
        return self.loop.start_span()

    def children(self) -> list[Expression]:
        return [self.loop]

    def computed(self, scope: Scope, diags: Diagnostics) -> Value:
        results = self.loop.value(scope, diags)
        # TemplateJoinExpr: an unknown collection makes the whole string unknown.
        if results.type is DYNAMIC or not results.is_known:
            return unknown_from(STRING, results)
        marks = results.marks
        texts: list[str] = []
        for result in results.sequence():
            if result.is_null:
                detail = "One of the results is null, and null cannot be converted to a string."
                self.report(diags, scope, "Invalid value in a template", detail)
                continue
            # The text after an unknown part has no known position, so there is no prefix either.
            if not result.is_known:
                return unknown_from(STRING, result).with_marks(results.marks)
            try:
                texts.append(convert(result.unmark()[0], STRING).as_string())
            except CtyError as error:
                detail = f"One of the results cannot be included in a string: {sentence(error)}"
                self.report(diags, scope, "Invalid value in a template", detail)
                continue
            marks |= result.marks
        return string("".join(texts)).with_marks(marks)
