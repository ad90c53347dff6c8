"""Provider references: `aws`, `aws.west`, `aws.by_region[each.key]`.

Such a reference is syntax, not a value: elsewhere `aws.west` would be a resource. Only the key in
brackets is an expression.
"""

from __future__ import annotations

from nigari.addrs.provider import LocalProviderConfig, normalize_provider_part
from nigari.config.core.literals import native, unquoted
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.collections import DottedKey
from nigari.hcl.expressions import Expression, Index, Literal, SyntaxFault
from nigari.hcl.source import Source
from nigari.hcl.splats import Splat
from nigari.hcl.traversal import Traversal, TraverseAttr, TraverseIndex
from nigari.record import record


@record
class ProviderRef:
    """A provider configuration in a `provider` or `providers` argument."""

    name: str
    alias: str
    key: Expression | None
    source: Source
    start: int
    end: int
    """End of the local name; alias and key follow."""

    @property
    def range(self) -> Range:
        """Range of the local name."""
        return self.source.range(self.start, self.end)

    @property
    def config(self) -> LocalProviderConfig:
        """The configuration, without a key."""
        return LocalProviderConfig(self.name, self.alias)

    def __str__(self) -> str:
        text = f"{self.name}.{self.alias}" if self.alias else self.name
        return text if self.key is None else f"{text}[...]"


def decode_provider_ref(expr: Expression, argument: str, diags: Diagnostics) -> ProviderRef | None:
    """Decode a provider reference."""
    whole = expr
    errors = diags.error_count
    expr = unquoted(native(expr, diags), "reference", diags)
    if diags.error_count > errors:
        return None
    if isinstance(expr, DottedKey):
        expr = expr.reference
    key: Expression | None = None
    if isinstance(expr, Index):
        key, expr = expr.key, unquoted(expr.collection, "reference", diags)
    if isinstance(expr, Splat):
        _report_splat(whole.range, diags)
        return None
    traversal = expr.static_traversal()
    if traversal is None:
        _report_shape(whole, argument, diags)
        return None
    return _from_traversal(traversal, key, whole, argument, diags)


def _from_traversal(
    traversal: Traversal,
    key: Expression | None,
    whole: Expression,
    argument: str,
    diags: Diagnostics,
) -> ProviderRef | None:
    steps = traversal.steps
    name, root = traversal.root_name, steps[0]
    if name == "provider" and len(steps) > 1 and isinstance(steps[1], TraverseAttr):
        _report_prefix(traversal, diags)
        return None
    where = traversal.source.range(root.start, root.end)
    if not check_local_name(name, where, diags):
        return None
    if name in _VALUE_ROOTS and len(steps) > 1:
        report_value(str(traversal), traversal.range, diags)
        return None
    alias = ""
    if len(steps) > 1:
        step = steps[1]
        if not isinstance(step, TraverseAttr):
            _report_key_without_alias(name, traversal.range, diags)
            return None
        alias = step.name
    if len(steps) > 2:
        step = steps[2]
        if len(steps) > 3 or not isinstance(step, TraverseIndex) or key is not None:
            _report_shape(whole, argument, diags)
            return None
        key = Literal(traversal.source, step.start + 1, step.end - 1, step.key)
    if key is not None and not alias:
        _report_key_without_alias(name, whole.range, diags)
        return None
    return ProviderRef(name, alias, key, traversal.source, root.start, root.end)


_VALUE_ROOTS = frozenset(("var", "each", "module", "data", "count", "self"))
"""Roots of values. A provider may be named "local", so that one is checked later."""


def check_local_name(name: str, where: Range, diags: Diagnostics) -> bool:
    """Check a provider's local name, and report an invalid one."""
    normal = normalize_provider_part(name)
    if normal == name:
        return True
    if normal is None:
        detail = (
            f'"{name}" is not a valid provider name. A provider name consists of letters, digits '
            "and dashes, and must not begin or end with a dash."
        )
    else:
        detail = f'Provider names must be in normal form: write "{normal}", not "{name}".'
    diags.error("Invalid provider local name", detail, where)
    return False


def _report_shape(expr: Expression, argument: str, diags: Diagnostics) -> None:
    if isinstance(expr, SyntaxFault):
        return
    diags.error(
        "Invalid provider reference",
        f'The argument "{argument}" must name a provider configuration: the provider\'s local '
        "name, then a dot and the alias if the configuration has one, and a key in brackets if "
        "it has instances. Other expressions are not allowed, because the name must be known "
        "before any value.",
        expr.range,
    )


def _report_prefix(traversal: Traversal, diags: Diagnostics) -> None:
    better = str(traversal).removeprefix("provider.")
    diags.error(
        "Invalid provider reference",
        "A reference to a provider configuration begins with the provider's name, without "
        f'"provider." in front: write {better}.',
        traversal.range,
    )


def report_value(text: str, where: Range, diags: Diagnostics) -> None:
    """Report a value in place of a provider configuration."""
    diags.error(
        "Invalid provider reference",
        f"{text} is a value, and a provider configuration is not a value: it cannot be stored in "
        "a variable or local. Name the configuration itself, such as aws.west. To select a "
        "configuration by a value, add for_each to one provider block and use the value as the "
        "key: aws.by_region[each.key].",
        where,
    )


def _report_splat(where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Invalid provider reference",
        "A splat cannot select provider instances. Use a single key, as in "
        "aws.by_region[each.key]; to pass all instances to a module, name the configuration "
        "without a key.",
        where,
    )


def _report_key_without_alias(name: str, where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Provider key without an alias",
        f"Only a provider configuration with an alias can have instances, so the key must come "
        f"after the alias: {name}.alias[key].",
        where,
    )
