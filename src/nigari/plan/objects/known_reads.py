"""Objects read by an earlier attempt at the same plan, so that none is read twice."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nigari.addrs.absolute import AbsResourceInstance
from nigari.diagnostics import Diagnostics
from nigari.events import Listener
from nigari.plan.objects.prior_object import PriorObject
from nigari.record import record
from nigari.running.provider_objects import with_schema_marks
from nigari.schema.provider import Schema


@record
class _Found:
    found: PriorObject | None
    is_unchanged: bool
    reported: Diagnostics


class KnownReads:
    """Objects as they were read, with what their providers said about them."""

    def __init__(self) -> None:
        self._found: dict[tuple[AbsResourceInstance, str], _Found] = {}

    async def read(
        self,
        address: AbsResourceInstance,
        deposed: str,
        prior: PriorObject,
        read: Callable[[], Awaitable[tuple[PriorObject | None, Diagnostics]]],
    ) -> tuple[PriorObject | None, Diagnostics]:
        """Read an object, unless that was done before; a failure is tried again."""
        known = self._found.get((address, deposed))
        if known is None:
            found, reported = await read()
            known = _Found(found, found is prior, reported)
            if found is not None or not reported.has_errors:
                self._found[address, deposed] = known
        return prior if known.is_unchanged else known.found, known.reported


async def read_and_tell(
    listener: Listener,
    address: AbsResourceInstance,
    deposed: str,
    schema: Schema,
    prior: PriorObject,
    read: Callable[[Diagnostics], Awaitable[PriorObject | None]],
) -> tuple[PriorObject | None, Diagnostics]:
    """Read an object, and tell the listener of it."""
    # Listeners show the id or name; it may be sensitive only according to the schema.
    listener.refresh_started(address, with_schema_marks(prior.value, schema), deposed)
    # Others may report something meanwhile, which says nothing about this object.
    reported = Diagnostics()
    found = await read(reported)
    if found is not None or not reported.has_errors:
        value = None if found is None else with_schema_marks(found.value, schema)
        listener.refresh_finished(address, value, deposed)
    return found, reported
