"""The page of an apply in this process: it is served before the apply begins, and hears all of it.

Whatever goes wrong with it, with its server or with a browser, is never the apply's concern.
"""

from __future__ import annotations

from nigari.explore.document import document_of
from nigari.explore.event_stream import Feed
from nigari.explore.journal import event_of
from nigari.explore.page import page
from nigari.explore.page_source import planned_subject
from nigari.explore.server import PageServer
from nigari.workspace.session.apply_events import ApplyEvents, Entry
from nigari.workspace.session.made_plan import MadePlan


class LivePage:
    """Shows a plan, and what happens while it is applied."""

    def __init__(self) -> None:
        self.events: ApplyEvents = ApplyEvents(self._hear)
        """Takes what happens."""
        self._feed = Feed()
        self._server: PageServer | None = None
        self._scrub = _nothing
        self._plans = 0

    @property
    def url(self) -> str:
        """Return the page's address; empty if nothing has been shown yet."""
        return "" if self._server is None else self._server.url

    def show(self, made: MadePlan, command: str = "") -> None:
        """Serve the page of a plan that a command has made, in place of an earlier one."""
        document = document_of(planned_subject(made), command)
        self._plans += 1
        document.data.update(live=True, applies=True, number=self._plans)
        self._scrub = document.secrets.scrubbed
        shown = page(document, is_served=True)
        if self._server is None:
            self._server = PageServer(shown, self._feed)
            self._server.__enter__()
            workspace, mode = made.context.workspace, made.plan.mode.value
            self.events.add("apply", workspace=workspace, mode=mode)
        else:
            self._server.replace(shown)
            self.events.add("page", number=self._plans)
        graph = made.outcome.graph
        self.events.plan(graph.to_json(), len(graph.operations))

    def close_feed(self) -> None:
        """Tell those who look at it that there is nothing more to come."""
        self._feed.end()

    def close(self, seconds: float) -> None:
        """End it, once those who look at it have heard everything; at the latest after a while."""
        self.close_feed()
        if self._server is not None:
            self._server.wait_for_streams(seconds)
            self._server.__exit__()
            self._server = None

    def _hear(self, entry: Entry) -> None:
        if self._plans:
            self._feed.add(event_of(entry, self._scrub))


def _nothing(text: str) -> str:
    return ""
