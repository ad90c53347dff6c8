"""Patterns of provider and module addresses, which select installation methods."""

from __future__ import annotations

from nigari.addrs.hostname import normalize_hostname
from nigari.addrs.module_source import RegistrySource
from nigari.addrs.provider import DEFAULT_REGISTRY_HOST, Provider, normalize_provider_part
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_ANY: Final = "*"


@record
class ProviderPattern:
    """A provider address in which `*` matches any part: `*/*/*`, `example.com/*/*`."""

    hostname: str
    namespace: str
    type: str

    def matches(self, provider: Provider) -> bool:
        return (
            self.hostname in (_ANY, provider.hostname)
            and self.namespace in (_ANY, provider.namespace)
            and self.type in (_ANY, provider.type)
        )


def parse_pattern(text: str) -> ProviderPattern:
    """Parse `[hostname/]namespace/type`; raise `ValueError` if it is invalid."""
    parts = text.split("/")
    if len(parts) not in (2, 3):
        raise ValueError("it must have two or three parts separated by slashes")
    host = DEFAULT_REGISTRY_HOST if len(parts) == 2 else parts[0]
    hostname = host if host == _ANY else normalize_hostname(host)
    namespace, type_ = (p if p == _ANY else normalize_provider_part(p) for p in parts[-2:])
    if hostname is None or namespace is None or type_ is None:
        raise ValueError("each part must be a name or the wildcard *")
    # OpenTofu (MultiSourceMatchingPatterns): only trailing parts may be wildcards.
    if (hostname == _ANY and (namespace, type_) != (_ANY, _ANY)) or (
        namespace == _ANY and type_ != _ANY
    ):
        raise ValueError("all parts after a wildcard must also be wildcards")
    return ProviderPattern(hostname, namespace, type_)


@record
class ModulePattern:
    """The address of a registry module in which `*` matches any part: `example.com/*/*/*`."""

    hostname: str
    path: tuple[str, ...]

    def matches(self, source: RegistrySource) -> bool:
        if self.hostname not in (_ANY, source.hostname):
            return False
        parts = zip(self.path, source.package_path.split("/"), strict=True)
        return all(wanted in (_ANY, part) for wanted, part in parts)


def parse_module_pattern(text: str) -> ModulePattern:
    """Parse `[hostname/]namespace/name/system`; raise `ValueError` if it is invalid."""
    parts = text.split("/")
    if len(parts) not in (3, 4) or not all(parts):
        raise ValueError("it must have three or four parts separated by slashes")
    host = DEFAULT_REGISTRY_HOST if len(parts) == 3 else parts[0]
    hostname = host if host == _ANY else normalize_hostname(host)
    if hostname is None:
        raise ValueError("the first part must be a hostname or the wildcard *")
    path = tuple(parts[-3:])
    named = [part != _ANY for part in (hostname, *path)]
    if named != sorted(named, reverse=True):
        raise ValueError("all parts after a wildcard must also be wildcards")
    return ModulePattern(hostname, path)
