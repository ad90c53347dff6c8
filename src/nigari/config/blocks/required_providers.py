"""`required_providers` and `provider_meta` blocks: a module's provider requirements.

Literal sources and versions are checked here; others stay for evaluation. Deliberately unknown
here: the selected version, and the installation.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.provider import LocalProviderConfig, Provider, implied_provider, parse_provider
from nigari.config.core.declared import Declared
from nigari.config.core.literals import is_written_out, written_value
from nigari.config.core.provider_ref import check_local_name
from nigari.cty.types import KIND_BOOL, KIND_NUMBER, KIND_STRING, STRING
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute, Block, Body
from nigari.hcl.collections import DottedKey
from nigari.hcl.expressions import Expression, SyntaxFault
from nigari.hcl.scope import Scope
from nigari.hcl.static import abs_traversal_for_expr, expr_list
from nigari.hcl.suggestion import did_you_mean
from nigari.lang.versions import parse_provider_constraints
from nigari.record import record


@record
class RequiredProvider:
    """An entry of `required_providers`. Source and version may be static expressions."""

    name: str
    source: Expression | None
    version: Expression | None
    configuration_aliases: tuple[LocalProviderConfig, ...]
    provider: Provider | None
    """The provider, if its source is literal or absent."""
    attribute: Attribute

    @property
    def range(self) -> Range:
        """Range of the entry's value."""
        return self.attribute.expr.range


@record
class ProviderMeta:
    """A `provider_meta` block: the module's metadata for a provider."""

    provider: str
    body: Body
    block: Block

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range


class _Entry:
    """An entry that is being decoded."""

    __slots__ = ("aliases", "attribute", "given")

    def __init__(self, attribute: Attribute) -> None:
        self.attribute = attribute
        self.given: dict[str, Expression] = {}
        self.aliases: list[LocalProviderConfig] = []


_ARGUMENTS = ("source", "version", "configuration_aliases")


def decode_required_providers(block: Block, diags: Diagnostics) -> Mapping[str, RequiredProvider]:
    required: dict[str, RequiredProvider] = {}
    for name, attribute in block.body.just_attributes(diags).items():
        entry = _decode_entry(attribute, diags)
        if entry is not None:
            required[name] = entry
    return required


def _decode_entry(attribute: Attribute, diags: Diagnostics) -> RequiredProvider | None:
    entry = _Entry(attribute)
    expr = attribute.expr
    if not check_local_name(attribute.name, expr.range, diags):
        return None
    items = expr.static_map()
    if items is None:
        if is_written_out(expr) and not _is_primitive(expr):
            _report_entry(expr, diags)
            return None
        entry.given["version"] = expr
    for key, value in items or ():
        if not _take(entry, key, value, diags):
            break
    source = entry.given.get("source")
    version = entry.given.get("version")
    if version is not None:
        _check_version(version, diags)
    provider = implied_provider(attribute.name)
    return RequiredProvider(
        attribute.name,
        source,
        version,
        tuple(entry.aliases),
        provider if source is None else _provider(source, diags),
        attribute,
    )


def _take(entry: _Entry, key: Expression, value: Expression, diags: Diagnostics) -> bool:
    """Decode one argument of an entry; return whether to continue."""
    errors = diags.error_count
    name = None if isinstance(key, DottedKey) else key.value(Scope(), diags).data
    if diags.error_count > errors:
        return True
    if not isinstance(name, str) or name not in _ARGUMENTS:
        _report_argument(str(name), key, diags)
        return False
    if name == "configuration_aliases":
        entry.aliases.extend(_aliases(entry.attribute.name, value, diags))
    elif _check_string(name, value, diags):
        entry.given[name] = value
    return True


def _is_primitive(expr: Expression) -> bool:
    return expr.value(Scope(), Diagnostics()).type.kind in (KIND_STRING, KIND_NUMBER, KIND_BOOL)


def _check_version(expr: Expression, diags: Diagnostics) -> None:
    value = written_value(expr, STRING, "version", diags)
    if value is not None:
        parse_provider_constraints(value.as_string(), diags, expr.range)


def _provider(expr: Expression, diags: Diagnostics) -> Provider | None:
    value = written_value(expr, STRING, "source", diags)
    return None if value is None else parse_provider(value.as_string(), diags, expr.range)


def _check_string(name: str, value: Expression, diags: Diagnostics) -> bool:
    """Check that an argument may be a string; report any other literal."""
    if is_written_out(value) and value.value(Scope(), Diagnostics()).type.kind != KIND_STRING:
        _report_no_string(name, value, diags)
        return False
    return True


def _aliases(name: str, expr: Expression, diags: Diagnostics) -> list[LocalProviderConfig]:
    from nigari.addrs.parse import parse_local_provider_config

    found: list[LocalProviderConfig] = []
    for element in expr_list(expr, diags) or ():
        traversal = abs_traversal_for_expr(element, diags)
        if traversal is None:
            continue
        unreported = Diagnostics()
        config = parse_local_provider_config(traversal, unreported)
        if config is None:
            _report_alias(name, element, diags)
        elif config.name != name:
            _report_alias_of_other(name, config, element, diags)
        else:
            found.append(config)
    return found


def decode_provider_meta(declared: Declared, diags: Diagnostics) -> ProviderMeta | None:
    """Decode a `provider_meta` block, whose arguments must all be literal."""
    attributes = declared.body.just_attributes(diags)
    for attribute in attributes.values():
        attribute.expr.value(Scope(), diags)
    if not check_local_name(declared.name, declared.range, diags):
        return None
    return ProviderMeta(declared.name, declared.body, declared.block)


def _report_entry(expr: Expression, diags: Diagnostics) -> None:
    if isinstance(expr, SyntaxFault):
        return
    diags.error(
        "Invalid provider requirement",
        "A requirement is an object with source and version, or a version constraint as a "
        'string: aws = { source = "hashicorp/aws", version = "~> 5.0" }.',
        expr.range,
    )


def _report_no_string(name: str, value: Expression, diags: Diagnostics) -> None:
    diags.error(
        "Invalid provider requirement",
        f"The {name} of a provider must be a string. Put it in quotes.",
        value.range,
    )


def _report_argument(name: str, key: Expression, diags: Diagnostics) -> None:
    hint = did_you_mean(name, _ARGUMENTS) or (" Configure a provider in a provider block.")
    diags.error(
        "Invalid provider requirement",
        f'A provider requirement has no "{name}": it can contain source, version and '
        f"configuration_aliases.{hint}",
        key.range,
    )


def _report_alias(name: str, element: Expression, diags: Diagnostics) -> None:
    diags.error(
        "Invalid configuration alias",
        "Each element must be the name of a configuration that the caller passes: the provider's "
        f"name, a dot and an alias, as in {name}.other.",
        element.range,
    )


def _report_alias_of_other(
    name: str, config: LocalProviderConfig, element: Expression, diags: Diagnostics
) -> None:
    diags.error(
        "Invalid configuration alias",
        f"The aliases of {name} must begin with {name}: write {name}.{config.alias}, or move "
        f"{config} to the requirement of {config.name}.",
        element.range,
    )
