"""Conditions that must hold: preconditions, postconditions, validations, assertions of checks.

A condition that is not known yet is no failure: it is checked again once more is known. What a
failure means (an error, or a warning for a `check`) is decided by the owner of the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from nigari.config.core.declared import CheckRule
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import BOOL, STRING
from nigari.cty.values import Value
from nigari.diagnostics import Cause, Diagnostic, Diagnostics, Range, Severity
from nigari.eval.core.causes import CauseKind, UnknownCause, causes_within
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.eval.core.scope import evaluate, scope_of
from nigari.eval.core.worklist import Need
from nigari.hcl.expressions import Expression
from nigari.hcl.reference_values import scope_values
from nigari.hcl.scope import Scope
from nigari.lang.marks import EPHEMERAL, SENSITIVE
from nigari.record import replace


class ConditionResult:
    """The results of the rules of one object."""

    __slots__ = ("causes", "failures", "has_error", "is_unknown")

    def __init__(self) -> None:
        self.failures: list[str] = []
        self.causes: list[UnknownCause] = []
        """The causes for which the result of the rules is unknown."""
        self.is_unknown: bool = False
        self.has_error: bool = False

    @property
    def status(self) -> str:
        """In the words of a state's check results."""
        if self.has_error:
            return "error"
        if self.failures:
            return "fail"
        return "unknown" if self.is_unknown else "pass"


class Conditions:
    """Rules of one object, checked in order."""

    __slots__ = (
        "_address",
        "_at",
        "_checked",
        "_data",
        "_find_failure",
        "_frame",
        "_place",
        "_rules",
        "_self",
        "_severity",
        "_summary",
        "_is_check",
        "outcome",
    )

    def __init__(
        self,
        frame: Frame,
        rules: Sequence[CheckRule],
        summary: str,
        data: InstanceData = NO_INSTANCE_DATA,
        self_value: Value | None = None,
        severity: Severity = Severity.ERROR,
        place: Range | None = None,
        address: str = "",
        is_check: bool = False,
        checked: str = "",
    ) -> None:
        self._frame = frame
        self._checked = checked
        """The address of the object of the rules."""
        self._is_check = is_check
        """True to warn about conditions that are not known yet."""
        self._rules = rules
        self._summary = summary
        self._address = address
        self._data = data
        self._self = self_value
        self._severity = severity
        self._place = place
        """The range to report in place of the condition."""
        self._at = 0
        self._find_failure: Callable[[], str | list[Need]] | None = None
        self.outcome: ConditionResult = ConditionResult()

    @property
    def is_refusing(self) -> bool:
        """Return whether a condition fails with an error."""
        return self._severity is Severity.ERROR and self.outcome.status in ("fail", "error")

    def follow(self, find_failure: Callable[[], str | list[Need]]) -> None:
        """Look at the rules only if nothing has failed before."""
        self._find_failure = find_failure

    def step(self) -> Sequence[Need]:
        """Check the remaining rules."""
        if self._find_failure is not None:
            failure = self._find_failure()
            if isinstance(failure, list):
                return failure
            self._find_failure = None
            if failure:
                self.outcome.failures.append(failure)
                self._at = len(self._rules)
        while self._at < len(self._rules):
            needs = self._look(self._rules[self._at])
            if needs:
                return needs
            self._at += 1
        return ()

    def _look(self, rule: CheckRule) -> Sequence[Need]:
        frame, diags = self._frame, self._frame.run.diags
        errors = diags.error_count
        found: list[Value] = []
        needs: list[Need] = []
        for expr in (rule.condition, rule.error_message):
            compiled = frame.instance.compiled.expression(expr)
            value = evaluate(frame, compiled, self._data, self._self)
            if isinstance(value, Value):
                found.append(value)
            else:
                needs.extend(value)
        if needs:
            return needs
        condition, message = found
        truth = self._truth(rule, condition, diags)
        text = ""
        # The message of a validation is evaluated only if it is needed.
        if truth is False or self._place is None:
            scope = partial(self._scope, rule.error_message)
            text = message_text(rule.error_message, message, diags, scope)
        if diags.error_count > errors:
            self.outcome.has_error = True
        # A value that is refused is refused, whatever is wrong with the message.
        if truth is False and (diags.error_count == errors or self._place is not None):
            self.outcome.failures.append(text)
            names = self._scope(rule.condition)
            failure = failed_condition(
                self._summary, rule, text, names, self._severity, self._place
            )
            diags.append(
                replace(
                    failure,
                    address=self._address,
                    is_check=self._is_check,
                    checked=self._checked,
                )
            )
        elif truth is None and self._is_check and not self.outcome.has_error:
            self._report_unknown(rule, diags)
        return ()

    def _report_unknown(self, rule: CheckRule, diags: Diagnostics) -> None:
        unknown = Diagnostic(
            Severity.WARNING,
            "Check not known yet",
            "This check depends on something that is known only after apply. It will be "
            "evaluated then.",
            rule.condition.range,
            values=scope_values(rule.condition, self._scope(rule.condition), unknowns=True),
            address=self._address,
            is_check=True,
            checked=self._checked,
        )
        diags.append(unknown)

    def _scope(self, expr: Expression) -> Scope:
        """The values of the names in a condition or message."""
        compiled = self._frame.instance.compiled.expression(expr)
        return scope_of(self._frame, compiled, self._data, self._self)

    def _truth(self, rule: CheckRule, value: Value, diags: Diagnostics) -> bool | None:
        """Return whether the condition holds; None if that is unknown or was reported."""
        value, _ = value.unmark_deep()
        if any(cause.kind is CauseKind.REPORTED for cause in causes_within(value)):
            self.outcome.has_error = True
            return None
        if not value.is_known:
            self.outcome.is_unknown = True
            self.outcome.causes += causes_within(value)
            return None
        try:
            value = convert(value, BOOL)
        except CtyError as error:
            detail = f"A condition must be true or false: {error.message}."
            rule.condition.report(diags, self._scope(rule.condition), "Invalid condition", detail)
            return None
        if value.is_null:
            detail = "The condition is null. It must be true or false."
            rule.condition.report(diags, self._scope(rule.condition), "Invalid condition", detail)
            return None
        return value.as_bool()


