"""`nigari providers lock`: checksums of providers for all platforms that will need them.

Selects the source of the packages. How they are verified and locked is in
`nigari.packages.providers.provider_mirror`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from nigari.addrs.provider import Provider, parse_provider
from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_LIST, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.state_flags import SAYING_FLAGS
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.init import trust_text
from nigari.hcl.suggestion import listed
from nigari.packages.content.platforms import current_platform
from nigari.packages.hosts.network import Network
from nigari.packages.providers.configured_sources import origin_source
from nigari.packages.providers.lockfile import (
    FILE_NAME,
    Locks,
    adopt_predecessors,
    lock_text,
    save_locks,
)
from nigari.packages.providers.provider_mirror import lock_platforms
from nigari.packages.providers.provider_sources import FilesystemMirror, ProviderSource, Verified
from nigari.packages.providers.requirement import Requirement
from nigari.workspace.plugins.providers import InstalledProviders

PLATFORM_FLAG = Flag(
    "platform", FLAG_LIST, "A platform to lock the providers for; can be repeated", "OS_ARCH"
)


def platforms_of(invocation: Invocation) -> list[str]:
    """The platforms on the command line; without any, this machine's."""
    given = list(dict.fromkeys(invocation.texts("platform")))
    for each in given:
        system, _, machine = each.partition("_")
        if not system or not machine or "_" in machine:
            raise UsageError(
                f'"{each}" is not a platform. Write an operating system and a processor '
                "architecture joined by an underscore, such as linux_amd64."
            )
    return given or [current_platform()]


def _source(
    presenter: Presenter, installed: InstalledProviders, network: Network
) -> ProviderSource | None:
    """The source of packages: the mirror on the command line, or registries."""
    directory, url = presenter.invocation.text("fs-mirror"), presenter.invocation.text("net-mirror")
    template = presenter.invocation.text("oci-mirror")
    given = {"-fs-mirror": directory, "-net-mirror": url, "-oci-mirror": template}
    names = [name for name, each in given.items() if each]
    if len(names) > 1:
        raise UsageError(f"The options {listed(names)} cannot be used together.")
    if directory:
        return FilesystemMirror(Path(directory))
    if template:
        return _oci_mirror(template, presenter, network)
    if not url:
        return origin_source(installed.cli_config, presenter.terminal.environ, Path(), network)
    if not url.startswith("https://"):
        presenter.diags.error(
            "Invalid URL of a network mirror",
            "The option -net-mirror must be the https URL of a network mirror, such as "
            "https://mirror.example.com/providers/.",
        )
        return None
    from nigari.packages.providers.network_mirror import NetworkMirror

    return NetworkMirror(url, network)


def _oci_mirror(template: str, presenter: Presenter, network: Network) -> ProviderSource | None:
    from nigari.packages.hosts.oci_settings import UriTemplate
    from nigari.packages.providers.oci_mirror import OciMirror

    try:
        UriTemplate(template)
    except ValueError as error:
        presenter.diags.error(
            "Invalid URI template",
            f"The option -oci-mirror must be a URI template of level 1 (RFC 6570), such as "
            f"registry.example.com/{{hostname}}/{{namespace}}/{{type}}, but {error}.",
        )
        return None
    return OciMirror(template, network, UriTemplate)


async def _lock(presenter: Presenter) -> bool:
    platforms = platforms_of(presenter.invocation)
    requirements = _wanted(presenter)
    if requirements is None:
        return False
    installed = InstalledProviders(presenter.session.where)
    new = adopt_predecessors(installed.locks, presenter.diags)
    environ = presenter.terminal.environ
    network = Network(installed.cli_config, environ)
    source = _source(presenter, installed, network)
    presenter.diags.extend(installed.problems)
    if source is None:
        return False
    verified: dict[Provider, Verified] = {}

    def note(provider: Provider, _: str, found: Verified) -> None:
        verified[provider] = found

    try:
        for platform in platforms:
            if presenter.diags.has_errors:
                return False
            before = new
            new = await lock_platforms(
                requirements, before, source, [platform], environ, presenter.diags, note
            )
            _tell(presenter, before, new, verified, platform)
    finally:
        await network.close()
    return not presenter.diags.has_errors and _save(presenter, installed.locks, new)


def _wanted(presenter: Presenter) -> list[Requirement] | None:
    requirements = presenter.session.requirements()
    if requirements is None:
        return None
    given = [parse_provider(text, presenter.diags) for text in presenter.invocation.arguments]
    known = {each.provider for each in requirements}
    for provider in given:
        if provider is not None and provider not in known:
            presenter.diags.error(
                "Provider not required",
                f"The configuration does not require {provider}, so it cannot be locked.",
            )
    if presenter.diags.has_errors:
        return None
    return [each for each in requirements if not given or each.provider in given]


def _tell(
    presenter: Presenter,
    old: Locks,
    new: Locks,
    verified: Mapping[Provider, Verified],
    platform: str,
) -> None:
    if presenter.diags.has_errors:
        return
    for provider in sorted(verified):
        lock = new.providers[provider]
        known = old.providers.get(provider)
        if known is None:
            news = "new provider, checksums added to the lock file"
        elif known.hashes != lock.hashes:
            news = "checksums for this platform added to the lock file"
        else:
            news = "checksums for this platform already in the lock file"
        trust = trust_text(verified[provider])
        text = f"Obtained {provider.display} checksums for {platform} ({trust}); {news}"
        presenter.say(f"- {text}", text)


def _save(presenter: Presenter, old: Locks, new: Locks) -> bool:
    if lock_text(new) == lock_text(old) and os.path.exists(FILE_NAME):
        presenter.say("\nSuccess! The lock file is already complete and was not changed.")
        return True
    try:
        save_locks(Path(FILE_NAME), new)
    except OSError as error:
        reason = error.strerror or str(error)
        presenter.diags.error("Lock file not written", f"{FILE_NAME} cannot be written: {reason}.")
        return False
    note = f"Review the changes in {FILE_NAME} and commit them to version control."
    presenter.say(
        f"\nSuccess! The lock file was updated.\n\n{presenter.prose(note)}",
        "Success! The lock file was updated",
    )
    return True


def run(invocation: Invocation) -> int:
    """Update the lock file."""
    return run_command(invocation, _lock)


COMMAND = Command(
    "providers lock",
    "Adds checksums to the dependency lock file: of all required providers, or of the named "
    "ones, for this machine's platform or for others. This way a configuration that is developed "
    "on Linux can be applied on macOS with the same providers, for example.",
    run,
    flags=(
        PLATFORM_FLAG,
        Flag("fs-mirror", FLAG_TEXT, "Take packages from this mirror only", "DIR"),
        Flag("net-mirror", FLAG_TEXT, "Take packages from this network mirror only", "URL"),
        Flag(
            "oci-mirror",
            FLAG_TEXT,
            "Take packages from these OCI repositories only: a URI template of RFC 6570 with "
            "{hostname}, {namespace} and {type}",
            "TEMPLATE",
        ),
        *VARIABLE_FLAGS,
        *SAYING_FLAGS,
    ),
    arguments="[PROVIDER...]",
    most_arguments=-1,
    examples=(Example("nigari providers lock -platform=linux_amd64 -platform=darwin_arm64", ""),),
)
