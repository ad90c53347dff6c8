"""Planning: compares what a configuration wants with the prior state.

`make_plan` turns values and a pool of providers into a `PlanOutcome`, which suffices to show, save
and apply the plan. First everything that the configuration wants is evaluated and compared with
the prior state; whatever else is in the state is an orphan. How the result becomes data is in
`finished_plan`; where the state is stored is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial

from nigari.addrs.absolute import AbsResourceInstance, resource_of
from nigari.addrs.resource import ACTION, DATA
from nigari.addrs.targets import Target
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.diagnostics.advice import advice
from nigari.eval.core.worklist import Effect
from nigari.eval.nodes.resource import ValidateConfig
from nigari.eval.static.run import StaticRun
from nigari.eval.validate.run import ProviderValidation, ValidateRun
from nigari.plan.finished_plan import finished_plan
from nigari.plan.model.changes import Plan, PlanMode
from nigari.plan.model.execution_graph import ExecutionGraph
from nigari.plan.model.plan_file import SavedPlan
from nigari.plan.model.plan_options import PlanOptions, ReadObjects
from nigari.plan.nodes.imports import report_undeclared
from nigari.plan.nodes.moved import Moves, check_selection, check_statements, moved_state
from nigari.plan.nodes.orphan_search import Orphans, held_blocks, unreplaced_blocks
from nigari.plan.nodes.plan_run import PlanRun
from nigari.plan.objects.known_reads import KnownReads
from nigari.plan.objects_to_read import edited_blocks, objects_to_read
from nigari.plan.order.block_graph import BlockGraph
from nigari.plan.order.block_settings import BlockSettings
from nigari.plan.order.cycles import report_action_cycles, report_validation_cycles
from nigari.plan.order.operation_order import execution_graph
from nigari.plan.order.removed_blocks import remove_statements
from nigari.plan.order.required_providers import providers_of
from nigari.plan.order.selection import Selection, destroyed, selection
from nigari.plan.planned_actions import ActionsNode, invoked_nodes, triggered_nodes
from nigari.record import ReadOnly, record, replace
from nigari.running.driver import Driver
from nigari.running.provider_pool import ProviderPool
from nigari.running.provider_run import RunSettings
from nigari.running.requests import validate_with_provider
from nigari.state.model import State
from nigari.state.moves.moving import MovedInstance, MoveResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_MOST_NAMED: Final = 10


@record
class PlanInputs:
    """Everything that a plan is made from, except for its options."""

    static: StaticRun
    run_settings: RunSettings
    pool: ProviderPool
    state: State
    """The stored state."""
    timestamp: str
    """The value of `plantimestamp`."""
    known_reads: KnownReads | None = None
    """Objects read by an earlier attempt at this plan, if there was one."""

    async def load_schemas(self, diags: Diagnostics) -> bool:
        """Load the schemas that the configuration and the state need; False after an error."""
        await self.pool.load(providers_of(self.run_settings.root, self.state), diags)
        return not diags.has_errors

    def block_graph(self) -> BlockGraph:
        """Return the dependencies between blocks, by the schemas loaded so far."""
        return BlockGraph(self.run_settings.root, self.pool)


@record
class PlanOutcome:
    """A plan with everything that is needed to show, save and apply it."""

    __slots__ = ("__dict__",)

    inputs: PlanInputs
    plan: Plan
    """Incomplete if errors were reported while it was made."""
    blocks: BlockGraph
    settings: BlockSettings
    variables: Mapping[str, Value]
    """Values of the root module's variables."""
    moved: Mapping[AbsResourceInstance, MovedInstance] = ReadOnly({})
    """Moves since the state was stored, by new address."""
    refreshes: bool = True
    unread_objects: frozenset[AbsResourceInstance] = frozenset()
    """The stored objects that were not read although others were."""
    reads: ReadObjects | None = None
    """Objects to read; None for all."""
    object_reads: Mapping[AbsResourceInstance, bool] = ReadOnly({})
    """The objects that were read, and whether they are what the state says."""
    saved_graph: ExecutionGraph | None = None
    """The execution graph of a saved plan, which is applied as it was saved."""

    @cached_property
    def graph(self) -> ExecutionGraph:
        """The operations of the plan and their order: worked out on first use, since most plans
        are never applied.
        """
        if self.saved_graph is not None:
            return self.saved_graph
        return execution_graph(self.plan, self.blocks, self.moved, self.refreshes)


