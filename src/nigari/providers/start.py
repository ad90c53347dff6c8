"""Start of plugin programs, before any communication with them.

No event loop is needed. Deliberately unknown here: communication (`launch`) and the origin of
programs (`packages`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence

from nigari.diagnostics import Severity
from nigari.providers.api import ProviderDiagnostic
from nigari.providers.fork_server import from_fork_server
from nigari.providers.guard import PluginProgram, start_guarded
from nigari.providers.log import LogSettings, PluginLog
from nigari.record import record


class LaunchError(Exception):
    """A plugin that could not be started; has the diagnostic."""

    def __init__(self, diagnostic: ProviderDiagnostic) -> None:
        super().__init__(diagnostic.detail)
        self.diagnostic = diagnostic


@record
class StartedPlugin:
    """A started plugin program without a connection."""

    name: str
    program: PluginProgram
    log: PluginLog


def start(
    command: Sequence[str], name: str, environment: Mapping[str, str], directory: str = ""
) -> StartedPlugin:
    """Start a plugin program, by default in the current directory; raise `LaunchError` on failure."""
    program = command[0]
    if shutil.which(program) is None:
        raise LaunchError(_not_a_program(name, program))
    settings = LogSettings.from_environment(environment)
    environment = {**settings.plugin_environment(), **environment}
    try:
        guarded = from_fork_server(tuple(command), environment, directory) or start_guarded(
            command, environment, directory
        )
    except OSError as error:
        raise LaunchError(_cannot_start(name, str(error))) from error
    return StartedPlugin(name, guarded, PluginLog(os.path.basename(program), settings))


def start_failure(detail: str) -> ProviderDiagnostic:
    """Describe a plugin that failed before it could be connected to."""
    return ProviderDiagnostic(
        Severity.ERROR, "Cannot start a provider plugin", detail, about_provider=True
    )


def _not_a_program(name: str, program: str) -> ProviderDiagnostic:
    return start_failure(f"{program}, the plugin of {name}, does not exist or is not executable.")


def _cannot_start(name: str, reason: str) -> ProviderDiagnostic:
    return start_failure(f"The plugin of {name} cannot be started: {reason}.")
