"""Interruptions: Ctrl-C, requests to end and cancelling, while something must not just end.

Such work says how it reacts (`on_interrupt`). Where the interruption comes from
depends on who runs it: signals in a program of its own, a waiting thread in a notebook, a cancelled
task in the event loop of another program.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeVar

    T = TypeVar("T")


_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Interruptions:
    """Passes interruptions on to the work that reacts to them now."""

    def __init__(self) -> None:
        self._reactions: list[Callable[[], object]] = []
        self._task: asyncio.Task[object] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @contextlib.contextmanager
    def reacting(self, react: Callable[[], object]) -> Iterator[None]:
        """While this is open, an interruption calls a function and does nothing else."""
        self._reactions.append(react)
        try:
            yield
        finally:
            self._reactions.remove(react)

    def interrupt(self) -> None:
        """Stop the work: it reacts, or else it is cancelled."""
        if self._reactions:
            self._reactions[-1]()
        elif self._task is not None:
            self._task.cancel()

    def interrupt_from_outside(self) -> None:
        """The same from another thread than that of the work."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.interrupt)

    async def run(self, work: Coroutine[object, object, T]) -> T:
        """Do some work. Cancelling it while it must not just end interrupts it."""
        token = _PASSED_ON.set(self)
        try:
            task = asyncio.ensure_future(work)
        finally:
            _PASSED_ON.reset(token)
        self._task, self._loop = task, asyncio.get_running_loop()
        is_cancelled = False
        while not task.done():
            try:
                await asyncio.wait((task,))
            except asyncio.CancelledError:
                is_cancelled = True
                self.interrupt()
        if is_cancelled and not task.cancelled() and task.exception() is None:
            raise asyncio.CancelledError
        return task.result()


_PASSED_ON: Final[ContextVar[Interruptions | None]] = ContextVar("interruptions", default=None)


@contextlib.contextmanager
def on_interrupt(react: Callable[[], object]) -> Iterator[None]:
    """While this is open, an interruption calls a function and does nothing else.

    Signals reach the main thread only; elsewhere the owner of the loop passes them on.
    """
    passed_on = _PASSED_ON.get()
    if passed_on is not None:
        with passed_on.reacting(react):
            yield
        return
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number in _SIGNALS:
        _handle(number, react)
    try:
        yield
    finally:
        for number, handler in before.items():
            if sys.platform != "win32":
                asyncio.get_running_loop().remove_signal_handler(number)
            if handler is not None:
                signal.signal(number, handler)


def _handle(number: int, react: Callable[[], object]) -> None:
    """Have a signal call a function in the event loop. Loops of Windows have no handlers of signals, but a
    signal wakes them.
    """
    loop = asyncio.get_running_loop()
    if sys.platform == "win32":
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(react))
    else:
        loop.add_signal_handler(number, react)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """While this is open, Ctrl-C interrupts whatever waits, at once.

    An event loop only notes it until it has its turn, which it has not while something else is
    waited for.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
