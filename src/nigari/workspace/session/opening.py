"""Opens sessions and configurations for Python programs: turns their arguments into options."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from os import PathLike

from nigari.cty.values import Value
from nigari.eval.base.inputs import InputKind, InputValue
from nigari.workspace.base.options import GivenVariables
from nigari.workspace.base.working_directory import WorkingDirectory


def working_directory(
    path: str | PathLike[str],
    environ: Mapping[str, str] | None = None,
    workspace: str | None = None,
) -> WorkingDirectory:
    """A directory that everything is relative to, in another workspace than the selected one where
    that is given.
    """
    settings = dict(os.environ if environ is None else environ)
    if workspace is not None:
        settings["TF_WORKSPACE"] = workspace
    return WorkingDirectory(settings, root=absolute(path))


def given_variables(
    variables: Mapping[str, object] | None,
    var_files: Sequence[str | PathLike[str]] = (),
    is_all: bool = False,
) -> GivenVariables:
    """Values and files that a program gives, and whether nothing else counts."""
    return GivenVariables(
        [("var-file", absolute(each)) for each in var_files],
        {
            name: InputValue(InputKind.CALLER, "the caller", value=Value.of(value))
            for name, value in (variables or {}).items()
        },
        is_all,
    )


def absolute(path: str | PathLike[str]) -> str:
    """A path of the process, wherever it is used."""
    return os.path.abspath(os.fspath(path))
