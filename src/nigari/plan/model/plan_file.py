"""A saved plan: a container of its own with everything that applying it needs.

In it are the configuration's files, the values of variables, the state before and after it was
refreshed, the changes and the execution graph. The form of what is in it is checked once, when it is
read. Whether a plan still fits what is stored is for others to decide.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping

from nigari.backends.workspaces import is_valid_name
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Pos, Range
from nigari.json_shape import (
    Members,
    ShapeError,
    as_number,
    as_text,
    list_of,
    map_of,
    optional,
    parse_document,
)
from nigari.plan.model.change_operations import check_operations
from nigari.plan.model.changes import Plan
from nigari.plan.model.execution_graph import ExecutionGraph
from nigari.record import record
from nigari.state.files import format_state, parse_state
from nigari.state.model import State, StateFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeAlias

    from nigari.plan.model.plan_data import Data

    Origin: TypeAlias = tuple[str, Range | None]

_VERSION: Final = 7
_HEADER: Final = "plan.json"
_SEAL: Final = "seal"
_BEFORE: Final = "state/previous"
_NOW: Final = "state/refreshed"
_SOURCES: Final = "sources/"


@record
class SavedPlan:
    """The contents of a plan file."""

    plan: Plan
    """Without schemas if it was read from a file: see `with_schemas`."""
    graph: ExecutionGraph
    workspace: str
    environment: str
    """The environment that the plan was made in; empty where it was none."""
    lineage: str
    serial: int
    lock: str
    """The checksum of the lock file."""
    files: Mapping[str, str]
    """The checksums of files that functions have read."""
    variables: Mapping[str, Value]
    """The values of the root module's variables."""
    given: Mapping[str, Value]
    """Those of them that were given, as they were before they were converted."""
    origins: Mapping[str, Origin]
    """Origins of the variables' values, with their ranges."""
    backend: Data | None
    """The saved backend settings; None for the default local file."""
    modules: str
    """The directory in which modules were installed."""
    links: Mapping[str, str]
    """The names of shared packages in that directory, and those of what they lead to."""
    empty: frozenset[str]
    """The directories of modules without any files."""
    sources: Mapping[str, bytes]
    """The configuration's files."""


def checksum(content: bytes) -> str:
    """Return a digest of a file's content."""
    import hashlib

    return hashlib.sha256(content).hexdigest()


def write_plan_file(saved: SavedPlan) -> bytes:
    """The bytes of a plan file."""
    import zipfile

    contents = {
        _HEADER: json.dumps(_header(saved), separators=(",", ":")).encode(),
        _BEFORE: _state_bytes(saved.plan.previous_state),
        _NOW: _state_bytes(saved.plan.refreshed_state),
        **{_SOURCES + name: content for name, content in saved.sources.items()},
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_SEAL, seal_of(contents))
        for name, content in contents.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def read_plan_file(data: bytes, diags: Diagnostics) -> SavedPlan | None:
    """The plan in a file's bytes, or `None` after reporting why there is none."""
    from nigari.packages.content.unpacking import ArchiveError, read_zip

    try:
        contents = read_zip(data)
        seal = contents.pop(_SEAL, None)
        if seal is None or not contents.keys() >= {_HEADER, _BEFORE, _NOW}:
            raise ArchiveError("it is no plan")
        if seal != seal_of(contents):
            raise ShapeError("were changed after it was written", "its contents")
        header = Members(parse_document(contents[_HEADER]))
        if header.read("version", as_number) != _VERSION:
            raise ShapeError("was written by another version of this program")
        previous = parse_state(contents[_BEFORE], diags)
        refreshed = parse_state(contents[_NOW], diags)
        if previous is None or refreshed is None:
            return None
        sources = {
            name.removeprefix(_SOURCES): content
            for name, content in contents.items()
            if name.startswith(_SOURCES)
        }
        return _saved_plan(header, previous.state, refreshed.state, sources)
    except ArchiveError as error:
        _report_unusable(f"it does not contain a plan of this program: {error}", diags)
    except ValueError as error:
        _report_unusable(str(error), diags)
    return None


