"""Provider requests, as effects that a node depends on."""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol

from nigari.eval.core.worklist import Effect


class ProviderRequest(Effect):
    """A request to a provider."""

    __slots__ = ()

    @abstractmethod
    async def perform(self) -> None:
        """Send the request."""

    @property
    @abstractmethod
    def label(self) -> str:
        """Label of the requesting object in messages."""


class Inquirer(Protocol):
    """A node with a request."""

    @property
    def label(self) -> str:
        """Label of the node in messages."""
        ...

    async def perform(self) -> None:
        """Send the request."""
        ...


class AskProvider(ProviderRequest):
    """Performs the request of a node."""

    __slots__ = ("_node",)

    def __init__(self, node: Inquirer) -> None:
        self._node = node

    @property
    def label(self) -> str:
        return self._node.label

    async def perform(self) -> None:
        await self._node.perform()