async def make_plan(
    inputs: PlanInputs, options: PlanOptions, diags: Diagnostics
) -> PlanOutcome | None:
    """Make a plan; None if there is not even an incomplete one. It stops at errors in `diags`."""
    if options.only_reads is not None:
        inputs = replace(inputs, known_reads=KnownReads())
    while True:
        found = Diagnostics()
        result = await evaluated_plan(inputs, options, found)
        more = None
        if result is not None and not result[0].plan.is_incomplete:
            more = objects_to_read(result[1], result[0].plan.changes)
        if more is None:
            diags.extend(found)
            return None if result is None else result[0]
        # What would change is read, with what it depends on, and planned again.
        options = replace(options, only_reads=more)


def _with_edited_blocks(options: PlanOptions, blocks: BlockGraph) -> PlanOptions:
    """Have the objects read that edited blocks declare, now that dependencies are known."""
    reads = options.only_reads
    if reads is None or not reads.changed:
        return options
    edited = edited_blocks(blocks, reads.changed)
    return replace(options, only_reads=replace(reads, blocks=reads.blocks | edited))


async def evaluated_plan(
    inputs: PlanInputs, options: PlanOptions, diags: Diagnostics
) -> tuple[PlanOutcome, PlanRun] | None:
    """Make a plan, and return the run that evaluated it, too: assertions of tests look into it."""
    if not await inputs.load_schemas(diags):
        return None
    blocks = inputs.block_graph()
    options = _with_edited_blocks(options, blocks)
    await validate(inputs, options, diags)
    report_validation_cycles(blocks, diags)
    report_action_cycles(blocks, diags)
    if _has_failed(diags):
        return None
    moves = moved_state(inputs.static, inputs.state, diags)
    if options.is_targeted:
        check_selection(moves, options, diags)
    if _has_failed(diags):
        return None
    removed = remove_statements(inputs.static, blocks.variants, diags)
    settings = BlockSettings(inputs.static, blocks, removed)
    if _has_failed(diags):
        return None
    if options.is_targeted:
        _warn_of_selection(diags)
    run, driver = await _evaluate_until_stable(inputs, options, blocks, settings, moves.result)
    try:
        if not _moves_fit(moves, inputs.state, run, diags):
            return None
        if options.mode is PlanMode.NORMAL:
            _check_imports(run)
        for nodes in Orphans(run, options.mode).nodes():
            run.work.want(nodes)
            await driver.run()
        if options.mode is PlanMode.NORMAL:
            _check_replaced(run, options)
        await _plan_actions(run, options, driver)
    finally:
        await run.ephemeral.close_all()
    diags.extend(run.diags)
    plan = finished_plan(run, inputs.state, options, diags)
    outcome = PlanOutcome(
        inputs=inputs,
        plan=replace(plan, is_incomplete=True) if _has_failed(diags) else plan,
        blocks=blocks,
        settings=settings,
        variables={name: node.value for name, node in run.root.variables.items()},
        moved=moves.result.moved,
        refreshes=options.refreshes,
        unread_objects=frozenset(run.unread_objects),
        reads=options.only_reads,
        object_reads=run.object_reads,
    )
    return outcome, run


