"""The working directory: where a command or a session works, and with which environment.

Everything that is relative to something is relative to this value and not to the process, so that
sessions in several directories can be open at once. Paths come in two forms. *Written* paths are
what users see, in diagnostics, `path.module` and the list of modules: they are relative to the root.
`at` turns one into a path that the process can open.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from nigari.lang.files import DiskFiles
from nigari.record import ReadOnly, record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Final

    from nigari.backends.workspaces import SelectedWorkspace
    from nigari.cty.values import Value
    from nigari.diagnostics import Diagnostics
    from nigari.workspace.context.environment import Environment

_USUAL_DATA: Final = ".terraform"
_DATA_VARIABLE: Final = "TF_DATA_DIR"
_SELECTION: Final = "environment"
_WORKSPACE_VARIABLE: Final = "TF_WORKSPACE"
_ENVIRONMENTS: Final = "environments"


def process_directory(environ: Mapping[str, str]) -> str:
    """The directory of the process. Go's `os.Getwd`, and with it `path.cwd` and `abspath` of OpenTofu,
    has the name in `$PWD` if it is absolute and leads there, and else the one without symbolic
    links.
    """
    named = environ.get("PWD", "")
    if named.startswith("/"):
        try:
            if os.path.samefile(named, os.curdir):
                return os.path.normpath("/" + named.lstrip("/"))
        except (OSError, ValueError):
            pass
    return os.getcwd()


@record
class WorkingDirectory:
    """A directory with its selected environment."""

    environ: Mapping[str, str]
    name: str = "."
    """The directory, as it is written: seen from the root."""
    root: str = ""
    """An absolute path that written paths are relative to; empty for the process's own directory."""
    started_in: str = ""
    """The value of `path.cwd`; empty for the directory of the process."""
    environment: Environment | None = None
    """The selected environment, of those that are declared beside the configuration."""
    backend: Mapping[str, Value] = ReadOnly({})
    """Arguments that a fleet gives to the backend, stronger than those of the environment."""

    def at(self, *names: str) -> str:
        """The path by which something can be opened that is named as seen from the root."""
        return os.path.join(self.root, *names)

    @property
    def path(self) -> str:
        """The path of the directory itself."""
        return os.path.normpath(self.at(self.name)) if self.root else self.name

    @property
    def data_name(self) -> str:
        """The directory of what is remembered, `.terraform` unless `TF_DATA_DIR` names another, as
        it is written. It need not exist. Each environment has one of its own in it.
        """
        name = os.path.join(self.name, self.environ.get(_DATA_VARIABLE) or _USUAL_DATA)
        if self.environment is None:
            return name
        return os.path.join(name, _ENVIRONMENTS, self.environment.name)

    def data(self, *names: str) -> str:
        """The path of something in the directory of what is remembered."""
        return self.at(self.data_name, *names)

    @property
    def data_directory(self) -> Path:
        """The path, for callers that can afford `pathlib`."""
        from pathlib import Path

        return Path(self.data())

    @property
    def modules_name(self) -> str:
        """The directory of installed modules, as it is written."""
        return os.path.normpath(os.path.join(self.data_name, "modules")).replace(os.sep, "/")

    @property
    def files(self) -> DiskFiles:
        """The files of this machine, by their written paths."""
        return DiskFiles(self.root)

    @property
    def current(self) -> str:
        """The value of `path.cwd`."""
        return self.started_in or self.absolute_root

    @property
    def absolute_root(self) -> str:
        """The directory that written paths are relative to, as `abspath` names it."""
        return self.root or process_directory(self.environ)

    def selected(self, diags: Diagnostics) -> SelectedWorkspace:
        """The workspace that commands work in."""
        from nigari.backends.workspaces import SelectedWorkspace, selected_workspace

        environment = self.environment
        if environment is not None and environment.workspace:
            return SelectedWorkspace(environment.workspace, f'The environment "{environment.name}"')
        return selected_workspace(self.data(), self.environ, diags)

    @property
    def selects_default(self) -> bool:
        """Return whether the default workspace is selected."""
        if self.environment is not None and self.environment.workspace:
            return False
        return not self.environ.get(_WORKSPACE_VARIABLE) and not os.path.exists(
            self.data(_SELECTION)
        )

    def in_workspace(self, name: str) -> WorkingDirectory:
        """The same directory with another workspace selected, whatever selects one."""
        environ = {**self.environ, _WORKSPACE_VARIABLE: name}
        environment = self.environment
        if environment is not None:
            environment = replace(environment, workspace=name)
        return replace(self, environ=environ, environment=environment)


def home_directory(environ: Mapping[str, str]) -> str | None:
    """The directory that the environment names, else the one that the system has for the user;
    None where there is neither.
    """
    named = environ.get("HOME")
    if named:
        return named
    if sys.platform == "win32":
        return environ.get("USERPROFILE") or None
    else:
        import os
        from pwd import getpwuid

        try:
            return getpwuid(os.getuid()).pw_dir or None
        except KeyError:
            return None
