"""Which operations carry out the change of an object, and whether those of a plan file do."""

from __future__ import annotations

from nigari.json_shape import ShapeError
from nigari.plan.model.changes import Action, Plan
from nigari.plan.model.execution_graph import ExecutionGraph, OperationKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

MAKING: Final = {
    Action.CREATE: OperationKind.CREATE,
    Action.UPDATE: OperationKind.UPDATE,
    Action.READ: OperationKind.READ,
    Action.NO_OP: OperationKind.CHECK,
    Action.DELETE_THEN_CREATE: OperationKind.CREATE,
    Action.CREATE_THEN_DELETE: OperationKind.CREATE,
    Action.FORGET_THEN_CREATE: OperationKind.CREATE,
}
ENDING: Final = {
    Action.DELETE: OperationKind.DELETE,
    Action.DELETE_THEN_CREATE: OperationKind.DELETE,
    Action.CREATE_THEN_DELETE: OperationKind.DELETE,
    Action.FORGET: OperationKind.FORGET,
    Action.FORGET_THEN_CREATE: OperationKind.FORGET,
}
REPLACED: Final = "replaced"
"""Stands for the key of an object that will be deposed, which is chosen when that happens."""

_ON_OBJECTS: Final = frozenset((*MAKING.values(), *ENDING.values(), OperationKind.INVOKE)) - {
    OperationKind.CHECK
}

_ON_OPEN: Final = (OperationKind.OPEN, OperationKind.CLOSE)


def check_operations(plan: Plan, graph: ExecutionGraph) -> None:
    """Raise a `ShapeError` for an operation that no change asks for, or without an object to change."""
    wanted = set()
    for index, change in enumerate(plan.changes):
        address, action = str(change.address), change.action
        if action is Action.UPDATE:
            known = plan.refreshed_state.instance(change.address)
            if known is None or known.current is None:
                raise ShapeError("updates an object that does not exist", f"changes[{index}]")
        if change.deposed and action not in (Action.DELETE, Action.FORGET, Action.NO_OP):
            raise ShapeError("makes an object of a deposed one", f"changes[{index}]")
        if action in MAKING:
            wanted.add((MAKING[action], address, ""))
        if action in ENDING:
            is_late = action is Action.CREATE_THEN_DELETE
            wanted.add((ENDING[action], address, REPLACED if is_late else change.deposed))
    wanted.update((OperationKind.INVOKE, str(each.address), "") for each in plan.invoked)
    opened = {str(each.provider) for each in plan.changes}
    opened.update(str(each.provider) for each in plan.invocations)
    for instance in plan.ephemeral:
        opened.update((str(instance.address), str(instance.provider)))
    for index, each in enumerate(graph.operations):
        if each.kind in _ON_OBJECTS and (each.kind, each.address, each.deposed) not in wanted:
            raise ShapeError("carries out no change of the plan", f"graph[{index}]")
        if each.kind in _ON_OPEN and each.address not in opened:
            raise ShapeError("opens something that no change needs", f"graph[{index}]")
