"""The backend of a working directory: what the configuration says, and what init remembers.

The memory is the file that `tofu` keeps, too: the type, the arguments with those of the command
line merged in, and a hash of what the configuration alone said. Moving states from one backend to
another is done by `migrate`.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from enum import Enum
from os import PathLike

from nigari.backends.harmless import NOT_SHOWN
from nigari.backends.local import LOCAL
from nigari.backends.open_backend import stored_arguments
from nigari.config.blocks.backend import BackendBlock
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.paths import path_text
from nigari.cty.values import Value, object_value, set_order_text, string, tuple_value
from nigari.diagnostics import Diagnostic, Diagnostics, Range, Severity
from nigari.diagnostics.advice import advice
from nigari.eval.static.backend import BackendArguments, fill_backend
from nigari.eval.static.run import StaticRun
from nigari.hcl.binary import without_binary
from nigari.hcl.parser import parse_body
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.suggestion import did_you_mean
from nigari.json_shape import Members, as_members, as_number, as_text, parse_document
from nigari.lazy import lazy_pattern
from nigari.packages.content.whole_file import make_directories, write_whole
from nigari.packages.modules.module_manifest import as_go_writes
from nigari.record import record
from nigari.schema.block import Block
from nigari.workspace.context.working_directory import WorkingDirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


CACHE_NAME: Final = "terraform.tfstate"
_VERSION: Final = 3
_PATH: Final = lazy_pattern(r"[\w./~+-]+")
_REMOVED: Final = {
    name: f'The backend "{name}" was removed.'
    for name in ("artifactory", "azure", "etcd", "etcdv3", "manta", "swift")
}


@record
class SavedBackend:
    """The settings that the last init saved."""

    type: str
    config: Mapping[str, object]
    hash: int

    @staticmethod
    def from_data(data: object) -> SavedBackend:
        """Read JSON data; a `ShapeError` where it is no backend."""
        found = Members(data)
        return SavedBackend(
            found.read("type", as_text),
            found.read("config", stored_arguments),
            found.read("hash", as_number),
        )

    def to_data(self) -> dict[str, object]:
        """It as JSON data."""
        return {"type": self.type, "config": self.config, "hash": self.hash}

    def value(self) -> Value | None:
        """The arguments as a value; None where they do not fit what the backend takes now."""
        from nigari.backends.known_backends import backend_block
        from nigari.cty.json import value_from_json

        schema = backend_block(self.type)
        if schema is None:
            return None
        unset = dict.fromkeys(schema.attributes)
        try:
            return value_from_json(json.dumps({**unset, **self.config}), schema.implied_type)
        except CtyError:
            return None


@record
class ConfiguredBackend:
    """The backend that the configuration asks for, with what the command line adds to it."""

    arguments: BackendArguments
    value: Value
    hash: int
    overridden: tuple[str, ...] = ()
    """The arguments whose values are not those of the configuration."""

    @property
    def type(self) -> str:
        return self.arguments.type

    @property
    def saved(self) -> SavedBackend:
        """Return the settings to save."""
        from nigari.cty.json import value_to_json

        text = value_to_json(self.value, self.value.type)
        return SavedBackend(self.type, json.loads(text), self.hash)


DEFAULT_BACKEND: Final = SavedBackend(LOCAL, {}, 0)
"""The location of states if the configuration has no backend."""


class BackendChange(Enum):
    """Kinds of differences between the configured and the saved backend."""

    NONE = "none"
    HASH = "the same, written differently"
    FIRST = "first backend"
    OTHER = "another configuration"
    KNOWN = "another location that was set up before"
    UNSET = "no backend"


class BackendMemory:
    """The file in which init remembers the backend."""

    def __init__(self, data_directory: str | PathLike[str]) -> None:
        self._directory = data_directory
        self.path: str = os.path.join(data_directory, CACHE_NAME)

    def load(self, diags: Diagnostics) -> SavedBackend | None:
        """Load the saved settings; None if there are none, or none that can be read."""
        try:
            with open(self.path, "rb") as file:
                document = as_members(parse_document(file.read() or b"{}"))
            backend = document.get("backend")
            if not backend or not as_members(backend).get("type"):
                return None
            return SavedBackend.from_data(backend)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            _report_memory(self.path, str(error), diags)
            return None

    def save(self, saved: SavedBackend | None) -> None:
        """Remember a backend, or that there is none. An `OSError` says why it cannot be."""
        if saved is None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path)
            return
        make_directories(self._directory)
        document = {"version": _VERSION, "backend": saved.to_data()}
        text = json.dumps(document, indent=4, ensure_ascii=False)
        write_whole(self.path, f"{as_go_writes(text)}\n".encode())


def backend_hash(type_: str, value: Value) -> int:
    """The checksum that shows whether the configuration has changed."""
    import zlib

    return zlib.crc32(set_order_text(tuple_value([string(type_), value])).encode())


def schema_of(backend: BackendBlock, diags: Diagnostics) -> Block | None:
    """Return the schema of a backend type; None after reporting that it does not exist."""
    from nigari.backends.known_backends import backend_block, backend_names
    from nigari.backends.store import BackendFailure

    name = backend.type
    is_cloud = backend.block.type == "cloud"
    try:
        schema = backend_block(name) if (name == "cloud") == is_cloud else None
    except BackendFailure as failure:
        text = f'The backend "{name}" cannot be used: {failure.text}'
        diags.error("Cannot use the backend", text, backend.type_range)
        return None
    if schema is None:
        names = [each for each in backend_names() if each != "cloud"]
        gone = _REMOVED.get(name)
        diags.error(
            "Unknown backend",
            gone or f'There is no backend of type "{name}".{did_you_mean(name, names)}',
            backend.type_range,
        )
    return schema


def find_arguments(run: StaticRun) -> BackendArguments | None:
    """Return the root module's backend arguments; None if there are none, or wrong ones."""
    backend = run.root.module.backend
    if backend is None:
        return None
    schema = schema_of(backend, run.diags)
    return None if schema is None else fill_backend(run, backend, schema)


