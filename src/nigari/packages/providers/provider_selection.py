"""Provider version selection: the newest version that all modules accept.

The locked version is used until an upgrade is requested. `provider_installer` downloads and
installs the package.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.provider import Provider
from nigari.diagnostics import Diagnostics
from nigari.diagnostics.advice import advice
from nigari.lang.versions import Version
from nigari.packages.hosts.cooldown import cooling_text
from nigari.packages.providers.locked_versions import report_locked_out
from nigari.packages.providers.lockfile import ProviderLock
from nigari.packages.providers.provider_sources import (
    Offer,
    ProviderSource,
    ProviderSourceError,
    ProviderUnknown,
    Versions,
)
from nigari.packages.providers.requirement import (
    Requirement,
    combined_constraints,
    demands,
    first_constraint,
    first_subject,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_NO_VERSION: Final = Version((0, 0, 0))
"""Placeholder for a provider that was never released; it is never selected."""


async def choose_version(
    asked: Sequence[Requirement],
    lock: ProviderLock | None,
    source: ProviderSource,
    diags: Diagnostics,
) -> Version | None:
    """Return the locked version, otherwise the newest acceptable one; None after reporting a
    failure.
    """
    provider = asked[0].provider
    constraints = combined_constraints(asked)
    # The lock file is never overridden silently: only -upgrade selects another version.
    if lock is not None and not constraints.allows(lock.version):
        report_locked_out(provider, lock, asked, diags)
        return None
    try:
        listed = await source.versions(provider)
    except ProviderUnknown as error:
        report_source(error, asked, diags, _near_miss(provider, asked))
        return None
    except ProviderSourceError as error:
        report_source(error, asked, diags)
        return None
    _report_warnings(provider, listed, asked, diags)
    # OpenTofu never selects 0.0.0, which stands for a provider without a release.
    listed_ones = (version for version in listed.platforms if version != _NO_VERSION)
    available = sorted(listed_ones, key=Version.precedence)
    if not available:
        _report_not_found(provider, source.name, asked, diags)
        return None
    ready = [each for each in available if each not in listed.cooling]
    # A locked version is used even while it is too new: it was selected before.
    version = constraints.newest(ready) if lock is None else lock.version
    if version is None:
        newer = constraints.newest(available)
        cooling = "" if newer is None else f" {cooling_text(newer, listed.cooling[newer])}."
        _report_no_match(provider, available, asked, cooling, diags)
        return None
    if version not in available:
        _report_gone(provider, version, available, asked, diags)
        return None
    return version


async def choose_offer(
    version: Version,
    platform: str,
    asked: Sequence[Requirement],
    source: ProviderSource,
    diags: Diagnostics,
) -> Offer | None:
    """Return the package of a version for a platform; None after reporting that there is none."""
    provider = asked[0].provider
    try:
        offer = await source.offer(provider, version, platform)
        if offer is None:
            _report_platform(version, platform, await source.versions(provider), asked, diags)
    except ProviderSourceError as error:
        report_source(error, asked, diags)
        return None
    return offer


def builtin_is_sound(provider: Provider, asked: Sequence[Requirement], diags: Diagnostics) -> bool:
    if provider.type != "terraform":
        diags.error(
            "Unknown built-in provider",
            f"There is no built-in provider named {provider.type}; the only one is terraform.",
            first_subject(asked),
        )
        return False
    for requirement in asked:
        if requirement.constraints:
            diags.error(
                "Version of a built-in provider",
                f"{provider.display} is part of Nigari and has no version. Remove the version "
                "constraint.",
                first_constraint([requirement]),
            )
            return False
    return True


def _some(versions: Sequence[Version]) -> str:
    newest = [str(version) for version in sorted(versions, reverse=True)]
    return ", ".join(newest[:5]) + (", …" if len(newest) > 5 else "")


def _near_miss(provider: Provider, asked: Sequence[Requirement]) -> str:
    if not provider.is_default or any(each.has_source for each in asked):
        return " Check the spelling of its source in required_providers."
    return (
        " A provider from another namespace needs its full source, such as "
        f'"NAMESPACE/{provider.type}", in the required_providers block of each module that uses it.'
    )


def _report_warnings(
    provider: Provider, listed: Versions, asked: Sequence[Requirement], diags: Diagnostics
) -> None:
    if listed.warnings:
        diags.warning(
            "Warning from a provider registry",
            f"{provider.hostname} says about {provider.display}:\n"
            + "\n".join(f"  - {_printable(each)}" for each in listed.warnings),
            first_subject(asked),
        )


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def report_source(
    error: ProviderSourceError, asked: Sequence[Requirement], diags: Diagnostics, advice: str = ""
) -> None:
    """Report a failed source."""
    diags.error(error.summary, f"{error}.{advice}", first_subject(asked))


def _report_platform(
    version: Version,
    platform: str,
    listed: Versions,
    asked: Sequence[Requirement],
    diags: Diagnostics,
) -> None:
    others = ", ".join(sorted(listed.platforms.get(version, ())))
    available = f" is available for {others}, but" if others else " is"
    diags.error(
        "Provider not available for this platform",
        f"Version {version} of {asked[0].provider.display}{available} not"
        f"{'' if others else ' available'} for {platform}.",
        first_subject(asked),
    )


def _report_not_found(
    provider: Provider, where: str, asked: Sequence[Requirement], diags: Diagnostics
) -> None:
    diags.error(
        "Provider not found",
        f"None of the configured installation sources ({where}) has a package of "
        f"{provider.display}. Check the provider's source in required_providers ({_askers(asked)}"
        ").",
        first_subject(asked),
    )


def _askers(asked: Sequence[Requirement]) -> str:
    names = dict.fromkeys(r.module or "the root module" for r in asked)
    return "required by " + ", ".join(names)


def _report_gone(
    provider: Provider,
    version: Version,
    available: Sequence[Version],
    asked: Sequence[Requirement],
    diags: Diagnostics,
) -> None:
    diags.error(
        "Locked provider version not available",
        f"Version {version} of {provider.display}, which the dependency lock file selects, is no "
        f"longer available; the available versions are {_some(available)}. Run "
        f"{advice().init('-upgrade')} to select another.",
        first_subject(asked),
    )


def _report_no_match(
    provider: Provider,
    available: Sequence[Version],
    asked: Sequence[Requirement],
    cooling: str,
    diags: Diagnostics,
) -> None:
    diags.error(
        "No suitable provider version",
        f"No version of {provider.display} meets all requirements:\n{demands(asked)}\nThese "
        f"versions are available: {_some(available)}.{cooling}",
        first_constraint(asked),
    )
