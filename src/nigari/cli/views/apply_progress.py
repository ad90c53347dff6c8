"""Progress on the terminal while a plan is made and applied.

Lines for operations that begin, still run and end, with the time they take, and counts for the
summary. It hears events and decides nothing.
"""

from __future__ import annotations

import time

from nigari.addrs.absolute import AbsResourceInstance
from nigari.apply.listener import ApplyListener, ApplyListeners
from nigari.cli.command import Terminal
from nigari.cli.views.action_text import describe
from nigari.cli.views.object_name import id_note, object_id, object_id_or_name
from nigari.cli.views.style import PLAIN, style_of
from nigari.cty.values import Value
from nigari.diagnostics.layout import Layout, display_width
from nigari.events import FoundObject
from nigari.hcl.quoting import visible
from nigari.plan.model.change_operations import REPLACED
from nigari.plan.model.changes import Action, Change
from nigari.plan.model.execution_graph import Operation, OperationKind
from nigari.plan.model.invocations import Invocation
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

_WORDS: Final = {
    OperationKind.CREATE: ("Creating", "creating", "Creation complete"),
    OperationKind.UPDATE: ("Modifying", "modifying", "Modifications complete"),
    OperationKind.DELETE: ("Destroying", "destroying", "Destruction complete"),
    OperationKind.READ: ("Reading", "reading", "Read complete"),
}
_EPHEMERAL: Final = {
    "open": ("Opening", "opening", "Open complete"),
    "renew": ("Renewing", "renewing", "Renew complete"),
    "close": ("Closing", "closing", "Close complete"),
}
INTERRUPTIONS: Final = {
    1: "Interrupted. Nothing new will be started, and operations in progress can "
    "finish.\nInterrupt again to stop at once, which loses what is not finished.",
    2: "Interrupted again: stopping at once.",
}
_REMINDER: Final = 10.0
"""Seconds after which something that still runs is mentioned again."""
_LONGEST_ID: Final = 80
_MOST_NAMED: Final = 3
_TICK: Final = 1.0


@record
class Running:
    """Something that has begun and not ended yet."""

    name: str
    verb: str
    begun: float
    id: tuple[str, str] | None = None


