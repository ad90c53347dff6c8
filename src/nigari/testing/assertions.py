"""Assertions of a run, evaluated in the tested module after plan or apply.

They may refer to everything that the root module can, to its outputs, and to all variables that the
test sets. A variable has the value from the test, not converted to its type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from nigari.addrs.values import Check, OutputValue
from nigari.apply.apply_run import ApplyRun
from nigari.config.core.declared import CheckRule
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import BOOL
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.causes import CauseKind, causes_within
from nigari.eval.core.deprecation import used
from nigari.eval.core.instances import FAILED, Frame, ValueNode
from nigari.eval.core.scope import Binding
from nigari.eval.core.unresolved import report_undeclared
from nigari.eval.core.worklist import DONE, Need, Stages
from nigari.eval.nodes.check_node import CheckNode
from nigari.eval.nodes.conditions import failed_condition, message_text
from nigari.eval.nodes.variable import VariableNode
from nigari.hcl.expressions import Expression
from nigari.hcl.scope import Scope
from nigari.lang.marks import Deprecated
from nigari.lang.references import Reference, namespace_calls, parse_reference
from nigari.record import replace
from nigari.running.driver import Driver
from nigari.running.provider_run import ProviderRun
from nigari.testing.outcome import RunOutcome, Status

if TYPE_CHECKING:
    from nigari.testing.chains import FinishedEvaluation


class Judge:
    """Evaluates conditions in a planned or applied module."""

    def __init__(
        self,
        phase: ProviderRun,
        given: Mapping[str, Value],
        evaluation: Callable[[], FinishedEvaluation],
    ) -> None:
        self._phase = phase
        self._evaluation = evaluation
        root = phase.root
        frame = Frame(phase, root.instance, None)
        frame.variables = dict(root.variables)
        for name, value in given.items():
            node = root.variables.get(name)
            secret = node.marked(value) if isinstance(node, VariableNode) else value
            frame.variables[name] = _Given(frame, name, secret)
        frame.locals, frame.outputs = root.locals, root.outputs
        frame.calls, frame.resources = root.calls, root.resources
        self._frame = frame

    async def judge(self, rule: CheckRule, outcome: RunOutcome) -> None:
        """Evaluate one condition."""
        reported = Diagnostics()
        found = await self._evaluate(rule, reported)
        if reported.has_errors or found is None:
            outcome.diags.extend(reported)
            outcome.at_least(Status.ERROR)
            return
        scope, condition, message = found
        text = message_text(rule.error_message, message, reported, lambda: scope)
        outcome.diags.extend(reported)
        if reported.error_count:
            outcome.at_least(Status.ERROR)
            return
        truth = self._truth(rule, condition, scope, outcome.diags)
        if truth is None:
            outcome.at_least(Status.ERROR)
        elif not truth:
            outcome.at_least(Status.FAIL)
            told_of = failed_condition("Assertion failed", rule, text, scope)
            outcome.diags.append(replace(told_of, origins=self._origins(rule, scope)))

    def _origins(self, rule: CheckRule, scope: Scope) -> tuple[str, ...]:
        """Trace the origins of the values in a condition."""
        # Loaded on failure only, as most conditions hold.
        from nigari.testing.chains import condition_origins

        condition, evaluation = rule.condition, self._evaluation()
        references = _references(condition, Diagnostics())
        return condition_origins(condition, references, scope, self._frame, evaluation)

    async def _evaluate(
        self, rule: CheckRule, reported: Diagnostics
    ) -> tuple[Scope, Value, Value] | None:
        """Return the scope, the condition and the message; None after a failure."""
        work = _Evaluation(self._frame, rule)
        phase = self._phase
        with phase.reporting_to(reported):
            if isinstance(phase, ApplyRun):
                await phase.finish(work.step)
            else:
                phase.work.want((CheckNode("an assertion", Stages(work.step)),))
                await Driver(phase.work, phase.perform, 1).run()
        reported.extend(work.reported)
        return work.found

    def _truth(
        self, rule: CheckRule, condition: Value, scope: Scope, diags: Diagnostics
    ) -> bool | None:
        """Convert a condition to a bool; None after reporting an unusable one."""
        value, _ = condition.unmark_deep()
        problem = ""
        if any(cause.kind is CauseKind.REPORTED for cause in causes_within(value)):
            problem = "The condition depends on something that could not be evaluated."
        elif value.is_null:
            problem = "The condition is null. It must be true or false."
        elif not value.is_known:
            problem = (
                "The condition depends on something that is known only after apply. Use a run "
                "with command = apply to check it."
            )
        else:
            try:
                return convert(value, BOOL).as_bool()
            except CtyError as error:
                problem = f"A condition must be true or false: {error.message}."
        rule.condition.report(diags, scope, "Invalid condition", problem)
        return None


class _Given(ValueNode):
    """A variable whose value the test sets."""

    __slots__ = ("_name",)

    def __init__(self, frame: Frame, name: str, value: Value) -> None:
        super().__init__(frame)
        self._name = name
        self.value = value
        self.state = DONE

    @property
    def label(self) -> str:
        return f"var.{self._name}"

    def step(self) -> Sequence[Need]:
        return ()


class _Evaluation:
    """Evaluation of one condition and its message."""

    def __init__(self, frame: Frame, rule: CheckRule) -> None:
        self._frame = frame
        self._rule = rule
        self.reported = Diagnostics()
        self.found: tuple[Scope, Value, Value] | None = None

    def step(self) -> Sequence[Need]:
        """Continue as far as possible; return the pending dependencies."""
        self.reported = reported = Diagnostics()
        binding = Binding(self._frame, diags=reported)
        for expr in (self._rule.error_message, self._rule.condition):
            for reference in _references(expr, reported):
                self._bind(binding, reference)
        if binding.needs:
            return binding.needs
        if reported.has_errors:
            return ()
        scope = binding.scope()
        message = self._rule.error_message.value(scope, reported)
        condition = self._rule.condition.value(scope, reported)
        if binding.needs:
            return binding.needs
        if condition.contains_marked:
            compiled = self._frame.instance.compiled.expression(self._rule.condition)
            condition = used(condition, compiled, reported)
        self.found = scope, condition, message
        return ()

    def _bind(self, binding: Binding, reference: Reference) -> None:
        subject = reference.subject
        if isinstance(subject, OutputValue):
            node = self._frame.outputs.get(subject.name)
            if node is None:
                report_undeclared(
                    self._frame, reference, "output value", self._frame.outputs, binding.diags
                )
                binding.put(("output", subject.name), FAILED)
            elif node.state == DONE:
                # A deprecation is meant for callers of the module.
                marks = frozenset(m for m in node.value.marks if not isinstance(m, Deprecated))
                binding.put(("output", subject.name), node.value.unmark()[0].with_marks(marks))
            else:
                binding.needs.append(node)
        elif isinstance(subject, Check):
            self._frame.run.diags.error(
                "Reference to a check",
                "A check has no value. To expect that it fails, name it in expect_failures.",
                reference.range,
            )
        else:
            binding.bind([reference])


def _references(expr: Expression, diags: Diagnostics) -> list[Reference]:
    traversals = [*expr.variables(), *namespace_calls(expr)]
    found = [parse_reference(each, diags, in_tests=True) for each in traversals]
    return [each for each in found if each is not None]