@record
class GivenArgument:
    """A value that takes the place of an argument in the configuration."""

    value: Value
    origin: str = "-backend-config"
    """The source of the values."""
    range: Range | None = None


def merged(
    arguments: BackendArguments, overrides: Mapping[str, GivenArgument], diags: Diagnostics
) -> ConfiguredBackend | None:
    """The backend with arguments that are given in place of those of the file."""
    schema = arguments.schema
    values = dict(arguments.value.mapping())
    for name, given in overrides.items():
        attribute = schema.attributes.get(name)
        if attribute is None:
            _report_unknown_argument(name, given, arguments.type, schema, diags)
            return None
        try:
            values[name] = convert(given.value, attribute.spec_type)
        except CtyError as error:
            _report_unfit(name, given, error, diags)
            return None
    hash_ = backend_hash(arguments.type, arguments.value)
    return ConfiguredBackend(arguments, object_value(values), hash_, tuple(overrides))


def missing_arguments(wanted: ConfiguredBackend) -> list[str]:
    """The required arguments that have no value."""
    return [
        name
        for name, attribute in wanted.arguments.schema.attributes.items()
        if attribute.required and wanted.value.attribute(name).is_null
    ]


def compare(
    wanted: ConfiguredBackend | None, saved: SavedBackend | None, is_overridden: bool
) -> BackendChange:
    """Compare the configured backend with the saved one."""
    if wanted is None:
        return BackendChange.NONE if saved is None else BackendChange.UNSET
    if saved is None:
        return BackendChange.FIRST
    if wanted.type == saved.type:
        if wanted.hash == saved.hash and not is_overridden:
            return BackendChange.NONE
        if wanted.value == saved.value():
            return BackendChange.HASH if wanted.hash != saved.hash else BackendChange.NONE
    return BackendChange.OTHER


