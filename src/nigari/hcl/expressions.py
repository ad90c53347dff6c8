"""Expression nodes: the base class, literals and references.

Every node has its source and offsets into it, evaluates itself in a scope, and can be read without
evaluation (the `static_` methods). Operators, templates, collections and calls have modules of
their own. Deliberately unknown here: the syntax of expressions.
"""

from __future__ import annotations

from abc import abstractmethod

from nigari.cty.copying import reduced
from nigari.cty.values import (
    DYNAMIC_UNKNOWN,
    FALSE,
    TRUE,
    Value,
)
from nigari.diagnostics import CalledFunction, Diagnostics, Range, ScopeValue
from nigari.hcl.evaluation import Fault, index
from nigari.hcl.reference_values import scope_values, value_text
from nigari.hcl.scope import Scope, check_scope
from nigari.hcl.source import Source
from nigari.hcl.suggestion import did_you_mean
from nigari.hcl.traversal import Step, Traversal, TraverseAttr, TraverseRoot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


SYNTAX_FAULT: Final = "a syntax error that has been reported"
"""Cause of the unknown value in place of an expression with a syntax error."""


class Expression:
    """A node that has a value in a scope."""

    __slots__ = ("end", "source", "start")

    source: Source
    start: int
    end: int

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.source.glimpse(self.start, self.end)}>"

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self)

    @property
    def range(self) -> Range:
        """Range of the whole expression."""
        return self.source.range(self.start, self.end)

    @property
    def start_range(self) -> Range:
        """The part of the expression that identifies it at a glance, such as the opening bracket of
        a list.
        """
        start, end = self.start_span()
        return self.source.range(start, end)

    def start_span(self) -> tuple[int, int]:
        """Return the offsets of `start_range`."""
        return self.start, self.end

    @abstractmethod
    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        """Evaluate the expression; after an error the value is an unknown placeholder."""

    def children(self) -> list[Expression]:
        """List the expressions directly inside this one, in source order."""
        return []

    def variables(self) -> list[Traversal]:
        """List every reference to a variable, in order, except to names bound inside the
        expression.
        """
        found: list[Traversal] = []
        self.add_variables(found, frozenset())
        return found

    def add_variables(self, found: list[Traversal], bound: frozenset[str]) -> None:
        """Append the references to variables whose root name is not bound."""
        for child in self.children():
            child.add_variables(found, bound)

    @property
    def is_json(self) -> bool:
        """True for the JSON syntax, which has its own rules."""
        return False

    def native_source(self) -> Source | None:
        """Return the text of a JSON string, for a parser of the native syntax."""
        return None

    def static_traversal(self) -> Traversal | None:
        """Read the expression as an absolute traversal if it is written as one."""
        return None

    def static_list(self) -> list[Expression] | None:
        """List the elements of a tuple constructor."""
        return None

    def static_map(self) -> list[tuple[Expression, Expression]] | None:
        """List the keys and values of an object constructor."""
        return None

    def report(
        self,
        diags: Diagnostics,
        scope: Scope,
        summary: str,
        detail: str,
        context: Expression | None = None,
        subject: Range | None = None,
        call: CalledFunction | None = None,
    ) -> None:
        """Add an error about this expression, with the values of its references."""
        diags.error(
            summary,
            detail,
            self.range if subject is None else subject,
            None if context is None else context.range,
            values=scope_values(self, scope),
            call=call,
        )


class CostlyExpression(Expression):
    """An expression whose evaluation may take long, so that scopes may share its value."""

    __slots__ = ()

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        shared = scope.shared
        if shared is None or self not in shared:
            return self.computed(scope, diags)
        value = shared[self]
        if value is None:
            found = diags.child()
            # Its own diagnostics show whether the value may be shared.
            value = self.computed(scope, found)
            if found:
                # What is wrong is reported in each of the scopes.
                diags.adopt(found)
            else:
                shared[self] = value
        return value

    @abstractmethod
    def computed(self, scope: Scope, diags: Diagnostics) -> Value:
        """Evaluate the expression in this scope alone."""


class Literal(Expression):
    """A literal number, `true`, `false` or `null`."""

    __slots__ = ("literal",)

    literal: Value

    def __init__(self, source: Source, start: int, end: int, literal: Value) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.literal = literal

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        return self.literal

    def static_traversal(self) -> Traversal | None:
        # Where a bare word is expected, HCL treats these three as ordinary words.
        if self.literal is TRUE:
            name = "true"
        elif self.literal is FALSE:
            name = "false"
        elif self.literal.is_null:
            name = "null"
        else:
            return None
        return Traversal(self.source, [TraverseRoot(name, self.start, self.end)])


_FAULTY: Final = DYNAMIC_UNKNOWN.with_causes((SYNTAX_FAULT,))


class SyntaxFault(Expression):
    """Placeholder for an expression with a syntax error, which has been reported."""

    __slots__ = ()

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.start = start
        self.end = end

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        return _FAULTY


class Parentheses(Expression):
    """An expression in parentheses."""

    __slots__ = ("inner",)

    inner: Expression

    def __init__(self, source: Source, start: int, end: int, inner: Expression) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.inner = inner

    def start_span(self) -> tuple[int, int]:
        return self.inner.start_span()

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        return self.inner.value(scope, diags)

    def children(self) -> list[Expression]:
        return [self.inner]


