"""Modules that have been read before, kept for who works with many directories that share them.

A module is known by its directory, as it is seen from the working directory, and by the very content
of its files, so that what is kept never has to be checked for its age.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar

from nigari.config.module import Module
from nigari.diagnostics import Diagnostic
from nigari.hcl.native_body import NativeBody
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.hcl.json_body import JsonBody

Contents = tuple[str, tuple[tuple[str, bytes], ...]]
"""A directory, and its files with their content."""
_MOST: Final = 500


@record
class ReadModule:
    """A module that was read, with what is wrong with it."""

    module: Module
    problems: Sequence[Diagnostic]
    roots: Mapping[str, NativeBody | JsonBody]
    """The bodies of its files, by path."""


class KeptModules:
    """The modules that were read last, so many at most."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._known: dict[Contents, ReadModule] = {}

    def find(self, contents: Contents) -> ReadModule | None:
        """The module with exactly these files."""
        found = self._known.pop(contents, None)
        if found is not None:
            self._known[contents] = found
        return found

    def keep(self, contents: Contents, module: ReadModule) -> None:
        """Remember a module in place of the one that nobody has wanted for longest."""
        self._known[contents] = module
        if len(self._known) > self._most:
            self._known.pop(next(iter(self._known)), None)


KEPT: Final[ContextVar[KeptModules | None]] = ContextVar("kept modules", default=None)
"""What is kept in the current context; most programs read each module once and keep nothing."""


class keeping_modules:  # noqa: N801 - it is used as a function is
    """Keep modules that are read meanwhile."""

    def __enter__(self) -> None:
        self._token = KEPT.set(KEPT.get() or KeptModules())

    def __exit__(self, *_: object) -> None:
        KEPT.reset(self._token)
