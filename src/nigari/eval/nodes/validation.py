"""Validations of variables: the values that their authors allow."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from nigari.config.core.declared import CheckRule
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import BOOL
from nigari.cty.values import Value
from nigari.diagnostics import Range
from nigari.eval.core.instances import Frame
from nigari.eval.core.scope import evaluate, scope_of
from nigari.eval.core.worklist import DONE, Need, Node
from nigari.eval.nodes.conditions import failed_condition, message_text
from nigari.eval.nodes.variable import VariableNode
from nigari.hcl.expressions import Expression
from nigari.hcl.scope import Scope
from nigari.record import replace


class Validation(Node):
    """The validations of one variable. What cannot be decided yet is left for a later phase."""

    __slots__ = ("_at", "_variable")

    def __init__(self, variable: VariableNode) -> None:
        super().__init__()
        self._variable = variable
        self._at = 0

    @property
    def label(self) -> str:
        return f"validation of {self._variable.label}"

    @property
    def range(self) -> Range:
        return self._variable.range

    @property
    def about(self) -> str:
        return self._variable.about

    def fail(self) -> None:
        """Nothing depends on its result."""

    def step(self) -> Sequence[Need]:
        if self._variable.state != DONE:
            return (self._variable,)
        rules = self._variable.variable.validations
        while self._at < len(rules):
            needs = self._check(rules[self._at])
            if needs:
                return needs
            self._at += 1
        return ()

    def _check(self, rule: CheckRule) -> Sequence[Need]:
        needs: list[Need] = []
        values: list[Value] = []
        for expr in (rule.condition, rule.error_message):
            value = self._value(expr)
            if isinstance(value, Value):
                values.append(value)
            else:
                needs.extend(value)
        if not needs:
            self._judge(rule, values[0].unmark_deep()[0], values[1])
        return needs

    def _judge(self, rule: CheckRule, condition: Value, message: Value) -> None:
        if not condition.is_known:
            return
        try:
            verdict = convert(condition, BOOL)
        except CtyError:
            self._report_condition(rule, f"is {condition.type.with_article()}")
            return
        if verdict.is_null:
            self._report_condition(rule, "is null")
        elif not verdict.as_bool():
            self._report_value(rule, message)

    def _value(self, expr: Expression) -> Value | list[Need]:
        frame = self._frame()
        return evaluate(frame, frame.instance.compiled.expression(expr))

    def _frame(self) -> Frame:
        """The module in which the rules are evaluated."""
        return self._variable.frame

    def _report_condition(self, rule: CheckRule, why: str) -> None:
        rule.condition.report(
            self._variable.frame.run.diags,
            self._scope(rule.condition),
            "Invalid condition",
            f"The condition of this validation {why}. It must be true or false.",
        )

    def _report_value(self, rule: CheckRule, message: Value) -> None:
        variable = self._variable
        diags = variable.frame.run.diags
        scope = partial(self._scope, rule.error_message)
        text = message_text(rule.error_message, message, diags, scope)
        summary, place = "Invalid value for variable", variable.given_at
        known = self._scope(rule.condition)
        failure = failed_condition(summary, rule, text, known, place=place)
        prefix = variable.frame.instance.addr.text
        checked = f"{prefix}.var.{variable.variable.name}".removeprefix(".")
        diags.append(replace(failure, checked=checked))

    def _scope(self, expr: Expression) -> Scope:
        """The values of the names in a condition or message."""
        frame = self._frame()
        return scope_of(frame, frame.instance.compiled.expression(expr))
