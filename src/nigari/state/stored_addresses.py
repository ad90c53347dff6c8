"""Addresses as state files write them, read quickly.

A large state repeats the same few shapes many thousand times, so the plain ones are recognised
here by pattern and every text is read once; whatever is unusual goes to `nigari.addrs.parse`.
"""

from __future__ import annotations

import re
from typing import Final

from nigari.addrs.absolute import Abs, AbsResource
from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.addrs.provider import (
    AbsProviderConfig,
    AbsProviderInstance,
    ProviderConfig,
    ProviderInstance,
    parse_provider,
)
from nigari.addrs.resource import DATA, MANAGED, Resource
from nigari.diagnostics import Diagnostics

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_-]*"
_PLAIN_STEP: Final = re.compile(rf'module\.({_NAME})(?:\[(?:(\d+)|"([A-Za-z0-9_ .:/@-]*)")\])?')
_PLAIN_MODULE: Final = re.compile(rf"(?:{_PLAIN_STEP.pattern}\.)*{_PLAIN_STEP.pattern}")
_PLAIN_RESOURCE: Final = re.compile(
    rf"((?:module\.{_NAME}\.)*)(data\.)?(?!module\.|data\.)({_NAME})\.({_NAME})"
)
_PLAIN_PROVIDER: Final = re.compile(
    rf'((?:module\.{_NAME}\.)*)provider\["([A-Za-z0-9/._-]+)"\](?:\.({_NAME}))?'
)


class StoredAddresses:
    """Reads addresses and remembers them; one for each file that is read."""

    __slots__ = ("_diags", "_modules", "_providers", "_resources")

    def __init__(self, diags: Diagnostics) -> None:
        self._diags = diags
        self._modules: dict[str, ModuleAddr | None] = {"": ROOT_MODULE}
        self._resources: dict[str, AbsResource | None] = {}
        self._providers: dict[str, AbsProviderInstance | None] = {}

    def module(self, text: str) -> ModuleAddr | None:
        """A module instance, `None` after reporting that the text is none."""
        if text not in self._modules:
            self._modules[text] = self._read_module(text)
        return self._modules[text]

    def dependency(self, text: str) -> AbsResource | None:
        """A resource in a module without keys, `None` after reporting that the text is none."""
        if text not in self._resources:
            self._resources[text] = self._read_resource(text)
        return self._resources[text]

    def provider(self, text: str) -> AbsProviderInstance | None:
        """A provider instance, also as states wrote it before providers had namespaces."""
        if text not in self._providers:
            self._providers[text] = self._read_provider(text)
        return self._providers[text]

    def _read_module(self, text: str) -> ModuleAddr | None:
        if _PLAIN_MODULE.fullmatch(text) is None:
            from nigari.addrs.parse import parse_module

            return parse_module(text, self._diags)
        module = ROOT_MODULE
        for step in _PLAIN_STEP.finditer(text):
            name, number, string = step.groups()
            key: InstanceKey = string if number is None else int(number)
            module = module.child(name, key)
        return module

    def _read_resource(self, text: str) -> AbsResource | None:
        plain = _PLAIN_RESOURCE.fullmatch(text)
        if plain is None:
            from nigari.addrs.parse import parse_resource

            found = parse_resource(text, self._diags)
            return None if found is None else Abs(found.module.unkeyed, found.item)
        module = self.module(plain[1].rstrip(".")) or ROOT_MODULE
        return Abs(module, Resource(DATA if plain[2] else MANAGED, plain[3], plain[4]))

    def _read_provider(self, text: str) -> AbsProviderInstance | None:
        plain = _PLAIN_PROVIDER.fullmatch(text)
        provider = None if plain is None else parse_provider(plain[2], Diagnostics())
        if plain is None or provider is None:
            return self._read_any_provider(text)
        module = self.module(plain[1].rstrip(".")) or ROOT_MODULE
        return Abs(module, ProviderInstance(ProviderConfig(provider, plain[3] or ""), None))

    def _read_any_provider(self, text: str) -> AbsProviderInstance | None:
        from nigari.addrs.parse import parse_legacy_provider_config, parse_provider_instance

        problems = Diagnostics()
        found = parse_provider_instance(text, problems)
        if found is not None:
            return found
        legacy = parse_legacy_provider_config(text, Diagnostics())
        if legacy is None:
            self._diags.extend(problems)
            return None
        return Abs(legacy.module, legacy.item.instance(None))


def config_of(instance: AbsProviderInstance) -> AbsProviderConfig:
    """The provider block that a provider instance belongs to."""
    return Abs(instance.module, instance.item.config)
