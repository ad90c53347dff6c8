"""Policies for how a configuration is put together: regions, modules, the state, what exists at all."""

from __future__ import annotations

from collections.abc import Iterator

import nigari
from nigari.lint import Violation, configuration_rule

REGIONS = ("eu-central-1", "eu-west-1")
MODULE_SOURCES = ("./", "../", "git::https://git.acme.example/", "registry.acme.example/")
BACKENDS = ("s3", "gcs", "azurerm")
FORBIDDEN = ("aws_iam_user", "aws_iam_access_key", "null_resource")
MOST_RESOURCES = 50


@configuration_rule("acme:region", "Region that is not allowed", severity="error")
def region(configuration: nigari.Configuration) -> Iterator[Violation]:
    for provider in configuration.root.providers.values():
        for instance in provider.instances.values():
            found = instance.arguments.get("region")
            if found is not None and found.is_known and found.to_python() not in REGIONS:
                yield Violation(f"Use one of the regions {', '.join(REGIONS)}.", found.range)


@configuration_rule("acme:module-source", "Module from elsewhere")
def module_source(configuration: nigari.Configuration) -> Iterator[Violation]:
    for module in configuration.modules():
        for call in module.calls.values():
            if call.source.is_known:
                source = str(call.source.to_python())
                if not source.startswith(MODULE_SOURCES):
                    text = f"{call.address} comes from {source}, which nobody here has reviewed."
                    yield Violation(text, call.source.range)


@configuration_rule("acme:remote-state", "State on somebody's disk")
def remote_state(configuration: nigari.Configuration) -> Iterator[Violation]:
    backend = configuration.backend
    if backend is None or backend.type not in BACKENDS:
        where = None if backend is None else backend.range
        yield Violation(f"Use one of the backends {', '.join(BACKENDS)}.", where)


@configuration_rule("acme:forbidden-type", "Resource type that is not allowed", severity="error")
def forbidden_type(configuration: nigari.Configuration) -> Iterator[Violation]:
    for module in configuration.modules():
        for resource in module.resources.values():
            if resource.type in FORBIDDEN:
                yield Violation(f"{resource.type} is not allowed here.", resource.range)


@configuration_rule("acme:small-modules", "Module with too many resources")
def small_modules(configuration: nigari.Configuration) -> Iterator[Violation]:
    for module in configuration.modules():
        count = len(module.resources)
        if count > MOST_RESOURCES:
            first = next(iter(module.resources.values()))
            text = f"{module.directory} has {count} resources. Split it."
            yield Violation(text, first.range)
