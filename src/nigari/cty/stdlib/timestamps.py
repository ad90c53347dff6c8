"""Timestamp functions: `formatdate` and `timeadd`.

A timestamp is RFC 3339 text. Years range from 0 to beyond 9999 and fractions have nanoseconds, both
of which exceed Python's datetime.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.types import STRING, Type
from nigari.cty.values import Value, string
from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_TIMESTAMP: Final = lazy_pattern(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?"
    r"(?:Z|([+-])([0-9]{2}):([0-9]{2}))",
    re.ASCII,
)
_DURATION_PART: Final = lazy_pattern(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_UNITS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_NANOSECONDS: Final = 1_000_000_000
_DAY: Final = 86_400
_MONTHS: Final = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_WEEKDAYS: Final = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
_FORMAT_TOKEN: Final = lazy_pattern(
    r"(?P<quoted>''|'(?:[^']|'')*'?)|(?P<verb>([a-zA-Z])\3*)|[^a-zA-Z']+"
)


@dataclass(frozen=True, slots=True)
class Timestamp:
    """An instant as shown by a clock with a fixed offset from UTC."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    nanosecond: int
    offset: int
    """Seconds east of UTC."""

    @property
    def weekday(self) -> int:
        """Counted from Sunday."""
        return (_days(self.year, self.month, self.day) + 3) % 7

    @property
    def instant(self) -> int:
        """Nanoseconds since a fixed instant, regardless of the offset."""
        return self._clock_time() - self.offset * _NANOSECONDS

    def _clock_time(self) -> int:
        seconds = _days(self.year, self.month, self.day) * _DAY
        seconds += self.hour * 3600 + self.minute * 60 + self.second
        return seconds * _NANOSECONDS + self.nanosecond

    def plus(self, nanoseconds: int) -> Timestamp:
        """Add nanoseconds; the offset stays."""
        seconds, nanosecond = divmod(self._clock_time() + nanoseconds, _NANOSECONDS)
        days, seconds = divmod(seconds, _DAY)
        year, month, day = _date(days)
        hour, rest = divmod(seconds, 3600)
        return Timestamp(year, month, day, hour, rest // 60, rest % 60, nanosecond, self.offset)

    def offset_text(self, colon: str) -> str:
        sign = "-" if self.offset < 0 else "+"
        hours, minutes = divmod(abs(self.offset) // 60, 60)
        return f"{sign}{hours:02d}{colon}{minutes:02d}"

    def __str__(self) -> str:
        zone = self.offset_text(":") if self.offset else "Z"
        year = f"-{-self.year:04d}" if self.year < 0 else f"{self.year:04d}"
        date = f"{year}-{self.month:02d}-{self.day:02d}"
        return f"{date}T{self.hour:02d}:{self.minute:02d}:{self.second:02d}{zone}"


def _days(year: int, month: int, day: int) -> int:
    """Count days since 1 March of the year 0, in the proleptic Gregorian calendar."""
    if month < 3:
        year -= 1
        month += 12
    return (
        365 * year + year // 4 - year // 100 + year // 400 + (153 * (month - 3) + 2) // 5 + day - 1
    )


def _date(days: int) -> tuple[int, int, int]:
    """Convert days since 1 March of the year 0 to year, month and day."""
    era, day_of_era = divmod(days, 146_097)
    year = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year + year // 4 - year // 100)
    month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month + 2) // 5 + 1
    month += 3
    year += era * 400
    return (year, month, day) if month <= 12 else (year + 1, month - 12, day)


def parse_timestamp(text: str, argument: int | None = None) -> Timestamp:
    """Parse a timestamp; raise a `FunctionError` about that argument if it is invalid."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise FunctionError(f'"{text}" is not a valid RFC 3339 timestamp', argument)
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    zone_hours, zone_minutes = int(match[9] or 0), int(match[10] or 0)
    in_range = (
        1 <= month <= 12
        and 1 <= day <= _days_in(year, month)
        and hour < 24
        and minute < 60
        and second < 60
        and zone_hours < 24
        and zone_minutes < 60
    )
    if not in_range:
        raise FunctionError(f'"{text}" is not a possible date and time', argument)
    nanosecond = int((match[7] or ".0")[1:10].ljust(9, "0"))
    offset = (zone_hours * 60 + zone_minutes) * 60
    if match[8] == "-":
        offset = -offset
    return Timestamp(year, month, day, hour, minute, second, nanosecond, offset)


def _days_in(year: int, month: int) -> int:
    following = _days(year + 1, 1, 1) if month == 12 else _days(year, month + 1, 1)
    return following - _days(year, month, 1)


def parse_duration(text: str) -> int:
    """Parse a duration such as `1h30m` or `-1.5s` to nanoseconds."""
    body = text[1:] if text[:1] in ("+", "-") else text
    total = 0
    position = 0
    while position < len(body) and body != "0":
        match = _DURATION_PART.match(body, position)
        if match is None or not (match[1] or match[2]) or len(match[0]) > 64:
            raise FunctionError(f'"{text}" is not a duration such as 1h30m', 1)
        unit = _UNITS[match[3]]
        total += int(match[1] or 0) * unit
        fraction = match[2] or ""
        total += int(fraction or 0) * unit // 10 ** len(fraction)
        position = match.end()
    if not body or total >= 2**63:
        raise FunctionError(f'"{text}" is not a duration such as 1h30m', 1)
    return -total if text[0] == "-" else total


def _time_add(args: list[Value], _: Type) -> Value:
    moment = parse_timestamp(args[0].as_string(), 0)
    return string(str(moment.plus(parse_duration(args[1].as_string()))))


TIME_ADD: Final = Function(
    (Parameter("timestamp", STRING), Parameter("duration", STRING)), None, STRING, _time_add
)


def _format_date(args: list[Value], _: Type) -> Value:
    moment = parse_timestamp(args[1].as_string(), 1)
    texts: list[str] = []
    for match in _FORMAT_TOKEN.finditer(args[0].as_string()):
        quoted, verb = match["quoted"], match["verb"]
        if quoted is not None:
            texts.append(_literal(quoted))
        elif verb is not None:
            texts.append(_write_verb(verb, moment))
        else:
            texts.append(match[0])
    return string("".join(texts))


def _literal(quoted: str) -> str:
    if quoted == "''":
        return "'"
    if len(quoted) < 2 or not quoted.endswith("'"):
        raise FunctionError("a quoted literal has no closing '", 0)
    return quoted[1:-1].replace("''", "'")


def _write_verb(verb: str, moment: Timestamp) -> str:
    letter, count = verb[0], len(verb)
    texts: dict[int, str]
    if letter == "Y":
        texts = {2: f"{moment.year % 100:02d}", 4: f"{moment.year:04d}"}
    elif letter == "M":
        name = _MONTHS[moment.month - 1]
        texts = {**_plain(moment.month), 3: name[:3], 4: name}
    elif letter == "E":
        name = _WEEKDAYS[moment.weekday]
        texts = {3: name[:3], 4: name}
    elif letter in "Aa":
        half = "PM" if moment.hour >= 12 else "AM"
        texts = {2: half if letter == "A" else half.lower()}
    elif letter == "Z":
        short, full = moment.offset_text(""), moment.offset_text(":")
        texts = {
            1: full if moment.offset else "Z",
            3: short if moment.offset else "UTC",
            4: short,
            5: full,
        }
    else:
        texts = _clock(letter, moment)
    if count not in texts:
        raise FunctionError(f'"{verb}" is not a supported date format verb', 0)
    return texts[count]


def _clock(letter: str, moment: Timestamp) -> dict[int, str]:
    if letter == "D":
        return _plain(moment.day)
    if letter == "h":
        return _plain(moment.hour)
    if letter == "H":
        return _plain(moment.hour % 12 or 12)
    if letter == "m":
        return _plain(moment.minute)
    if letter == "s":
        return _plain(moment.second)
    return {}


def _plain(number: int) -> dict[int, str]:
    return {1: str(number), 2: f"{number:02d}"}


FORMAT_DATE: Final = Function(
    (Parameter("format", STRING), Parameter("time", STRING)),
    None,
    STRING,
    _format_date,
    NOT_NULL_RESULT,
)
