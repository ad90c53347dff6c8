"""Logging in plugins written in Python, as lines that the calling program understands.

Records of Python's `logging` are written to standard error in the JSON form that `tofu` and
`nigari.providers.log` read, so that `TF_LOG` and `TF_LOG_PROVIDER` filter them.
"""

import json
import logging
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, TextIO

from nigari.providers.log import LogSettings

_LEVELS: Final = {
    "TRACE": 5,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    # Errors are always written: they explain failures.
    "OFF": logging.ERROR,
}
_USUAL: Final = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"})


def log_to_caller(environment: Mapping[str, str]) -> None:
    """Send log records from now on to the program that started this one."""
    settings = LogSettings.from_environment(environment)
    logging.basicConfig(
        level=_LEVELS[settings.level], handlers=[CallerHandler(sys.stderr)], force=True
    )


class CallerHandler(logging.StreamHandler[TextIO]):
    """Writes a line of JSON for each record."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "@level": _level(record.levelno),
            "@message": record.getMessage(),
            "@module": record.name,
            "@timestamp": datetime.fromtimestamp(record.created, UTC).isoformat(),
        }
        line |= {name: value for name, value in vars(record).items() if name not in _USUAL}
        if record.exc_info:
            line["error"] = logging.Formatter().formatException(record.exc_info)
        return json.dumps(line, default=str)


def _level(number: int) -> str:
    for name in ("ERROR", "WARN", "INFO", "DEBUG"):
        if number >= _LEVELS[name]:
            return name.lower()
    return "trace"
