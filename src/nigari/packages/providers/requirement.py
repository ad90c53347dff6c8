"""Requirements of modules for providers. Choosing a version needs much more, and is done elsewhere."""

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
    """What one module asks of a provider."""

    provider: Provider
    constraints: ProviderConstraints = _ANY_VERSION
    module: str = ""
    """The module's address; empty is the root module."""
    subject: Range | None = None
    constraints_at: Range | None = None
    """Where the constraints are, if they are in a file."""
    has_source: bool = False
    """Whether the module names the source of the provider, instead of leaving it to the default."""


def by_provider(requirements: Iterable[Requirement]) -> Mapping[Provider, list[Requirement]]:
    """Requirements of all modules, grouped."""
    wanted: dict[Provider, list[Requirement]] = {}
    for requirement in requirements:
        wanted.setdefault(requirement.provider, []).append(requirement)
    return wanted


def combined_constraints(requirements: Iterable[Requirement]) -> ProviderConstraints:
    """All conditions together."""
    return ProviderConstraints(
        item for requirement in requirements for item in requirement.constraints.items
    )


def first_subject(asked: Sequence[Requirement]) -> Range | None:
    """Where the first of the modules asks that does so in a file."""
    return next((r.subject for r in asked if r.subject is not None), None)


def first_constraint(asked: Sequence[Requirement]) -> Range | None:
    """Where the first of the modules restricts the versions, or at least asks for any."""
    found = (r.constraints_at for r in asked if r.constraints_at is not None)
    return next(found, None) or first_subject(asked)


def demands(asked: Sequence[Requirement]) -> str:
    """Who asks for what, in lines for people."""
    lines = [
        f"  - {requirement.module or 'the root module'} requires "
        f"{requirement.constraints.text or 'any version'}"
        for requirement in asked
    ]
    return "\n".join(dict.fromkeys(lines))
