"""Addresses of providers, provider configurations and their instances.

A provider is `hostname/namespace/type`. A configuration of one is a `provider` block; with
`for_each` or `count` it has instances. Inside a module a provider has a local name, which only the
module's requirements can resolve; that is done elsewhere.
"""

from __future__ import annotations

from nigari.addrs.absolute import Abs
from nigari.addrs.address import Address, SortKey
from nigari.addrs.hostname import normalize_hostname, normalize_label
from nigari.addrs.keys import InstanceKey, key_order, key_text
from nigari.addrs.module import ModuleAddr, module_from_steps
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.quoting import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias, TypeVar

    P = TypeVar("P", "ProviderConfig", "ProviderInstance")


DEFAULT_REGISTRY_HOST = "registry.opentofu.org"
DEFAULT_NAMESPACE = "hashicorp"
BUILTIN_HOST = "terraform.io"
BUILTIN_NAMESPACE = "builtin"
LEGACY_NAMESPACE = "-"

_REDUNDANT_PREFIXES = ("terraform-", "opentofu-")


class Provider(Address):
    """A provider, independent of its installation source: a host, a namespace and a type."""

    __slots__ = ("hostname", "namespace", "type")

    hostname: str
    namespace: str
    type: str

    def __init__(self, hostname: str, namespace: str, type: str) -> None:
        self.hostname = hostname
        self.namespace = namespace
        self.type = type
        self.text: str = f"{hostname}/{namespace}/{type}"

    @property
    def display(self) -> str:
        """The address in its usual spelling, without the default registry's hostname."""
        if self.hostname == DEFAULT_REGISTRY_HOST:
            return f"{self.namespace}/{self.type}"
        return self.text

    @property
    def is_builtin(self) -> bool:
        """True for a provider that is part of the program, such as that of `terraform_data`."""
        return self.hostname in (BUILTIN_HOST, "opentofu.org") and (
            self.namespace == BUILTIN_NAMESPACE
        )

    @property
    def is_legacy(self) -> bool:
        """True for an address from before providers had namespaces."""
        return self.hostname == DEFAULT_REGISTRY_HOST and self.namespace == LEGACY_NAMESPACE

    @property
    def is_default(self) -> bool:
        """True if a bare type name without a declared source refers to this provider."""
        return self.hostname == DEFAULT_REGISTRY_HOST and self.namespace == DEFAULT_NAMESPACE


def default_provider(type: str) -> Provider:
    """Address a provider in the default namespace of the default registry."""
    return Provider(DEFAULT_REGISTRY_HOST, DEFAULT_NAMESPACE, type)


def builtin_provider(type: str = "terraform") -> Provider:
    """Address a provider that is part of the program."""
    return Provider(BUILTIN_HOST, BUILTIN_NAMESPACE, type)


def legacy_provider(type: str) -> Provider:
    """Address a provider as states from before namespaces do."""
    return Provider(DEFAULT_REGISTRY_HOST, LEGACY_NAMESPACE, type)


def implied_provider(local_name: str) -> Provider:
    """Return the provider for a local name without a declared source."""
    if local_name == "terraform":
        return builtin_provider(local_name)
    return default_provider(local_name)


def normalize_provider_part(part: str) -> str | None:
    """Normalize a provider namespace or type; `None` if it is invalid."""
    if "." in part or "--" in part:
        return None
    return normalize_label(part)


def parse_provider(text: str, diags: Diagnostics, subject: Range | None = None) -> Provider | None:
    """Parse a provider source, `[hostname/][namespace/]type`.

    `subject` is its range in the configuration; without it, diagnostics point into the text.
    """
    parts = text.split("/")
    if len(parts) > 3 or "" in parts:
        _report_source_shape(text, diags, subject)
        return None

    def range_of(index: int) -> Range:
        start = sum(len(part) + 1 for part in parts[:index])
        return subject or _range_in(text, start, start + len(parts[index]))

    last = len(parts) - 1
    type_name = normalize_provider_part(parts[-1])
    if type_name is None:
        _report_part("type", parts[-1], text, diags, range_of(last))
        return None
    namespace: str | None = DEFAULT_NAMESPACE
    if len(parts) > 1:
        given = parts[-2]
        namespace = given if given == LEGACY_NAMESPACE else normalize_provider_part(given)
        if namespace is None:
            _report_part("namespace", given, text, diags, range_of(last - 1))
            return None
    hostname: str | None = DEFAULT_REGISTRY_HOST
    if len(parts) == 3:
        hostname = normalize_hostname(parts[0])
        if hostname is None:
            _report_hostname(parts[0], text, diags, range_of(0))
            return None
    provider = Provider(hostname or "", namespace or "", type_name)
    if namespace == LEGACY_NAMESPACE and hostname != DEFAULT_REGISTRY_HOST:
        _report_legacy_host(provider, diags, range_of(last - 1))
        return None
    for prefix in _REDUNDANT_PREFIXES:
        if len(parts) > 1 and type_name.startswith(prefix):
            _report_redundant_prefix(provider, prefix, diags, range_of(last))
            return None
    return provider


