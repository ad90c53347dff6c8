"""What a package re-exports without importing it: the part that few programs need."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_exports(package: str, exports: Mapping[str, tuple[str, ...]]) -> Callable[[str], object]:
    """A `__getattr__` for the package: `exports` has the names that each module gives.

    A module is named by itself where it is one of the package, else in full.
    """
    homes = {name: module for module, names in exports.items() for name in names}

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        module = import_module(home if "." in home else f"{package}.{home}")
        found = getattr(module, name, module)
        setattr(sys.modules[package], name, found)
        return found

    return find
