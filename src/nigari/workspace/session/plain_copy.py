"""Writing a session's configuration as a plain one, into a directory of its own.

The directory is made beside its final place and then renamed, so that it is there whole or not at all.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Severity
from nigari.eval.core.inputs import InputKind
from nigari.hcl.json_body import parse_json_body
from nigari.hcl.parser import parse_body
from nigari.hcl.render import render_value
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.plain.configuration import PlainConfiguration, plain_configuration
from nigari.plain.passed_inputs import NO_INPUTS, PassedInputs
from nigari.plain.static_values import StaticValues
from nigari.plain.target import DEFAULT_TARGET, Target
from nigari.record import ReadOnly, record, replace
from nigari.workspace.context.environments import FILE_NAME
from nigari.workspace.session.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_LEFT_OUT: Final = (".git", FILE_NAME, "terraform.tfstate*", "errored.tfstate", "*.backup")
_VALUES: Final = ".auto.tfvars"


@record
class PlainOptions:
    """Options for writing a plain configuration."""

    target: Target = DEFAULT_TARGET
    is_partial: bool = False
    """True if constructs that the target cannot express only cause warnings, and stay as they are.
    """
    name: str = ""
    """The name for a file with the values of variables; that of the environment by default."""
    var_files: tuple[str, ...] = ()
    """Files of variables, as absolute paths, that the plain configuration has to read by itself."""
    variables: Mapping[str, Value] = ReadOnly({})
    """Values of variables, stronger than those in files."""
    inputs: PassedInputs = NO_INPUTS
    """Variables whose values come from states of other configurations."""
    apart: frozenset[str] = frozenset()
    """Directories, without symbolic links, that are no part of the configuration."""


_USUAL: Final = PlainOptions()


def write_plain(session: Session, out: str, options: PlainOptions = _USUAL) -> bool:
    """Write the configuration into `out`, a path that the process can open, as one that the target
    runs with the same result; return whether it was written.

    What the target cannot express is an error, and nothing is written then.
    """
    if not is_free(out, session.diags):
        return False
    values = StaticValues(options.target, _backend_arguments(session), options.inputs)
    workspace = session.workspace
    run, diags = workspace.static(session.inputs, session.selected, fill_places=values.collect)
    session.diags.extend(diags)
    if run is None or diags.has_errors:
        return False
    where = session.where
    plain = plain_configuration(values, workspace.files, workspace.directory, where.modules_name)
    for refusal in values.refusals:
        severity = Severity.WARNING if options.is_partial else refusal.severity
        session.diags.append(replace(refusal, severity=severity))
    if values.refusals.has_errors and not options.is_partial:
        return False
    return _write(session, plain, out, options)


def is_free(out: str, diags: Diagnostics) -> bool:
    """Report a directory that is not empty, or is none."""
    try:
        found = os.listdir(out)
    except FileNotFoundError:
        return True
    except OSError as error:
        diags.error("Cannot write the configuration", f"{out}: {error.strerror}.")
        return False
    if found:
        diags.error(
            "Directory is not empty",
            f"{out} has files that are not replaced. Name a directory that does not exist.",
        )
        return False
    return True


def _backend_arguments(session: Session) -> Mapping[str, Value]:
    environment = session.where.environment
    found: dict[str, Value] = {}
    if environment is not None:
        found = {name: each.value for name, each in environment.backend.items()}
    return {**found, **session.where.backend}


def _write(session: Session, plain: PlainConfiguration, out: str, options: PlainOptions) -> bool:
    out = os.path.abspath(out)
    parent, name = os.path.split(out)
    made = os.path.join(parent, f".{name}.{os.getpid()}.part")
    try:
        os.makedirs(made)
        apart = {*options.apart, os.path.realpath(out), os.path.realpath(made)}
        _fill(session, plain, made, apart)
        _write_values(session, made, options)
        if os.path.isdir(out):
            os.rmdir(out)
        os.rename(made, out)
    except OSError as error:
        session.diags.error("Cannot write the configuration", f"{out}: {error.strerror or error}.")
        return False
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return True


def _fill(session: Session, plain: PlainConfiguration, made: str, apart: set[str]) -> None:
    where = session.where
    root = where.at(session.workspace.directory)
    apart = {*apart, os.path.realpath(where.at(where.data_name)), os.path.realpath(where.data())}
    _copy(root, made, apart)
    for package, place in plain.packages.items():
        _copy(where.at(package), os.path.join(made, place), apart)
    for name in plain.removed:
        path = os.path.join(made, name)
        if os.path.exists(path):
            os.remove(path)
    for name, content in plain.files.items():
        path = os.path.join(made, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)


def _copy(source: str, target: str, apart: set[str]) -> None:
    """Copy a directory, except what is no part of a configuration."""
    usual = shutil.ignore_patterns(*_LEFT_OUT)

    def ignored(directory: str, names: list[str]) -> set[str]:
        found = {name for name in names if os.path.realpath(os.path.join(directory, name)) in apart}
        return found | {name for name in names if name == ".terraform"} | usual(directory, names)

    shutil.copytree(source, target, symlinks=True, ignore=ignored, dirs_exist_ok=True)


def _write_values(session: Session, made: str, options: PlainOptions) -> None:
    """Write the values of variables that an environment or a fleet gives, or that `init` remembers,
    as a file that every command reads.
    """
    environment = session.where.environment
    paths: list[str] = []
    values = {
        name: each.value
        for name, each in session.inputs.items()
        if each.kind is InputKind.REMEMBERED and each.value is not None
    }
    if environment is not None:
        paths = [session.where.at(session.where.name, path) for path in environment.var_files]
        values.update((name, each.value) for name, each in environment.variables.items())
    paths += options.var_files
    values.update(options.variables)
    given = [each for path in paths for each in _read_values(path)]
    given += [(key, render_value(value.unmark_deep()[0])) for key, value in values.items()]
    given = [each for each in given if each[0] not in options.inputs.expressions]
    if not given:
        return
    name = f"{options.name or (environment.name if environment else 'values')}{_VALUES}"
    others = [each for each in os.listdir(made) if each.endswith(_VALUES)]
    while any(each >= name for each in others):
        # The last file wins.
        name = f"z{name}"
    with open(os.path.join(made, name), "w", encoding="utf-8") as file:
        file.writelines(f"{key} = {text}\n" for key, text in dict(given).items())


def _read_values(path: str) -> list[tuple[str, str]]:
    """The values in a file of variables, as expressions."""
    with open(path, "rb") as file:
        source = Source.from_bytes(path, file.read())
    if not path.endswith(".json"):
        body = parse_body(source, Diagnostics())
        found = body.just_attributes(Diagnostics())
        return [(k, source.text[each.expr.start : each.expr.end]) for k, each in found.items()]
    found = parse_json_body(source, Diagnostics()).just_attributes(Diagnostics())
    scope = Scope()
    return [(k, render_value(each.expr.value(scope, Diagnostics()))) for k, each in found.items()]
