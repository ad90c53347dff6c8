"""A graph whose operations wait for each other is refused before anything is done."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import cast

import pytest

from nigari.apply.executor import CircularGraph, Executor
from nigari.apply.operations import Operations
from nigari.plan.model.execution_graph import ExecutionGraph, Operation, OperationKind
from nigari.state.model import State


def test_nothing_is_done() -> None:
    operations = (
        Operation(OperationKind.CREATE, "first", ()),
        Operation(OperationKind.CREATE, "second", (2,)),
        Operation(OperationKind.CREATE, "third", (1,)),
    )
    done: list[str] = []

    async def perform(operation: Operation) -> bool:
        done.append(operation.address)
        return True

    async def keep(state: State, lasting: bool, /) -> bool:
        return True

    place = SimpleNamespace(draft=SimpleNamespace(finish=State))
    stand_in = cast("Operations", SimpleNamespace(place=place, perform=perform))
    executor = Executor(ExecutionGraph(operations), stand_in, keep, 1)
    with pytest.raises(CircularGraph, match="second"):
        asyncio.run(executor.run())
    assert not done
