"""What must be asked of providers before a node can go on, and who knows what that is."""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol

from nigari.eval.once import Effect


class Asking(Effect):
    """A provider must be asked something."""

    __slots__ = ()

    @abstractmethod
    async def perform(self) -> None:
        """Ask it."""


class Inquirer(Protocol):
    """Who has something to ask."""

    async def perform(self) -> None:
        """Ask it."""
        ...


class AskProvider(Asking):
    """A node has something to ask before it can go on."""

    __slots__ = ("_node",)

    def __init__(self, node: Inquirer) -> None:
        self._node = node

    async def perform(self) -> None:
        await self._node.perform()
