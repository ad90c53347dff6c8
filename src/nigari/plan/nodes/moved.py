"""`moved` blocks, and the moves that go without saying: what they do to the prior state, and whether
they make sense beside what the configuration declares.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.absolute import AbsResource, resource_of
from nigari.addrs.keys import DEFERRED
from nigari.addrs.module import ModuleAddr, Step, module_from_steps
from nigari.addrs.moves import ANY_KEY, KeyPattern, MoveEndpoint, MovePattern, unify_endpoints
from nigari.addrs.parse import parse_move_endpoint
from nigari.addrs.resource import Resource
from nigari.config.core.declared import Repetition
from nigari.diagnostics import Diagnostics, Range
from nigari.diagnostics.advice import advice
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import ModuleInstance
from nigari.eval.core.worklist import DONE
from nigari.eval.static.run import StaticRun
from nigari.plan.model.plan_options import PlanOptions
from nigari.plan.nodes.plan_run import PlanRun
from nigari.plan.nodes.resources import PlannedResource
from nigari.record import record
from nigari.running.declared_modules import declared_module
from nigari.running.provider_run import frame_at
from nigari.state.model import State
from nigari.state.moves.implied import RepetitionKind, implied_moves
from nigari.state.moves.moving import MoveResult, apply_moves, move_blocked
from nigari.state.moves.statements import MoveStatement, check_moves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.config.core.written_address import WrittenAddress


@record
class Moves:
    """The statements of a configuration, and what they have done to the prior state."""

    statements: tuple[MoveStatement, ...]
    result: MoveResult


def moved_state(static: StaticRun, state: State, diags: Diagnostics) -> Moves:
    """The prior state with everything at its new address.

    What is wrong with the statements shows only once it is known which instances there are, so
    that is for `check_statements`.
    """
    statements = _statements(static, diags)
    if state.resources:
        statements += implied_moves(state, statements, _Repetitions(static.root.instance).of)
    result = apply_moves(state, statements)
    for blocked in result.blocked:
        diags.append(move_blocked(blocked))
    return Moves(tuple(statements), result)


def check_statements(moves: Moves, run: PlanRun, is_opened: bool, diags: Diagnostics) -> None:
    """Report what is wrong with the statements, now that the instances of everything are known.

    `is_opened` is true once modules other than the root have been evaluated.
    """
    if moves.statements:
        check_moves(moves.statements, _Declared(run, is_opened), diags)


def check_selection(moves: Moves, options: PlanOptions, diags: Diagnostics) -> None:
    """Report objects that have moved, and are left out by what the user has singled out.

    Their location is known only if both addresses of a move are selected.
    """
    left_out: set[AbsResource] = set()
    for moved in moves.result.moved.values():
        for address in (moved.source, moved.target):
            is_named = any(each.covers(address) for each in options.targets or options.excluded)
            if is_named is not bool(options.targets):
                left_out.add(resource_of(address))
    if not left_out:
        return
    flag = advice().option("-target" if options.targets else "-exclude")
    names = sorted(each.text for each in left_out)
    way_out = f"use no {flag} for these: {', '.join(names)}."
    if options.targets:
        wanted = [advice().option("-target", name) for name in names]
        way_out = "add these options:" + "".join(f"\n  {each}" for each in wanted)
    diags.error(
        "Moved objects are left out",
        f"Objects in the state have moved to other addresses, and {flag} leaves out some of them, so "
        f"that the plan would be wrong. Plan everything, or {way_out}",
    )


class _Declared:
    """The declarations of a configuration, as a plan has found them."""

    def __init__(self, run: PlanRun, is_opened: bool) -> None:
        self._run = run
        self._is_opened = is_opened
        self._modules: dict[tuple[str, ...], list[ModuleAddr]] = {}
        for frame in run.frames():
            address = frame.instance.addr
            if is_opened or address.is_root:
                self._modules.setdefault(address.names, []).append(address)

    def modules(self, names: tuple[str, ...]) -> Sequence[ModuleAddr]:
        return self._modules.get(names, ())

    def place_of(self, end: MovePattern) -> Range | None:
        if not self._is_opened:
            return None
        steps = [(name, key) for name, key in end.steps if key is not ANY_KEY]
        if len(steps) < len(end.steps) - (end.resource is None):
            return None
        frame = frame_at(self._run.root, module_from_steps(tuple(steps)))
        if frame is None:
            return None
        if end.resource is not None:
            return self._resource(frame, end.resource, end.key)
        if len(steps) == len(end.steps):
            return None if frame.instance.call is None else frame.instance.call.range
        call = frame.calls.get(end.steps[-1][0])
        # A destroy only expands calls in which something is destroyed.
        is_whole = self._run.is_destroying and self._run.selection is None
        is_known = call is not None and (call.state == DONE or is_whole)
        return call.call.range if call is not None and is_known else None

    def _resource(self, frame: Frame, addr: Resource, key: KeyPattern) -> Range | None:
        resource = frame.module.resources.get(addr)
        if resource is None or not self._run.is_selected(frame, resource):
            return None
        if key is ANY_KEY:
            return resource.range
        # While everything is destroyed, instances are those of the state.
        is_only = key is None and resource.repetition.is_single
        node = frame.resources[addr]
        has_key = isinstance(node, PlannedResource) and key in node.declared
        return resource.range if is_only or has_key else None


def _statements(static: StaticRun, diags: Diagnostics) -> list[MoveStatement]:
    found: list[MoveStatement] = []
    seen: set[ModuleAddr] = set()
    for frame in static.frames():
        if not frame.module.moved:
            continue
        declaring = _declaring(frame.instance)
        if declaring in seen:
            continue
        seen.add(declaring)
        for moved in frame.module.moved:
            source = _endpoint(static, frame, moved.source, diags)
            target = _endpoint(static, frame, moved.target, diags)
            if source is None or target is None:
                continue
            patterns = unify_endpoints(declaring, source, target)
            if patterns is not None:
                found.append(MoveStatement(*patterns, moved.range))
    return found


def _declaring(instance: ModuleInstance) -> ModuleAddr:
    """The instances of a module that its statements count for: all of the calls that lead to it, or
    this one where the instances of a call differ, which has keys then.
    """
    steps: list[Step] = []
    at, differs = instance, False
    while at.parent is not None:
        differs = differs or at.variant.key is not None
        key = at.addr.key if differs and at.addr.key is not DEFERRED else None
        steps.append((at.addr.name, key))
        at = at.parent
    return module_from_steps(reversed(steps))


def _endpoint(
    static: StaticRun, frame: Frame, written: WrittenAddress, diags: Diagnostics
) -> MoveEndpoint | None:
    address = static.addresses.get((frame, written))
    traversal = written.shape if address is None else address.traversal
    return None if traversal is None else parse_move_endpoint(traversal, diags)


class _Repetitions:
    """The repetitions of the calls and resource blocks of a configuration."""

    def __init__(self, root: ModuleInstance) -> None:
        self._root = root

    def of(self, address: ModuleAddr | AbsResource) -> tuple[RepetitionKind, Range | None] | None:
        """The repetition and range of a call or resource; None if it is not declared."""
        module = address.parent if isinstance(address, ModuleAddr) else address.module
        instance = None if module is None else declared_module(self._root, module)
        if instance is None:
            return None
        if isinstance(address, ModuleAddr):
            call = instance.module.calls.get(address.name)
            return None if call is None else (_kind(call.repetition), call.range)
        resource = instance.module.resources.get(address.item)
        return None if resource is None else (_kind(resource.repetition), resource.range)


def _kind(declared: Repetition) -> RepetitionKind:
    if declared.count is not None:
        return RepetitionKind.COUNT
    if declared.for_each is not None:
        return RepetitionKind.FOR_EACH
    return RepetitionKind.SINGLE
