"""Values as far as they are known before anything runs, with why and where they come from.

A `StaticValue` is evaluated when it is made, and its provenance when it is read. Pickled, it
takes all of that along, and nothing else of the configuration.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from nigari.addrs.values import CountAttr, EachAttr
from nigari.cty.values import Value
from nigari.diagnostics import Range
from nigari.eval.core.causes import REPORTED, UnknownCause, causes_within
from nigari.eval.core.instances import Origin, ValueNode
from nigari.eval.core.module_tree import NO_INSTANCE_DATA
from nigari.eval.core.scope import nodes_of
from nigari.eval.nodes.variable import RootVariable
from nigari.hcl.collections import DottedKey, For, KeyName, ObjectConstructor, TupleConstructor
from nigari.hcl.expressions import Expression, Literal, Parentheses, SyntaxFault
from nigari.hcl.templates import StringLiteral, TemplateLoop
from nigari.hcl.traversal import Traversal
from nigari.lang.marks import SENSITIVE
from nigari.lang.references import Reference
from nigari.record import record
from nigari.typed import Protocol
from nigari.workspace.explain.explanation import Explanation, ExplanationBuilder
from nigari.workspace.explain.queries import ValueQueries, compiled_origin, reasons

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


@record
class ValueOrigin:
    """An origin of a value: something that depends on nothing else."""

    name: str
    """As in the configuration: `var.env`, `local.name of module.m`, `terraform.workspace`."""
    giver: str
    """The source of a variable's value: `default`, `argument`, `none`, a file, an environment
    variable, `the caller`; empty for other values.
    """
    range: Range | None
    """The range of the value, if it is in a file."""


class Provenance(Protocol):
    """The provenance of a value."""

    @property
    def expr(self) -> str: ...
    @property
    def references(self) -> tuple[Traversal, ...]: ...
    @property
    def reasons(self) -> tuple[str, ...]: ...
    @property
    def origins(self) -> tuple[ValueOrigin, ...]: ...
    @property
    def explanation(self) -> Explanation: ...


class StaticValue:
    """A static value, or the reasons why it is unknown."""

    __slots__ = ("_why", "name", "range", "value")

    def __init__(self, name: str, value: Value, range: Range | None, why: Provenance) -> None:
        self.name: str = name
        """The name in diagnostics: `local.a`, `var.x of module.m`."""
        self.value: Value = value
        """The value; what is not known in it is an unknown `cty` value."""
        self.range: Range | None = range
        """The range of the declaration or the expression."""
        self._why = why

    @property
    def is_known(self) -> bool:
        """Return whether all of the value is known."""
        return self.value.is_wholly_known

    def to_python(self) -> object:
        """The value as plain Python data; a `CtyError` where it is not known, or is sensitive."""
        return self.value.to_python()

    @property
    def expr(self) -> str:
        """Source text of the value's expression; empty if there is none."""
        return self._why.expr

    @property
    def references(self) -> tuple[Traversal, ...]:
        """References in the expression, in source order."""
        return self._why.references

    @property
    def reasons(self) -> list[str]:
        """Reasons why the value, or a part of it, is unknown: one chain per cause."""
        return list(self._why.reasons)

    @property
    def origins(self) -> tuple[ValueOrigin, ...]:
        """Origins of the value, through any number of steps."""
        return self._why.origins

    def explain(self) -> Explanation:
        """The tree of values that lead to it; printed, the output of `nigari explain`."""
        found = self._why.explanation
        is_hidden = SENSITIVE in self.value.marks and SENSITIVE not in found.value.marks
        return found.without_values() if is_hidden else found

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self) or not isinstance(other, StaticValue):
            return NotImplemented
        return (self.name, self.value, self.range) == (other.name, other.value, other.range)

    def __hash__(self) -> int:
        return hash((self.name, self.range))

    def __copy__(self) -> StaticValue:
        return self

    def __deepcopy__(self, memo: object) -> StaticValue:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return StaticValue, (self.name, self.value, self.range, frozen_provenance(self._why))

    def __repr__(self) -> str:
        return f"<{self.name} = {self.value!r}>"


@record
class FrozenProvenance:
    """A provenance that was computed once and is complete."""

    expr: str
    references: tuple[Traversal, ...]
    reasons: tuple[str, ...]
    origins: tuple[ValueOrigin, ...]
    explanation: Explanation


def frozen_provenance(why: Provenance) -> FrozenProvenance:
    """The same, without the configuration that it is about."""
    return FrozenProvenance(why.expr, why.references, why.reasons, why.origins, why.explanation)


