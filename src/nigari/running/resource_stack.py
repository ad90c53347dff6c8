"""Stack of open resources, closed in reverse order.

Providers and ephemeral objects are treated alike. Two resources that were opened concurrently
cannot depend on each other, so they have the same level and are closed concurrently.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nigari.event_loop import side_by_side

Close = Callable[[], Awaitable[None]]


class OpenResource:
    """An open resource."""

    __slots__ = ("close", "level")

    def __init__(self, level: int, close: Close) -> None:
        self.level: int = level
        self.close: Close = close


class ResourceStack:
    """All open resources."""

    def __init__(self) -> None:
        self._entries: dict[OpenResource, None] = {}
        self._level = 0

    def next_level(self) -> int:
        """Return the level of a resource about to be opened: above all that are ready."""
        return self._level + 1

    def add(self, level: int, close: Close) -> OpenResource:
        """Add a resource that must be closed."""
        entry = OpenResource(level, close)
        self._entries[entry] = None
        return entry

    def is_ready(self, entry: OpenResource) -> None:
        """Mark a resource as ready: later ones may depend on it, and are closed before it."""
        self._level = max(self._level, entry.level)

    async def close(self, entry: OpenResource) -> None:
        """Close a resource, unless it already is."""
        if entry in self._entries:
            del self._entries[entry]
            await entry.close()

    async def close_all(self, lowest: int = 0) -> None:
        """Close all resources from this level on, the highest level first.

        A failure does not prevent the others from closing.
        """
        levels: dict[int, list[OpenResource]] = {}
        for entry in self._entries:
            if entry.level >= lowest:
                levels.setdefault(entry.level, []).append(entry)
        failures: list[BaseException | None] = []
        for level in sorted(levels, reverse=True):
            failures += await side_by_side(self._try_to_close(entry) for entry in levels[level])
        for failure in filter(None, failures):
            raise failure

    async def _try_to_close(self, entry: OpenResource) -> BaseException | None:
        try:
            await self.close(entry)
        except BaseException as error:  # noqa: BLE001 - raised once all are closed
            return error
        return None