def _range_in(text: str, start: int, end: int) -> Range:
    from nigari.hcl.source import Source

    return Source("", text).range(start, end)


def _report_source_shape(text: str, diags: Diagnostics, subject: Range | None) -> None:
    diags.error(
        "Invalid provider source",
        f"{quoted(text)} is not a valid provider source. Write the provider's type, preceded by "
        'its namespace and hostname where needed: "hashicorp/aws" or '
        '"registry.example.com/team/thing".',
        subject or _range_in(text, 0, len(text)),
    )


def _report_part(what: str, part: str, text: str, diags: Diagnostics, subject: Range) -> None:
    diags.error(
        f"Invalid provider {what}",
        f"{quoted(part)} in the provider source {quoted(text)} is not a valid provider {what}: "
        "it must consist of letters, digits and single dashes, and must not begin or end with a "
        "dash.",
        subject,
    )


def _report_hostname(part: str, text: str, diags: Diagnostics, subject: Range) -> None:
    diags.error(
        "Invalid provider source hostname",
        f"{quoted(part)} in the provider source {quoted(text)} is not a valid hostname. Use a "
        "name such as registry.example.com, with a port if needed; an international name must be "
        "written in its own letters, not in punycode.",
        subject,
    )


def _report_legacy_host(provider: Provider, diags: Diagnostics, subject: Range) -> None:
    diags.error(
        "Invalid provider namespace",
        'The namespace "-" is for providers older than namespaces, which exist only on '
        f"{DEFAULT_REGISTRY_HOST}, not on {provider.hostname}. Use the provider's actual "
        "namespace.",
        subject,
    )


def _report_redundant_prefix(
    provider: Provider, prefix: str, diags: Diagnostics, subject: Range
) -> None:
    rest = provider.type.removeprefix(prefix).removeprefix("provider-")
    better = Provider(provider.hostname, provider.namespace, rest)
    suggestion = f" Did you mean {quoted(better.display)}?" if normalize_provider_part(rest) else ""
    diags.error(
        "Invalid provider type",
        f"The provider type {quoted(provider.type)} must not begin with {quoted(prefix)}: "
        "repositories are often named that way, but provider sources leave the prefix out."
        + suggestion,
        subject,
    )


class LocalProviderConfig(Address):
    """A provider configuration as its module refers to it: `aws`, `aws.west`."""

    __slots__ = ("alias", "name")

    name: str
    """Local name of the provider."""
    alias: str

    def __init__(self, name: str, alias: str = "") -> None:
        self.name = name
        self.alias = alias
        self.text: str = f"{name}.{alias}" if alias else name


class ProviderConfig(Address):
    """A `provider` block of a module: `provider["registry.opentofu.org/hashicorp/aws"].west`."""

    __slots__ = ("alias", "provider")

    provider: Provider
    alias: str

    def __init__(self, provider: Provider, alias: str = "") -> None:
        self.provider = provider
        self.alias = alias
        text = f"provider[{quoted(provider.text)}]"
        self.text: str = f"{text}.{alias}" if alias else text

    def instance(self, key: InstanceKey = None) -> ProviderInstance:
        """Address one instance of the configuration."""
        return ProviderInstance(self, key)


class ProviderInstance(Address):
    """An instance of a provider configuration; without a key, the only one."""

    __slots__ = ("config", "key")

    config: ProviderConfig
    key: InstanceKey

    def __init__(self, config: ProviderConfig, key: InstanceKey = None) -> None:
        self.config = config
        self.key = key
        self.text: str = f"{config.text}{key_text(key)}"

    @property
    def provider(self) -> Provider:
        """The configured provider."""
        return self.config.provider

    def sort_key(self) -> SortKey:
        """Sort by configuration, then by key."""
        return self.config.sort_key() + key_order(self.key)


AbsProviderConfig: TypeAlias = Abs[ProviderConfig]
AbsProviderInstance: TypeAlias = Abs[ProviderInstance]


def config_of(instance: AbsProviderInstance) -> AbsProviderConfig:
    """Return the provider block of an instance, in a module without keys, as in states."""
    return Abs(instance.module.unkeyed, instance.item.config)


def provider_for(module: ModuleAddr, stored: Abs[P]) -> Abs[P]:
    """Return the provider block or instance that manages an object in a module instance.

    States omit the keys in the module path of a provider block. The block is in the module instance
    itself or above it, so it gets the keys of that path. A provider in another module, which a move
    may leave behind, stays without keys.
    """
    depth = stored.module.depth
    if not depth or module.names[:depth] != stored.module.names:
        return stored
    return Abs(module_from_steps(module.steps[:depth]), stored.item)
