"""Making a plan: the configuration as it is meant, against the state as it is.

First everything that the configuration wants is worked out and compared with the prior state; then
whatever is left in the state is an orphan. The result is data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from nigari.addrs.absolute import AbsResourceInstance, resource_of
from nigari.addrs.provider import Provider
from nigari.addrs.resource import DATA
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.config.blocks.output import Output
from nigari.cty.paths import infinite_as_null
from nigari.cty.types import DYNAMIC
from nigari.cty.values import Value, null
from nigari.diagnostics import Diagnostics
from nigari.diagnostics.advice import advice
from nigari.eval.core.worklist import DONE, Effect
from nigari.eval.nodes.output import OutputNode, infinite_output
from nigari.eval.nodes.resource import ValidateConfig, resource_schema
from nigari.eval.static.run import StaticRun
from nigari.eval.validate.run import ProviderValidation, ValidateRun
from nigari.plan.deferred.deferred_changes import deferred_changes
from nigari.plan.model.changes import Action, Change, Drift, OutputChange, Plan, PlanMode
from nigari.plan.model.check_results import (
    DeclaredCheck,
    check_results,
    declared_checks,
    open_results,
    with_read_checks,
)
from nigari.plan.model.plan_data import with_schemas
from nigari.plan.model.plan_file import SavedPlan
from nigari.plan.nodes.import_lookup import DeclaredTarget, ImportLookup, named_provider
from nigari.plan.nodes.imports import ImportTarget, report_undeclared
from nigari.plan.nodes.moved import Moves, check_selection, check_statements, moved_state
from nigari.plan.nodes.orphan_search import Orphans, held_blocks, unreplaced_blocks
from nigari.plan.nodes.plan_run import PlanOptions, PlanRun
from nigari.plan.order.block_graph import Block, BlockGraph
from nigari.plan.order.block_settings import BlockSettings
from nigari.plan.order.cycles import report_validation_cycles
from nigari.plan.order.removed_blocks import RemoveStatements, remove_statements
from nigari.plan.order.required_providers import providers_of
from nigari.plan.order.selection import Selection, destroyed, selection
from nigari.record import replace
from nigari.running.deferrals import Deferral
from nigari.running.driver import Driver
from nigari.running.provider_pool import ProviderPool
from nigari.running.provider_run import RunSettings
from nigari.running.requests import validate_with_provider
from nigari.running.unknown_values import is_reported
from nigari.schema.provider import Schema
from nigari.state.model import CheckResult, OutputState, State
from nigari.state.moves.moving import MovedInstance, MoveResult

_MOST_NAMED: Final = 10


class Planner:
    """Everything that a plan is made from."""

    def __init__(
        self, static: StaticRun, run_settings: RunSettings, pool: ProviderPool, state: State
    ) -> None:
        self._static = static
        self._run_settings = run_settings
        self._pool = pool
        self._state = state
        self.diags: Diagnostics = Diagnostics()
        self.graph: BlockGraph = BlockGraph(run_settings.root, pool)
        self.settings: BlockSettings | None = None
        self.plan_run: PlanRun | None = None
        self.incomplete: Plan | None = None
        """As much of a plan as could be made, where there is none."""
        self.moved: Mapping[AbsResourceInstance, MovedInstance] = {}
        """What has moved since the state was stored, by new address."""

    async def plan(self, options: PlanOptions) -> Plan | None:
        """The plan; None where there is none, which is then reported."""
        needed = providers_of(self._run_settings.root, self._state)
        await self._pool.load(needed, self.diags)
        if self._has_failed():
            return None
        await self._validate(options)
        report_validation_cycles(self.graph, self.diags)
        if self._has_failed():
            return None
        moves = moved_state(self._static, self._state, self.diags)
        self.moved = moves.result.moved
        if options.targets or options.excluded:
            check_selection(moves, options, self.diags)
        if self._has_failed():
            return None
        removed = remove_statements(self._static, self.graph.variants, self.diags)
        self.settings = BlockSettings(self._static, self.graph, removed)
        if self._has_failed():
            return None
        if options.targets or options.excluded:
            self._warn_of_selection()
        run, driver = await self._evaluate_until_stable(options, moves.result)
        try:
            if not self._moves_fit(moves, run):
                return None
            if options.mode is PlanMode.NORMAL:
                self._check_imports(run)
            for nodes in Orphans(run, options.mode).nodes():
                run.work.want(nodes)
                await driver.run()
            if options.mode is PlanMode.NORMAL:
                self._check_replaced(run, options)
        finally:
            await run.ephemeral.close_all()
        self.diags.extend(run.diags)
        plan = self._finished(run, options)
        if self._has_failed():
            self.incomplete = replace(plan, is_incomplete=True)
            return None
        return plan

    async def _evaluate_until_stable(
        self, options: PlanOptions, moved: MoveResult
    ) -> tuple[PlanRun, Driver]:
        """What the configuration wants, once it is known what stays as it is in this round."""
        selected = self._selection(options, moved)
        run, driver = await self._evaluate(options, moved, selected)
        held, kept = held_blocks(run), unreplaced_blocks(run)
        while not (held <= run.staying and kept.keys() <= run.unreplaced.keys()):
            # What waits together with what needs it does not change in this round.
            await run.ephemeral.close_all()
            held, kept = held | run.staying, {**kept, **run.unreplaced}
            run, driver = await self._evaluate(options, moved, selected, held, kept)
            held, kept = held_blocks(run), unreplaced_blocks(run)
        return run, driver

    def _selection(self, options: PlanOptions, moved: MoveResult) -> Selection | None:
        """What the user has singled out; None where that is nothing."""
        if not options.targets and not options.excluded:
            return None
        graph, state = self.graph, moved.state
        selected = selection(graph, state, options.targets, options.excluded)
        if options.mode is PlanMode.DESTROY:
            selected = destroyed(selected, graph, state, moved.moved, options.refreshes)
        return selected

    async def _evaluate(
        self,
        options: PlanOptions,
        moved: MoveResult,
        selected: Selection | None,
        staying: frozenset[Block] = frozenset(),
        unreplaced: Mapping[Block, Deferral] = MappingProxyType({}),
    ) -> tuple[PlanRun, Driver]:
        """Everything that the configuration wants, compared with the prior state."""
        assert self.settings is not None
        run = self.plan_run = PlanRun(
            run_settings=self._run_settings,
            pool=self._pool,
            prior=moved.state,
            settings=self.settings,
            blocks=self.graph,
            options=options,
            moved=moved.moved,
            selected=selected,
            staying=staying,
            unreplaced=unreplaced,
        )
        run.begin()
        driver = Driver(run.work, run.perform, options.parallelism)
        try:
            await driver.run()
        except BaseException:
            await run.ephemeral.close_all()
            raise
        return run, driver

    def _moves_fit(self, moves: Moves, run: PlanRun) -> bool:
        """Whether the moves make sense; if not, whatever else is wrong may come of that.

        As in OpenTofu, a destroy only looks at what is declared while it refreshes.
        """
        is_opened = not run.is_destroying or (run.refreshes and bool(self._state.resources))
        errors = self.diags.error_count
        check_statements(moves, run, is_opened, self.diags)
        return self.diags.error_count == errors

    async def look_up(
        self, target: ImportTarget | None, parallelism: int
    ) -> list[ImportLookup] | None:
        """Find an object that exists; without a target, all that import blocks name and that the
        configuration does not have. None after reporting what went wrong.
        """
        await self._pool.load(providers_of(self._run_settings.root, self._state), self.diags)
        options = PlanOptions(parallelism=parallelism, follows_imports=target is None)
        if not self._has_failed():
            await self._validate(options)
        if self._has_failed():
            return None
        self.settings = BlockSettings(
            self._static, self.graph, RemoveStatements(self.graph.variants)
        )
        run = self.plan_run = PlanRun(
            run_settings=self._run_settings,
            pool=self._pool,
            prior=self._state,
            settings=self.settings,
            blocks=self.graph,
            options=options,
            moved={},
            selected=Selection(self.graph.variants, self._before(target), frozenset(), (), ()),
        )
        run.begin()
        driver = Driver(run.work, run.perform, parallelism)
        nodes: list[ImportLookup] = []
        try:
            await driver.run()
            if target is not None:
                declared = DeclaredTarget(run, target)
                nodes.append(ImportLookup(run, target, declared.provider, declared.config))
            elif not run.diags.has_errors:
                missing = self._without_block(run)
                nodes += [ImportLookup(run, each, named_provider(run, each)) for each in missing]
            run.work.want(nodes)
            await driver.run()
        finally:
            await run.ephemeral.close_all()
        self.diags.extend(run.diags)
        return None if self._has_failed() else nodes

    def _before(self, target: ImportTarget | None) -> frozenset[Block]:
        """The data that decides which provider is asked for an object, and how it is configured; also
        the variables whose validations OpenTofu checks in its import walk.
        """
        validated = frozenset(
            (each.module, each.item)
            for each in declared_checks(self._run_settings.root)
            if each.kind == "var" and each.module.is_root
        )
        resources = self.graph.resources()
        found: Iterable[Block] = resources
        if target is not None:
            block = self.graph.resource_block(resource_of(target.address))
            found = self.graph.resource_blocks_before(block)
        return validated.union(each for each in found if resources[each].item.mode is DATA)

    def _without_block(self, run: PlanRun) -> list[ImportTarget]:
        declared = run.root.module.resources
        return [
            each
            for each in run.imports.targets.values()
            if not each.is_empty
            and each.address.module.is_root
            and each.address.item.key is None
            and each.address.item.resource not in declared
        ]

    def _check_imports(self, run: PlanRun) -> None:
        """Report imports to what the configuration does not have."""
        for target in run.imports.targets.values():
            is_declared = run.is_wanted(target.address) or run.held_by(target.address)
            if not is_declared and run.looks_at(target.address):
                report_undeclared(target, run.diags)

    def _warn_of_selection(self) -> None:
        words = advice()
        self.diags.warning(
            "Incomplete plan",
            f"Because of {words.option('-target')} or {words.option('-exclude')}, the plan leaves out parts of the configuration, so "
            "the result may not match the configuration as a whole. Use these options only in "
            "exceptional cases, such as recovering from a mistake.",
        )

    def _check_replaced(self, run: PlanRun, options: PlanOptions) -> None:
        """Warn of replacements that are asked for where there is nothing."""
        for address in options.replaced:
            if self._has_to_replace(run, address) or run.diags.has_errors:
                continue
            block = resource_of(address)
            others = [
                str(each)
                for each, _ in run.record.changes
                if resource_of(each) == block and each != address
            ]
            hint = (
                (f" The instances are {', '.join(sorted(others)[:_MOST_NAMED])}.") if others else ""
            )
            run.diags.warning(
                "Nothing to replace",
                f"The option {advice().option('-replace')} names {address}, but the plan has no such instance.{hint}",
            )

    def _has_to_replace(self, run: PlanRun, address: AbsResourceInstance) -> bool:
        """Whether there is something to replace, or that is destroyed in any case."""
        if run.held_by(address) is not None:
            return True
        if (address, "") not in run.record.changes:
            return False
        # What is destroyed need not be replaced, but whoever names a resource means what it declares.
        names_resource = address.item.key is None and run.declares(address)
        return run.is_wanted(address) or not names_resource

    async def restore(self, saved: SavedPlan) -> Plan | None:
        """A plan that was saved, with the schemas that it needs."""
        needed = providers_of(self._run_settings.root, saved.plan.refreshed_state)
        await self._pool.load(needed, self.diags)
        if self._has_failed():
            return None
        removed = remove_statements(self._static, self.graph.variants, self.diags)
        self.settings = BlockSettings(self._static, self.graph, removed)
        return with_schemas(saved.plan, self._schema_for, self.diags)

    async def _validate(self, options: PlanOptions) -> None:
        """Look at everything once, whatever its values; providers are asked while planning, or here
        where nothing is going to be planned, so that one run finds all mistakes.

        What the built-in one thinks of data sources is asked in any case, since that a check cannot
        read its data is only a warning, and that nobody could read it is not.
        """
        found = await self._validation_diagnostics(options, _is_about_builtin_data)
        if found.has_errors:
            found = await self._validation_diagnostics(options, _is_about_anything)
        self.diags.extend(found)

    async def _validation_diagnostics(
        self, options: PlanOptions, is_asked: Callable[[ProviderValidation], bool]
    ) -> Diagnostics:
        """What is wrong, whatever the values are, and what providers say of what they are asked."""
        is_before_import = not options.follows_imports
        check = ValidateRun(self._static, self._pool, True, is_before_import)

        async def perform(effect: Effect) -> None:
            assert isinstance(effect, ProviderValidation)
            provider = None
            if is_asked(effect):
                provider = await self._pool.unconfigured(effect.provider, check.diags)
            check.tell(
                effect, () if provider is None else await validate_with_provider(provider, effect)
            )

        await Driver(check.work, perform, options.parallelism).run()
        return check.diags

    def _has_failed(self) -> bool:
        return self.diags.has_errors

    def _finished(self, run: PlanRun, options: PlanOptions) -> Plan:
        changes = sorted(run.record.changes.values(), key=lambda each: each.address.sort_key())
        if options.mode is not PlanMode.DESTROY:
            _warn_of_forgetting(changes, self.diags)
        for memory in run.providers.memories():
            run.record.refreshed.remember(memory)
        run.undo_held_moves()
        refreshed = run.record.refreshed.finish()
        return Plan(
            mode=options.mode,
            changes=tuple(changes),
            outputs=self._outputs(run, options),
            drift=self._drift(run, options),
            previous_state=self._state,
            refreshed_state=refreshed,
            checks=self._checks(run, options),
            targeted=bool(options.targets or options.excluded),
            ephemeral=tuple(
                sorted(run.record.ephemeral_instances, key=lambda each: each.address.sort_key())
            ),
            modules={
                frame.instance.addr: tuple(
                    name for name, node in frame.outputs.items() if not node.value.is_null
                )
                for frame in run.called
                if any(node.state == DONE for node in frame.outputs.values())
            },
            deferred=deferred_changes(run),
            ended_data=tuple(_ended_data(run, refreshed)),
        )

    def _drift(self, run: PlanRun, options: PlanOptions) -> tuple[Drift, ...]:
        """What has changed outside, which does not matter to what is destroyed anyway."""
        if options.mode is PlanMode.DESTROY:
            return ()
        return tuple(sorted(run.record.drift, key=lambda each: each.address.sort_key()))

    def _checks(self, run: PlanRun, options: PlanOptions) -> tuple[CheckResult, ...]:
        declared = declared_checks(self._run_settings.root)
        if options.mode is PlanMode.DESTROY:
            return open_results(declared, bool(options.targets or options.excluded))
        selected = run.selection

        is_left_open = run.left_open()
        entered = {frame.instance.variant for frame in (run.root, *run.called)}

        def is_expanded(each: DeclaredCheck) -> bool:
            if self._has_failed() or is_left_open(each.module, each.item):
                return False
            if selected is None or (each.module, each.item) in selected.blocks:
                return True
            # It is known that there are none where nothing but the data would be read.
            return (each.module, each.data) in selected.blocks and each.module not in entered

        found = check_results(run.record.conditions, declared, is_expanded)
        return found if selected is None else with_read_checks(found, _read_checks(run, selected))

    # -- outputs ------------------------------------------------------------------------------

    def _outputs(self, run: PlanRun, options: PlanOptions) -> dict[str, OutputChange]:
        nothing = null(DYNAMIC)
        found: dict[str, OutputChange] = {}
        prior = self._state.outputs
        if options.mode is PlanMode.DESTROY and (options.targets or options.excluded):
            return found
        if options.mode is not PlanMode.DESTROY:
            for name, node in run.root.outputs.items():
                if not isinstance(node, OutputNode) or node.output.ephemeral or node.state != DONE:
                    continue
                if is_reported(node.value):
                    continue
                if infinite_as_null(node.value.unmark_deep()[0])[1]:
                    self.diags.append(infinite_output(node.output))
                    continue
                found[name] = output_change(node.output, prior.get(name), node.value)
        for name, state in prior.items():
            if name not in run.root.outputs or options.mode is PlanMode.DESTROY:
                found[name] = OutputChange(
                    name, Action.DELETE, state.value, nothing, state.sensitive
                )
        return dict(sorted(found.items()))

    # -- schemas ------------------------------------------------------------------------------

    def _schema_for(self, provider: Provider, addr: ResourceAddr) -> Schema | None:
        offered = self._pool.of(provider)
        return None if offered is None else resource_schema(offered, addr)


def _warn_of_forgetting(changes: Iterable[Change], diags: Diagnostics) -> None:
    for change in changes:
        if change.action is Action.FORGET:
            deposed = f" (deposed object {change.deposed})" if change.deposed else ""
            diags.warning(
                "Object will be forgotten",
                "Once this plan is applied, the object is no longer in the state, although it "
                "still exists. To manage it again, it has to be imported.",
                address=f"{change.address}{deposed}",
            )


def _ended_data(run: PlanRun, refreshed: State) -> Iterator[AbsResourceInstance]:
    """The data that a destroy forgets only once the providers that need it have done their work."""
    if run.is_destroying:
        for address, _ in refreshed.instances():
            is_data = address.item.resource.mode is DATA
            if is_data and (run.selection is None or run.selection.names(address)):
                yield address


def _read_checks(run: PlanRun, selected: Selection) -> Iterator[tuple[str, str]]:
    """The checks, and their addresses, that are left out though their data is not."""
    for frame in (run.root, *run.called):
        for name, check in frame.module.checks.items():
            at, path = frame.instance.addr, frame.instance.variant
            if check.data is not None and (path, str(check.data.addr)) in selected.blocks:
                block, address = (f"{each}.check.{name}".lstrip(".") for each in (at.unkeyed, at))
                yield block, address


def output_change(output: Output, prior: OutputState | None, after: Value) -> OutputChange:
    """What becomes of an output value."""
    before = null(DYNAMIC) if prior is None else prior.value
    plain, _ = after.unmark_deep()
    was_sensitive = prior is not None and prior.sensitive
    deprecated = "" if prior is None else prior.deprecated
    action = Action.CREATE if prior is None else Action.UPDATE
    if output.deprecated == deprecated:
        is_same = plain.is_wholly_known and plain == before and output.sensitive == was_sensitive
        if (plain.is_null and before.is_null) or (prior is not None and is_same):
            action = Action.NO_OP
    return OutputChange(output.name, action, before, after, was_sensitive or output.sensitive)


def _is_about_builtin_data(effect: ProviderValidation) -> bool:
    is_data = isinstance(effect, ValidateConfig) and effect.mode is DATA
    return is_data and effect.provider.is_builtin


def _is_about_anything(effect: ProviderValidation) -> bool:
    return True
