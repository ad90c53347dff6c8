"""Requests to providers that a node must have answered before it can go on."""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol

from nigari.eval.core.worklist import Effect


class ProviderRequest(Effect):
    """A provider must be asked something."""

    __slots__ = ()

    @abstractmethod
    async def perform(self) -> None:
        """Ask it."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The name by which a user knows what it is about."""


class Inquirer(Protocol):
    """Who has something to ask."""

    @property
    def label(self) -> str:
        """The name by which a user knows who asks."""
        ...

    async def perform(self) -> None:
        """Ask it."""
        ...


class AskProvider(ProviderRequest):
    """A node has something to ask before it can go on."""

    __slots__ = ("_node",)

    def __init__(self, node: Inquirer) -> None:
        self._node = node

    @property
    def label(self) -> str:
        return self._node.label

    async def perform(self) -> None:
        await self._node.perform()
