"""`nigari explore`: the configuration, a plan and an apply as a page in the browser."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from nigari.cli.args import UsageError
from nigari.cli.browser import open_page
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.plan_flags import whole_number
from nigari.cli.presenter import check_configuration, show_problems
from nigari.cli.shown_command import shown_command
from nigari.cli.state_flags import open_session
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import NO_COLOR_FLAG
from nigari.diagnostics import Diagnostics
from nigari.explore.document import Document, document_of, fleet_document
from nigari.explore.event_stream import Event, Feed, follow, read_events
from nigari.explore.fleet import FleetFollower
from nigari.explore.journal import JournalFollower, journal_events
from nigari.explore.page import PageNotBuilt, built, page
from nigari.explore.page_source import configuration_subject, plan_subject
from nigari.explore.server import PageServer
from nigari.fleet.units.graph_loader import survey
from nigari.record import record
from nigari.workspace.session.apply_journal import journal_path
from nigari.workspace.session.session import Session

Follow = Callable[[threading.Event], object]
"""Fills a feed until it is stopped."""


@record
class _Content:
    """The content of the page."""

    document: Document
    events: Callable[[], list[Event]]
    """Past events, for a page that cannot request them."""
    follower: Callable[[Feed], Follow]


def run(invocation: Invocation) -> int:
    """Make the page, and write or serve it."""
    session = open_session(invocation)
    content = _content(invocation, session)
    if content is None or not _is_built(session.diags):
        show_problems(invocation, session)
        return 1
    out = invocation.text("out")
    if out:
        done = _write(content, invocation, out, session.diags)
    else:
        done = _serve(content, invocation, session.diags)
    if not done:
        show_problems(invocation, session)
    return 0 if done else 1


def _content(invocation: Invocation, session: Session) -> _Content | None:
    plans = invocation.arguments
    if invocation.switch("fleet"):
        if plans or invocation.text("events"):
            raise UsageError("The option -fleet cannot be used with a plan or with -events.")
        environ = invocation.terminal.environ
        found = survey(session.where.path, environ)
        if not found.units and not found.diagnostics:
            session.diags.error(
                "No units",
                "There is no root module in this directory or below it. Change to the directory of "
                "the fleet, or name it with -chdir=DIR before the command.",
            )
            return None
        document = fleet_document(found, environ, shown_command(invocation))
        return _Content(document, list, lambda feed: FleetFollower(found, environ, feed).run)
    if not plans and not invocation.text("events") and not check_configuration(session):
        return None
    subject = plan_subject(session, plans[0]) if plans else configuration_subject(session)
    if subject is None:
        return None
    document = document_of(subject, shown_command(invocation))
    return _with_events(invocation, session, document)


def _with_events(invocation: Invocation, session: Session, document: Document) -> _Content:
    scrub = document.secrets.scrubbed
    given = invocation.text("events")
    if given:
        path = Path(given)
        return _Content(
            document,
            partial(read_events, path, scrub),
            lambda feed: partial(follow, path, scrub, feed),
        )
    journal = journal_path(session.where.data(), session.selected)
    return _Content(
        document,
        partial(journal_events, journal, scrub),
        lambda feed: JournalFollower(journal, scrub, feed).run,
    )


def _is_built(diags: Diagnostics) -> bool:
    try:
        built()
    except PageNotBuilt:
        diags.error(
            "The page is not built",
            "This installation comes from the sources, which do not contain the built page. Run "
            "make page, which needs Node.js, or install a wheel, which contains it.",
        )
        return False
    return True


def _write(content: _Content, invocation: Invocation, out: str, diags: Diagnostics) -> bool:
    try:
        content.document.data["events"] = content.events()
        Path(out).write_text(page(content.document).html, encoding="utf-8")
    except OSError as error:
        diags.error("The page cannot be written", f"{error.filename}: {error.strerror}.")
        return False
    invocation.terminal.out(f"The page is in {out}.")
    return True


def _serve(content: _Content, invocation: Invocation, diags: Diagnostics) -> bool:
    feed = Feed()
    content.document.data.update(live=True, applies=bool(invocation.text("events")))
    made = page(content.document, is_served=True)
    closing = threading.Event()
    with ExitStack() as stack:
        try:
            server = PageServer(made, feed, whole_number(invocation, "port"))
        except OSError as error:
            diags.error("The page cannot be served", f"{error.strerror}.")
            return False
        stack.enter_context(server)
        stack.callback(closing.set)
        follower = content.follower(feed)
        threading.Thread(target=follower, args=(closing,), daemon=True).start()
        terminal = invocation.terminal
        terminal.out(f"The page is at {server.url}\nPress Ctrl-C to end.")
        terminal.stdout.flush()
        if not invocation.switch("no-browser"):
            open_page(server.url, terminal.environ)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
    return True


COMMAND = Command(
    "explore",
    "Serves a page that shows the configuration, every value and its origin, and the dependency "
    "graph. With a saved plan, the page also shows what would change, how and why. It also shows the "
    "last apply in this directory, while it runs and afterwards. The page is served on this machine "
    "only, to anyone who has its address, until you press Ctrl-C. It never contains sensitive "
    "values.",
    run,
    flags=(
        Flag("out", FLAG_TEXT, "Write the page to a file that needs no server instead", "FILE"),
        Flag(
            "events",
            FLAG_TEXT,
            "Also show an apply or a test, live or afterwards, from what it writes with -json-into",
            "FILE",
        ),
        Flag("fleet", FLAG_SWITCH, "Show the fleet of root modules below this directory instead"),
        Flag("no-browser", FLAG_SWITCH, "Do not open the page in the browser"),
        Flag(
            "port",
            FLAG_TEXT,
            "The port to serve the page on; 0 means any free port",
            "NUMBER",
            "0",
        ),
        NO_COLOR_FLAG,
        *VARIABLE_FLAGS,
    ),
    arguments="[PLAN]",
    most_arguments=1,
    examples=(
        Example("nigari explore", "look at the configuration"),
        Example("nigari explore plan.out", "review a saved plan"),
        Example("nigari explore -out=plan.html plan.out", "as a file, for a pull request"),
        Example("nigari explore -events=run.jsonl plan.out", "follow an apply of the plan"),
        Example("nigari explore -events=tests.jsonl", "look at the results of tests"),
        Example("nigari explore -fleet", "look at many root modules"),
    ),
)
