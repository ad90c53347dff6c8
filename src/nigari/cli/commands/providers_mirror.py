"""`nigari providers mirror`: copies of the providers that are needed, for use elsewhere."""

from __future__ import annotations

from pathlib import Path

from nigari.cli.args import UsageError
from nigari.cli.command import Command, Example, Invocation
from nigari.cli.commands.providers_lock import PLATFORM_FLAG, platforms_of
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.state_flags import SAYING_FLAGS
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.init import trust_text
from nigari.packages.hosts.network import Network
from nigari.packages.providers.configured_sources import origin_source
from nigari.packages.providers.lockfile import adopt_predecessors
from nigari.packages.providers.provider_mirror import mirror_providers
from nigari.workspace.plugins.providers import InstalledProviders


async def _mirror(presenter: Presenter) -> bool:
    if len(presenter.invocation.arguments) != 1:
        raise UsageError("The command needs the directory for the mirror.")
    target = Path(presenter.invocation.arguments[0])
    platforms = platforms_of(presenter.invocation)
    requirements = presenter.session.requirements()
    if requirements is None:
        return False
    installed = InstalledProviders(presenter.session.where)
    environ = presenter.terminal.environ
    network = Network(installed.cli_config, environ)
    source = origin_source(installed.cli_config, environ, Path(), network)
    locks = adopt_predecessors(installed.locks, presenter.diags)
    presenter.diags.extend(installed.problems)
    if presenter.diags.has_errors:
        return False
    for provider in sorted({each.provider for each in requirements}):
        if provider.is_builtin:
            _say(presenter, f"Skipping {provider}, because it is built in")
        else:
            _say(presenter, f"Mirroring {provider.display}...")
    try:
        await mirror_providers(
            requirements,
            locks,
            source,
            target,
            platforms,
            presenter.diags,
            lambda path, verified: _say(
                presenter, f"Wrote {path} ({trust_text(verified)})", indent="  "
            ),
        )
    finally:
        await network.close()
    return not presenter.diags.has_errors


def _say(presenter: Presenter, text: str, indent: str = "") -> None:
    presenter.say(f"{indent}- {text}", text)


def run(invocation: Invocation) -> int:
    """Fill the mirror."""
    return run_command(invocation, _mirror)


COMMAND = Command(
    "providers mirror",
    "Copies the packages of all required providers into a directory, which can then be used as a "
    "filesystem mirror, or served by a web server as a network mirror. Packages come from the "
    "providers' registries, or from mirrors where the CLI configuration does not allow that.",
    run,
    flags=(PLATFORM_FLAG, *VARIABLE_FLAGS, *SAYING_FLAGS),
    arguments="DIR",
    most_arguments=1,
    examples=(Example("nigari providers mirror -platform=linux_arm64 /srv/providers", ""),),
)
