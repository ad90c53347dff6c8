"""Execution of one run: configuration, plan, apply and assertions.

The caller provides the state and the results of earlier runs. An expected failure is dropped, and
reported if it does not occur.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from nigari.addrs.parse import parse_resource_instance, parse_target
from nigari.addrs.resource import MANAGED
from nigari.apply.apply_run import ApplyRun
from nigari.apply.listener import ApplyListener
from nigari.config.test_files import TestFile, TestRun, check_run
from nigari.config.test_mocks import check_overrides
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostic, Diagnostics, Range, Severity
from nigari.eval.core.module_tree import Modules
from nigari.eval.static.run import StaticRun, run_static
from nigari.eval.tree.placement_rules import check_places
from nigari.eval.tree.provider_rules import check_providers
from nigari.lang.references import parse_reference
from nigari.plan.engine import PlanOutcome, evaluated_plan
from nigari.plan.model.changes import Plan, PlanMode
from nigari.plan.model.plan_options import PlanOptions
from nigari.plan.nodes.plan_run import PlanRun
from nigari.record import record, replace
from nigari.running.provider_run import ProviderRun
from nigari.state.model import State
from nigari.testing.assertions import Judge
from nigari.testing.module_under_test import (
    TestedModules,
    check_targets,
    merged_overrides,
    run_providers,
)
from nigari.testing.outcome import RunOutcome, Shown, Status
from nigari.testing.plugins import Plugins
from nigari.testing.test_overrides import RunOverrides
from nigari.testing.values import TestValues, ValueSource
from nigari.workspace.configuration.directory import Workspace
from nigari.workspace.configuration.test_modules import load_tested, modules_below
from nigari.workspace.plans.plan_context import PlanContext

if TYPE_CHECKING:
    from nigari.testing.chains import FinishedEvaluation
    from nigari.testing.coverage import CoverageRecorder

PARALLELISM: Final = 10


@record
class SuiteContext:
    """Inputs shared by all runs of all files."""

    workspace: Workspace
    selected: str
    plugins: Plugins
    values: ValueSource
    shows: bool = False
    """True to show plans and states."""
    reported: frozenset[Diagnostic] = frozenset()
    """Diagnostics of the configuration that are independent of the run."""
    coverage: CoverageRecorder | None = None
    """Records coverage, if requested."""


@record
class Prepared:
    """The configuration of a run, which can be planned any number of times."""

    static: StaticRun
    values: TestValues
    replacements: RunOverrides


class Execution:
    """One run, from its configuration to its result."""

    def __init__(
        self,
        context: SuiteContext,
        file: TestFile,
        run: TestRun,
        outcome: RunOutcome,
        view: ApplyListener,
    ) -> None:
        self._context = context
        self._file = file
        self._run = run
        self._outcome = outcome
        self._view = view
        self.prepared: Prepared | None = None
        self.planned: Plan | None = None
        """The plan that is being applied."""

    async def execute(self, state: State, runs: Mapping[str, Value]) -> State | None:
        """Execute the run; return the new state, or None if nothing can have changed."""
        outcome = self._outcome
        check_overrides(self._file.overrides, outcome.diags)
        check_run(self._run, outcome.diags)
        options = None if outcome.diags.has_errors else self._options()
        if options is not None:
            self.prepared = self._prepare(runs)
        if options is None or self.prepared is None:
            outcome.at_least(Status.ERROR)
            return None
        context = plan_context(self._context, self.prepared)
        try:
            return await self._with(context, state, self.prepared, options)
        finally:
            await context.close()

    async def _with(
        self, context: PlanContext, state: State, prepared: Prepared, options: PlanOptions
    ) -> State | None:
        outcome, expectations = self._outcome, Expectations(self._run)
        diags, plugins = Diagnostics(), self._context.plugins
        evaluated = await plan(context, state, options, diags)
        found = taken(diags, plugins)
        if evaluated is not None:
            self._note(evaluated[1], prepared)
        if self._run.is_plan:
            outcome.diags.extend(expectations.matched(found))
            if outcome.diags.has_errors or evaluated is None:
                outcome.at_least(Status.ERROR)
                return None
            planned, run = evaluated
            self._show(planned, prepared, None)
            await self._judge(run, prepared)
            return None
        if evaluated is None or evaluated[0].plan.is_incomplete:
            outcome.diags.extend(found)
            outcome.diags.extend(_warnings(found, expectations))
            outcome.at_least(Status.ERROR)
            return None
        outcome.diags.extend(each for each in found if not each.is_check)
        planned, _ = evaluated
        self.planned = planned.plan
        state, applying = await apply(context, planned, self._view, diags)
        self.planned = None
        outcome.diags.extend(expectations.matched(taken(diags, plugins)))
        self._note(applying, prepared)
        if outcome.diags.has_errors:
            outcome.at_least(Status.ERROR)
            return state
        self._show(planned, prepared, state)
        await self._judge(applying, prepared)
        return state

    def _evaluation(self, prepared: Prepared) -> FinishedEvaluation:
        from nigari.testing.chains import FinishedEvaluation

        return FinishedEvaluation(prepared.static, self._context.workspace.sources)

    def _note(self, phase: ProviderRun, prepared: Prepared) -> None:
        """Record the coverage of the run."""
        coverage = self._context.coverage
        if coverage is None:
            return
        coverage.note_run(phase, self._evaluation(prepared))
        coverage.note_uses(prepared.static.root.module, self._run)

    async def _judge(self, phase: ProviderRun, prepared: Prepared) -> None:
        judge = Judge(phase, prepared.values.given, partial(self._evaluation, prepared))
        self._outcome.at_least(Status.PASS)
        for rule in self._run.asserts:
            await judge.judge(rule, self._outcome)

    def _show(self, planned: PlanOutcome, prepared: Prepared, state: State | None) -> None:
        if self._context.shows:
            values = {
                name: value
                for name, value in prepared.values.given.items()
                if name in prepared.static.root.module.variables
            }
            self._outcome.shown = Shown(planned, state, values)

    # -- what it works with ---------------------------------------------------------------------

    def _prepare(self, runs: Mapping[str, Value]) -> Prepared | None:
        context, file, run, diags = self._context, self._file, self._run, self._outcome.diags
        workspace = context.workspace
        modules: Modules = workspace.modules
        if run.module is None:
            compiled = workspace.modules.compiled(workspace.directory, diags)
        else:
            compiled = load_tested(workspace, file, run, diags)
            modules = modules_below(workspace, file, run)
        if compiled is None or self._has_failed():
            return None
        declared = compiled.module.variables
        values = context.values.for_run(file, run, declared, runs, diags)
        providers = run_providers(compiled.module, file, run, values.names, diags)
        overrides = merged_overrides(file.overrides, run.overrides, diags)
        if self._has_failed():
            return None
        tested = TestedModules(modules, overrides.modules)
        compiled = compiled.with_module(
            replace(compiled.module, provider_configs=providers.configs)
        )
        static_settings = workspace.static_settings(values.inputs, context.selected, tested)
        # The module of a run becomes the root module.
        static_settings = replace(
            static_settings, root_path=compiled.module.directory, expanded=tested.expanded
        )
        static = run_static(compiled, static_settings)
        self._outcome.directories = frozenset(
            frame.instance.module.directory for frame in static.frames()
        )
        # Conditions are evaluated again during planning, where they may be expected to fail.
        diags.extend(each for each in static.diags if not each.checked)
        found = Diagnostics()
        check_places(static.root.instance, found)
        check_providers(static.root.instance, found)
        diags.extend(each for each in found if each not in context.reported)
        check_targets(overrides, static, tested.replaced, diags)
        if self._has_failed():
            return None
        levels = (run.overrides.resources, file.overrides.resources)
        provisioners = {**file.provisioners, **run.provisioners}
        return Prepared(static, values, RunOverrides(providers.mocks, levels, provisioners))

    def _has_failed(self) -> bool:
        return self._outcome.diags.has_errors

    def _options(self) -> PlanOptions | None:
        """Build the run's plan options; None after reporting a mistake in them."""
        options, diags = self._run.options, self._outcome.diags
        targets = [parse_target(each, diags) for each in options.targets]
        replaced = [parse_resource_instance(each, diags) for each in options.replaced]
        for traversal, address in zip(options.replaced, replaced, strict=True):
            if address is not None and address.item.resource.mode is not MANAGED:
                diags.error(
                    "Replacement of something that is only read",
                    f"{address} cannot be replaced. Only managed resources can.",
                    traversal.range,
                )
        if diags.has_errors:
            return None
        return PlanOptions(
            PlanMode.REFRESH_ONLY if options.is_refresh_only else PlanMode.NORMAL,
            options.refreshes,
            replaced=tuple(each for each in replaced if each is not None),
            targets=tuple(each for each in targets if each is not None),
            parallelism=PARALLELISM,
        )


