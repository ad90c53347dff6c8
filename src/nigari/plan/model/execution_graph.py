"""The execution graph: every operation of a plan and what must be done before it, as plain data.

An operation is a kind, an address and the numbers of operations before it. It can be printed, saved
and compared; what carrying one out means is decided where plans are applied.
"""

from __future__ import annotations

from enum import Enum

from nigari.json_shape import Members, ShapeError, as_members, as_number, as_text, list_of, one_of
from nigari.record import record


class OperationKind(Enum):
    """The kind of an operation; the value is its name in print."""

    OPEN = "open"
    """Start and configure a provider instance, or open an ephemeral object."""
    CLOSE = "close"
    """End a provider instance, or close an ephemeral object."""
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    READ = "read"
    """Read a data source."""
    CHECK = "check"
    """Look at the conditions of an object that stays as it is, or of a variable or output."""
    INVOKE = "invoke"
    """Run an action that the user invokes."""
    FORGET = "forget"
    """Take an object out of the state and leave it alone otherwise."""
    SETTLE = "settle"
    """Nothing by itself: what is named has its final value from here on."""


@record
class Operation:
    """One step of carrying out a plan."""

    kind: OperationKind
    address: str
    after: tuple[int, ...] = ()
    """The numbers of the operations that must have succeeded before."""
    deposed: str = ""
    """The key of the deposed object that is meant; empty for the current one."""

    def __str__(self) -> str:
        deposed = f" (deposed {self.deposed})" if self.deposed else ""
        return f"{self.kind.value} {self.address}{deposed}"


@record
class ExecutionGraph:
    """The operations of a plan, numbered from zero."""

    operations: tuple[Operation, ...] = ()

    def to_json(self) -> list[dict[str, object]]:
        """The graph as JSON data."""
        found: list[dict[str, object]] = []
        for operation in self.operations:
            members: dict[str, object] = {
                "kind": operation.kind.value,
                "address": operation.address,
                "after": list(operation.after),
            }
            if operation.deposed:
                members["deposed"] = operation.deposed
            found.append(members)
        return found

    @staticmethod
    def from_json(data: object) -> ExecutionGraph:
        """The graph from JSON data; a `ShapeError` where that is none."""
        operations = list_of(_operation)(data)
        for index, operation in enumerate(operations):
            if any(number >= len(operations) for number in operation.after):
                raise ShapeError("names an operation that does not exist", f"[{index}].after")
        return ExecutionGraph(operations)

    def in_order(self) -> list[int]:
        """An order in which every operation comes after what must be done before it."""
        waiting = [len(operation.after) for operation in self.operations]
        followers = self.followers()
        ready = [number for number, left in enumerate(waiting) if not left]
        order: list[int] = []
        while ready:
            number = ready.pop()
            order.append(number)
            for follower in followers[number]:
                waiting[follower] -= 1
                if not waiting[follower]:
                    ready.append(follower)
        return order

    def followers(self) -> list[list[int]]:
        """For each operation, those that must come after it."""
        found: list[list[int]] = [[] for _ in self.operations]
        for index, operation in enumerate(self.operations):
            for before in operation.after:
                found[before].append(index)
        return found


def _operation(data: object) -> Operation:
    found = Members(data)
    return Operation(
        found.read("kind", one_of(OperationKind)),
        found.read("address", as_text),
        found.read("after", list_of(as_number)),
        as_text(as_members(data).get("deposed", "")),
    )