class _WhyExpression:
    """The provenance of an expression's value."""

    __slots__ = ("_evaluation", "_known", "_missing", "_name", "_origin")

    def __init__(
        self,
        evaluation: ValueQueries,
        name: str,
        value: Value,
        origin: Origin,
        missing: UnknownCause | None,
    ) -> None:
        self._evaluation = evaluation
        self._name = name
        self._known = value
        self._origin = origin
        self._missing = missing

    @property
    def expr(self) -> str:
        return text_of(self._origin.compiled.expr)

    @property
    def references(self) -> tuple[Traversal, ...]:
        return tuple(self._origin.compiled.expr.variables())

    @property
    def reasons(self) -> tuple[str, ...]:
        with self._evaluation.lock:
            return tuple(reasons(self._name, self._known, self._origin))

    @property
    def origins(self) -> tuple[ValueOrigin, ...]:
        where = self._origin.compiled.expr.range
        return _origins(self._evaluation, _Source(self._name, "", where, self._origin))

    @property
    def explanation(self) -> Explanation:
        where = self._origin.compiled.expr.range
        builder = ExplanationBuilder(self._evaluation)
        return builder.expression(self._name, self._origin, where, "", self._missing)


class _WhyInstance(_WhyExpression):
    """The provenance of `each` or `count` in one instance: the argument that repeats the block."""

    __slots__ = ()


class _WhyNode:
    """The provenance of a declared object's value."""

    __slots__ = ("_evaluation", "_node")

    def __init__(self, evaluation: ValueQueries, node: ValueNode) -> None:
        self._evaluation = evaluation
        self._node = node

    @property
    def _expr(self) -> Expression | None:
        node, origin = self._node, self._node.origin()
        if origin is not None:
            return origin.compiled.expr
        given = node.given if isinstance(node, RootVariable) else None
        return None if given is None else given.expr

    @property
    def expr(self) -> str:
        return "" if self._expr is None else text_of(self._expr)

    @property
    def references(self) -> tuple[Traversal, ...]:
        return () if self._expr is None else tuple(self._expr.variables())

    @property
    def reasons(self) -> tuple[str, ...]:
        node = self._node
        with self._evaluation.lock:
            return tuple(reasons(node.label, node.value, node.origin()))

    @property
    def origins(self) -> tuple[ValueOrigin, ...]:
        return _origins(self._evaluation, _station(self._evaluation, self._node))

    @property
    def explanation(self) -> Explanation:
        return ExplanationBuilder(self._evaluation).node(self._node)


def known_expression(
    evaluation: ValueQueries,
    name: str,
    origin: Origin,
    missing: UnknownCause | None = None,
) -> StaticValue:
    """The value of an expression, which may belong to something `missing`."""
    value = evaluation.value(name, origin, missing)
    why = _WhyExpression(evaluation, name, value, origin, missing)
    return StaticValue(name, value, origin.compiled.expr.range, why)


def known_node(evaluation: ValueQueries, node: ValueNode) -> StaticValue:
    """The value of something that is declared and has been evaluated."""
    return StaticValue(node.label, node.value, node.range, why_node(evaluation, node))


def why_node(evaluation: ValueQueries, node: ValueNode) -> Provenance:
    """Return the provenance of a declared object's value."""
    return _WhyNode(evaluation, node)


def text_of(expr: Expression) -> str:
    """An expression as it is written."""
    return expr.source.text[expr.start : expr.end]


# -- one step back --------------------------------------------------------------------------------


@record
class Link:
    """A reference in the expression of a value, and the values that it leads to."""

    range: Range
    """The range of the reference."""
    values: tuple[StaticValue, ...]


def identity_of(known: StaticValue) -> object:
    """Return a value's identity; equal identities mean the same value, queried twice."""
    why = known._why  # noqa: SLF001 - part of the same module
    if isinstance(why, _WhyNode):
        return why._node  # noqa: SLF001 - the same
    if type(why) is _WhyExpression and why._origin.data is NO_INSTANCE_DATA:  # noqa: SLF001
        return why._origin.frame, why._origin.compiled.expr  # noqa: SLF001 - the same
    return known


def as_sensitive(known: StaticValue) -> StaticValue:
    """The same value, which must not be shown: a schema says so, and nothing in the language."""
    why = known._why  # noqa: SLF001 - part of the same module
    return StaticValue(known.name, known.value.mark(SENSITIVE), known.range, why)


def range_of(known: StaticValue) -> Range | None:
    """Return the range of the expression behind a value; None if it is in no file."""
    why = known._why  # noqa: SLF001 - part of the same module
    if not isinstance(why, _WhyNode):
        return known.range
    expr, node = why._expr, why._node  # noqa: SLF001 - the same
    if expr is None and isinstance(node, RootVariable) and node.given is not None:
        # A plan that was saved has the values of variables, and knows where they were written.
        default = node.variable.default
        is_default = node.given.origin == "default" and default is not None
        return default.range if default is not None and is_default else node.given.range
    return None if expr is None else expr.range


