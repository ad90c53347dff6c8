"""Provider address patterns of installation methods."""

from __future__ import annotations

from nigari.addrs.hostname import normalize_hostname
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