async def restore_plan(
    inputs: PlanInputs, saved: SavedPlan, diags: Diagnostics
) -> PlanOutcome | None:
    """Complete a saved plan with the schemas that it needs; None after an error."""
    from nigari.plan.model.plan_data import with_schemas

    root, pool = inputs.run_settings.root, inputs.pool
    await pool.load(providers_of(root, saved.plan.refreshed_state), diags)
    if _has_failed(diags):
        return None
    blocks = inputs.block_graph()
    removed = remove_statements(inputs.static, blocks.variants, diags)
    settings = BlockSettings(inputs.static, blocks, removed)
    plan = with_schemas(saved.plan, pool.schema_of, diags)
    if plan is None or _has_failed(diags):
        return None
    return PlanOutcome(inputs, plan, blocks, settings, saved.variables, saved_graph=saved.graph)


def _has_failed(diags: Diagnostics) -> bool:
    """Check for errors: type checkers would assume that an attribute stays False."""
    return diags.has_errors


# -- validation -------------------------------------------------------------------------------


async def validate(inputs: PlanInputs, options: PlanOptions, diags: Diagnostics) -> bool:
    """Validate everything once, whatever its values; False after an error. Providers validate instances while planning,
    or here if an error keeps planning from beginning, so that one run reports all mistakes.

    The built-in provider validates data sources in any case: that a check cannot read its data is
    only a warning, but that the data could never be read is an error.
    """
    found = await _validation_diagnostics(inputs, options, _is_about_builtin_data)
    if found.has_errors:
        found = await _validation_diagnostics(inputs, options, _is_about_anything)
    diags.extend(found)
    return not diags.has_errors


async def _validation_diagnostics(
    inputs: PlanInputs, options: PlanOptions, is_asked: Callable[[ProviderValidation], bool]
) -> Diagnostics:
    """Validate with the providers of some requests."""
    is_before_import = not options.follows_imports
    check = ValidateRun(inputs.static, inputs.pool, True, is_before_import)

    async def perform(effect: Effect) -> None:
        assert isinstance(effect, ProviderValidation)
        provider = None
        if is_asked(effect):
            provider = await inputs.pool.unconfigured(effect.provider, check.diags)
        check.tell(
            effect, () if provider is None else await validate_with_provider(provider, effect)
        )

    await Driver(check.work, perform, options.parallelism).run()
    return check.diags


def _is_about_builtin_data(effect: ProviderValidation) -> bool:
    is_data = isinstance(effect, ValidateConfig) and effect.mode is DATA
    return is_data and effect.provider.is_builtin


def _is_about_anything(effect: ProviderValidation) -> bool:
    return True


# -- evaluation -------------------------------------------------------------------------------


async def evaluate(run: PlanRun, parallelism: int) -> Driver:
    """Evaluate everything that the configuration wants, compared with the prior state."""
    run.begin()
    driver = Driver(run.work, run.perform, parallelism)
    try:
        await driver.run()
    except BaseException:
        await run.ephemeral.close_all()
        raise
    return driver


async def _evaluate_until_stable(
    inputs: PlanInputs,
    options: PlanOptions,
    blocks: BlockGraph,
    settings: BlockSettings,
    moved: MoveResult,
) -> tuple[PlanRun, Driver]:
    """Evaluate the configuration again until it is known which objects stay as they are in this
    round: a deferred object retains those that it depends on, as if they were still declared.
    """
    new_run = partial(
        PlanRun,
        run_settings=inputs.run_settings,
        pool=inputs.pool,
        prior=moved.state,
        settings=settings,
        blocks=blocks,
        options=options,
        moved=moved.moved,
        selected=_selection(options, blocks, moved),
        known_reads=inputs.known_reads,
    )
    run = new_run()
    driver = await evaluate(run, options.parallelism)
    held, kept = held_blocks(run), unreplaced_blocks(run)
    while not (held <= run.staying and kept.keys() <= run.unreplaced.keys()):
        await run.ephemeral.close_all()
        held, kept = held | run.staying, {**kept, **run.unreplaced}
        run = new_run(staying=held, unreplaced=kept)
        driver = await evaluate(run, options.parallelism)
        held, kept = held_blocks(run), unreplaced_blocks(run)
    return run, driver