def unreadable_plan(path: str, error: OSError) -> str:
    """Say that a file cannot be opened; what looks like the value of a variable is not repeated."""
    name, equals, _ = path.partition("=")
    reason = error.strerror or str(error)
    if not equals:
        return f"{path}: {reason}."
    return f"{name}=...: {reason}. To set a variable, write -var {name}=... instead."


def seal_of(contents: Mapping[str, bytes]) -> bytes:
    """A checksum over everything, so that an altered file is noticed."""
    import hashlib

    digest = hashlib.sha256()
    for name in sorted(contents):
        digest.update(f"{name}\0{checksum(contents[name])}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest().encode()


def _state_bytes(state: State) -> bytes:
    return format_state(StateFile(state, "plan", 1), is_for_people=False)


# -- the header -------------------------------------------------------------------------------


def _header(saved: SavedPlan) -> Data:
    from nigari.plan.model.plan_data import plan_data, value_to_plan

    return {
        "version": _VERSION,
        **plan_data(saved.plan),
        "graph": saved.graph.to_json(),
        "workspace": saved.workspace,
        "environment": saved.environment,
        "lineage": saved.lineage,
        "serial": saved.serial,
        "lock": saved.lock,
        "files": dict(saved.files),
        "variables": {name: value_to_plan(each) for name, each in saved.variables.items()},
        "given": {name: value_to_plan(each) for name, each in saved.given.items()},
        "origins": {name: _origin_to(each) for name, each in saved.origins.items()},
        "backend": saved.backend,
        "modules_directory": saved.modules,
        "links": dict(saved.links),
        "empty": sorted(saved.empty),
    }


def _saved_plan(
    header: Members, previous: State, refreshed: State, sources: Mapping[str, bytes]
) -> SavedPlan:
    from nigari.plan.model.plan_data import plan_from, value_from_plan

    plan = plan_from(header, previous, refreshed)
    graph = header.read("graph", ExecutionGraph.from_json)
    check_operations(plan, graph)
    return SavedPlan(
        plan=plan,
        graph=graph,
        workspace=header.read("workspace", _workspace),
        environment=header.read("environment", as_text),
        lineage=header.read("lineage", as_text),
        serial=header.read("serial", as_number),
        lock=header.read("lock", as_text),
        files=header.read("files", map_of(as_text)),
        variables=header.read("variables", map_of(value_from_plan)),
        given=header.read("given", map_of(value_from_plan)),
        origins=header.read("origins", map_of(_origin_from)),
        backend=header.read("backend", optional(_backend)),
        modules=header.read("modules_directory", as_text),
        links=header.read("links", map_of(as_text)),
        empty=frozenset(header.read("empty", list_of(as_text))),
        sources=sources,
    )


def _workspace(data: object) -> str:
    name = as_text(data)
    if not is_valid_name(name):
        raise ShapeError("is not the name of a workspace")
    return name


def _backend(data: object) -> Data:
    """Read the saved backend settings. The backend's arguments are not checked here."""
    from nigari.backends.open_backend import stored_arguments

    found = Members(data)
    return {
        "type": found.read("type", as_text),
        "config": found.read("config", stored_arguments),
        "hash": found.read("hash", as_number),
    }


def _origin_to(origin: Origin) -> list[object]:
    """Return a value's origin as JSON data."""
    name, where = origin
    if where is None:
        return [name]
    ends = [[each.line, each.column, each.byte] for each in (where.start, where.end)]
    return [name, where.filename, *ends]


def _origin_from(data: object) -> Origin:
    parts = data if isinstance(data, list) else []
    if len(parts) == 1:
        return as_text(parts[0]), None
    if len(parts) != 4:
        raise ShapeError("is not the origin of a value")
    return as_text(parts[0]), Range(as_text(parts[1]), _position(parts[2]), _position(parts[3]))


def _position(data: object) -> Pos:
    numbers = list_of(as_number)(data)
    if len(numbers) != 3:
        raise ShapeError("is not a position in a file")
    return Pos(*numbers)


def _report_unusable(reason: str, diags: Diagnostics) -> None:
    diags.error(
        "Unusable plan file",
        f'The file cannot be used: {reason}. Make a new plan with "nigari plan -out=FILE"; '
        "plans saved by OpenTofu can only be used with OpenTofu.",
    )
