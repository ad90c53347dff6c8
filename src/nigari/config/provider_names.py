"""Consistency of provider names within one module: each provider should have one name."""

from __future__ import annotations

from nigari.addrs.provider import Provider, implied_provider, normalize_provider_part
from nigari.config.blocks.required_providers import RequiredProvider
from nigari.config.blocks.resource import Resource
from nigari.config.module import Module
from nigari.diagnostics import Diagnostics


def check_provider_names(module: Module, diags: Diagnostics) -> None:
    """Report providers with several names in a module, or with an invalid one."""
    _check_requirements(module, diags)
    _check_implied(module, diags)


def _check_requirements(module: Module, diags: Diagnostics) -> None:
    """Check that each provider is required under one name."""
    names: dict[Provider, RequiredProvider] = {}
    configured = {addr.name for addr in module.provider_configs}
    for required in module.required_providers.values():
        provider = required.provider
        if provider is None:
            continue
        first = names.setdefault(provider, required)
        if first is not required:
            _report_required_twice(required, first, provider, diags)
        elif provider.is_default and required.name != provider.type:
            if provider.type in configured:
                _report_other_block_name(required, provider, diags)


def _check_implied(module: Module, diags: Diagnostics) -> None:
    """Check that the provider implied by a resource type is not required under another name."""
    names = {
        required.provider: required.name
        for required in module.required_providers.values()
        if required.provider is not None
    }
    known: dict[str, str | None] = {}
    for resource in module.resources.values():
        if resource.provider is not None:
            continue
        name = resource.addr.implied_provider
        if name in module.required_providers:
            continue
        if name not in known:
            valid = normalize_provider_part(name) is not None
            known[name] = names.get(implied_provider(name)) if valid else ""
        other = known[name]
        if other == "":
            _report_implied_name(resource, name, diags)
        elif other is not None:
            _report_implied_other(resource, name, other, diags)


def _report_required_twice(
    required: RequiredProvider, first: RequiredProvider, provider: Provider, diags: Diagnostics
) -> None:
    diags.warning(
        "Provider required twice",
        f'The provider {provider.display} has two names here, "{first.name}" and "{required.name}'
        '". Keep one of them.',
        required.range,
    )


def _report_other_block_name(
    required: RequiredProvider, provider: Provider, diags: Diagnostics
) -> None:
    diags.warning(
        "Provider with two names",
        f'The provider {provider.display} is required as "{required.name}", but there is a '
        f'provider block for it named "{provider.type}". Use the same name in both places.',
        required.range,
    )


def _report_implied_name(resource: Resource, name: str, diags: Diagnostics) -> None:
    diags.error(
        "Invalid provider local name",
        f'The type of {resource.addr} implies a provider named "{name}", which is not a valid '
        "provider name. Set the provider argument.",
        resource.range,
    )


def _report_implied_other(resource: Resource, name: str, other: str, diags: Diagnostics) -> None:
    diags.warning(
        "Provider with two names",
        f'The type of {resource.addr} implies the provider "{name}", but this module requires it '
        f'as "{other}". Write provider = {other} in the resource, or rename the requirement to "'
        f'{name}".',
        resource.range,
    )
