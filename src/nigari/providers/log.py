"""Plugin logs: filtered and written where the user wants, with the last lines retained.

`TF_LOG_PROVIDER` (or `TF_LOG`) selects the level, `TF_LOG_PATH` the file; without a level nothing
is written. The last lines are retained in any case: when a plugin fails, they are often the only
explanation.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections import deque
from collections.abc import Mapping

from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TextIO


_LEVELS: Final = {"TRACE": 0, "DEBUG": 1, "INFO": 2, "WARN": 3, "ERROR": 4, "OFF": 5}
_KEPT_LINES: Final = 200
_SHOWN_LINES: Final = 20
_SHOWN_WIDTH: Final = 300
_LONGEST_LINE: Final = 64 * 1024
_LIBRARY_LEVELS: Final = ("TF_LOG_SDK", "TF_LOG_SDK_PROTO", "TF_LOG_SDK_FRAMEWORK")
_PANIC: Final = ("panic: ", "fatal error: ")


@record
class LogSettings:
    """Level, format and destination of plugin logs."""

    level: str = "OFF"
    as_json: bool = False
    path: str = ""

    @staticmethod
    def from_environment(environment: Mapping[str, str]) -> LogSettings:
        """Read the variables as `tofu` does; an unknown level means everything."""
        general = environment.get("TF_LOG", "").upper()
        # logging.providerLogLevel: TF_LOG_PROVIDER overrides TF_LOG.
        level = environment.get("TF_LOG_PROVIDER", "").upper() or general or "OFF"
        # OpenTofu: JSON is a format at level TRACE, selected by the same variable.
        as_json = general == "JSON"
        if level not in _LEVELS:
            level = "TRACE"
        return LogSettings(level, as_json, environment.get("TF_LOG_PATH", ""))

    def plugin_environment(self) -> dict[str, str]:
        """Return the variables that prevent a plugin's libraries from writing unneeded lines.

        By default they write everything, which costs both sides more time than the actual work.
        Errors are always requested: they explain failures.
        """
        level = "ERROR" if self.level == "OFF" else self.level
        return dict.fromkeys(_LIBRARY_LEVELS, level)


class PluginLog:
    """The log of one plugin process."""

    def __init__(self, name: str, settings: LogSettings) -> None:
        self._name = name
        self._settings = settings
        self._recent: deque[bytes] = deque(maxlen=_KEPT_LINES)
        self._unfinished: dict[str, bytes] = {}
        self._file: TextIO | None = None

    def feed(self, source: str, data: bytes) -> None:
        """Add output of the plugin; lines may arrive in pieces."""
        *lines, rest = (self._unfinished.pop(source, b"") + data).split(b"\n")
        for line in lines:
            self._line(line)
        if len(rest) > _LONGEST_LINE:
            self._line(rest)
        elif rest:
            self._unfinished[source] = rest

    def flush(self) -> None:
        """Complete all unfinished lines."""
        for rest in self._unfinished.values():
            self._line(rest)
        self._unfinished.clear()

    def close(self) -> None:
        """Flush and close the log."""
        self.flush()
        if self._file is not None:
            self._file.close()
            self._file = None

    def ending(self) -> str:
        """Return the lines that explain a failure; empty if there are none.

        A crash report is quoted from its first line, which names the cause; otherwise the last
        lines are the most useful. Unfinished lines are included, since their end may never arrive.
        """
        self.flush()
        texts = [_decoded(raw) for raw in self._recent]
        lines = [_parsed(text)[1] for text in texts if text.strip()]
        for index, line in enumerate(lines):
            if line.startswith(_PANIC):
                return _joined(lines[index : index + _SHOWN_LINES])
        return _joined(lines[-_SHOWN_LINES:])

    def _line(self, raw: bytes) -> None:
        # Plugins may write dozens of lines per call, so a line is only parsed if it will be
        # written.
        self._recent.append(raw[:_LONGEST_LINE])
        if self._settings.level == "OFF":
            return
        text = _decoded(raw)
        if text.strip():
            level, message, fields = _parsed(text)
            if _LEVELS[level] >= _LEVELS[self._settings.level]:
                self._write(level, message, fields)

    def _write(self, level: str, message: str, fields: dict[str, object]) -> None:
        from datetime import UTC, datetime

        now = datetime.now(UTC)
        module = f"provider.{self._name}"
        if self._settings.as_json:
            record = {"@level": level.lower(), "@message": message, "@module": module}
            record["@timestamp"] = now.isoformat(timespec="microseconds")
            text = json.dumps(record | fields, default=str)
        else:
            extra = "".join(f" {name}={_field(value)}" for name, value in fields.items())
            stamp = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            tail = f":{extra}" if extra else ""
            text = f"{stamp} [{level}]{' ' if len(level) == 4 else ''} {module}: {message}{tail}"
        stream = self._stream()
        stream.write(text + "\n")
        stream.flush()

    def _stream(self) -> TextIO:
        if self._file is not None:
            return self._file
        if self._settings.path:
            with contextlib.suppress(OSError):
                self._file = open(self._settings.path, "a", encoding="utf-8")  # noqa: SIM115 - see close
                return self._file
        return sys.stderr


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").rstrip("\r")


def _parsed(text: str) -> tuple[str, str, dict[str, object]]:
    """Parse the level, message and fields of a line: JSON in most plugins, `[LEVEL] …`, or
    anything.
    """
    if text.startswith("{"):
        try:
            record = json.loads(text)
        except (ValueError, RecursionError):
            record = None
        # go-hclog: plugins write JSON lines with the keys @level, @message and
        # @timestamp.
        if isinstance(record, dict) and "@message" in record:
            level = str(record.pop("@level", "debug")).upper()
            message = str(record.pop("@message"))
            record.pop("@timestamp", None)
            return (level if level in _LEVELS else "DEBUG"), message, record
    # Older plugins use the standard log package of Go with a level in brackets.
    for level in _LEVELS:
        if f"[{level}]" in text[:40]:
            return level, text.split(f"[{level}]", 1)[1].strip(), {}
    return "DEBUG", text, {}


def _field(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return json.dumps(text) if " " in text or "\n" in text else text


def _joined(lines: list[str]) -> str:
    return "\n".join(
        line if len(line) <= _SHOWN_WIDTH else line[: _SHOWN_WIDTH - 3] + "..." for line in lines
    )
