"""Cache of decoded modules, for programs that process many directories with shared modules.

A module is identified by its directory, relative to the working directory, and by the content of
its files, so that cached modules never expire.
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
    """A decoded module, with its diagnostics."""

    module: Module
    problems: Sequence[Diagnostic]
    roots: Mapping[str, NativeBody | JsonBody]
    """Bodies of its files, by path."""


class ModuleCache:
    """The most recently used modules, up to a maximum."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._known: dict[Contents, ReadModule] = {}

    def find(self, contents: Contents) -> ReadModule | None:
        """Return the module with exactly these files."""
        found = self._known.pop(contents, None)
        if found is not None:
            self._known[contents] = found
        return found

    def add(self, contents: Contents, module: ReadModule) -> None:
        """Cache a module in place of the least recently used one."""
        self._known[contents] = module
        if len(self._known) > self._most:
            self._known.pop(next(iter(self._known)), None)


MODULE_CACHE: Final[ContextVar[ModuleCache | None]] = ContextVar("module cache", default=None)
"""The cache of the current context; most programs read each module once and need none."""


class caching_modules:  # noqa: N801 - it is used as a function is
    """Cache modules that are read within the block, in the given cache or else in the one around."""

    def __init__(self, cache: ModuleCache | None = None) -> None:
        self._cache = cache

    def __enter__(self) -> None:
        self._token = MODULE_CACHE.set(self._cache or MODULE_CACHE.get() or ModuleCache())

    def __exit__(self, *_: object) -> None:
        MODULE_CACHE.reset(self._token)
