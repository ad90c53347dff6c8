"""What a module asks of a provider. Apart from the choice among versions, which needs much more."""

from __future__ import annotations

from typing import Final

from nigari.addrs.provider import Provider
from nigari.diagnostics import Range
from nigari.lang.versions import ProviderConstraints
from nigari.record import record

_ANY_VERSION: Final = ProviderConstraints()


@record
class Requirement:
    """What one module asks of a provider."""

    provider: Provider
    constraints: ProviderConstraints = _ANY_VERSION
    module: str = ""
    """The module's address; empty is the root module."""
    subject: Range | None = None
