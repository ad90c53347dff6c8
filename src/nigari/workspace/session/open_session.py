"""Opens sessions and configurations for Python programs: turns their arguments into options."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from os import PathLike

from nigari.arguments import check_named, check_path, check_paths, check_text
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.inputs import InputKind, InputValue
from nigari.workspace.context.environments import VARIABLE, in_environment
from nigari.workspace.context.options import GivenVariables
from nigari.workspace.context.working_directory import WorkingDirectory, process_directory
from nigari.workspace.session.failure import SessionError


def working_directory(
    path: str | PathLike[str],
    environ: Mapping[str, str] | None = None,
    workspace: str | None = None,
) -> WorkingDirectory:
    """A directory that everything is relative to, in another workspace than the selected one where
    that is given.
    """
    check_path("the directory", path)
    if environ is not None:
        check_named("environment variables", environ)
    settings = dict(os.environ if environ is None else environ)
    if workspace is not None:
        check_text("the name of a workspace", workspace)
        settings["TF_WORKSPACE"] = workspace
    return WorkingDirectory(settings, root=absolute(path))


def check_directory(path: str) -> None:
    """Raise what Python's own functions raise where there is no such directory."""
    if not os.path.isdir(path):
        kind = NotADirectoryError if os.path.lexists(path) else FileNotFoundError
        number = errno.ENOTDIR if os.path.lexists(path) else errno.ENOENT
        raise kind(number, os.strerror(number), path)


def chosen_environment(where: WorkingDirectory, environment: str | None) -> str:
    """The name of the environment to work in: the given one, or what the process's environment
    says; empty for none.
    """
    if environment is None:
        return where.environ.get(VARIABLE, "")
    check_text("the name of an environment", environment)
    return environment


def inside(where: WorkingDirectory, environment: str) -> WorkingDirectory:
    """The directory in an environment, if one is named; a `SessionError` says what is wrong."""
    if not environment:
        return where
    diags = Diagnostics()
    found, sources = in_environment(where, environment, diags)
    if diags.has_errors:
        raise SessionError(diags.in_order(), sources)
    return found


def given_variables(
    variables: Mapping[str, object] | None,
    var_files: Sequence[str | PathLike[str]] = (),
    is_all: bool = False,
    origin: str = "the caller",
    kind: InputKind = InputKind.CALLER,
) -> GivenVariables:
    """Values and files that a program gives, and whether nothing else counts; `origin` is what
    messages call who gives them, and `kind` decides what undeclared variables mean.
    """
    variables = variables or {}
    check_paths("var_files", var_files)
    check_named("variables", variables)
    values: dict[str, InputValue] = {}
    for name, value in variables.items():
        try:
            values[name] = InputValue(kind, origin, value=Value.of(value))
        except TypeError as wrong_type:
            raise TypeError(f"the variable {name}: {wrong_type}") from None
        except ValueError as wrong_value:
            raise ValueError(f"the variable {name}: {wrong_value}") from None
    return GivenVariables([("var-file", absolute(each)) for each in var_files], values, is_all)


def absolute(path: str | PathLike[str]) -> str:
    """A path of the process, wherever it is used."""
    return os.path.normpath(os.path.join(process_directory(os.environ), os.fspath(path)))