def message_text(
    expr: Expression, message: Value, diags: Diagnostics, scope: Callable[[], Scope]
) -> str:
    """The message of a rule; a reason for which it cannot be shown is reported."""
    message, marks = message.unmark_deep()
    try:
        message = convert(message, STRING)
    except CtyError as error:
        _report_message(expr, f"it is not a string: {error.message}", diags)
        return ""
    if message.is_null:
        _report_message(expr, "it is null", diags)
        return ""
    if not message.is_known:
        return "The message is not known yet."
    for mark, word in ((SENSITIVE, "sensitive"), (EPHEMERAL, "ephemeral")):
        if mark in marks:
            diags.warning(
                f"Error message with {'an' if word[0] == 'e' else 'a'} {word} value",
                f"This message contains {'an' if word[0] == 'e' else 'a'} {word} value, so it is "
                "never shown. Remove that value from the message.",
                expr.range,
                values=scope_values(expr, scope(), sensitive=True),
            )
            return f"The message contains a hidden value ({word}), so it is not shown."
    return message.as_string().strip()


def _report_message(expr: Expression, problem: str, diags: Diagnostics) -> None:
    diags.error(
        "Invalid error message",
        f"The error message of this rule cannot be used: {problem}.",
        expr.range,
    )


def failed_condition(
    summary: str,
    rule: CheckRule,
    text: str,
    scope: Scope,
    severity: Severity = Severity.ERROR,
    place: Range | None = None,
) -> Diagnostic:
    """A condition that does not hold, with what its names stood for."""
    from nigari.eval.core.comparison_data import compared

    where = rule.condition.range
    values, difference = scope_values(rule.condition, scope), compared(rule.condition, scope)
    if place is None:
        return Diagnostic(severity, summary, text, where, values=values, difference=difference)
    because = (Cause("the condition is here", where),)
    return Diagnostic(
        severity=severity,
        summary=summary,
        detail=text,
        subject=place,
        context=None,
        values=values,
        causes=because,
        difference=difference,
    )
