"""Sources of secret provider arguments: the variable or local value of the root module behind each.

A state remembers them as text, so that a provider that is gone can be configured once more with the
secret of today. What `each.value` means is looked up in `for_each`, since the element is gone by then.
A source holds no text that may itself be a secret.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from nigari.addrs.keys import InstanceKey, key_from_value
from nigari.config.blocks.local import Local
from nigari.config.blocks.provider_config import ProviderConfig
from nigari.diagnostics import Diagnostics
from nigari.hcl.collections import KeyName, ObjectConstructor
from nigari.hcl.expressions import Expression, Index, Literal, Parentheses, Reference
from nigari.hcl.json_expressions import JsonExpression, JsonString
from nigari.hcl.parser import parse_expression
from nigari.hcl.source import Source
from nigari.hcl.templates import StringLiteral, TemplateWrap
from nigari.hcl.traversal import TraverseAttr, TraverseIndex
from nigari.state.model import ProviderMemory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    Path = tuple[InstanceKey, ...]

_DEEPEST: Final = 20
"""Longer chains of local values have no source."""


def secret_sources(
    config: ProviderConfig, local_values: Mapping[str, Local], memory: ProviderMemory
) -> dict[str, str]:
    """Find the source of each withheld argument that has one."""
    search = _Search(config, local_values, memory.address.item.key)
    # The block may be JSON, or merged with one of an override file.
    written = config.body.just_attributes(Diagnostics())
    found = {name: search.source(written[name].expr) for name in memory.withheld if name in written}
    return {name: text for name, text in found.items() if text}


def source_variables(memory: ProviderMemory) -> dict[str, bool]:
    """List the variables in the recorded sources, and whether each is used as a whole."""
    found: dict[str, bool] = {}
    for text in memory.sources.values():
        pending = [parse_expression(Source("<state>", text), Diagnostics())]
        while pending:
            each = pending.pop()
            pending += each.children()
            if isinstance(each, Reference):
                root, *names = _names(each)
                if root == "var" and names and isinstance(names[0], str):
                    found[names[0]] = found.get(names[0], True) and len(names) == 1
    return found


class _Search:
    def __init__(
        self, config: ProviderConfig, local_values: Mapping[str, Local], key: InstanceKey
    ) -> None:
        self._for_each = config.for_each
        self._locals = local_values
        self._key = key

    def source(self, expr: Expression, path: Path = (), depth: int = 0) -> str:
        """Find the source of what is at a path in an expression; empty if there is none."""
        if depth > _DEEPEST:
            return ""
        if isinstance(expr, Parentheses):
            return self.source(expr.inner, path, depth + 1)
        if isinstance(expr, JsonExpression):
            template = expr.children() if isinstance(expr, JsonString) else []
            return self.source(template[0], path, depth + 1) if template else ""
        if isinstance(expr, TemplateWrap):
            return self.source(expr.wrapped, path, depth + 1)
        if isinstance(expr, ObjectConstructor):
            for key, value in expr.items:
                if path and _name(key) == str(path[0]):
                    return self.source(value, path[1:], depth + 1)
            return ""
        if isinstance(expr, Index) and _text(expr.key) == "each.key":
            return self.source(expr.collection, (self._key, *path), depth + 1)
        if isinstance(expr, Reference):
            return self._of_reference(expr, path, depth)
        return "" if path or not self._says_nothing(expr) else _text(expr)

    def _of_reference(self, expr: Reference, path: Path, depth: int) -> str:
        root, *names = _names(expr)
        if None in names:
            return ""
        rest = (*names, *path)
        if root == "each" and rest[:1] == ("value",) and self._for_each is not None:
            return self.source(self._for_each, (self._key, *rest[1:]), depth + 1)
        if root == "local" and rest and str(rest[0]) in self._locals:
            own = self._locals[str(rest[0])].expr
            return self.source(own, rest[1:], depth + 1) or _written(root, rest)
        return _written(root, rest) if root in ("var", "local") and rest else ""

    def _says_nothing(self, expr: Expression) -> bool:
        """Check that an expression refers to a value and holds no text that may be a secret."""
        pending, is_secret_elsewhere = [expr], False
        while pending:
            each = pending.pop()
            pending += each.children()
            if isinstance(each, StringLiteral) and each.text:
                return False
            if isinstance(each, Literal) and _text(each) not in ("null", "true", "false"):
                return False
            if isinstance(each, Reference):
                root, *names = _names(each)
                if root not in ("var", "local") and (root, *names) != ("each", "key"):
                    return False
                is_secret_elsewhere = is_secret_elsewhere or root != "each"
        return is_secret_elsewhere


def _names(expr: Reference) -> list[InstanceKey]:
    """List the root and steps of a reference, None for a step that is neither name nor key."""
    text = _text(expr)
    found: list[InstanceKey] = [text[: expr.steps[0].end - expr.start]]
    for step in expr.steps[1:]:
        if isinstance(step, TraverseAttr):
            found.append(step.name)
        elif isinstance(step, TraverseIndex):
            found.append(key_from_value(step.key))
        else:
            found.append(None)
    return found


def _name(key: Expression) -> str | None:
    """Return the key of an element if it is a literal."""
    if isinstance(key, KeyName):
        return key.name
    return key.text if isinstance(key, StringLiteral) else None


def _text(expr: Expression) -> str:
    return expr.source.text[expr.start : expr.end]


def _written(root: InstanceKey, path: Path) -> str:
    """Write a reference; empty if a key would be read as a template."""
    keys = "".join(f"[{json.dumps(each)}]" for each in path[1:])
    return "" if "${" in keys or "%{" in keys else f"{root}.{path[0]}{keys}"
