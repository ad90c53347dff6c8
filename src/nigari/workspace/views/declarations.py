"""Input variables and output values as Python programs see them: values with their declarations.

Defaults and conditions are evaluated when they are read.
"""

from __future__ import annotations

from nigari.config.blocks.output import Output
from nigari.config.blocks.variable import Variable
from nigari.config.core.declared import CheckRule
from nigari.cty.types import DYNAMIC, Type
from nigari.cty.values import Value
from nigari.diagnostics import Range
from nigari.eval.core.instances import Frame, ValueNode
from nigari.hcl.expressions import Expression
from nigari.record import record
from nigari.typed import Protocol
from nigari.workspace.explain.queries import ValueQueries
from nigari.workspace.views.blocks import Reader
from nigari.workspace.views.static_value import Provenance, StaticValue, frozen_provenance, why_node


@record
class Rule:
    """A condition that a value must meet: a `validation` or a `precondition` block."""

    condition: StaticValue
    error_message: StaticValue
    range: Range
    """Range of the block's header."""


class WrittenDeclaration(Protocol):
    """The expressions of a declaration, evaluated when they are read."""

    @property
    def default(self) -> StaticValue | None: ...
    @property
    def rules(self) -> tuple[Rule, ...]: ...


@record
class _Evaluated:
    """The expressions of a declaration, once they are evaluated."""

    default: StaticValue | None
    rules: tuple[Rule, ...]


class _Expressions:
    """The expressions of a declaration in one module instance."""

    __slots__ = ("_default", "_name", "_reader", "_rules")

    def __init__(
        self,
        reader: Reader,
        name: str,
        default: Expression | None,
        rules: tuple[CheckRule, ...],
    ) -> None:
        self._reader = reader
        self._name = name
        self._default = default
        self._rules = rules

    @property
    def default(self) -> StaticValue | None:
        expr = self._default
        return None if expr is None else self._reader.known(f"default of {self._name}", expr)

    @property
    def rules(self) -> tuple[Rule, ...]:
        known, name = self._reader.known, self._name
        return tuple(
            Rule(
                known(f"condition of {name}", each.condition),
                known(f"error_message of {name}", each.error_message),
                each.range,
            )
            for each in self._rules
        )


@record
class _Words:
    """The literal arguments of a declaration."""

    description: str
    sensitive: bool
    ephemeral: bool
    deprecated: str
    type: Type = DYNAMIC
    nullable: bool = True
    giver: str = ""


class DeclaredView(StaticValue):
    """A value with its declaration: an input variable or an output value."""

    __slots__ = ("_words", "_written")

    def __init__(
        self,
        name: str,
        value: Value,
        range: Range | None,
        why: Provenance,
        words: _Words,
        written: WrittenDeclaration,
    ) -> None:
        super().__init__(name, value, range, why)
        self._words = words
        self._written = written

    def __reduce__(self) -> tuple[object, ...]:
        written = _Evaluated(self._written.default, self._written.rules)
        why = frozen_provenance(self._why)
        return type(self), (self.name, self.value, self.range, why, self._words, written)

    @property
    def description(self) -> str:
        """The description; empty if there is none."""
        return self._words.description

    @property
    def is_sensitive(self) -> bool:
        """Return whether it is declared as sensitive."""
        return self._words.sensitive

    @property
    def is_ephemeral(self) -> bool:
        """Return whether it is declared as ephemeral."""
        return self._words.ephemeral

    @property
    def deprecated(self) -> str:
        """The advice against using it; empty if there is none."""
        return self._words.deprecated


class VariableView(DeclaredView):
    """An input variable: the value that it has, and its declaration."""

    __slots__ = ()

    @property
    def type(self) -> Type:
        """The type constraint; `cty.DYNAMIC` where there is none."""
        return self._words.type

    @property
    def default(self) -> StaticValue | None:
        """The default; None if there is none, so that a value is required."""
        return self._written.default

    @property
    def validations(self) -> tuple[Rule, ...]:
        """The rules that the value must meet."""
        return self._written.rules

    @property
    def is_nullable(self) -> bool:
        """Return whether it may be null."""
        return self._words.nullable

    @property
    def giver(self) -> str:
        """Return the source of the value: `default`, `argument` (of the module call), `none`, or a
        file, an environment variable, `the caller`.
        """
        return self._words.giver


class OutputView(DeclaredView):
    """An output value: the value, and its declaration."""

    __slots__ = ()

    @property
    def preconditions(self) -> tuple[Rule, ...]:
        """The rules that must be met before the value is used."""
        return self._written.rules


def variable_view(
    evaluation: ValueQueries, frame: Frame, variable: Variable, node: ValueNode
) -> VariableView:
    """A variable that has been evaluated."""
    words = _Words(
        type=variable.type,
        description=variable.description,
        sensitive=variable.sensitive,
        ephemeral=variable.ephemeral,
        nullable=variable.nullable,
        deprecated=variable.deprecated,
        giver=evaluation.giver(node),
    )
    reader = Reader(evaluation, frame)
    written = _Expressions(reader, node.label, variable.default, variable.validations)
    why = why_node(evaluation, node)
    return VariableView(node.label, node.value, node.range, why, words, written)


def output_view(
    evaluation: ValueQueries, frame: Frame, output: Output, node: ValueNode
) -> OutputView:
    """An output that has been evaluated."""
    words = _Words(output.description, output.sensitive, output.ephemeral, output.deprecated)
    written = _Expressions(Reader(evaluation, frame), node.label, None, output.preconditions)
    why = why_node(evaluation, node)
    return OutputView(node.label, node.value, node.range, why, words, written)
