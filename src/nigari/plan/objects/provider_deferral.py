"""Objects that a provider itself leaves for a later plan."""

from __future__ import annotations

from nigari.providers import api
from nigari.running.deferrals import DeferralReason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class ProviderDefers(Exception):
    """A provider cannot say yet what becomes of an object."""

    def __init__(self, reason: api.ProviderDeferral) -> None:
        super().__init__(reason.value)
        self.reason: DeferralReason = REASONS[reason]


REASONS: Final = {
    api.ProviderDeferral.CONFIG_UNKNOWN: DeferralReason.CONFIG,
    api.ProviderDeferral.PROVIDER_CONFIG_UNKNOWN: DeferralReason.PROVIDER,
    api.ProviderDeferral.ABSENT_PREREQUISITE: DeferralReason.ABSENT,
}
