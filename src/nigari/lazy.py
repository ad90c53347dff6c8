"""Lazy names and patterns: made when they are first used.

A short command uses few of either, so that making all of them would be most of what it does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from nigari.typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from types import ModuleType
    from typing import AnyStr


def module_named(name: str) -> ModuleType:
    """The module of that name, as `importlib` would import it, without importing that first."""
    __import__(name)
    return sys.modules[name]


def lazy_exports(package: str, exports: Mapping[str, tuple[str, ...]]) -> Callable[[str], object]:
    """A `__getattr__` for the package: `exports` has the names that each module gives.

    A module is named by itself where it is one of the package, else in full. `dir` lists what is
    public, whether or not it has been used, and nothing else.
    """
    homes = {name: module for module, names in exports.items() for name in names}
    own = vars(sys.modules[package])
    own["__dir__"] = lambda: own["__all__"]

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        module = module_named(home if "." in home else f"{package}.{home}")
        found = getattr(module, name, module)
        setattr(sys.modules[package], name, found)
        return found

    return find


def lazy_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Like `re.compile`, but compiled at the first use, and as fast from then on."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(text, flags))


_METHODS = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn")


class _LazyPattern:
    """Looks like a compiled pattern; the slots of its methods are filled when one is needed."""

    __slots__ = ("_flags", "_text", *_METHODS)

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        import re

        compiled = re.compile(self._text, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)