def check_arguments(
    wanted: ConfiguredBackend, environ: Mapping[str, str], diags: Diagnostics
) -> None:
    """Report arguments that the backend cannot be configured with."""
    from nigari.backends.known_backends import argument_problems

    if missing_arguments(wanted):
        return
    places = wanted.arguments.places
    for argument, text in argument_problems(wanted.type, wanted.value, environ):
        place = places.get(argument)
        where = wanted.arguments.range if place is None else place.expr.range
        diags.error("Invalid backend argument", text, where)


# -- what is given in place of the configuration's arguments ----------------------------------


def environment_settings(where: WorkingDirectory) -> Mapping[str, GivenArgument]:
    """The arguments that the environment sets, and those that a fleet gives to the directory."""
    given: dict[str, GivenArgument] = {}
    environment = where.environment
    if environment is not None:
        for name, each in environment.backend.items():
            given[name] = GivenArgument(each.value, environment.title, each.range)
    for name, value in where.backend.items():
        given[name] = GivenArgument(value, "backend_config in fleet.hcl")
    return given


def read_overrides(
    given: Sequence[str], sources: dict[str, bytes], diags: Diagnostics
) -> Mapping[str, GivenArgument]:
    """The values of `-backend-config`: `name=value`, or a file of such lines; the last counts."""
    values: dict[str, GivenArgument] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if equals:
            values[name.strip()] = GivenArgument(string(value))
        elif text:
            values.update(_read_file(text, sources, diags))
    return values


def _read_file(
    path: str, sources: dict[str, bytes], diags: Diagnostics
) -> Mapping[str, GivenArgument]:
    from nigari.hcl.json_body import parse_json_body

    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        # What is not like a path may be a secret, as in -backend-config=password:hunter2.
        shown = path if _PATH.fullmatch(path) else "The file"
        diags.error(
            "Cannot read backend settings",
            f"{shown}, given with -backend-config, cannot be read: {error.strerror}. To give a "
            "single setting on the command line, write name=value.",
        )
        return {}
    sources[path] = data
    source = without_binary(Source.from_bytes(path, data), diags)
    body = parse_json_body(source, diags) if path.endswith(".json") else parse_body(source, diags)
    return {
        name: GivenArgument(attribute.expr.value(Scope(), diags), path, attribute.expr.range)
        for name, attribute in body.just_attributes(diags).items()
    }


# -- what can be wrong ------------------------------------------------------------------------


def report_changed(wanted: ConfiguredBackend, saved: SavedBackend, diags: Diagnostics) -> None:
    """The configuration and its variables lead to a location that no init has set up."""
    lines = "".join(f"\n  - {line}" for line in _changes(wanted, saved))
    variables = _deciding(wanted, saved)
    names = ", ".join(f"var.{name}" for name in variables)
    mistake = f"If {names} is not what you want, correct it. " if names else ""
    what_to_do = (
        f"{mistake}To move the state there, run "
        f"{advice().init('-migrate-state', variables=variables)}. To leave it where it is and set up "
        f"this location, too, run {advice().init('-reconfigure', variables=variables)}."
    )
    if "cloud" in (wanted.type, saved.type):
        what_to_do = _init_asks()
    diags.error(
        "Backend configuration has changed",
        "No init of this directory has set up the location that the state would have now:"
        f"{lines}\n{what_to_do} Nothing was changed.",
        _first_place(wanted, saved),
    )


def _deciding(wanted: ConfiguredBackend, saved: SavedBackend) -> list[str]:
    """The variables behind the arguments that have changed."""
    before = saved.value() if saved.type == wanted.type else None
    names = wanted.value.mapping() if before is None else changed_arguments(wanted, before)
    found = [each for name in names for each in wanted.arguments.inputs(name).variables]
    return list(dict.fromkeys(found))


def workspace_not_set_up(name: str, set_by: str, changes: Sequence[str]) -> Diagnostic:
    """A workspace without a state that neither init nor a workspace command has set up."""
    where = f" there ({'; '.join(changes)})" if changes else ""
    selects = f" {set_by} selects it." if set_by else ""
    init = advice().init(*(("-reconfigure",) if changes else ()))
    creates = "" if name == "default" else f" or create it {advice().new_workspace(name)}"
    return Diagnostic(
        Severity.ERROR,
        "Workspace is not set up",
        f'The workspace "{name}" has no state{where}, and no init of this directory has set it '
        f"up.{selects} If it is the one you want, run {init} while it is selected{creates}. Nothing "
        "was changed.",
    )


