"""`moved` blocks, and the moves that go without saying, applied to the prior state."""

from __future__ import annotations

from nigari.addrs.absolute import AbsResource
from nigari.addrs.module import ModuleAddr
from nigari.addrs.moves import MoveEndpoint, unify_endpoints
from nigari.addrs.parse import parse_move_endpoint
from nigari.config.declared import Repetition as Declared
from nigari.config.written_address import WrittenAddress
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.instances import Frame, ModuleInstance
from nigari.eval.lifecycle import StaticAddress
from nigari.eval.static import StaticRun
from nigari.state.implied_moves import Repetition, implied_moves
from nigari.state.model import State
from nigari.state.move_statements import MoveStatement
from nigari.state.moves import MoveResult, apply_moves, move_blocked


def moved_state(static: StaticRun, state: State, diags: Diagnostics) -> MoveResult:
    """The prior state with everything at its new address."""
    statements = _statements(static, diags)
    if not state.resources:
        return MoveResult(state)
    implied = implied_moves(state, statements, _Repetitions(static.root.instance).of)
    result = apply_moves(state, [*statements, *implied], diags)
    for blocked in result.blocked:
        if not blocked.statement.implied:
            diags.append(move_blocked(blocked))
    return result


def _statements(static: StaticRun, diags: Diagnostics) -> list[MoveStatement]:
    found: list[MoveStatement] = []
    seen: set[ModuleAddr] = set()
    for frame in static.frames():
        path = frame.instance.addr.unkeyed
        if not frame.module.moved or path in seen:
            continue
        seen.add(path)
        for moved in frame.module.moved:
            source = _endpoint(static, frame, moved.source, diags)
            target = _endpoint(static, frame, moved.target, diags)
            if source is None or target is None:
                continue
            patterns = unify_endpoints(path, source, target)
            if patterns is not None:
                found.append(MoveStatement(*patterns, moved.range))
    return found


def _endpoint(
    static: StaticRun, frame: Frame, written: WrittenAddress, diags: Diagnostics
) -> MoveEndpoint | None:
    address = StaticAddress(frame, written, static.wish)
    static.evaluate([address])
    return None if address.traversal is None else parse_move_endpoint(address.traversal, diags)


class _Repetitions:
    """How the calls and resource blocks of a configuration are repeated."""

    def __init__(self, root: ModuleInstance) -> None:
        self._root = root

    def of(self, block: ModuleAddr | AbsResource) -> tuple[Repetition, Range | None] | None:
        """How a block is repeated, and where it is; None where there is no such block."""
        if isinstance(block, ModuleAddr):
            parent = None if block.parent is None else self._module(block.parent)
            call = None if parent is None else parent.module.calls.get(block.name)
            return None if call is None else (_kind(call.repetition), call.range)
        instance = self._module(block.module)
        resource = None if instance is None else instance.module.resources.get(block.item)
        return None if resource is None else (_kind(resource.repetition), resource.range)

    def _module(self, path: ModuleAddr) -> ModuleInstance | None:
        instance: ModuleInstance | None = self._root
        for name, _ in path.steps:
            children = {} if instance is None else instance.children.get(name, {})
            instance = next(iter(children.values()), None)
        return instance


def _kind(declared: Declared) -> Repetition:
    if declared.count is not None:
        return Repetition.COUNT
    if declared.for_each is not None:
        return Repetition.FOR_EACH
    return Repetition.SINGLE
