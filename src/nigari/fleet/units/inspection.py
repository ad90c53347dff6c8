"""Inspection: what the configuration of a unit says of states, without running anything.

Which state it writes, which states it reads, and which directories it calls as modules. Arguments
that cannot be worked out now are named with the reason.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import partial

from nigari.addrs.resource import DATA
from nigari.backends.backend_address import StateIdentity, state_identity
from nigari.backends.known_backends import backend_block
from nigari.backends.local import LOCAL
from nigari.backends.protocol import Around
from nigari.config.blocks.resource import Resource
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import KIND_MAP, KIND_OBJECT, STRING
from nigari.cty.values import Value, object_value
from nigari.diagnostics import Diagnostic, Diagnostics, Range
from nigari.eval.core.inputs import InputKind
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import InstanceData
from nigari.eval.static.run import StaticRun
from nigari.fleet.units.unit import FILE_NAME, Unit
from nigari.hcl.body import AttributeSchema, BodySchema
from nigari.providers.builtin.remote_state import RemoteState
from nigari.record import record
from nigari.workspace.context.environments import in_environment
from nigari.workspace.context.options import GivenVariables
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.explain.file_calls import frames_of
from nigari.workspace.explain.queries import ValueQueries, compiled_origin, reasons
from nigari.workspace.session.apply_journal import journal_path
from nigari.workspace.session.open_session import given_variables
from nigari.workspace.session.session import Session
from nigari.workspace.states.backend import (
    BackendMemory,
    environment_settings,
    find_arguments,
    merged,
)
from nigari.workspace.states.backend_check import given_before
from nigari.workspace.states.locations import load_locations
from nigari.workspace.states.remote_state import remote_state_identity

_TESTS = "tests"
_REMOTE_STATE = "terraform_remote_state"
_ARGUMENTS = BodySchema(tuple(AttributeSchema(name) for name in ("backend", "config", "workspace")))


@record
class StateRead:
    """A `terraform_remote_state` of a unit."""

    address: str
    range: Range
    identity: StateIdentity | None
    """The state that it reads; None where that cannot be worked out."""
    why: str = ""
    """The reason for which it cannot."""


@record
class WrittenState:
    """The state that a unit writes, as its configuration describes it."""

    backend: str
    config: Mapping[str, object]
    """Arguments of the backend, with those of the environment, the fleet and `init`."""
    workspace: str
    is_encrypted: bool


@record
class Inspection:
    """The static facts about a unit."""

    state: StateIdentity | None
    """The state that it writes; None where that cannot be worked out."""
    state_range: Range | None
    """The range of the backend's configuration, if there is one."""
    reads: tuple[StateRead, ...]
    called: tuple[str, ...]
    """The directories of modules that it calls, as absolute paths."""
    diagnostics: tuple[Diagnostic, ...]
    written: WrittenState | None = None
    """The arguments by which others read the state; None if they are not known."""


def open_session(unit: Unit, environ: Mapping[str, str], variables: Mapping[str, Value]) -> Session:
    """The session of a unit, for those who only look."""
    diags = Diagnostics()
    where, sources = working_directory(unit, environ), dict[str, bytes]()
    if unit.environment_name:
        where, found = in_environment(where, unit.environment_name, diags)
        sources.update(found)
    session = Session(where, unit_variables(unit, variables))
    session.diags.extend(diags)
    session.workspace.sources.update(sources)
    return session


def working_directory(unit: Unit, environ: Mapping[str, str]) -> WorkingDirectory:
    """The working directory of a unit, whatever its environment."""
    return WorkingDirectory(unit.environment(environ), root=unit.path, backend=dict(unit.backend))


def apply_journal(unit: Unit, environ: Mapping[str, str]) -> str:
    """The path of the journal of a unit's last apply."""
    where = working_directory(unit, environ)
    if unit.environment_name:
        where, _ = in_environment(where, unit.environment_name, Diagnostics())
    selected = "default" if where.selects_default else where.selected(Diagnostics()).name
    return journal_path(where.data(), selected)


def unit_variables(unit: Unit, variables: Mapping[str, Value]) -> GivenVariables:
    """The values of a unit's variables."""
    kind = InputKind.ENVIRONMENT if unit.ignores_undeclared else InputKind.CALLER
    return given_variables(variables, unit.var_files, origin=FILE_NAME, kind=kind)


