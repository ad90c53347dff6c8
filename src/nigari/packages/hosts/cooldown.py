"""Cooldown of new versions: those that a registry has not known for long are not selected.

Malicious releases are usually found within days. A registry says when it has discovered a version; a
version of which it says nothing counts as old.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime


def cooling_until(discovered: object, cooldown: int) -> datetime | None:
    """Return when a version can be selected; None if it can be already."""
    if not cooldown or not isinstance(discovered, str):
        return None
    from datetime import UTC, datetime, timedelta

    try:
        known = datetime.fromisoformat(discovered)
    except ValueError:
        return None
    if known.tzinfo is None:
        known = known.replace(tzinfo=UTC)
    until = known + timedelta(seconds=cooldown)
    return until if until > datetime.now(UTC) else None


def cooling_text(version: object, until: datetime) -> str:
    """Describe a version that cannot be selected yet."""
    from datetime import UTC

    when = until.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"{version} is too new until {when}, because of cooldown_period in the CLI configuration"
