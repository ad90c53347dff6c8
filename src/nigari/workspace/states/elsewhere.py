"""Backends in another location: the same configuration, with other variables or another workspace.

Where the arguments of a backend depend on variables or on the workspace, other values of those lead
to another location, which is used without another init as long as nothing else has changed. So init
remembers, beside the backend itself, what the configuration said, which values it used, and which
arguments came from elsewhere. Where that is missing, because OpenTofu has set up the backend, every
change is one of the configuration.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.base.instances import Origin
from nigari.eval.base.once import Node
from nigari.eval.base.scope import nodes_of
from nigari.eval.nodes.variable import RootVariable
from nigari.eval.static.backend import BackendArguments, BackendInputs, inputs_behind
from nigari.eval.static.run import StaticRun
from nigari.hcl.scanner import scan_expression
from nigari.packages.base.whole_file import make_directories, write_whole
from nigari.record import record
from nigari.workspace.base.working_directory import WorkingDirectory
from nigari.workspace.states.backend import (
    BackendChange,
    BackendMemory,
    ConfiguredBackend,
    GivenArgument,
    SavedBackend,
    backend_hash,
    changed_arguments,
    check_arguments,
    compare,
    environment_settings,
    find_arguments,
    merged,
    report_changed,
    report_not_set_up,
    report_unset,
    shown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


FILE_NAME: Final = "nigari.backend.json"


@record
class WrittenBackend:
    """What a configuration says about its backend, and what the values come from."""

    text: str
    """A digest of the arguments as they are written, with everything they refer to but variables."""
    defaults: Mapping[str, str]
    """The same for the defaults of the variables."""
    values: Mapping[str, str]
    """Digests of the values of the variables; empty where a value is secret."""
    workspace: str
    """The workspace that was selected."""
    overridden: tuple[str, ...] = ()
    """The arguments whose values are not those of the configuration: they were given to init."""

    def is_same_text(self, other: WrittenBackend, inputs: BackendInputs) -> bool:
        """Whether nothing in the configuration differs that has a say in the values of `other`."""
        used = [name for name, node in inputs.variables.items() if node.given is None]
        return self.text == other.text and all(
            self.defaults.get(name) == other.defaults.get(name) for name in used
        )

    def differs(self, other: WrittenBackend, inputs: BackendInputs) -> bool:
        """Whether one of the inputs has another value."""
        if inputs.uses_workspace and self.workspace != other.workspace:
            return True
        return any(
            not other.values.get(name) or self.values.get(name) != other.values[name]
            for name in inputs.variables
        )


@record
class Elsewhere:
    """A backend that is used in another location than init has set up."""

    saved: SavedBackend
    differences: tuple[str, ...]
    """The arguments that differ, with their values and why."""

    @property
    def text(self) -> str:
        """A line that says so."""
        return f"The state is in another location than at init: {'; '.join(self.differences)}."


def written_backend(arguments: BackendArguments, workspace: str) -> WrittenBackend:
    """What the configuration says about the backend now."""
    variables: dict[str, RootVariable] = {}
    places = sorted(arguments.places.items())
    own = [(name, place.origin) for name, place in places]
    text = _digest([arguments.type, *_texts(own, variables)])
    defaults: dict[str, str] = {}
    while len(defaults) < len(variables):
        for name, node in list(variables.items()):
            default = node.default_origin
            if name not in defaults:
                origins = [] if default is None else [(name, default)]
                defaults[name] = _digest(_texts(origins, variables))
    values = {name: _value_digest(node.value) for name, node in variables.items()}
    return WrittenBackend(text, defaults, values, workspace)


def _texts(origins: list[tuple[str, Origin]], variables: dict[str, RootVariable]) -> list[str]:
    """Expressions, and those that they refer to, without their layout; variables are collected."""
    texts: list[str] = []
    seen: set[Node] = set()
    pending = list(reversed(origins))
    while pending:
        name, place = pending.pop()
        expr = place.compiled.expr
        texts += [name, *scan_expression(expr.source.text[expr.start : expr.end]).texts]
        for reference in place.compiled.references:
            for node in nodes_of(place.frame, reference):
                if isinstance(node, RootVariable):
                    variables[node.variable.name] = node
                elif node not in seen:
                    seen.add(node)
                    further = node.origin()
                    if further is not None:
                        pending.append((node.label, further))
    return texts


def _digest(texts: list[str]) -> str:
    import hashlib

    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


def _value_digest(value: Value) -> str:
    if value.contains_marked or not value.is_wholly_known:
        return ""
    from nigari.cty.json import value_to_json

    return _digest([value_to_json(value, value.type)])


# -- what init remembers ----------------------------------------------------------------------


def save_written(data: Path, saved: SavedBackend | None, written: WrittenBackend | None) -> None:
    """Remember what the configuration said when a backend was set up. An `OSError` says why it
    cannot be.
    """
    path = data / FILE_NAME
    if saved is None or written is None:
        path.unlink(missing_ok=True)
        return
    document = {
        "backend": _backend_digest(saved),
        "text": written.text,
        "defaults": dict(sorted(written.defaults.items())),
        "values": dict(sorted(written.values.items())),
        "workspace": written.workspace,
        "overridden": sorted(written.overridden),
    }
    text = f"{json.dumps(document, indent=2)}\n".encode()
    if not path.is_file() or path.read_bytes() != text:
        make_directories(data)
        write_whole(path, text)


def load_written(data: Path, saved: SavedBackend) -> WrittenBackend | None:
    """What is remembered for a backend; None where that is nothing, or of another backend."""
    try:
        found = json.loads((data / FILE_NAME).read_bytes())
        if found["backend"] != _backend_digest(saved):
            return None
        return WrittenBackend(
            str(found["text"]),
            dict(found["defaults"]),
            dict(found["values"]),
            str(found["workspace"]),
            tuple(found["overridden"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _backend_digest(saved: SavedBackend) -> str:
    return _digest([json.dumps(saved.to_data(), sort_keys=True)])


# -- whether it is the same backend -----------------------------------------------------------


def is_elsewhere(
    wanted: ConfiguredBackend, saved: SavedBackend, before: WrittenBackend, now: WrittenBackend
) -> bool:
    """Whether a backend differs from the one that was set up only in arguments that depend on
    variables or the workspace, because those have other values.
    """
    old = saved.value()
    if wanted.type != saved.type or old is None:
        return False
    inputs = inputs_behind(place.origin for place in wanted.arguments.places.values())
    return before.is_same_text(now, inputs) and all(
        name not in wanted.overridden and before.differs(now, wanted.arguments.inputs(name))
        for name in changed_arguments(wanted, old)
    )


def differences(wanted: ConfiguredBackend, saved: SavedBackend) -> tuple[str, ...]:
    """The arguments that differ from those of a backend of the same type."""
    old = saved.value()
    names = [] if old is None else changed_arguments(wanted, old)
    return tuple(
        f"{name} = {shown(wanted.type, name, wanted.value)} "
        f"({', '.join(wanted.arguments.inputs(name).names)})"
        for name in names
    )


def given_before(
    arguments: BackendArguments,
    saved: SavedBackend | None,
    written: WrittenBackend | None,
    now: WrittenBackend,
) -> Mapping[str, GivenArgument]:
    """The arguments that init was given for this configuration, which hold until others are.

    Where OpenTofu has set up the backend, they are those that differ from the configuration.
    """
    old = None if saved is None else saved.value()
    if saved is None or old is None or saved.type != arguments.type:
        return {}
    from nigari.backends.schemas import BACKENDS

    names: Iterable[str] = ()
    if written is not None and written.text == now.text:
        names = written.overridden
    elif written is None and saved.hash == backend_hash(arguments.type, arguments.value):
        own = arguments.value
        names = [
            name
            for name in BACKENDS[arguments.type].attributes
            if old.attribute(name) != own.attribute(name)
        ]
    return {name: GivenArgument(old.attribute(name)) for name in names}


# -- every command but init -------------------------------------------------------------------


@record
class CheckedBackend:
    """What a command finds of the backend, compared with what init has set up."""

    elsewhere: Elsewhere | None = None
    """The backend to use instead of the one that was set up."""
    uses_workspace: bool = False
    """Whether each workspace may have a location of its own."""


def check_backend(
    run: StaticRun, where: WorkingDirectory, workspace: str, diags: Diagnostics
) -> CheckedBackend:
    """Find the backend of a workspace; report one that init has not set up, or set up otherwise."""
    data = where.data_directory
    saved = BackendMemory(data).load(diags)
    # What else is wrong with the configuration does not concern the backend.
    arguments, found = run.noting(partial(find_arguments, run))
    diags.extend(found)
    if diags.has_errors:
        return CheckedBackend()
    if arguments is None:
        if saved is not None:
            report_unset(saved, diags)
        return CheckedBackend()
    settings = environment_settings(where)
    wanted = merged(arguments, settings, diags)
    elsewhere = None
    if saved is None and wanted is not None:
        report_not_set_up(wanted, diags)
    elif saved is not None and wanted is not None:
        if compare(wanted, saved, is_overridden=bool(settings)) is BackendChange.OTHER:
            elsewhere = _other_location(arguments, saved, where, workspace, diags)
    inputs = inputs_behind(place.origin for place in arguments.places.values())
    return CheckedBackend(elsewhere, inputs.uses_workspace)


def _other_location(
    arguments: BackendArguments,
    saved: SavedBackend,
    where: WorkingDirectory,
    workspace: str,
    diags: Diagnostics,
) -> Elsewhere | None:
    """The backend that other values lead to; None where it is the one that was set up, or after
    reporting that it is not.
    """
    before = load_written(where.data_directory, saved)
    now = written_backend(arguments, workspace)
    settings = environment_settings(where)
    given = given_before(arguments, saved, before, now)
    wanted = merged(arguments, {**settings, **given}, diags)
    if wanted is None:
        return None
    if compare(wanted, saved, is_overridden=bool(settings)) is not BackendChange.OTHER:
        return None
    if before is None or not is_elsewhere(wanted, saved, before, now):
        report_changed(wanted, saved, diags)
        return None
    check_arguments(wanted, where.environ, diags)
    return Elsewhere(wanted.saved, differences(wanted, saved))