def inspect(unit: Unit, environ: Mapping[str, str], variables: Mapping[str, Value]) -> Inspection:
    """The facts of a unit's configuration, with the known values of its variables."""
    session = open_session(unit, environ, variables)
    run = session.static()
    if run is None:
        return Inspection(None, None, (), (), tuple(session.diags.in_order()))
    written, state_range, is_set_up = _written_state(session, run)
    around = Around(session.where.path, session.where.environ)
    state = (
        None
        if written is None
        else state_identity(
            written.backend,
            written.config,
            written.workspace,
            around,
            is_complete=is_set_up,
        )
    )
    reads = tuple(_reads(session, run))
    places = session.workspace.modules.places.values()
    called = {
        os.path.normpath(session.where.at(each.directory)) for each in places if not each.package
    }
    called |= _called_by_tests(session)
    diagnostics = tuple(session.diags.in_order())
    return Inspection(state, state_range, reads, tuple(sorted(called)), diagnostics, written)


def _called_by_tests(session: Session) -> set[str]:
    """The directories of modules that runs of test files are about."""
    tests = session.workspace.loader.tests(".", _TESTS, Diagnostics())
    sources = [run.module.source for file in tests for run in file.runs if run.module is not None]
    return {
        os.path.normpath(session.where.at(source)) for source in sources if source.startswith(".")
    }


def _written_state(
    session: Session, run: StaticRun
) -> tuple[WrittenState | None, Range | None, bool]:
    """The state of the configured backend, with the arguments that `init` got, and whether `init`
    has set the backend up.
    """
    backend, workspace = run.root.module.backend, session.selected
    is_encrypted = run.root.module.encryption is not None
    if backend is None:
        return WrittenState(LOCAL, {}, workspace, is_encrypted), None, True
    arguments, found = run.noting(partial(find_arguments, run))
    session.diags.extend(found)
    if arguments is None:
        return None, backend.range, False
    data = session.where.data_directory
    saved = BackendMemory(data).load(Diagnostics())
    given = dict(environment_settings(session.where))
    if saved is not None:
        # What the command line of init has given is nowhere else.
        given.update(given_before(arguments, given, saved, load_locations(data, saved)))
    wanted = merged(arguments, given, session.diags)
    if wanted is None:
        return None, backend.range, False
    config = dict(wanted.saved.config)
    is_set_up = saved is not None and saved.type == arguments.type
    if saved is not None and is_set_up:
        config.update({k: v for k, v in saved.config.items() if config.get(k) is None})
    written = WrittenState(arguments.type, config, workspace, is_encrypted)
    return written, backend.range, is_set_up


def _reads(session: Session, run: StaticRun) -> Iterator[StateRead]:
    evaluation = ValueQueries(run, session.sources)
    for frame in frames_of(evaluation):
        for addr, resource in frame.module.resources.items():
            if addr.type == _REMOTE_STATE and addr.mode is DATA:
                for key, data in evaluation.resource_instances(frame, resource).instances.items():
                    address = str(addr.instance(key))
                    yield _read(session, evaluation, frame, resource, data, frame.label(address))


def _read(
    session: Session,
    evaluation: ValueQueries,
    frame: Frame,
    resource: Resource,
    data: InstanceData,
    address: str,
) -> StateRead:
    content, _ = resource.body.partial_content(_ARGUMENTS, Diagnostics())
    values: dict[str, Value] = {}
    for name, attribute in content.attributes.items():
        origin = compiled_origin(frame, attribute.expr, data)
        value = values[name] = evaluation.value(name, origin).unmark_deep()[0]
        if not value.is_wholly_known:
            unknown = "; ".join(reasons(name, value, origin)) or f"{name} is unknown"
            return StateRead(address, resource.range, None, unknown)
    try:
        wanted = _wanted(values)
        identity = remote_state_identity(wanted, session.where)
    except (KeyError, ValueError, CtyError) as error:
        return StateRead(address, resource.range, None, f"its arguments are not valid: {error}")
    unknown = "" if identity is not None else "its arguments do not say which state that is"
    return StateRead(address, resource.range, identity, unknown)


def _wanted(values: Mapping[str, Value]) -> RemoteState:
    """Which state the arguments mean; a `ValueError` or a `KeyError` where they make no sense."""
    backend, config, workspace = (values.get(name) for name in ("backend", "config", "workspace"))
    if backend is None or backend.is_null:
        raise ValueError("backend is not set")
    kind = convert(backend, STRING).as_string()
    if backend_block(kind) is None:
        raise ValueError(f'there is no backend "{kind}"')
    if config is not None and not config.is_null:
        if config.type.kind not in (KIND_OBJECT, KIND_MAP):
            raise ValueError("config is not an object")
        settings = object_value(config.mapping())
    else:
        settings = object_value({})
    selected = (
        "default"
        if workspace is None or workspace.is_null
        else convert(workspace, STRING).as_string()
    )
    return RemoteState(kind, settings, selected)
