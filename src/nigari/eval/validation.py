"""Whether the value of a variable is one that its author allows: its `validation` blocks."""

from __future__ import annotations

from collections.abc import Sequence

from nigari.config.declared import CheckRule
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import BOOL, STRING
from nigari.cty.values import Value
from nigari.diagnostics import Cause, Range
from nigari.eval.instances import Frame
from nigari.eval.once import DONE, Need, Node
from nigari.eval.scope import evaluate
from nigari.eval.variable import VariableNode
from nigari.hcl.expressions import Expression


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

    def fail(self) -> None:
        """Nobody asks for its result."""

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
            self._report_condition(rule, "gives no true or false")
            return
        if verdict.is_null:
            self._report_condition(rule, "is null")
        elif not verdict.as_bool():
            self._report_value(rule, message)

    def _value(self, expr: Expression) -> Value | list[Need]:
        frame = self._frame()
        return evaluate(frame, frame.instance.compiled.expression(expr))

    def _frame(self) -> Frame:
        """Where the rules are evaluated."""
        return self._variable.frame

    def _report_condition(self, rule: CheckRule, why: str) -> None:
        self._variable.frame.run.diags.error(
            "Condition without a verdict",
            f"The condition of this validation {why}, so it decides nothing.",
            rule.condition.range,
        )

    def _report_value(self, rule: CheckRule, message: Value) -> None:
        variable = self._variable
        variable.frame.run.diags.error(
            "Value refused by a validation",
            f"The value of {variable.label} is not allowed: {_message_text(message)}",
            variable.given_at,
            causes=(Cause("this condition does not hold", rule.condition.range),),
        )


def _message_text(message: Value) -> str:
    if message.contains_marked:
        return "(the message is withheld, as it contains a sensitive value)"
    try:
        text = convert(message, STRING)
    except CtyError:
        return "(its message is no text)"
    if not text.is_known or text.is_null:
        return "(its message is not known)"
    return text.as_string()
