"""Ephemeral objects: opened by a provider, renewed on its request, and closed.

Planning and applying each open their own. Deliberately unknown here: their configuration and uses.
"""

from __future__ import annotations

from nigari.addrs.absolute import AbsResourceInstance
from nigari.cty.marks import mark_with_paths, unmark_deep_with_paths
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.event_loop import event_loop
from nigari.events import Listener
from nigari.hcl.body import Body
from nigari.lang.marks import EPHEMERAL
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.running.provider_objects import is_sound, with_schema_marks
from nigari.running.resource_stack import OpenResource, ResourceStack
from nigari.schema.provider import Schema

TYPE_CHECKING = False
# Only configurations with ephemeral resources pay for the import of asyncio and of times.
if TYPE_CHECKING:
    import asyncio
    from datetime import datetime
    from typing import Final

_PATIENCE: Final = 10.0
"""Seconds that a provider has to close an object."""

OPENING: Final = "open"
RENEWING: Final = "renew"
CLOSING: Final = "close"


class EphemeralObjects:
    """The ephemeral objects of one run."""

    def __init__(self, opened: ResourceStack, diags: Diagnostics, listener: Listener) -> None:
        self._opened = opened
        self._diags = diags
        self._listener = listener
        self._open: dict[AbsResourceInstance, OpenResource] = {}

    async def open(
        self,
        provider: api.Provider,
        address: AbsResourceInstance,
        schema: Schema,
        config: Value,
        body: Body,
    ) -> Value | None:
        """Open an object with a known configuration; None after reporting a failure."""
        await event_loop()
        diags, type_name = self._diags, address.item.resource.type
        plain, marks = unmark_deep_with_paths(config)
        reported = (await provider.validate_ephemeral(type_name, plain)).diagnostics
        diags.extend(located(reported, schema.block, body, str(address)))
        if api.has_errors(reported):
            return None
        self._listener.ephemeral_started(address, OPENING)
        found = _OpenObject(provider, address, plain, diags, self._listener)
        entry = self._opened.add(self._opened.next_level(), found.close)
        self._open[address] = entry
        answer = await found.answer()
        diags.extend(located(answer.diagnostics, schema.block, body, str(address)))
        if api.has_errors(answer.diagnostics) or not is_sound(
            answer.result, schema, address, "opened", diags
        ):
            self._listener.ephemeral_failed(address, OPENING)
            await self.close(address)
            return None
        self._opened.is_ready(entry)
        self._listener.ephemeral_finished(address, OPENING)
        found.keep_open()
        return ephemeral_value(mark_with_paths(answer.result, marks), schema)

    async def close(self, address: AbsResourceInstance) -> None:
        """Close an object, if it is open."""
        entry = self._open.pop(address, None)
        if entry is not None:
            await self._opened.close(entry)

    async def close_all(self) -> None:
        """Close all objects, and before each the resources that were opened with it."""
        if self._open:
            lowest = min(entry.level for entry in self._open.values())
            self._open.clear()
            await self._opened.close_all(lowest)


def ephemeral_value(value: Value, schema: Schema) -> Value:
    """Mark the value of an ephemeral object as ephemeral."""
    plain, marks = unmark_deep_with_paths(value)
    kept = [(path, found - {EPHEMERAL}) for path, found in marks]
    marked = mark_with_paths(plain, [(path, found) for path, found in kept if found])
    return with_schema_marks(marked, schema).mark(EPHEMERAL)


class _OpenObject:
    """An open or opening object, and the task that renews it."""

    def __init__(
        self,
        provider: api.Provider,
        address: AbsResourceInstance,
        config: Value,
        diags: Diagnostics,
        listener: Listener,
    ) -> None:
        self._provider = provider
        self._address = address
        self._renewed: api.RenewEphemeralResponse | None = None
        self._diags = diags
        self._listener = listener
        import asyncio

        self._opening = asyncio.create_task(provider.open_ephemeral(self._type, config))
        self._is_closing = asyncio.Event()
        self._renewing: asyncio.Task[None] | None = None

    async def answer(self) -> api.OpenEphemeralResponse:
        """Wait for the provider's response; cancelling the wait does not cancel the opening."""
        import asyncio

        return await asyncio.shield(self._opening)

    def keep_open(self) -> None:
        """Renew the object in the background, if the provider requests it."""
        renew_at = self._opening.result().renew_at
        if renew_at is not None:
            import asyncio

            self._renewing = asyncio.create_task(self._renew(renew_at))

    @property
    def _type(self) -> str:
        return self._address.item.resource.type

    @property
    def _private(self) -> bytes | None:
        """The provider's opaque data for the object."""
        latest = self._opening.result() if self._renewed is None else self._renewed
        return latest.private

    async def _renew(self, moment: datetime | None) -> None:
        """Renew the object whenever the provider requests it, until it is closed."""
        import asyncio
        from contextlib import suppress
        from datetime import UTC, datetime

        while moment is not None:
            left = (moment - datetime.now(UTC)).total_seconds()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_closing.wait(), max(left, 0))
            if self._is_closing.is_set():
                return
            self._listener.ephemeral_started(self._address, RENEWING)
            answer = await self._provider.renew_ephemeral(self._type, self._private)
            self._diags.extend(located(answer.diagnostics, address=str(self._address)))
            if api.has_errors(answer.diagnostics):
                self._listener.ephemeral_failed(self._address, RENEWING)
                return
            self._renewed = answer
            moment = answer.renew_at
            self._listener.ephemeral_finished(self._address, RENEWING)

    async def close(self) -> None:
        """Close the object, after a pending opening or renewal."""
        import asyncio

        self._is_closing.set()
        try:
            async with asyncio.timeout(_PATIENCE):
                if api.has_errors((await self.answer()).diagnostics):
                    return
                if self._renewing is not None:
                    await self._renewing
                self._listener.ephemeral_started(self._address, CLOSING)
                answer = await self._provider.close_ephemeral(self._type, self._private)
        except TimeoutError:
            self._diags.error(
                "Ephemeral resource not closed",
                f"The provider did not close {self._address} within {_PATIENCE:.0f} seconds.",
                address=str(self._address),
            )
            self._listener.ephemeral_failed(self._address, CLOSING)
            return
        self._diags.extend(located(answer.diagnostics, address=str(self._address)))
        has_failed = api.has_errors(answer.diagnostics)
        tell = self._listener.ephemeral_failed if has_failed else self._listener.ephemeral_finished
        tell(self._address, CLOSING)
