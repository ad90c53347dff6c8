"""Addresses as state files write them, read quickly.

A large state repeats the same few shapes many thousand times, so the plain ones are recognised
here by pattern and every text is read once; whatever is unusual goes to `nigari.addrs.parse`.
"""

from __future__ import annotations

from nigari.addrs.absolute import Abs, AbsResource
from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.addrs.provider import (
    AbsProviderInstance,
    ProviderConfig,
    ProviderInstance,
    parse_provider,
)
from nigari.addrs.resource import DATA, MANAGED, Resource
from nigari.diagnostics import Diagnostics
from nigari.lazy import lazy_pattern
from nigari.state.json_text import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_NAME: Final = r"[A-Za-z_][A-Za-z0-9_-]*"
_STEP: Final = rf'module\.({_NAME})(?:\[(?:(\d+)|"([A-Za-z0-9_ .:/@-]*)")\])?'
_PLAIN_STEP: Final = lazy_pattern(_STEP)
_PLAIN_MODULE: Final = lazy_pattern(rf"(?:{_STEP}\.)*{_STEP}")
_PLAIN_RESOURCE: Final = lazy_pattern(
    rf"((?:module\.{_NAME}\.)*)(data\.)?(?!module\.|data\.)({_NAME})\.({_NAME})"
)
_PLAIN_PROVIDER: Final = lazy_pattern(
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

    def module(self, text: str, whose: object) -> ModuleAddr | None:
        """A module instance, `None` after reporting that the text is none."""
        if text not in self._modules:
            self._modules[text] = self._read_module(text)
        found = self._modules[text]
        if found is None:
            self._report("The module", whose, text)
        return found

    def dependency(self, text: str, whose: object) -> AbsResource | None:
        """A resource in a module without keys, `None` after reporting that the text is none."""
        if text not in self._resources:
            self._resources[text] = self._read_resource(text)
        found = self._resources[text]
        if found is None:
            self._report("A dependency", whose, text)
        return found

    def provider(self, text: str, whose: object) -> AbsProviderInstance | None:
        """A provider instance, also as states wrote it before providers had namespaces. `None`
        after reporting that the text is none.
        """
        if text not in self._providers:
            self._providers[text] = self._read_provider(text)
        found = self._providers[text]
        if found is None:
            self._report("The provider", whose, text)
        return found

    def _report(self, what: str, whose: object, text: str) -> None:
        self._diags.error(
            "Invalid state file",
            f"{what} of {whose} is {quoted(text)}, which is not a valid address of that kind.",
        )

    def _read_module(self, text: str) -> ModuleAddr | None:
        if _PLAIN_MODULE.fullmatch(text) is None:
            from nigari.addrs.parse import parse_module

            return parse_module(text, Diagnostics())
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

            found = parse_resource(text, Diagnostics())
            return None if found is None else Abs(found.module.unkeyed, found.item)
        module = self._plain_module(plain[1])
        return Abs(module, Resource(DATA if plain[2] else MANAGED, plain[3], plain[4]))

    def _read_provider(self, text: str) -> AbsProviderInstance | None:
        source = text.removeprefix('provider["').removesuffix('"]')
        if text == f'provider["{source}"]':
            module, alias = "", ""
        elif (plain := _PLAIN_PROVIDER.fullmatch(text)) is not None:
            module, source, alias = plain.groups("")
        else:
            return self._read_any_provider(text)
        provider = parse_provider(source, Diagnostics())
        if provider is None:
            return self._read_any_provider(text)
        config = ProviderConfig(provider, alias)
        return Abs(self._plain_module(module), ProviderInstance(config, None))

    def _read_any_provider(self, text: str) -> AbsProviderInstance | None:
        from nigari.addrs.parse import parse_legacy_provider_config, parse_provider_instance

        found = parse_provider_instance(text, Diagnostics())
        if found is not None:
            return found
        legacy = parse_legacy_provider_config(text, Diagnostics())
        return None if legacy is None else Abs(legacy.module, legacy.item.instance(None))

    def _plain_module(self, prefix: str) -> ModuleAddr:
        """The module that a plain address begins with."""
        text = prefix.rstrip(".")
        if text not in self._modules:
            self._modules[text] = self._read_module(text)
        return self._modules[text] or ROOT_MODULE