def duration(seconds: float) -> str:
    """A time in whole seconds, as people write it."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    if hours:
        return f"{hours}h{minutes}m{left}s"
    return f"{minutes}m{left}s" if minutes else f"{left}s"


class TimedView(ApplyListener):
    """A view that also hears that time passes."""

    reveals: bool = False
    """True if it may show secrets, because the user said `-show-sensitive`."""

    def provision_hides(self, address: AbsResourceInstance, kind: str) -> None:
        if not self.reveals:
            super().provision_hides(address, kind)

    def provision_revealed(self, address: AbsResourceInstance, kind: str, text: str) -> None:
        if self.reveals:
            self.provision_said(address, kind, text)

    def tick(self) -> None:
        """A second has passed."""


class TimedViews(ApplyListeners, TimedView):
    """Several listeners that get the same events, including the passing of time."""

    def __init__(self, views: Sequence[TimedView]) -> None:
        super().__init__(views)
        self._timed = views

    def tick(self) -> None:
        for view in self._timed:
            view.tick()


class Untimed(ApplyListeners, TimedView):
    """Views that do not care how time passes."""


class Counts(TimedView):
    """Counts what has been done, in all rounds."""

    def __init__(self) -> None:
        self.taken: int = 0
        """The imported objects."""
        self.added: int = 0
        self.changed: int = 0
        self.destroyed: int = 0
        self.forgotten: int = 0
        self.invoked: int = 0
        """The actions that have ended, however."""
        self.failed_actions: int = 0

    def action_finished(self, invocation: Invocation, failure: str) -> None:
        self.invoked += 1
        self.failed_actions += bool(failure)

    def finished(self, operation: Operation, change: Change, value: Value | None) -> None:
        if operation.kind is OperationKind.CREATE:
            self.added += 1
        elif operation.kind is OperationKind.UPDATE:
            self.changed += 1
        elif operation.kind is OperationKind.DELETE:
            self.destroyed += 1
        elif operation.kind is OperationKind.FORGET:
            actions = (Action.FORGET, Action.FORGET_THEN_CREATE)
            self.forgotten += change.action in actions

    def imported(self, change: Change) -> None:
        self.taken += 1


class Progress(TimedView):
    """Lines on the terminal: what begins, what still runs, what has come to its end."""

    def __init__(self, terminal: Terminal, total: int = 0) -> None:
        self._terminal = terminal
        self._is_quiet = terminal.is_on("concise")
        self._style = style_of(terminal) if not self._is_quiet else PLAIN
        self._line = LiveLine(terminal)
        self._running: dict[str, Running] = {}
        self._reminded: dict[str, float] = {}
        self._done = 0
        self.total = total
        """The number of operations; none while it is not known."""

    # -- applying -----------------------------------------------------------------------------

    def imported(self, change: Change) -> None:
        for what in ("Importing...", "Import complete"):
            self._say(f"{change.address}: {what} [id={change.imported_as}]")

    def started(self, operation: Operation, change: Change) -> None:
        words = _WORDS.get(operation.kind)
        if words is None:
            return
        is_new = operation.kind is OperationKind.CREATE
        known = None if is_new else object_id_or_name(change.before)
        self._begin(_key(operation), _named(operation), words, known, id_note(known))

    def finished(self, operation: Operation, change: Change, value: Value | None) -> None:
        self._done += 1
        words = _WORDS.get(operation.kind)
        if words is not None:
            self._end(_key(operation), _named(operation), words, id_note(object_id(value)))

    def failed(self, operation: Operation, change: Change) -> None:
        """Failures are reported as diagnostics at the end."""
        self._done += 1
        self._running.pop(_key(operation), None)

    # -- planning -----------------------------------------------------------------------------

    def refresh_started(self, address: AbsResourceInstance, value: Value, deposed: str) -> None:
        name = f"{address} (deposed object {deposed})" if deposed else str(address)
        self._say(f"{name}: Refreshing state...{id_note(object_id(value))}")

    def read_started(self, address: AbsResourceInstance) -> None:
        self._begin(str(address), str(address), _WORDS[OperationKind.READ])

    def read_finished(self, address: AbsResourceInstance, value: Value | None) -> None:
        if value is None:
            self._running.pop(str(address), None)
            return
        note = id_note(object_id(value))
        self._end(str(address), str(address), _WORDS[OperationKind.READ], note)

    def import_started(self, address: AbsResourceInstance, id: str) -> None:
        self._say(f"{address}: Preparing import... [id={id}]")

    def query_found(self, address: AbsResourceInstance, found: FoundObject) -> None:
        from nigari.cli.views.found_objects import identity_text

        name = visible(found.display_name)
        self._say(f"{address}   {identity_text(found.identity)}   {name}")

    def ephemeral_deferred(self, address: AbsResourceInstance, is_known: bool) -> None:
        what = "what it depends on has been changed" if is_known else "its configuration is known"
        self._say(f"{address}: Will be opened during apply, once {what}")

    def ephemeral_failed(self, address: AbsResourceInstance, what: str) -> None:
        self._running.pop(f"{what} {address}", None)

    def ephemeral_started(self, address: AbsResourceInstance, what: str) -> None:
        self._begin(f"{what} {address}", str(address), _EPHEMERAL[what])

    def ephemeral_finished(self, address: AbsResourceInstance, what: str) -> None:
        self._end(f"{what} {address}", str(address), _EPHEMERAL[what])

    # -- provisioners -------------------------------------------------------------------------

    def provision_started(self, address: AbsResourceInstance, kind: str) -> None:
        self._say(f"{address}: Provisioning with '{kind}'...")

    def provision_said(self, address: AbsResourceInstance, kind: str, text: str) -> None:
        if text.strip():
            self._print(f"{self._style.bold(f'{address} ({kind}):')} {text.rstrip()}")

    def interrupted(self, times: int) -> None:
        self._line.clear()
        self._terminal.out(f"\n{INTERRUPTIONS[min(times, 2)]}\n")
        self._terminal.stdout.flush()

    # -- actions ------------------------------------------------------------------------------

    def action_started(self, invocation: Invocation) -> None:
        self._say(f"Action started: {describe(invocation)}")

    def action_said(self, invocation: Invocation, text: str) -> None:
        name = self._style.bold(f"Action {describe(invocation)}:")
        self._print(f"{name} {visible(text.rstrip())}")

    def action_finished(self, invocation: Invocation, failure: str) -> None:
        if failure:
            failed = f"Action failed: {describe(invocation)} - {visible(failure)}"
            self._say(self._style.red(failed))
        else:
            self._say(self._style.green(f"Action complete: {describe(invocation)}"))

    # -- time ---------------------------------------------------------------------------------

    def tick(self) -> None:
        now = time.monotonic()
        for key, each in list(self._running.items()):
            if now - self._reminded.get(key, each.begun) >= _REMINDER - _TICK / 2:
                self._reminded[key] = now
                known = "" if each.id is None else f"{each.id[0]}={each.id[1][:_LONGEST_ID]}, "
                passed = duration(now - each.begun)
                self._say(f"{each.name}: Still {each.verb}... [{known}{passed} elapsed]")
        self._show_line(now)

    def close(self) -> None:
        """Take the live line away."""
        self._line.clear()

    def _show_line(self, now: float) -> None:
        if not self._running or self._is_quiet:
            return
        oldest = sorted(self._running.values(), key=lambda each: each.begun)
        names = [f"{each.name} {duration(now - each.begun)}" for each in oldest[:_MOST_NAMED]]
        more = len(oldest) - len(names)
        rest = f" and {more} more" if more > 0 else ""
        counts = f"{self._done} of {self.total} done, " if self.total else ""
        self._line.show(f"[{counts}{len(oldest)} in progress: {', '.join(names)}{rest}]")

    def _begin(
        self,
        key: str,
        name: str,
        words: tuple[str, str, str],
        known: tuple[str, str] | None = None,
        note: str = "",
    ) -> None:
        self._running[key] = Running(name, words[1], time.monotonic(), known)
        self._say(f"{name}: {words[0]}...{note}")

    def _end(self, key: str, name: str, words: tuple[str, str, str], note: str = "") -> None:
        running = self._running.pop(key, None)
        self._reminded.pop(key, None)
        passed = 0.0 if running is None else time.monotonic() - running.begun
        self._say(f"{name}: {words[2]} after {duration(passed)}{note}")

    def _say(self, text: str) -> None:
        self._print(self._style.bold(text))

    def _print(self, text: str) -> None:
        if self._is_quiet:
            return
        self._line.clear()
        self._terminal.out(text)
        self._terminal.stdout.flush()


def _named(operation: Operation) -> str:
    if not operation.deposed:
        return operation.address
    key = "" if operation.deposed == REPLACED else f" {operation.deposed}"
    return f"{operation.address} (deposed object{key})"


def _key(operation: Operation) -> str:
    return f"{operation.kind.value} {operation.address} {operation.deposed}"


async def let_time_pass(view: TimedView) -> None:
    """Tell a listener every second that time passes, for as long as there is an event loop."""
    import asyncio

    while True:
        await asyncio.sleep(_TICK)
        view.tick()


_ERASED = "\r\x1b[K"


class LiveLine:
    """A line that is written over and over; on what is no terminal there is none."""

    def __init__(self, terminal: Terminal) -> None:
        self._stream = terminal.stdout
        layout = Layout.for_stream(terminal.stdout, terminal.environ)
        self._width = layout.width - 1
        self._is_possible = terminal.stdout.isatty() and terminal.environ.get("TERM") != "dumb"
        self._shown = ""

    def show(self, text: str) -> None:
        """Put a text in place of the one that is there."""
        if not self._is_possible or text == self._shown:
            return
        while display_width(text) > self._width:
            text = text[:-2] + "…"
        self._stream.write(f"{_ERASED}{text}")
        self._stream.flush()
        self._shown = text

    def clear(self) -> None:
        """Take the line away, so that others can be written."""
        if self._shown:
            self._stream.write(_ERASED)
            self._shown = ""
