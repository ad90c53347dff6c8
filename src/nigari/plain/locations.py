"""Locations of a plain configuration's modules.

A module stays where it is as long as all that use it agree on its files. Others get a copy beside
it, named after their call; modules from outside of the configuration's directory that change, or
that a relative path leads to, are put below `modules`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from nigari.addrs.module import ModuleAddr
from nigari.eval.core.module_tree import ModuleInstance
from nigari.plain.names import free_name, identifier
from nigari.plain.static_values import StaticValues
from nigari.plain.variants import Variant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_OUTSIDE: Final = "modules"


def is_local(source: str) -> bool:
    """Check for a source that is a path relative to the caller."""
    return source.startswith(("./", "../")) or source in (".", "..")


class Locations:
    """The directory of each variant, relative to the plain configuration."""

    def __init__(
        self,
        values: StaticValues,
        found: Mapping[ModuleAddr, Variant],
        signatures: Mapping[ModuleAddr, tuple[object, ...]],
        unchanged: frozenset[ModuleAddr],
        root: str,
        modules_name: str,
    ) -> None:
        """`signatures` are equal for variants that can share a directory; `unchanged` are those whose
        files stay as they are, with all that they call.
        """
        self._values = values
        self._variants = found
        self._signatures = signatures
        self._unchanged = unchanged
        self._root = root
        self._modules_name = modules_name
        self.packages: dict[str, str] = {}
        """The directories outside of the root that are copied whole, and where to."""
        self._taken: dict[str, tuple[object, ...]] = {}
        self._by_content: dict[tuple[str, tuple[object, ...]], str] = {}
        self._reserved = {
            self.usual(found[path].module.directory)
            for path in unchanged
            if self._is_inside(found[path].module.directory)
        }
        self.of: dict[ModuleAddr, str | None] = {}
        """The directory of each variant; None for a module that is still installed from elsewhere."""
        self._place_all()

    def _place_all(self) -> None:
        for path, variant in self._variants.items():
            if variant.frame.parent is None:
                self._taken["."] = self._signatures[path]
                self.of[path] = "."
                continue
            self.of[path] = self._place(path, variant)

    def _place(self, path: ModuleAddr, variant: Variant) -> str | None:
        instance = variant.frame.instance
        assert instance.parent is not None
        caller = self.of[instance.parent.variant]
        source = self._values.sources.get(instance, "")
        if path in self._unchanged and (caller is None or not is_local(source)):
            return None
        directory, signature = variant.module.directory, self._signatures[path]
        known = self._by_content.get((directory, signature))
        if known is not None:
            return known
        usual = self.usual(directory)
        is_free = usual not in self._taken and (
            path in self._unchanged or usual not in self._reserved
        )
        if not is_free and (usual not in self._reserved or path not in self._unchanged):
            name = f"{_name(usual)}_{_label(instance)}"
            usual = free_name(
                posixpath.join(posixpath.dirname(usual), name), self._taken, self._reserved
            )
        self._taken[usual] = signature
        self._by_content[directory, signature] = usual
        return usual

    def _is_inside(self, directory: str) -> bool:
        """Check for a directory that is copied with the root, at the same relative path."""
        relative = posixpath.relpath(directory, self._root)
        installed = posixpath.relpath(self._modules_name, self._root)
        is_installed = relative == installed or relative.startswith(f"{installed}/")
        return not (relative.startswith("../") or relative == ".." or is_installed)

    def usual(self, directory: str) -> str:
        """Return the plain location of a directory that does not change."""
        if self._is_inside(directory):
            return posixpath.relpath(directory, self._root)
        for package, place in self.packages.items():
            if directory == package or directory.startswith(f"{package}/"):
                return posixpath.normpath(posixpath.join(place, directory[len(package) + 1 :]))
        package = self._package(directory)
        taken = {*self.packages.values()}
        own = posixpath.basename(package).replace('["', "_").replace('"]', "")
        name = posixpath.join(_OUTSIDE, identifier(own))
        self.packages[package] = free_name(name, taken)
        return self.usual(directory)

    def _package(self, directory: str) -> str:
        """The whole package that an installed module is part of, or the directory itself."""
        prefix = f"{self._modules_name}/"
        if directory.startswith(prefix):
            return prefix + directory.removeprefix(prefix).split("/")[0]
        return directory


def _name(directory: str) -> str:
    return "root" if directory == "." else posixpath.basename(directory)


def _label(instance: ModuleInstance) -> str:
    """The names and keys that lead to an instance from the nearest call that has a key."""
    words: list[str] = []
    for name, key in reversed(instance.variant.steps):
        words[:0] = [name] if key is None else [name, str(key)]
        if key is not None:
            break
    return identifier("_".join(words))
