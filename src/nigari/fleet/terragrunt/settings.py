"""Settings of a unit in Terragrunt files, as data."""

from __future__ import annotations

from collections.abc import Mapping

from nigari.cty.values import Value
from nigari.diagnostics import Range
from nigari.fleet.terragrunt.expression_text import Written
from nigari.record import record


@record
class Input:
    """A value for a variable."""

    value: Value
    written: Written
    reads_files: bool = False
    """True if files decide, which may change."""


@record
class Dependency:
    """A `dependency` block."""

    name: str
    directory: str
    """The directory of the other unit, as an absolute path."""
    mock: Value | None
    """The outputs in place of real ones, if those are not read."""
    is_enabled: bool
    range: Range


@record
class GeneratedFile:
    """A `generate` block."""

    path: str
    contents: Value
    if_exists: str
    prefix: str
    """The first line; empty if the file has no signature."""
    is_formatted: bool
    range: Range


@record
class StateSettings:
    """A `remote_state` block."""

    backend: str
    config: Value
    path: str
    """The file that is generated; empty if `init` gets the arguments."""
    if_exists: str
    range: Range


@record
class ExtraArguments:
    """An `extra_arguments` block."""

    commands: frozenset[str]
    arguments: tuple[Value, ...]
    var_files: tuple[str, ...]
    """Files of variables, as absolute paths."""
    env: Mapping[str, Value]
    range: Range


@record
class Settings:
    """Settings of a unit in a file and in the files that it includes."""

    inputs: Mapping[str, Input]
    weaker: tuple[Written, ...]
    """Objects with further inputs, which `inputs` override."""
    stronger: tuple[Written, ...]
    """Objects with further inputs, which override `inputs`."""
    dependencies: Mapping[str, Dependency]
    paths: tuple[str, ...]
    """Directories of units that come first for other reasons, as absolute paths."""
    generated: Mapping[str, GeneratedFile]
    remote_state: StateSettings | None
    source: Value | None
    source_range: Range | None
    extra_arguments: Mapping[str, ExtraArguments]
    others: Mapping[str, Range]
    """Features that only Terragrunt has, by name, with their ranges."""
    is_excluded: bool = False
