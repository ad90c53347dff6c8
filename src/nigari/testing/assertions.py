"""The conditions of a run, looked at in the tested module once it is planned or applied.

They may refer to everything that its root module may, to its outputs, and to all variables that
the test sets. A variable that the test sets is just what the test says, not converted to its type.
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
from nigari.lang.references import Reference, parse_reference, provider_calls
from nigari.record import replace
from nigari.running.driver import Driver
from nigari.running.provider_run import ProviderRun
from nigari.testing.outcome import RunOutcome, Status

if TYPE_CHECKING:
    from nigari.testing.chains import FinishedEvaluation


class Judge:
    """Looks at conditions in a module that is planned or applied."""

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
        told = Diagnostics()
        found = await self._evaluate(rule, told)
        if told.has_errors or found is None:
            outcome.diags.extend(told)
            outcome.at_least(Status.ERROR)
            return
        scope, condition, message = found
        text = message_text(rule.error_message, message, told, lambda: scope)
        outcome.diags.extend(told)
        if told.error_count:
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
        """Where the values come from that a condition names."""
        # Most conditions hold, and then nobody asks.
        from nigari.testing.chains import condition_origins

        condition, evaluation = rule.condition, self._evaluation()
        references = _references(condition, Diagnostics())
        return condition_origins(condition, references, scope, self._frame, evaluation)

    async def _evaluate(
        self, rule: CheckRule, told: Diagnostics
    ) -> tuple[Scope, Value, Value] | None:
        """The names, the condition and the message; None where something has gone wrong."""
        work = _Evaluation(self._frame, rule)
        phase = self._phase
        with phase.reporting_to(told):
            if isinstance(phase, ApplyRun):
                await phase.finish(work.step)
            else:
                phase.work.want((CheckNode("an assertion", Stages(work.step)),))
                await Driver(phase.work, phase.perform, 1).run()
        told.extend(work.told)
        return work.found

    def _truth(
        self, rule: CheckRule, condition: Value, scope: Scope, diags: Diagnostics
    ) -> bool | None:
        """Whether a condition holds; None after reporting why that cannot be told."""
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
    """One condition and its message on their way to values."""

    def __init__(self, frame: Frame, rule: CheckRule) -> None:
        self._frame = frame
        self._rule = rule
        self.told = Diagnostics()
        self.found: tuple[Scope, Value, Value] | None = None

    def step(self) -> Sequence[Need]:
        """Go on as far as possible; what must be worked out first."""
        self.told = told = Diagnostics()
        binding = Binding(self._frame, diags=told)
        for expr in (self._rule.error_message, self._rule.condition):
            for reference in _references(expr, told):
                self._bind(binding, reference)
        if binding.needs:
            return binding.needs
        if told.has_errors:
            return ()
        scope = binding.scope()
        message = self._rule.error_message.value(scope, told)
        condition = self._rule.condition.value(scope, told)
        if binding.needs:
            return binding.needs
        if condition.contains_marked:
            compiled = self._frame.instance.compiled.expression(self._rule.condition)
            condition = used(condition, compiled, told)
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
                # Advice against using it is for callers of the module.
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
    traversals = [*expr.variables(), *provider_calls(expr)]
    found = [parse_reference(each, diags, in_tests=True) for each in traversals]
    return [each for each in found if each is not None]
