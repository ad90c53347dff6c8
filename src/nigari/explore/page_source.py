"""The subject of a page: a configuration as it is, or a saved plan with the one it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from threading import RLock

from nigari.addrs.module import ModuleAddr
from nigari.backends.local import LOCAL
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.eval.core.inputs import check_undeclared
from nigari.eval.static.run import StaticRun
from nigari.explore.sensitive import Schemas, schemas_of
from nigari.plan.model.changes import Plan
from nigari.plan.model.execution_graph import ExecutionGraph
from nigari.record import record
from nigari.state.model import State
from nigari.workspace.configuration.modules import Place
from nigari.workspace.context.asyncio_bridge import run_to_end
from nigari.workspace.explain.queries import ValueQueries
from nigari.workspace.plans.plan_reasons import PlanReasons
from nigari.workspace.plans.saved_plan import Reopened, plan_workspace, reopened
from nigari.workspace.session.made_plan import MadePlan, restored
from nigari.workspace.session.session import Session


@record
class Subject:
    """Everything that a page is made of."""

    title: str
    """The name of the directory."""
    directory: str
    workspace: str
    environment: str
    """The selected environment; empty if there is none."""
    evaluation: ValueQueries
    installed: Mapping[ModuleAddr, Place]
    """The directories of module calls, with their versions."""
    diagnostics: tuple[Diagnostic, ...]
    schemas: Schemas
    state: State | None = None
    """The stored state, if no other machine has to be asked for it."""
    plan: Plan | None = None
    graph: ExecutionGraph | None = None
    reasons: PlanReasons | None = None


def configuration_subject(session: Session) -> Subject | None:
    """The configuration of a directory; None where it cannot be read at all."""
    run = session.static()
    if run is None:
        return None
    check_undeclared(session.inputs, run.root.module.variables, session.diags)
    files = session.workspace
    state, found = _local_state(session, run)
    return Subject(
        title=_title(session),
        directory=session.where.path,
        workspace=session.selected,
        environment=_environment(session),
        evaluation=ValueQueries(run, files.sources, RLock()),
        installed=dict(files.modules.places),
        diagnostics=(*session.diags.in_order(), *found.in_order()),
        schemas=schemas_of(run, session.where),
        state=state,
    )


def _local_state(session: Session, run: StaticRun) -> tuple[State | None, Diagnostics]:
    """The state of a directory that keeps it in a file of its own; None with what is wrong where it
    cannot be read, so that a location that is not set up does not look like an empty one.
    """
    backend, found = run.root.module.backend, Diagnostics()
    if session.diags.has_errors or (backend is not None and backend.type != LOCAL):
        return None, found
    reader = Session(session.where, session.variables, session.options, diags=found)
    snapshots = run_to_end(reader.read())
    return (None if snapshots is None else snapshots.state), found


def planned_subject(made: MadePlan) -> Subject:
    """A plan that was made or restored in a session."""
    session, static = made.session, made.context.static
    files = session.shown or session.workspace
    return Subject(
        title=_title(session),
        directory=session.where.path,
        workspace=made.context.workspace,
        environment=_environment(session),
        evaluation=ValueQueries(static, files.sources, RLock()),
        installed=dict(files.modules.places),
        diagnostics=(),
        schemas=schemas_of(static, session.where),
        state=made.plan.refreshed_state,
        plan=made.plan,
        graph=made.outcome.graph,
        reasons=made.reasons(),
    )


def plan_subject(session: Session, path: str) -> Subject | None:
    """A saved plan; None after reporting why it cannot be shown."""
    saved = session.read_plan(path)
    if saved is None:
        return None
    session.shown = plan_workspace(saved, session.where)
    found = reopened(saved, session.shown, session.diags)
    if found is None:
        return None
    schemas = schemas_of(found.static, session.where)
    return run_to_end(_restored(session, found, schemas))


async def _restored(session: Session, found: Reopened, schemas: Schemas) -> Subject | None:
    made = await restored(session, found, session.diags)
    if made is None:
        return None
    try:
        reasons = made.reasons()
    finally:
        await made.context.close()
    files = found.workspace
    sources = {**files.sources, **found.saved.sources}
    return Subject(
        title=_title(session),
        directory=session.where.path,
        workspace=found.saved.workspace,
        environment=found.saved.environment,
        evaluation=ValueQueries(found.static, sources, RLock()),
        installed=dict(files.modules.places),
        # The warnings were shown when the plan was made.
        diagnostics=tuple(
            each for each in session.diags.in_order() if each.severity is Severity.ERROR
        ),
        schemas=schemas,
        state=made.plan.refreshed_state,
        plan=made.plan,
        graph=made.outcome.graph,
        reasons=reasons,
    )


def _title(session: Session) -> str:
    import os

    return os.path.basename(os.path.abspath(session.where.path)) or "/"


def _environment(session: Session) -> str:
    found = session.where.environment
    return "" if found is None else found.name