def plan_context(context: SuiteContext, prepared: Prepared) -> PlanContext:
    """Create the context of a run's plan, or of the final destroy."""
    workspace, plugins = context.workspace, context.plugins
    return PlanContext(
        prepared.static,
        prepared.values.inputs,
        workspace.files,
        workspace.where,
        context.selected,
        installed=plugins.installed,
        start=plugins.start,
        overrides=prepared.replacements,
    )


async def plan(
    context: PlanContext, state: State, options: PlanOptions, diags: Diagnostics
) -> tuple[PlanOutcome, PlanRun] | None:
    """Make a plan, which is incomplete after an error; None if there is not even that."""
    if not context.providers_fit(diags):
        return None
    found = Diagnostics()
    evaluated = await evaluated_plan(context.plan_inputs(state), options, found)
    is_sound = context.report(found, diags)
    if evaluated is None or not (is_sound or evaluated[0].plan.is_incomplete):
        return None
    return evaluated


async def apply(
    context: PlanContext, planned: PlanOutcome, view: ApplyListener, diags: Diagnostics
) -> tuple[State, ApplyRun]:
    """Apply a plan; the state is only held in memory."""
    async with context.applied(planned, view, _keep_nothing, diags, PARALLELISM) as result:
        return result


async def _keep_nothing(state: State, lasting: bool) -> bool:
    return True