def report_unset(saved: SavedBackend, diags: Diagnostics) -> None:
    """There was a backend when init last ran, and there is none in the configuration now."""
    what_to_do = (
        f"To move the state to a local file, run {advice().init('-migrate-state')}. To leave it "
        f"where it is and start without a state, run {advice().init('-reconfigure')}."
    )
    if saved.type == "cloud":
        what_to_do = _init_asks()
    diags.error(
        "Backend configuration has changed",
        f'The state of this directory is stored in the backend "{saved.type}", but the '
        f"configuration no longer has a backend block. {what_to_do}",
    )


def _init_asks() -> str:
    return f"Run {advice().init()}, which asks before it copies a state."


def _changes(wanted: ConfiguredBackend, saved: SavedBackend) -> list[str]:
    if wanted.type != saved.type:
        return [f'the backend was "{saved.type}" and is "{wanted.type}" now']
    before = saved.value()
    if before is None:
        return [f'the saved settings do not match the backend "{saved.type}"']
    lines: list[str] = []
    for name in changed_arguments(wanted, before):
        causes = wanted.arguments.inputs(name).names
        why = f" (it depends on {', '.join(causes)})" if causes else ""
        old, new = (shown(wanted.type, name, each) for each in (before, wanted.value))
        # Two URLs may differ in nothing but their credentials.
        is_told = NOT_SHOWN not in (old, new) and old != new
        change = f"was {old} and is {new} now" if is_told else "has changed (values not shown)"
        lines.append(f"{name} {change}{why}")
    return lines


def changed_arguments(wanted: ConfiguredBackend, before: Value) -> list[str]:
    """The arguments that have other values than before."""
    now = wanted.value.mapping()
    return [name for name, value in sorted(before.mapping().items()) if value != now[name]]


def _first_place(wanted: ConfiguredBackend, saved: SavedBackend) -> Range:
    before = saved.value()
    if before is not None and wanted.type == saved.type:
        for name in changed_arguments(wanted, before):
            place = wanted.arguments.places.get(name)
            if place is not None:
                return place.expr.range
    return wanted.arguments.range


def shown(backend: str, name: str, arguments: Value) -> str:
    """The value of one of the arguments of a backend for a message, as far as it may be shown."""
    from nigari.backends.harmless import shown_argument
    from nigari.lang.render import value_display

    value = arguments.attribute(name)
    return "not set" if value.is_null else shown_argument(backend, name, value_display(value))


def report_not_set_up(wanted: ConfiguredBackend, diags: Diagnostics) -> None:
    """There is a backend, and init has not run since."""
    diags.error(
        "Backend not set up",
        f'The configuration has a backend "{wanted.type}", but this directory has not been '
        f"initialized for it. Run {advice().init()} first.",
        wanted.arguments.range,
    )


def _report_memory(path: str, reason: str, diags: Diagnostics) -> None:
    diags.error(
        "Cannot read the saved backend settings",
        f"{path}, in which init saves the backend settings, cannot be read: {reason}. Run "
        f"{advice().init('-reconfigure')} to write it again.",
    )


def _report_unknown_argument(
    name: str, given: GivenArgument, type_: str, schema: Block, diags: Diagnostics
) -> None:
    hint = did_you_mean(name, schema.attributes)
    if name in schema.blocks:
        hint = " It is a block, and blocks can be set only in the configuration."
    diags.error(
        "Invalid backend setting",
        f'The backend "{type_}" has no argument "{name}", which {given.origin} sets.{hint}',
        given.range,
    )


def _report_unfit(name: str, given: GivenArgument, error: CtyError, diags: Diagnostics) -> None:
    part = f" at {path_text(error.path)}" if error.path else ""
    diags.error(
        "Invalid backend setting",
        f"The value of {name} from {given.origin} is not valid{part}: {error.message}.",
        given.range,
    )
