"""Provider requirements of modules. `provider_selection` chooses versions from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from nigari.addrs.provider import Provider
from nigari.diagnostics import Range
from nigari.lang.versions import ProviderConstraints
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_ANY_VERSION: Final = ProviderConstraints()


@record
class Requirement:
    """A module's requirement of a provider."""

    provider: Provider
    constraints: ProviderConstraints = _ANY_VERSION
    module: str = ""
    """The module's address; empty for the root module."""
    subject: Range | None = None
    constraints_at: Range | None = None
    """Range of the constraints, if they are in a file."""
    has_source: bool = False
    """True if the module declares the provider's source."""


def by_provider(requirements: Iterable[Requirement]) -> Mapping[Provider, list[Requirement]]:
    """Group the requirements of all modules by provider."""
    wanted: dict[Provider, list[Requirement]] = {}
    for requirement in requirements:
        wanted.setdefault(requirement.provider, []).append(requirement)
    return wanted


def combined_constraints(requirements: Iterable[Requirement]) -> ProviderConstraints:
    """Combine all version constraints."""
    return ProviderConstraints(
        item for requirement in requirements for item in requirement.constraints.items
    )


def first_subject(asked: Sequence[Requirement]) -> Range | None:
    """Return the range of the first requirement in a file."""
    return next((r.subject for r in asked if r.subject is not None), None)


def first_constraint(asked: Sequence[Requirement]) -> Range | None:
    """Return the range of the first version constraint, otherwise of the first requirement."""
    found = (r.constraints_at for r in asked if r.constraints_at is not None)
    return next(found, None) or first_subject(asked)


def demands(asked: Sequence[Requirement]) -> str:
    """List the modules' constraints, as lines for a message."""
    lines = [
        f"  - {requirement.module or 'the root module'} requires "
        f"{requirement.constraints.text or 'any version'}"
        for requirement in asked
    ]
    return "\n".join(dict.fromkeys(lines))