async def destroy(
    context: PlanContext, state: State, view: ApplyListener, diags: Diagnostics
) -> tuple[PlanOutcome, State] | None:
    """Destroy all objects of a state; None after an error that no plan can be made for."""
    options = PlanOptions(PlanMode.DESTROY, parallelism=PARALLELISM)
    evaluated = await plan(context, state, options, diags)
    if evaluated is None or evaluated[0].plan.is_incomplete:
        return None
    planned, _ = evaluated
    left, _ = await apply(context, planned, view, diags)
    return planned, left


def taken(diags: Diagnostics, plugins: Plugins) -> list[Diagnostic]:
    """Take the diagnostics so far, each once.

    Warnings about installed plugins concern all runs, and are reported elsewhere.
    """
    general = set(plugins.warnings)
    return [each for each in dict.fromkeys(diags.take()) if each not in general]


def _warnings(found: Sequence[Diagnostic], expectations: Expectations) -> list[Diagnostic]:
    """Warn about variables that fail as expected, since the run then stops before apply."""
    names = dict.fromkeys(
        each.checked
        for each in found
        if each.severity is Severity.ERROR and expectations.names_variable(each.checked)
    )
    return [
        Diagnostic(
            Severity.WARNING,
            "Expected failure before apply",
            f"The value of {name} is refused, as expected, but that keeps the run from being "
            "applied. Use command = plan to expect this failure.",
        )
        for name in names
    ]


class Expectations:
    """The expected failures of one run, with those that have occurred."""

    def __init__(self, run: TestRun) -> None:
        self._wanted: dict[str, Range] = {}
        for traversal in run.expected:
            reference = parse_reference(traversal, Diagnostics(), in_tests=True)
            if reference is not None:
                self._wanted[str(reference.subject)] = reference.range
        self._seen: set[str] = set()

    def matched(self, found: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return unexpected diagnostics, failed checks as errors, and an error for each expected
        failure that did not occur.
        """
        remaining: list[Diagnostic] = []
        for each in found:
            if not each.checked or (each.severity is Severity.WARNING and not each.is_check):
                remaining.append(each)
            elif not self._takes(each.checked):
                remaining.append(replace(each, severity=Severity.ERROR))
        missing = [name for name in self._wanted if name not in self._seen]
        return remaining + [self._missing(name) for name in missing]

    def names_variable(self, checked: str) -> bool:
        """Check for an expected failure of an input variable."""
        return checked.startswith("var.") and checked in self._wanted

    def _takes(self, checked: str) -> bool:
        """Check whether a failure is expected, for an instance or its whole resource."""
        whole = checked.partition("[")[0]
        taken = {checked, whole} & self._wanted.keys()
        self._seen |= taken
        return bool(taken)

    def _missing(self, name: str) -> Diagnostic:
        return Diagnostic(
            Severity.ERROR,
            "Expected failure missing",
            f"The run expects a condition of {name} to fail, but all of them hold.",
            self._wanted[name],
        )
