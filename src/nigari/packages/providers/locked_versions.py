"""Compares the versions in the lock file with what the modules require.

A configuration that has changed since the last `init` may ask for others. Which versions there are
is not looked at: that is the business of `provider_selection`.
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
    """Whether every module accepts the versions that are locked; reports those it does not."""
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
    """The lock file and the configuration contradict each other."""
    diags.error(
        "Locked provider version not allowed",
        f"The dependency lock file selects version {lock.version} of {provider.display}, which "
        f"does not meet all requirements:\n{demands(asked)}\nRun {advice().init('-upgrade')} to "
        "select a new version.",
        first_constraint(asked),
    )
