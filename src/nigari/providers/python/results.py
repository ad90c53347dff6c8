"""Results of methods that are generators, such as the objects of a query, one at a time."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from typing import Final, cast

from nigari.providers.python.attempt import AttemptResult, attempt

END: Final = object()
"""The result after the last one."""


class Results:
    """A generator, async or not, whose exceptions become diagnostics."""

    def __init__(self, generator: object, method: str) -> None:
        if not isinstance(generator, Generator | AsyncGenerator):
            raise TypeError(f"the method {method} must be a generator, but returned {generator!r}")
        self._generator = generator

    async def next(self) -> AttemptResult:
        """Take one result; `END` after the last one."""
        if isinstance(self._generator, AsyncGenerator):
            return await attempt(self._next_async)
        return await attempt(next, self._generator, END)

    async def _next_async(self) -> object:
        return await anext(cast("AsyncGenerator[object, None]", self._generator), END)

    async def close(self) -> None:
        """Run what the generator does at its end, even if the caller has stopped early."""
        if isinstance(self._generator, AsyncGenerator):
            await self._generator.aclose()
        else:
            await asyncio.to_thread(self._generator.close)
