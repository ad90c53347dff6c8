"""The environments of a directory, as programs and people see them."""

from __future__ import annotations

import os
from collections.abc import Mapping

from nigari.backends.harmless import is_harmless_anywhere, without_credentials
from nigari.diagnostics import Diagnostics
from nigari.record import ReadOnly, record, replace
from nigari.workspace.context.environment import Environment, Setting
from nigari.workspace.context.environments import read_environments
from nigari.workspace.context.last_apply import LastApply, load_last_apply
from nigari.workspace.context.working_directory import WorkingDirectory


@record
class EnvironmentInfo:
    """An environment that `environments.hcl` declares, and when it was last applied."""

    name: str
    workspace: str
    """The selected workspace."""
    var_files: tuple[str, ...]
    """Files of variables, seen from the directory."""
    variables: tuple[str, ...]
    """The names of the variables that it gives values."""
    backend: Mapping[str, object]
    """The arguments of the backend that it sets; None where a value may be a secret."""
    data_directory: str
    """Directory of the environment's local data."""
    last_apply: LastApply | None
    """The last apply from this directory; None where there was none."""

    def to_data(self) -> dict[str, object]:
        """It as JSON data."""
        applied = self.last_apply
        return {
            "name": self.name,
            "workspace": self.workspace,
            "var_files": list(self.var_files),
            "variables": list(self.variables),
            "backend": dict(self.backend),
            "data_directory": self.data_directory,
            "last_apply": None
            if applied is None
            else {
                "time": applied.time.isoformat(),
                "mode": applied.mode,
                "serial": applied.serial,
                "complete": applied.is_complete,
            },
        }


def list_environments(
    where: WorkingDirectory, diags: Diagnostics
) -> tuple[Mapping[str, EnvironmentInfo], Mapping[str, bytes]]:
    """The environments by name, and the file that declares them; what is wrong is reported."""
    found = read_environments(where, diags)
    return (
        ReadOnly({name: _info(where, each) for name, each in found.by_name.items()}),
        found.sources,
    )


def _info(where: WorkingDirectory, environment: Environment) -> EnvironmentInfo:
    inside = replace(where, environment=environment)
    return EnvironmentInfo(
        name=environment.name,
        workspace=inside.selected(Diagnostics()).name,
        var_files=environment.var_files,
        variables=tuple(environment.variables),
        backend=ReadOnly({name: _shown(name, each) for name, each in environment.backend.items()}),
        data_directory=os.path.normpath(inside.data_name),
        last_apply=load_last_apply(inside.data_directory),
    )


def _shown(name: str, setting: Setting) -> object:
    # Which backend it is for is written in the configuration, which need not be read here.
    return without_credentials(setting.value.to_python()) if is_harmless_anywhere(name) else None