async def _plan_actions(run: PlanRun, options: PlanOptions, driver: Driver) -> None:
    """Plan the actions that the user invokes, or those that the changes trigger."""
    nodes: Sequence[ActionsNode] = ()
    if options.invoked:
        nodes = invoked_nodes(run, options.invoked)
    elif options.is_for_apply and not options.is_refresh_only and not run.diags.has_errors:
        nodes = tuple(triggered_nodes(run))
    if nodes:
        run.work.want(nodes)
        await driver.run()
        run.record.invocations = tuple(each for node in nodes for each in node.planned())


def _selection(options: PlanOptions, blocks: BlockGraph, moved: MoveResult) -> Selection | None:
    """Return what `-target` and `-exclude` select, or what the invoked actions depend on; None
    without them.
    """
    if options.invoked:
        return selection(blocks, moved.state, _with_callers(options.invoked, blocks), ())
    if not options.is_targeted:
        return None
    selected = selection(blocks, moved.state, options.targets, options.excluded)
    if options.mode is PlanMode.DESTROY:
        selected = destroyed(selected, blocks, moved.state, moved.moved, options.refreshes)
    return selected


def _with_callers(invoked: tuple[Target, ...], blocks: BlockGraph) -> tuple[Target, ...]:
    """Add the resources that `caller` may stand for in the actions."""
    found = list(invoked)
    for block, address in blocks.resources().items():
        if address.item.mode is ACTION and any(each.touches_block(address) for each in invoked):
            if blocks.refers_to_caller(block):
                callers = [blocks.resource(each) for each in blocks.callers(block)]
                found += [Target(each) for each in callers if each is not None]
    return tuple(found)


# -- what the options and the state have to agree on ------------------------------------------


def _moves_fit(moves: Moves, state: State, run: PlanRun, diags: Diagnostics) -> bool:
    """Check the moves; errors in them may cause all others.

    As in OpenTofu, a destroy only evaluates what is declared while it refreshes.
    """
    is_opened = not run.is_destroying or (run.options.refreshes and bool(state.resources))
    errors = diags.error_count
    check_statements(moves, run, is_opened, diags)
    return diags.error_count == errors


def _check_imports(run: PlanRun) -> None:
    """Report imports to addresses that the configuration does not declare."""
    for target in run.imports.targets.values():
        is_declared = run.declared.has(target.address) or run.declared.deferral_of(target.address)
        if not is_declared and run.looks_at(target.address):
            report_undeclared(target, run.diags)


def _warn_of_selection(diags: Diagnostics) -> None:
    words = advice()
    diags.warning(
        "Incomplete plan",
        f"Because of {words.option('-target')} or {words.option('-exclude')}, the plan leaves out parts of the configuration, so "
        "the result may not match the configuration as a whole. Use these options only in "
        "exceptional cases, such as recovering from a mistake.",
    )


def _check_replaced(run: PlanRun, options: PlanOptions) -> None:
    """Warn about addresses to replace that do not exist."""
    for address in options.replaced:
        if _has_to_replace(run, address) or run.diags.has_errors:
            continue
        block = resource_of(address)
        others = [
            str(each)
            for each, _ in run.record.changes
            if resource_of(each) == block and each != address
        ]
        hint = f" The instances are {', '.join(sorted(others)[:_MOST_NAMED])}." if others else ""
        run.diags.warning(
            "Nothing to replace",
            f"The option {advice().option('-replace')} names {address}, but the plan has no such instance.{hint}",
        )


def _has_to_replace(run: PlanRun, address: AbsResourceInstance) -> bool:
    """Check whether there is an object to replace, or one that is destroyed anyway."""
    if run.declared.deferral_of(address) is not None:
        return True
    if (address, "") not in run.record.changes:
        return False
    # A destroyed object need not be replaced, but an address without a key names the declared resource.
    names_resource = address.item.key is None and run.declared.has_resource(address)
    return run.declared.has(address) or not names_resource