def links_of(known: StaticValue) -> tuple[Link, ...]:
    """Return the direct references of a value's expression; empty for an unpickled value."""
    why = known._why  # noqa: SLF001 - part of the same module
    if not isinstance(why, _WhyNode | _WhyExpression):
        return ()
    evaluation = why._evaluation  # noqa: SLF001 - the same
    origin = why._node.origin() if isinstance(why, _WhyNode) else why._origin  # noqa: SLF001
    if origin is None:
        return ()
    if isinstance(why, _WhyInstance):
        argument = "count" if known.name.startswith("count.") else "for_each"
        repetition = known_expression(evaluation, argument, origin)
        return (Link(origin.compiled.expr.range, (repetition,)),)
    with evaluation.lock:
        return tuple(
            Link(reference.range, _led_to(evaluation, origin, reference))
            for reference in origin.compiled.references
        )


def _led_to(
    evaluation: ValueQueries, origin: Origin, reference: Reference
) -> tuple[StaticValue, ...]:
    subject, data = reference.subject, origin.data
    if not isinstance(subject, EachAttr | CountAttr):
        nodes = nodes_of(origin.frame, reference)
        evaluation.evaluate(nodes)
        return tuple(known_node(evaluation, node) for node in nodes)
    values = {"key": data.each_key, "value": data.each_value, "index": data.count_index}
    value = values[subject.name]
    if value is None or data.expr is None:
        return ()
    inner = compiled_origin(origin.frame, data.expr)
    why = _WhyInstance(evaluation, str(subject), value, inner, None)
    return (StaticValue(str(subject), value, data.expr.range, why),)


def parts_of(known: StaticValue) -> Iterator[StaticValue]:
    """The values of the calls, operations and references that the expression of a value is made
    of, except those that need a name bound inside it, and those that fail.
    """
    why = known._why  # noqa: SLF001 - part of the same module
    if not isinstance(why, _WhyNode | _WhyExpression) or isinstance(why, _WhyInstance):
        return
    evaluation = why._evaluation  # noqa: SLF001 - the same
    origin = why._node.origin() if isinstance(why, _WhyNode) else why._origin  # noqa: SLF001
    if origin is None:
        return
    pending = list(origin.compiled.expr.children())
    while pending:
        expr = pending.pop()
        if isinstance(expr, _BINDING):
            continue
        pending.extend(expr.children())
        if isinstance(expr, _PLAIN):
            continue
        part = compiled_origin(origin.frame, expr, origin.data)
        if part.compiled.problems:
            continue
        # What is wrong here may be in a branch that is not taken.
        found = known_expression(evaluation, text_of(expr), part, REPORTED)
        if REPORTED not in causes_within(found.value):
            yield found


_BINDING: Final = (For, TemplateLoop)
"""Expressions that bind names of their own."""
_PLAIN: Final = (
    DottedKey,
    KeyName,
    Literal,
    ObjectConstructor,
    Parentheses,
    StringLiteral,
    SyntaxFault,
    TupleConstructor,
)
"""Yield the values of an expression's literal parts."""


# -- where values come from -----------------------------------------------------------------------


@record
class _Source:
    """Something on the way from a value back to where it comes from."""

    name: str
    giver: str
    range: Range | None
    origin: Origin | None


def _station(evaluation: ValueQueries, node: ValueNode) -> _Source:
    origin, where = node.origin(), node.range
    if origin is not None:
        where = origin.compiled.expr.range
    elif isinstance(node, RootVariable) and node.given is not None:
        where = node.given.range
    return _Source(node.label, evaluation.giver(node), where, origin)


def _origins(evaluation: ValueQueries, start: _Source) -> tuple[ValueOrigin, ...]:
    """Yield a value's ultimate origins, nearest first."""
    found: dict[ValueOrigin, None] = {}
    pending = deque([start])
    seen: set[object] = set()
    with evaluation.lock:
        while pending:
            station = pending.popleft()
            is_first = True
            for key, further in _before(evaluation, station.origin):
                is_first = False
                if key not in seen:
                    seen.add(key)
                    pending.append(further)
            if is_first:
                found[ValueOrigin(station.name, station.giver, station.range)] = None
    return tuple(found)


def _before(evaluation: ValueQueries, origin: Origin | None) -> Iterator[tuple[object, _Source]]:
    """Yield the direct origins of an expression's value, each with a key that identifies it."""
    if origin is None:
        return
    for reference in origin.compiled.references:
        nodes = nodes_of(origin.frame, reference)
        for node in nodes:
            yield node, _station(evaluation, node)
        if not nodes:
            yield _written(origin, reference)


def _written(origin: Origin, reference: Reference) -> tuple[object, _Source]:
    """Return the origin of a reference that is not declared: `each.key`, `path.module`."""
    subject, expr = reference.subject, origin.data.expr
    name = str(subject)
    if expr is None or not isinstance(subject, EachAttr | CountAttr):
        return (origin.frame, name), _Source(name, "", reference.range, None)
    inner = compiled_origin(origin.frame, expr)
    return (origin.frame, expr), _Source(name, "", expr.range, inner)
