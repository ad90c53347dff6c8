"""Module address patterns of `module_installation`."""

from __future__ import annotations

from nigari.addrs.hostname import normalize_hostname
from nigari.addrs.module_source import RegistrySource
from nigari.addrs.provider import DEFAULT_REGISTRY_HOST
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_ANY: Final = "*"


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
