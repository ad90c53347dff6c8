"""Comparison of locked provider versions with the requirements of the modules.

A configuration that has changed since the last `init` may have other requirements. Available
versions are not queried; `provider_selection` does that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nigari.addrs.provider import Provider
from nigari.diagnostics import Diagnostics
from nigari.diagnostics.advice import advice
from nigari.packages.providers.lockfile import Locks, ProviderLock
from nigari.packages.providers.requirement import (
    Requirement,
    by_provider,
    combined_constraints,
    demands,
    first_constraint,
)


def locked_versions_fit(
    requirements: Iterable[Requirement], locks: Locks, diags: Diagnostics
) -> bool:
    """Check that every module accepts the locked versions; report those that do not."""
    fit = True
    for provider, asked in sorted(by_provider(requirements).items()):
        lock = locks.providers.get(provider)
        constraints = combined_constraints(asked)
        if lock is not None and constraints and not constraints.allows(lock.version):
            report_locked_out(provider, lock, asked, diags)
            fit = False
    return fit


def report_locked_out(
    provider: Provider, lock: ProviderLock, asked: Sequence[Requirement], diags: Diagnostics
) -> None:
    """Report that the lock file contradicts the configuration."""
    diags.error(
        "Locked provider version not allowed",
        f"The dependency lock file selects version {lock.version} of {provider.display}, which "
        f"does not meet all requirements:\n{demands(asked)}\nRun {advice().init('-upgrade')} to "
        "select a new version.",
        first_constraint(asked),
    )
