"""The page beside an apply, for `-explore`: where it is, and how long it stays."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress

from nigari.cli.browser import open_page
from nigari.cli.command import Terminal
from nigari.cli.presenter import Presenter
from nigari.cli.shown_command import shown_command
from nigari.diagnostics import Diagnostic, Diagnostics
from nigari.explore.live import LivePage
from nigari.explore.page import PageNotBuilt
from nigari.workspace.session.made_plan import MadePlan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_FAREWELL: Final = 2.0
"""Seconds that a browser has to receive the end of a non-interactive apply."""


class PageBeside:
    """The page of an apply, and what the terminal says about it."""

    def __init__(self, presenter: Presenter) -> None:
        self.page: LivePage = LivePage()
        self._presenter = presenter
        self._has_failed = False

    def show(self, made: MadePlan) -> None:
        """Show a plan; where that cannot be, say why and go on without."""
        if self._has_failed:
            return
        known = self.page.url
        try:
            command = shown_command(self._presenter.invocation)
            self.page.show(made, command)
        except PageNotBuilt:
            self._fail("it is not built: run make page, which needs Node.js, or install a wheel")
        except Exception as error:  # noqa: BLE001 - a page must not disturb the apply
            self._fail(str(error) or type(error).__name__)
        else:
            if not known:
                self._announce()

    def applied(self, found: Iterable[Diagnostic], succeeded: bool, goes_on: bool) -> None:
        """Tell what has come of a plan; where another round follows, that has the last word."""
        self.page.events.problems(found)
        if not succeeded or not goes_on:
            self.page.events.end(succeeded)

    def close(self) -> None:
        """Serve the page until the user has seen enough, and end it."""
        terminal = self._presenter.terminal
        if self.page.url and self._is_watched(terminal):
            self.page.close_feed()
            terminal.err(f"\nThe page is still at {self.page.url}\nPress Ctrl-C to end.")
            with suppress(KeyboardInterrupt):
                threading.Event().wait()
        self.page.close(_FAREWELL)

    def _announce(self) -> None:
        terminal = self._presenter.terminal
        terminal.err(f"\nThe page is at {self.page.url}")
        terminal.stderr.flush()
        if self._is_watched(terminal):
            open_page(self.page.url, terminal.environ)

    def _is_watched(self, terminal: Terminal) -> bool:
        streams = (terminal.stdin, terminal.stderr)
        return not self._presenter.is_for_programs and all(each.isatty() for each in streams)

    def _fail(self, reason: str) -> None:
        self._has_failed = True
        found: Diagnostics = self._presenter.diags
        found.warning("Page not shown", f"The page of -explore cannot be shown: {reason}.")
