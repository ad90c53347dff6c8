"""Progress of the units of a fleet: a table that lives on a terminal, lines elsewhere, or events
for programs.
"""

from __future__ import annotations

import asyncio
import time

from nigari.cli.command import Terminal
from nigari.cli.views.json_lines import JsonLines
from nigari.cli.views.live import LiveLines
from nigari.diagnostics.layout import Layout
from nigari.fleet.runs.results import FleetEvent, UnitResult, UnitStarted, UnitStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_DOING: Final = {
    "init": "initializing",
    "validate": "validating",
    "plan": "planning",
    "apply": "applying",
    "output": "reading",
    "test": "testing",
}
_EVERY: Final = 1.0
"""Seconds after which the times are drawn again."""


class FleetView:
    """Tells what happens, as it happens."""

    def __init__(self, terminal: Terminal, count: int, is_json: bool) -> None:
        self._terminal = terminal
        self._count = count
        self._done = 0
        self._begun: dict[str, float] = {}
        self._phase = ""
        self._ticking: asyncio.Future[None] | None = None
        self._is_paused = False
        self._changes = [0, 0, 0]
        self.events: JsonLines | None = JsonLines(terminal.stdout) if is_json else None
        if self.events is not None:
            terminal.events = self.events
        self._live: LiveLines | None = None
        stream = terminal.stderr
        if not is_json and stream.isatty() and terminal.environ.get("TERM") != "dumb":
            self._live = LiveLines(stream, Layout.for_stream(stream, terminal.environ).width)

    def __call__(self, event: FleetEvent) -> None:
        self._phase = event.phase
        self._is_paused = False
        if isinstance(event, UnitStarted):
            self._begun[event.unit] = time.monotonic()
            self._tell_start(event)
        else:
            self._begun.pop(event.unit, None)
            self._done += 1
            self._tell_end(event.phase, event.result)

    def _tell_start(self, event: UnitStarted) -> None:
        if self.events is not None:
            members = {"type": "unit_start", "unit": event.unit, "phase": event.phase}
            self.events.event(f"{event.unit}: {_DOING[event.phase]}", members)
        elif self._live is not None:
            self._draw()
            if self._ticking is None:
                self._ticking = asyncio.ensure_future(self._tick())

    async def _tick(self) -> None:
        """Let the times go on while nothing happens."""
        while True:
            await asyncio.sleep(_EVERY)
            if self._begun and not self._is_paused:
                self._draw()

    def _draw(self) -> None:
        """Draw a line for each unit that is worked with, with the time it has taken so far."""
        assert self._live is not None
        now = time.monotonic()
        wide = max((len(unit) for unit in self._begun), default=0)
        lines = {
            unit: f"  {unit:<{wide}}  {_DOING[self._phase]}  {now - begun:.0f}s"
            for unit, begun in self._begun.items()
        }
        self._live.show_all(lines, f"{self._done} of {self._count} units{self._totals()}")

    def _totals(self) -> str:
        """Summarize the units that are done."""
        if not any(self._changes):
            return ""
        add, change, destroy = self._changes
        return f", {add} to add, {change} to change, {destroy} to destroy"

    def _tell_end(self, phase: str, result: UnitResult) -> None:
        found = result.changes
        if found is not None:
            self._changes[0] += found.add
            self._changes[1] += found.change
            self._changes[2] += found.destroy
        text = result_line(phase, result)
        if self.events is not None:
            self.events.event(text, {"type": "unit_end", **result_members(phase, result)})
        elif self._live is not None:
            if phase != "plan" or not result.is_done:
                self._live.clear()
                self._terminal.err(text)
            self._draw()
        elif phase != "plan" or not result.is_done:
            self._terminal.err(text)

    def pause(self) -> None:
        """Take the table away, so that something else can be written or asked; it comes back when
        something happens.
        """
        self._is_paused = True
        if self._live is not None:
            self._live.clear()

    def end(self) -> None:
        """Nothing more happens."""
        if self._ticking is not None:
            self._ticking.cancel()
        if self._live is not None:
            self._live.clear()


def result_line(phase: str, result: UnitResult) -> str:
    """The outcome of a unit, as a line."""
    status = result.status
    if status is UnitStatus.SKIPPED:
        why = f", because {result.because_of} failed" if result.because_of else ""
        return f"{result.unit}: not begun{why}"
    if not result.is_done:
        return f"{result.unit}: {phase} {status.value}"
    if result.report.get("earlier"):
        return f"{result.unit}: done earlier"
    changes = result.changes
    if changes is None:
        return f"{result.unit}: {phase} done ({result.seconds:.1f}s)"
    if changes.is_empty:
        return f"{result.unit}: no changes"
    words = (
        changes.summary
        if phase == "plan"
        else _applied(changes.add, changes.change, changes.destroy)
    )
    return f"{result.unit}: {words} ({result.seconds:.1f}s)"


def _applied(added: int, changed: int, destroyed: int) -> str:
    return f"{added} added, {changed} changed, {destroyed} destroyed"


def result_members(phase: str, result: UnitResult) -> dict[str, object]:
    """The outcome of a unit, for programs."""
    changes = result.changes
    found: dict[str, object] = {
        "unit": result.unit,
        "phase": phase,
        "status": result.status.value,
        "seconds": round(result.seconds, 3),
        "because_of": result.because_of or None,
        "log": result.log or None,
        "diagnostics": [
            {"severity": each.severity.value, "summary": each.summary, "detail": each.detail}
            for each in result.diagnostics
        ],
    }
    if changes is not None:
        found["changes"] = {
            "add": changes.add,
            "change": changes.change,
            "remove": changes.destroy,
            "import": changes.import_,
            "forget": changes.forget,
            "outputs": changes.outputs,
            **({"invoke": changes.invoke} if changes.invoke else {}),
        }
        found["resources"] = [
            {"address": each.address, "action": each.action} for each in changes.lines
        ]
        found["drift"] = list(changes.drift)
    if result.report:
        found["report"] = dict(result.report)
    return found
