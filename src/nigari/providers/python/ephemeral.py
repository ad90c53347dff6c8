"""Ephemeral resource types: objects of Python classes that are open for a while.

An open object stays in this process until it is closed; the calling program only stores a number
for it.
"""

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

from nigari import cty
from nigari.hcl.evaluation import as_sentence
from nigari.providers import api
from nigari.providers.base import problem
from nigari.providers.python.attempt import attempt
from nigari.providers.python.fields import Fields
from nigari.schema.coerce import coerce


class OpenObjects:
    """The open ephemeral objects of a provider."""

    def __init__(self) -> None:
        self._open: dict[bytes, Any] = {}
        self._numbers = itertools.count(1)

    async def open(
        self, fields: Fields, config: cty.Value, settings: object
    ) -> api.OpenEphemeralResponse:
        """Create an object and open it."""
        unknown = cty.unknown(fields.block.implied_type)
        made = await attempt(fields.to_instance, config)
        if made.failed:
            return api.OpenEphemeralResponse(unknown, diagnostics=made.reported)
        instance: Any = made.result
        outcome = await attempt(instance.open, settings)
        if outcome.failed:
            return api.OpenEphemeralResponse(unknown, diagnostics=outcome.reported)
        private = str(next(self._numbers)).encode()
        self._open[private] = instance
        try:
            result = coerce(fields.block, fields.to_value(instance))
            renew_at = _moment(outcome.result)
        except (TypeError, cty.CtyError) as error:
            reported = problem(
                "Wrong value from the provider", as_sentence(f"{type(instance).__name__}: {error}")
            )
            reported += (await self.close(private, settings)).diagnostics
            return api.OpenEphemeralResponse(unknown, diagnostics=outcome.reported + reported)
        return api.OpenEphemeralResponse(result, private, renew_at, outcome.reported)

    async def renew(self, private: bytes | None, settings: object) -> api.RenewEphemeralResponse:
        """Call the object's `renew`."""
        instance = self._open.get(private or b"")
        if instance is None:
            return api.RenewEphemeralResponse(private, None, _not_open())
        outcome = await attempt(instance.renew, settings)
        if outcome.failed:
            return api.RenewEphemeralResponse(private, None, outcome.reported)
        try:
            return api.RenewEphemeralResponse(private, _moment(outcome.result), outcome.reported)
        except TypeError as error:
            reported = problem(
                "Wrong value from the provider", as_sentence(f"{type(instance).__name__}: {error}")
            )
            return api.RenewEphemeralResponse(private, None, outcome.reported + reported)

    async def close(self, private: bytes | None, settings: object) -> api.Response:
        """Call the object's `close`, if it has one."""
        instance = self._open.pop(private or b"", None)
        if instance is None:
            return api.Response(_not_open())
        if not hasattr(instance, "close"):
            return api.Response()
        return api.Response((await attempt(instance.close, settings)).reported)


def _moment(left: object) -> datetime | None:
    if left is None:
        return None
    if not isinstance(left, timedelta):
        raise TypeError(f"the time until a renewal is a timedelta or None, not {left!r}")
    return datetime.now(UTC) + left


def _not_open() -> api.ProviderDiagnostics:
    return problem("Ephemeral object not open", "It was already closed, or was never opened here.")