class Reference(Expression):
    """A name from the scope and steps into its value: `a`, `a.b`, `a.b[0].c`.

    The steps of a reference that consists of names and dots are created on demand: most references
    of a file are never evaluated.
    """

    __slots__ = ("_steps",)

    def __init__(
        self, source: Source, start: int, end: int, steps: list[Step] | None = None
    ) -> None:
        self.source = source
        self.start = start
        self.end = end
        self._steps = steps

    @property
    def steps(self) -> list[Step]:
        """The root and the steps after it."""
        steps = self._steps
        if steps is None:
            steps = dotted_steps(self.source.text[self.start : self.end], self.start)
            self._steps = steps
        return steps

    @property
    def traversal(self) -> Traversal:
        return Traversal(self.source, self.steps)

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        steps = self.steps
        root = steps[0]
        assert isinstance(root, TraverseRoot)
        try:
            value = scope.variable(root.name)
        # Checking the scope beforehand would cost every evaluation.
        except AttributeError:
            check_scope(scope)
            raise
        if value is None:
            self._report_missing(root, scope, diags)
            return DYNAMIC_UNKNOWN
        if len(steps) == 1:
            return value
        return self._follow(value, steps, scope, diags)

    def _follow(self, value: Value, steps: list[Step], scope: Scope, diags: Diagnostics) -> Value:
        for position in range(1, len(steps)):
            step = steps[position]
            result = step.apply(value)
            if isinstance(result, Fault):
                where = self.source.range(step.start, step.end)
                # The scope knows why a value lacks something, such as an instance
                # that was not created.
                better = scope.fault(self.source, self.start)
                if better is not None:
                    diags.error(
                        better.summary, better.detail, where, self.range, address=better.address
                    )
                    return DYNAMIC_UNKNOWN
                of = _reached(Traversal(self.source, steps[:position]), value)
                diags.error(result.summary, result.detail, where, self.range, values=of)
                return DYNAMIC_UNKNOWN
            value = result
        return value

    def _report_missing(self, root: TraverseRoot, scope: Scope, diags: Diagnostics) -> None:
        where = self.source.range(root.start, root.end)
        if not scope.allows_variables:
            diags.error(
                "Variables not allowed",
                "A constant value is required here. Write text in double quotes.",
                where,
            )
            return
        hint = did_you_mean(root.name, scope.variable_names())
        detail = f'There is no variable named "{root.name}".{hint}'
        if not hint:
            # The name may be a secret without its quotes, so it is not repeated.
            detail = "There is no variable with this name. Write text in double quotes."
        diags.error("Unknown variable", detail, where)

    def add_variables(self, found: list[Traversal], bound: frozenset[str]) -> None:
        traversal = self.traversal
        if not bound or traversal.root_name not in bound:
            found.append(traversal)

    def static_traversal(self) -> Traversal | None:
        return self.traversal


def _reached(traversal: Traversal, value: Value) -> tuple[ScopeValue, ...]:
    """Describe the part of a reference that could be followed."""
    text = value_text(value)
    return (ScopeValue(str(traversal), text),) if text else ()


def dotted_steps(text: str, start: int) -> list[Step]:
    """Split a dotted name, found at an offset, into steps."""
    names = text.split(".")
    end = start + len(names[0])
    steps: list[Step] = [TraverseRoot(names[0], start, end)]
    for name in names[1:]:
        start = end
        end = start + 1 + len(name)
        steps.append(TraverseAttr(name, start, end))
    return steps


class RelativeTraversal(Expression):
    """Steps into the value of another expression: `f(x).a[0]`."""

    __slots__ = ("base", "steps")

    base: Expression
    steps: list[Step]

    def __init__(
        self, source: Source, start: int, end: int, base: Expression, steps: list[Step]
    ) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.base = base
        self.steps = steps

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        value = self.base.value(scope, diags)
        for step in self.steps:
            result = step.apply(value)
            if isinstance(result, Fault):
                where = self.source.range(step.start, step.end)
                self.report(diags, scope, result.summary, result.detail, self, where)
                return DYNAMIC_UNKNOWN
            value = result
        return value

    def children(self) -> list[Expression]:
        return [self.base]

    def static_traversal(self) -> Traversal | None:
        base = self.base.static_traversal()
        # AbsTraversalForExpr: steps after an expression that is itself a traversal.
        return None if base is None else Traversal(base.source, base.steps + self.steps)


class Index(Expression):
    """An element selected by a computed key: `a[b]`.

    `open_start` is the offset of the opening bracket; the closing one ends the expression.
    """

    __slots__ = ("collection", "key", "open_start")

    collection: Expression
    key: Expression
    open_start: int

    def __init__(
        self,
        source: Source,
        start: int,
        end: int,
        collection: Expression,
        key: Expression,
        open_start: int,
    ) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.collection = collection
        self.key = key
        self.open_start = open_start

    def start_span(self) -> tuple[int, int]:
        return self.open_start, self.open_start + 1

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        collection = self.collection.value(scope, diags)
        key = self.key.value(scope, diags)
        result = index(collection, key)
        if isinstance(result, Fault):
            where = self.source.range(self.open_start, self.end)
            self.report(diags, scope, result.summary, result.detail, self, where)
            return DYNAMIC_UNKNOWN
        return result

    def children(self) -> list[Expression]:
        return [self.collection, self.key]
