"""What is told while something is done, and when."""

from __future__ import annotations

from io import StringIO

import pytest

from nigari.addrs.parse import parse_provider_instance, parse_resource_instance
from nigari.cli.command import Terminal
from nigari.cli.views import apply_progress
from nigari.cli.views.apply_progress import Progress, duration
from nigari.cty import null, object_value, string
from nigari.diagnostics import Diagnostics
from nigari.plan.model.changes import Action, Change
from nigari.plan.model.execution_graph import Operation, OperationKind
from nigari.schema.block import Block
from nigari.schema.provider import Schema
from tests.cli.screen import Screen


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(apply_progress, "time", found)
    return found


def changing(action: Action) -> Change:
    address = parse_resource_instance("a.b", Diagnostics())
    provider = parse_provider_instance('provider["x.io/y/z"]', Diagnostics())
    assert address is not None
    assert provider is not None
    value = object_value({"id": string("x")})
    before = null(value.type) if action is Action.CREATE else value
    return Change(address, action, before, value, provider, Schema(Block()))


def pass_seconds(progress: Progress, clock: Clock, seconds: int) -> None:
    for _ in range(seconds):
        clock.now += 1
        progress.tick()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0s"), (9.6, "10s"), (60, "1m0s"), (61.4, "1m1s"), (3600, "1h0m0s")],
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_what_takes_long_is_mentioned_again(clock: Clock) -> None:
    stream = StringIO()
    progress = Progress(Terminal(StringIO(), stream, StringIO(), {}))
    operation, change = Operation(OperationKind.UPDATE, "a.b"), changing(Action.UPDATE)
    progress.started(operation, change)
    pass_seconds(progress, clock, 21)
    progress.finished(operation, change, change.after)
    assert stream.getvalue().splitlines() == [
        "a.b: Modifying... [id=x]",
        "a.b: Still modifying... [id=x, 10s elapsed]",
        "a.b: Still modifying... [id=x, 20s elapsed]",
        "a.b: Modifications complete after 21s [id=x]",
    ]


def test_live_line(clock: Clock) -> None:
    screen = Screen()
    progress = Progress(Terminal(StringIO(), screen, StringIO(), {"NO_COLOR": "1"}), total=3)
    operation, change = Operation(OperationKind.CREATE, "a.b"), changing(Action.CREATE)
    progress.started(operation, change)
    pass_seconds(progress, clock, 2)
    progress.finished(operation, change, change.after)
    erased = "\r\x1b[K"
    assert screen.getvalue() == (
        "a.b: Creating...\n"
        f"{erased}[0 of 3 done, 1 in progress: a.b 1s]{erased}[0 of 3 done, 1 in progress: a.b 2s]{erased}"
        "a.b: Creation complete after 2s [id=x]\n"
    )


def test_nothing_is_told_of_failures(clock: Clock) -> None:
    stream = StringIO()
    progress = Progress(Terminal(StringIO(), stream, StringIO(), {}))
    operation, change = Operation(OperationKind.DELETE, "a.b"), changing(Action.DELETE)
    progress.started(operation, change)
    progress.failed(operation, change)
    pass_seconds(progress, clock, 30)
    assert stream.getvalue() == "a.b: Destroying... [id=x]\n"


def test_interruption() -> None:
    stream = StringIO()
    progress = Progress(Terminal(StringIO(), stream, StringIO(), {}))
    progress.interrupted(1)
    progress.interrupted(2)
    assert "Nothing new will be started" in stream.getvalue()
    assert "stopping at once" in stream.getvalue()
