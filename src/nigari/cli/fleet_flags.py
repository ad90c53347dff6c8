"""The base of commands for fleets: their flags, which units they are about, and what they report.

Selections by name, path, label, graph and commit become one set of units here. How units are found,
ordered and worked on is in `nigari.fleet`; each command shows its own results.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_LIST, FLAG_SWITCH, FLAG_TEXT, Flag, Invocation, Terminal
from nigari.cli.plan_flags import PARALLELISM_FLAG
from nigari.cli.state_flags import JSON_FLAG, LOCK_FLAGS, has_flag, lock_options
from nigari.cli.views.diagnostics import NO_COLOR_FLAG, show_diagnostics
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.fleet import aio
from nigari.fleet.units.graph_loader import FleetSources, Survey
from nigari.fleet.units.selection import Choice, chosen_units
from nigari.fleet.work.tasks import LOCK_TIMEOUT, TaskOptions
from nigari.plan.model.changes import PlanMode
from nigari.workspace.context.environments import VARIABLE
from nigari.workspace.context.working_directory import process_directory
from nigari.workspace.session.failure import SessionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.cli.views.fleet_progress import FleetView
    from nigari.fleet.runs.results import UnitResult

CHOICE_FLAGS = (
    Flag(
        "only",
        FLAG_LIST,
        "Only these units: a name, a path, a path pattern or label:NAME; a + before it adds its "
        "dependencies, a + after it its dependants; can be repeated",
        "UNITS",
    ),
    Flag("except", FLAG_LIST, "All but these units, given as for -only", "UNITS"),
    Flag(
        "changed-since",
        FLAG_TEXT,
        "Only units that read a file which differs from this commit, and those that depend on them",
        "REF",
    ),
    NO_COLOR_FLAG,
)
RUNNING_FLAGS = (
    *CHOICE_FLAGS,
    Flag(
        "jobs",
        FLAG_TEXT,
        "How many units to work on at once, each in its own process",
        "NUMBER",
    ),
    Flag(
        "cluster",
        FLAG_TEXT,
        "Do the work on a Dask cluster: its address, or MODULE:CLASS to create one",
        "ADDRESS",
    ),
    Flag(
        "pass-env",
        FLAG_LIST,
        "Pass this environment variable to the workers of the cluster; can be repeated",
        "NAME",
    ),
    Flag(
        "cluster-shares-files",
        FLAG_SWITCH,
        "Send no files: the workers of the cluster see the same files under the same paths",
    ),
    JSON_FLAG,
    Flag("junit-xml", FLAG_TEXT, "Also write a JUnit report to a file", "FILE"),
)
FLEET_LOCK_FLAGS = tuple(
    flag
    if flag.name != "lock-timeout"
    else Flag(flag.name, flag.kind, flag.help, flag.placeholder, f"{LOCK_TIMEOUT:.0f}s")
    for flag in LOCK_FLAGS
)
STATE_FLAGS = (*RUNNING_FLAGS, PARALLELISM_FLAG, *FLEET_LOCK_FLAGS)
APPROVE_FLAG = Flag("auto-approve", FLAG_SWITCH, "Do not ask for approval")
MARKDOWN_FLAG = Flag(
    "markdown", FLAG_TEXT, "Also write a summary in Markdown to a file, for a pull request", "FILE"
)


ORPHANS_FLAG = Flag(
    "orphans",
    FLAG_SWITCH,
    "Destroy the units that are no longer declared and still have objects, and nothing else",
)


class FleetCommand:
    """A command over the fleet below the working directory."""

    def __init__(self, invocation: Invocation) -> None:
        self.invocation = invocation
        self.terminal: Terminal = invocation.terminal
        self.environ: dict[str, str] = dict(invocation.terminal.environ)
        if self.terminal.environment:
            self.environ[VARIABLE] = self.terminal.environment
        self.fleet: aio.Fleet = aio.open(
            process_directory(self.environ),
            jobs=self._number("jobs", 0),
            environ=self.environ,
            workers=self._cluster(),
        )
        if has_flag(invocation, "jobs"):
            self.fleet.start_ahead()
        refused = self._take_orphans()
        self.found: Survey = self.fleet.survey
        self.diags: Diagnostics = Diagnostics((*self.found.diagnostics, *refused))

    @property
    def is_about_orphans(self) -> bool:
        """Return whether the command works on undeclared units instead of declared ones."""
        return has_flag(self.invocation, "orphans") and self.invocation.switch("orphans")

    def _take_orphans(self) -> Sequence[Diagnostic]:
        """Turn to the orphans where they are meant; gives why that cannot be done."""
        try:
            if self.is_about_orphans:
                self.fleet.take_orphans()
        except SessionError as error:
            return error.diagnostics
        return ()

    def _cluster(self) -> aio.MakeWorkers | None:
        """The workers of a cluster, if the command line asks for one."""
        given = self.invocation
        address = given.text("cluster") if has_flag(given, "cluster") else ""
        if not address:
            return None
        try:
            import distributed  # noqa: F401 - whether it is there
        except ImportError:
            from nigari.extras import install_advice

            advice = install_advice("distributed", "fleet")
            raise UsageError(f"-cluster needs the library distributed. {advice}") from None
        from nigari.fleet.cluster import ClusterWorkers, cluster_of

        def make(found: Survey) -> ClusterWorkers:
            return ClusterWorkers(
                cluster_of(address),
                found,
                pass_env=given.texts("pass-env"),
                shares_files=given.switch("cluster-shares-files"),
                environ=self.environ,
                closes_cluster=True,
            )

        return make

    def _number(self, name: str, default: int) -> int:
        text = self.invocation.text(name) if has_flag(self.invocation, name) else ""
        if not text:
            return default
        if not text.isdecimal() or int(text) < 1:
            raise UsageError(f'The option -{name} must be a number greater than 0, not "{text}".')
        return int(text)

    def choice(self) -> Choice:
        """Which units the command line means."""
        given = self.invocation
        return Choice(given.texts("only"), given.texts("except"), given.text("changed-since"))

    def chosen(self) -> list[str] | None:
        """The names of the units that are meant; None after showing what is wrong."""
        names = chosen_units(self.found, self.choice(), self.environ, self.diags)
        if self.diags.has_errors:
            self.show(self.diags)
            return None
        return names

    def options(self, mode: PlanMode = PlanMode.NORMAL) -> TaskOptions:
        """The task options of the command line."""
        lock, given = lock_options(self.invocation), self.invocation
        has_lock = has_flag(given, "lock-timeout")
        return TaskOptions(
            mode=mode,
            refresh=not has_flag(given, "refresh") or given.switch("refresh"),
            parallelism=self._number("parallelism", 10),
            lock=lock.is_wanted,
            lock_timeout=lock.timeout_seconds if has_lock else LOCK_TIMEOUT,
            upgrade=has_flag(given, "upgrade") and given.switch("upgrade"),
            reconfigure=has_flag(given, "reconfigure") and given.switch("reconfigure"),
            lockfile_readonly=has_flag(given, "lockfile") and given.text("lockfile") == "readonly",
            backend=not has_flag(given, "backend") or given.switch("backend"),
            backend_config=tuple(given.texts("backend-config"))
            if has_flag(given, "backend-config")
            else (),
        )

    # -- running --------------------------------------------------------------------------------

    def run(self, work: Callable[[list[str]], Awaitable[int]]) -> int:
        """Do something with the chosen units, and give the exit status."""
        names = self.chosen()

        async def whole() -> int:
            # The workers have started already, and end with the fleet.
            async with self.fleet:
                if names:
                    return await work(names)
            return 1 if names is None else self._is_idle()

        try:
            return asyncio.run(whole())
        except SessionError as error:
            self.show(error.diagnostics)
            return 1

    def _is_idle(self) -> int:
        self.warn(())
        self.terminal.out("There are no units to work on.")
        return 0

    def warn(self, names: Collection[str]) -> None:
        """Mention what concerns these units and is no mistake of one of them."""
        self.show(self.fleet.survey.warnings(names))

    def view(self, count: int) -> FleetView:
        """The path of the progress file."""
        from nigari.cli.views.fleet_progress import FleetView

        return FleetView(self.terminal, count, self.invocation.switch("json"))

    def report(self, results: Iterable[UnitResult], kind: str) -> None:
        """Write the reports that are asked for."""
        path = self.invocation.text("junit-xml")
        if path:
            from nigari.cli.views.fleet_reports import junit_report

            self.write(path, junit_report(list(results), kind))

    def write(self, path: str, data: bytes) -> None:
        """Write a report to a file."""
        try:
            with open(path, "wb") as file:
                file.write(data)
        except OSError as error:
            detail = f"{path}: {error.strerror}."
            self.show([Diagnostic(Severity.ERROR, "Report not written", detail)])

    def show_failures(self, results: Iterable[UnitResult]) -> None:
        """Show what is wrong with units, and where more about it can be read."""
        for each in results:
            errors = [one for one in each.diagnostics if one.severity is Severity.ERROR]
            if errors and not self.invocation.switch("json"):
                self.terminal.err(f"\n{each.unit}:")
                self.show(errors, FleetSources(self.found.root, each.sources))
                if each.log:
                    self.terminal.err(f"The log is in {os.path.relpath(each.log)}.")

    def show_warnings(self, results: Iterable[UnitResult]) -> None:
        """Show the warnings of units; one that several have is shown for the first."""
        seen = set[tuple[str, str]]()
        for each in results:
            own = [
                one
                for one in each.diagnostics
                if one.severity is Severity.WARNING and (one.summary, one.detail) not in seen
            ]
            seen.update((one.summary, one.detail) for one in own)
            if own and not self.invocation.switch("json"):
                self.terminal.err(f"\n{each.unit}:")
                self.show(own, FleetSources(self.found.root, each.sources))

    def show(
        self, diagnostics: Iterable[Diagnostic], sources: Mapping[str, bytes] | None = None
    ) -> None:
        """Show what is wrong, where it does not get mixed with results."""
        show_diagnostics(
            self.terminal.only_err(),
            Diagnostics(diagnostics),
            self.found.sources if sources is None else sources,
            lambda _: "",
            no_color=self.invocation.switch("no-color"),
        )
