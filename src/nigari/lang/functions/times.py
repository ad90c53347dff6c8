"""Time functions: `timestamp`, `plantimestamp`, `timecmp`."""

from __future__ import annotations

import re

from nigari.cty.function import NOT_NULL_RESULT, Function, Parameter
from nigari.cty.stdlib.timestamps import parse_timestamp
from nigari.cty.types import NUMBER, STRING, Type
from nigari.cty.values import Value, number, string, unknown
from nigari.lang.functions.host_environment import HostEnvironment
from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


def _timestamp(args: list[Value], _: Type) -> Value:
    import time

    # RFC 3339 in UTC without fractions, as for all timestamps of the language.
    return string(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))


TIMESTAMP: Final = Function((), None, STRING, _timestamp, NOT_NULL_RESULT)


class _PlanTimestamp:
    """The implementation of `plantimestamp`."""

    __slots__ = ("host",)

    def __init__(self, host: HostEnvironment) -> None:
        self.host = host

    def implementation(self, args: list[Value], expected: Type) -> Value:
        planned = self.host.plan_timestamp
        if planned is not None:
            return string(planned)
        deferral = self.host.deferral
        causes = () if deferral is None else (deferral("plantimestamp"),)
        return unknown(expected).with_causes(causes)


_LENIENT: Final = lazy_pattern(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T)([0-9]{1,2})(:[0-9]{2}:[0-9]{2})([.,][0-9]+)?"
    r"(?:Z|([+-])([0-9]{2}):([0-9]{2}))",
    re.ASCII,
)


def _instant(args: list[Value], position: int) -> int:
    """Convert a timestamp to nanoseconds.

    As in OpenTofu's `timecmp`, and only there, the hour may have one digit, the fraction a comma,
    and the offset may be 24 hours.
    """
    text = args[position].as_string()
    match = _LENIENT.fullmatch(text)
    if match is None:
        return parse_timestamp(text, position).instant
    date, hour, rest, fraction, sign, hours, minutes = match.groups()
    # time.Parse of Go accepts an offset of 24 hours.
    if sign is not None and (int(hours) > 24 or int(minutes) > 59):
        return parse_timestamp(text, position).instant
    fraction = (fraction or "").replace(",", ".")
    moment = parse_timestamp(f"{date}{hour:0>2}{rest}{fraction}Z", position)
    offset = 60 * (60 * int(hours or 0) + int(minutes or 0)) * 1_000_000_000
    return moment.instant + (offset if sign == "-" else -offset)


def _compare(args: list[Value], _: Type) -> Value:
    first, second = _instant(args, 0), _instant(args, 1)
    return number((first > second) - (first < second))


TIME_CMP: Final = Function(
    (Parameter("timestamp_a", STRING), Parameter("timestamp_b", STRING)),
    None,
    NUMBER,
    _compare,
    NOT_NULL_RESULT,
)


def functions(host: HostEnvironment) -> dict[str, Function]:
    planned = _PlanTimestamp(host)
    return {
        "plantimestamp": Function((), None, STRING, planned.implementation),
        "timecmp": TIME_CMP,
        "timestamp": TIMESTAMP,
    }
