"""Functions of time: now, when the plan was made, and which of two moments is earlier."""

from __future__ import annotations

from typing import Final

from nigari.cty.function import NOT_NULL_RESULT, Function, Parameter
from nigari.cty.stdlib.timestamps import parse_timestamp
from nigari.cty.types import NUMBER, STRING, Type
from nigari.cty.values import Value, number, string, unknown
from nigari.lang.functions.world import World


def _timestamp(args: list[Value], _: Type) -> Value:
    import time

    return string(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))


TIMESTAMP: Final = Function((), None, STRING, _timestamp, NOT_NULL_RESULT)


class _PlanTimestamp:
    """The implementation of `plantimestamp`."""

    __slots__ = ("world",)

    def __init__(self, world: World) -> None:
        self.world = world

    def implementation(self, args: list[Value], expected: Type) -> Value:
        planned = self.world.plan_timestamp
        if planned is not None:
            return string(planned)
        deferral = self.world.deferral
        causes = () if deferral is None else (deferral("plantimestamp"),)
        return unknown(expected).with_causes(causes)


def _compare(args: list[Value], _: Type) -> Value:
    first = parse_timestamp(args[0].as_string(), 0).instant
    second = parse_timestamp(args[1].as_string(), 1).instant
    return number((first > second) - (first < second))


TIME_CMP: Final = Function(
    (Parameter("timestamp_a", STRING), Parameter("timestamp_b", STRING)),
    None,
    NUMBER,
    _compare,
    NOT_NULL_RESULT,
)


def functions(world: World) -> dict[str, Function]:
    """The functions of this theme."""
    planned = _PlanTimestamp(world)
    return {
        "plantimestamp": Function((), None, STRING, planned.implementation),
        "timecmp": TIME_CMP,
        "timestamp": TIMESTAMP,
    }
