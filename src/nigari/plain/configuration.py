"""A whole plain configuration: the texts of all modules that change, and where they are written.

Owns the order: first which modules are alike, then where each is written, then its text. Nothing is
written here, and what is copied as it is is not read.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from nigari.addrs.module import ModuleAddr
from nigari.diagnostics import Diagnostics
from nigari.eval.core.module_tree import ModuleInstance
from nigari.hcl.expressions import Expression
from nigari.hcl.native_body import NativeBody
from nigari.hcl.parser import parse_body
from nigari.hcl.quoting import quoted
from nigari.hcl.source import Source
from nigari.hcl.templates import StringLiteral
from nigari.lang.files import Files
from nigari.plain.checks import check_file
from nigari.plain.locations import Locations, is_local
from nigari.plain.module_text import ModuleText
from nigari.plain.passed_inputs import check_variables, input_module
from nigari.plain.static_values import StaticValues
from nigari.plain.variants import Variant, variants
from nigari.record import record
from nigari.typed import Protocol


@record
class PlainConfiguration:
    """A plain configuration in memory: directories to copy, and files with new content."""

    packages: Mapping[str, str]
    """Directories outside of the root that are copied, and where to."""
    files: Mapping[str, bytes]
    """The files that differ from what is copied, by their paths in the plain configuration."""
    removed: frozenset[str]
    """Files that have another name in the plain configuration."""


class _Builder:
    """One configuration on its way to a plain one."""

    def __init__(self, values: StaticValues, files: Files, root: str, modules_name: str) -> None:
        self._values = values
        self._files = files
        self._root = root
        self._modules_name = modules_name
        self._bodies: dict[str, NativeBody | None] = {}
        self._variants = variants(values)
        module = values.run.root.module
        entries = [each.name for each in files.entries(root)]
        self._inputs = input_module(module, values.inputs, entries)
        if self._inputs is not None:
            check_variables(self._inputs, module, values.refuse)

    def build(self) -> PlainConfiguration:
        signatures: dict[ModuleAddr, tuple[object, ...]] = {}
        unchanged: set[ModuleAddr] = set()
        for path, variant in reversed(self._variants.items()):
            texts = self._texts(variant, _Signing(self, signatures, unchanged))
            children = [each for plan in variant.calls.values() for each in plan.children.values()]
            if all(each.variant in unchanged for each in children) and not self._differs(texts):
                unchanged.add(path)
            signatures[path] = (variant.module.directory, tuple(texts.items()))
        locations = Locations(
            self._values,
            self._variants,
            signatures,
            frozenset(unchanged),
            self._root,
            self._modules_name,
        )
        return self._written(locations)

    def _written(self, locations: Locations) -> PlainConfiguration:
        files: dict[str, bytes] = {}
        removed: set[str] = set()
        for path, variant in self._variants.items():
            place = locations.of[path]
            if place is None:
                continue
            usual = locations.usual(variant.module.directory)
            module_path = None if place == usual else usual
            texts = self._texts(variant, _Writing(self, locations, place), module_path)
            if usual != posixpath.relpath(variant.module.directory, self._root):
                self._warn_of_path(variant, texts)
            for name in variant.module.files:
                base = posixpath.basename(name)
                new = self._renamed(base)
                if new != base:
                    removed.add(posixpath.normpath(posixpath.join(place, base)))
                text = texts.get(name)
                is_same = text is None or not self._differs({name: text})
                if is_same and new == base and place == usual:
                    continue
                content = self._files.read(name) if is_same or text is None else text.encode()
                files[posixpath.normpath(posixpath.join(place, new))] = content
            if path.is_root:
                files.update(self._input_files(variant))
        return PlainConfiguration(locations.packages, files, frozenset(removed))

    def _input_files(self, variant: Variant) -> dict[str, bytes]:
        """The files of the module that variables move into."""
        if self._inputs is None:
            return {}
        text = ModuleText(self._values, variant, lambda _expr, _child: None, self._variants)
        bodies = [(name, self.body(name)) for name in variant.module.files]
        declared = {
            self._renamed(posixpath.basename(name)): moved
            for name, body in bodies
            if body is not None and (moved := text.copies(body, self._inputs.takes))
        }
        return {name: each.encode() for name, each in self._inputs.files(declared).items()}

    def _warn_of_path(self, variant: Variant, texts: Mapping[str, str]) -> None:
        """Mention that a module is found elsewhere, if it uses where that is."""
        refusals, place = self._values.refusals, variant.module.range
        if any("path.module" in text for text in texts.values()) and refusals.is_new(place):
            refusals.warning(
                "Module with another path",
                "The module lies outside of the configuration's directory, so the plain configuration "
                "has a copy of it, and path.module is another one there. Files are found all the "
                "same, but what stores the path itself changes.",
                place,
            )

    def _renamed(self, name: str) -> str:
        if self._values.target.has("tofu files"):
            return name
        return name.replace(".tofu", ".tf") if name.endswith((".tofu", ".tofu.json")) else name

    def _differs(self, texts: Mapping[str, str]) -> bool:
        bodies = {name: self.body(name) for name in texts}
        return any(
            body is not None and body.source.text != texts[name] for name, body in bodies.items()
        )

    def _texts(
        self, variant: Variant, sources: _Sources, module_path: str | None = None
    ) -> dict[str, str]:
        """The new texts of the files of a module, except those in the JSON syntax."""
        inputs = self._inputs if variant.path.is_root else None
        text = ModuleText(self._values, variant, sources.text, self._variants, module_path, inputs)
        found: dict[str, str] = {}
        for name in variant.module.files:
            body = self.body(name)
            if body is not None:
                check_file(self._values, body)
                found[name] = text.file(body)
                continue
            source = self._json(name)
            changes = text.changes_in(source)
            if changes and sources.is_final:
                self._values.refuse(
                    "File in the JSON syntax",
                    f"Files in the JSON syntax are not rewritten, and this one would have to be: see "
                    f"{changes[0]}. Write it in the native syntax.",
                    source.range(0, 0),
                )
        return found

    def _json(self, name: str) -> Source:
        return Source.from_bytes(name, self._files.read(name))

    def body(self, name: str) -> NativeBody | None:
        """The parsed file; None for the JSON syntax."""
        if name not in self._bodies:
            is_native = not name.endswith(".json")
            source = Source.from_bytes(name, self._files.read(name))
            self._bodies[name] = parse_body(source, Diagnostics()) if is_native else None
        return self._bodies[name]

    def accepts(self, expr: Expression, child: ModuleInstance) -> bool:
        """Check whether the target can evaluate the source of a call."""
        parent = child.parent
        assert parent is not None
        assert child.call is not None
        return self._values.accepts(self._values.frames[parent], child.call.source)

    def source(self, child: ModuleInstance) -> str:
        """The source of a call instance."""
        return self._values.sources.get(child, "")


class _Sources(Protocol):
    """The texts for sources of calls."""

    is_final: bool = False
    """True if the texts are final."""

    def text(self, expr: Expression, child: ModuleInstance) -> str | None:
        """The new text; None if the source can stay as it is written."""
        ...


class _Signing(_Sources):
    """Texts that are the same where what is called is the same, for comparing modules."""

    def __init__(
        self,
        builder: _Builder,
        signatures: Mapping[ModuleAddr, tuple[object, ...]],
        unchanged: set[ModuleAddr],
    ) -> None:
        self._builder = builder
        self._signatures = signatures
        self._unchanged = unchanged

    def text(self, expr: Expression, child: ModuleInstance) -> str | None:
        if child.variant in self._unchanged and self._builder.accepts(expr, child):
            return None
        return f"<{hash(self._signatures.get(child.variant))}>"


class _Writing(_Sources):
    """The texts that are written, as seen from the directory of the caller."""

    is_final = True

    def __init__(self, builder: _Builder, locations: Locations, place: str) -> None:
        self._builder = builder
        self._locations = locations
        self._place = place

    def text(self, expr: Expression, child: ModuleInstance) -> str | None:
        source = self._builder.source(child)
        place = self._locations.of.get(child.variant)
        accepted = self._builder.accepts(expr, child)
        if place is None:
            return None if accepted else quoted(source)
        relative = posixpath.relpath(place, self._place)
        if accepted and is_local(source) and posixpath.normpath(source) == relative:
            return None
        if isinstance(expr, StringLiteral) and posixpath.normpath(expr.text) == relative:
            return None
        return quoted(relative if relative.startswith("../") else f"./{relative}")


def plain_configuration(
    values: StaticValues, files: Files, root: str, modules_name: str
) -> PlainConfiguration:
    """The plain configuration for values that the static phase has collected."""
    return _Builder(values, files, root, modules_name).build()
