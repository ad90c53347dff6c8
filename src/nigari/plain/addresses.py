"""Addresses in `moved`, `removed` and `import` blocks, by the names that blocks have now."""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.keys import DEFERRED, key_text
from nigari.addrs.module import ModuleAddr
from nigari.addrs.parse import parse_move_endpoint
from nigari.diagnostics import Diagnostics
from nigari.eval.core.module_tree import ModuleInstance
from nigari.hcl.expressions import Expression
from nigari.plain.expressions import Rewriting, SplitBlock
from nigari.plain.instance_words import key_literal
from nigari.plain.names import free_name, identifier
from nigari.plain.variants import Variant


class Addresses:
    """The new addresses in one module."""

    def __init__(
        self,
        literal: Rewriting,
        split: Mapping[str, SplitBlock],
        variant: Variant,
        variants: Mapping[ModuleAddr, Variant],
    ) -> None:
        """`literal` replaces keys by their values; `split` are the blocks that became several."""
        self._literal = literal
        self._split = split
        self._variant = variant
        self._variants = variants

    def followed(self, expr: Expression) -> str:
        """The text of an address, which may lead into an instance with a new address."""
        text = self._literal.text(expr)
        for address, split in self._split.items():
            for key, part in split.parts.items():
                old = f"{address}[{key_literal(key)}]."
                if text.startswith(old):
                    text = f"{part}.{text.removeprefix(old)}"
        return text

    def parts(self, address: str) -> list[str]:
        """The addresses that an address in all instances of a call has become."""
        for name, split in self._split.items():
            if name.startswith("module.") and address.startswith(f"{name}."):
                return [f"{each}{address.removeprefix(name)}" for each in split.blocks]
        return []

    def without_keys(self, text: str) -> str:
        """A free address of the same kind as one with keys, in the module itself."""
        endpoint = parse_move_endpoint(text, Diagnostics())
        if endpoint is None:
            return text
        subject, module = endpoint.subject, self._variant.module
        is_module = isinstance(subject, ModuleAddr)
        steps = subject.steps if isinstance(subject, ModuleAddr) else subject.module.steps
        prefix = "module." if is_module else ""
        words = [word for name, key in steps for word in (name, key) if word is not None]
        if not isinstance(subject, ModuleAddr):
            resource = subject.item.resource
            prefix = f"{resource.type}."
            words += [word for word in (resource.name, subject.item.key) if word is not None]
        taken = {str(each) for each in module.resources} | {
            f"module.{each}" for each in module.calls
        }
        return free_name(f"{prefix}{identifier('_'.join(map(str, words)))}", taken)

    def in_modules(self, expr: Expression) -> str | None:
        """The address of a resource in a called module, by the names of all calls that lead there."""
        endpoint = parse_move_endpoint(self._literal.text(expr), Diagnostics())
        if endpoint is None or isinstance(endpoint.subject, ModuleAddr):
            return None
        instance: ModuleInstance | None = self._variant.frame.instance
        words: list[str] = []
        for name, key in endpoint.subject.module.steps:
            plan = None if instance is None else self._variants[instance.variant].calls.get(name)
            names = (plan.names if plan is not None else None) or {}
            words.append(
                f"module.{names[key]}" if key in names else f"module.{name}{key_text(key)}"
            )
            children = {} if instance is None else instance.children.get(name, {})
            instance = children.get(key) or children.get(DEFERRED)
        return ".".join([*words, str(endpoint.subject.item)]) if words else None
