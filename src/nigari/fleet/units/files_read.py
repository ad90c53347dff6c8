"""The files that a unit reads: directories of configuration, files of variables, and files that
functions such as `file` and `templatefile` are called with.

Paths are worked out as far as that is possible before anything runs. Where a path is not known, what
it begins with may be, and every file that begins so counts.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from nigari.cty.refinements import string_prefix
from nigari.cty.types import STRING
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.fleet.units.inspection import open_session
from nigari.fleet.units.unit import FILE_NAME, Unit
from nigari.hcl.expressions import Expression
from nigari.hcl.parser import parse_body
from nigari.hcl.source import Source
from nigari.lang.files import Entry, Files
from nigari.record import record
from nigari.workspace.explain.file_calls import (
    called_with,
    expressions_of,
    file_calls,
    frames_of,
)
from nigari.workspace.explain.queries import ValueQueries
from nigari.workspace.session.session import Session


@record
class FilesRead:
    """The files that a unit reads, as absolute paths without links."""

    directories: frozenset[str]
    """Directories of which everything counts that does not belong to other units or modules."""
    files: frozenset[str]
    prefixes: frozenset[str]
    """The prefixes of further files."""


def files_read(unit: Unit, environ: Mapping[str, str], variables: Mapping[str, Value]) -> FilesRead:
    """The files that a unit reads."""
    session = open_session(unit, environ, variables)
    recorder = _Recorder(session.where.files)
    _ = session.inputs
    session.use_files(recorder)
    run = session.static()
    directories, prefixes = {unit.path}, set[str]()
    if run is not None:
        places = session.workspace.modules.places.values()
        directories |= {_at(session, each.directory) for each in places if not each.package}
        # Which files a module has was asked until here; from now on only functions list files.
        recorder.listed.clear()
        calls = _Calls(ValueQueries(run, session.sources))
        for frame in frames_of(calls.evaluation):
            calls.look_at(frame)
        prefixes |= {_prefix(session, each) for each in calls.prefixes}
        prefixes |= {_prefix(session, f"{each}/") for each in recorder.listed}
    files = {os.path.realpath(_at(session, path)) for path in recorder.read_paths}
    return FilesRead(
        frozenset(directories),
        frozenset(files.union(map(os.path.realpath, unit.var_files))),
        frozenset(prefixes),
    )


def reads_files(data: bytes) -> bool:
    """Return whether functions in `fleet.hcl` read files."""
    body = parse_body(Source.from_bytes(FILE_NAME, data), Diagnostics())
    return any(file_calls(expr) for expr in expressions_of(body))


def _at(session: Session, path: str) -> str:
    return os.path.normpath(session.where.at(path))


def _prefix(session: Session, text: str) -> str:
    """The prefixes of paths, in all spellings of the directory."""
    if not text:
        return "/"
    head, slash, tail = text.rpartition("/")
    directory = os.path.realpath(session.where.at(head if slash else "."))
    return os.path.join(directory, "") + tail


class _Recorder:
    """Files of which it is noted what was asked for."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self.read_paths: set[str] = set()
        self.listed: set[str] = set()

    def read(self, path: str, limit: int | None = None) -> bytes:
        self.read_paths.add(path)
        return self._files.read(path, limit)

    def entries(self, path: str) -> list[Entry]:
        self.listed.add(path)
        return self._files.entries(path)

    def is_file(self, path: str) -> bool:
        self.read_paths.add(path)
        return self._files.is_file(path)

    def is_directory(self, path: str) -> bool:
        return self._files.is_directory(path)


class _Calls:
    """Evaluates whatever calls functions that read files."""

    def __init__(self, evaluation: ValueQueries) -> None:
        self.evaluation = evaluation
        self.prefixes: set[str] = set()

    def look_at(self, frame: Frame) -> None:
        """Look at everything that a module instance declares."""
        module = frame.module
        for resource in module.resources.values():
            found = [each for each in expressions_of(resource.body) if file_calls(each)]
            if found:
                expansion = self.evaluation.resource_instances(frame, resource)
                for data in expansion.instances.values():
                    self._evaluate(frame, found, data)
        exprs = [each.expr for each in module.locals.values()]
        exprs += [each.expr for each in module.outputs.values()]
        for call in module.calls.values():
            exprs += expressions_of(call.body)
        for config in module.provider_configs.values():
            exprs += expressions_of(config.body)
        self._evaluate(frame, [each for each in exprs if file_calls(each)], NO_INSTANCE_DATA)

    def _evaluate(self, frame: Frame, exprs: list[Expression], data: InstanceData) -> None:
        for expr in exprs:
            if not self._value(frame, expr, data).is_wholly_known:
                for call in file_calls(expr):
                    self._note(self._value(frame, call.arguments[0], data))

    def _value(self, frame: Frame, expr: Expression, data: InstanceData) -> Value:
        return called_with(self.evaluation, frame, expr, data)

    def _note(self, path: Value) -> None:
        """Note what a path begins with that is not known; nothing where nothing is known of it."""
        if not path.is_known:
            self.prefixes.add(string_prefix(path) if path.type == STRING else "")
