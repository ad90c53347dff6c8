"""Settings of an `encryption` block, with its expressions evaluated.

Key providers may use each other's keys, which differ between writing (a new salt) and reading (the
file's salt). So the arguments of a block are not plain values but `EncryptionArguments`, which
compute values once the referenced keys exist. Deliberately unknown here: HCL, and the types of key
providers and methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from nigari.cty import Value
from nigari.diagnostics import Diagnostics, Range
from nigari.record import record, replace
from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

UNENCRYPTED: Final = "unencrypted"
"""Type of the method that allows plain data."""


@record
class BlockName:
    """The two labels of a `key_provider` or `method` block."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type}.{self.name}"


class EncryptionArguments(Protocol):
    """Arguments of a block, some of which may depend on other key providers' keys."""

    @property
    def key_providers(self) -> Mapping[BlockName, Range | None]:
        """Key providers whose keys the arguments use, with the ranges of their references."""
        ...

    def values(
        self, keys: Mapping[BlockName, Value], diags: Diagnostics
    ) -> Mapping[str, Value] | None:
        """Compute the values by argument name; `None` after reporting a failure.

        `keys` has at least an entry for each of `key_providers`.
        """
        ...


@record
class GivenArguments:
    """Arguments with known values, or that consist of a key provider's keys."""

    given: Mapping[str, Value | BlockName] = MappingProxyType({})
    """Never shown: a passphrase may be among them."""

    def __repr__(self) -> str:
        return f"<arguments {', '.join(self.given)}>"

    @property
    def key_providers(self) -> Mapping[BlockName, Range | None]:
        """Key providers that are a whole argument."""
        return {given: None for given in self.given.values() if isinstance(given, BlockName)}

    def values(
        self,
        keys: Mapping[BlockName, Value],
        diags: Diagnostics,
    ) -> Mapping[str, Value] | None:
        """Return the values, with each key provider replaced by its keys."""
        return {
            name: keys[given] if isinstance(given, BlockName) else given
            for name, given in self.given.items()
        }


@record
class KeyProviderConfig:
    """A `key_provider` block."""

    label: BlockName
    arguments: EncryptionArguments
    metadata_alias: str = ""
    """`encrypted_metadata_alias`: the name under which the file stores the key's metadata."""
    subject: Range | None = None

    @property
    def metadata_key(self) -> str:
        """Name of this key provider's entry in an encrypted file."""
        return self.metadata_alias or f"key_provider.{self.label}"


@record
class MethodConfig:
    """A `method` block."""

    label: BlockName
    arguments: EncryptionArguments = GivenArguments()
    subject: Range | None = None

    @property
    def is_encrypting(self) -> bool:
        """True unless the method only allows plain data."""
        return self.label.type != UNENCRYPTED


@record
class TargetConfig:
    """A `state`, `plan`, `default` or `remote_state_data_source` block."""

    method: BlockName | None
    fallbacks: tuple[BlockName, ...] = ()
    """Methods of the nested `fallback` blocks, outermost first."""
    enforced: bool = False
    subject: Range | None = None
    named_at: Mapping[BlockName, Range] = MappingProxyType({})
    """Ranges of the references to methods."""


@record
class EncryptionConfig:
    """A whole `encryption` block."""

    key_providers: tuple[KeyProviderConfig, ...] = ()
    methods: tuple[MethodConfig, ...] = ()
    state: TargetConfig | None = None
    plan: TargetConfig | None = None
    remote_default: TargetConfig | None = None
    remote: Mapping[str, TargetConfig] = MappingProxyType({})
    """Targets for `terraform_remote_state`, by the name in the block."""
    subject: Range | None = None
    environ: Mapping[str, str] = MappingProxyType({})
    """Environment of key providers, which supplements unset arguments."""

    def key_provider(self, label: BlockName) -> KeyProviderConfig | None:
        return next((each for each in self.key_providers if each.label == label), None)

    def method(self, label: BlockName) -> MethodConfig | None:
        return next((each for each in self.methods if each.label == label), None)


@record
class OverriddenArguments:
    """Arguments of a block in the configuration, overridden by those of `TF_ENCRYPTION`."""

    base: EncryptionArguments
    override: EncryptionArguments

    @property
    def key_providers(self) -> Mapping[BlockName, Range | None]:
        """Key providers that either side uses."""
        return {**self.base.key_providers, **self.override.key_providers}

    def values(
        self, keys: Mapping[BlockName, Value], diags: Diagnostics
    ) -> Mapping[str, Value] | None:
        """Merge the values of both; the override's take precedence."""
        base = self.base.values(keys, diags)
        override = self.override.values(keys, diags)
        return None if base is None or override is None else {**base, **override}


def merge(base: EncryptionConfig | None, override: EncryptionConfig | None) -> EncryptionConfig:
    """Override the module's configuration by that of `TF_ENCRYPTION`."""
    if base is None or override is None:
        return base or override or EncryptionConfig()
    key_providers = {each.label: each for each in base.key_providers}
    for provider in override.key_providers:
        known = key_providers.get(provider.label)
        key_providers[provider.label] = provider if known is None else _over(known, provider)
    methods = {each.label: each for each in base.methods}
    for method in override.methods:
        known_method = methods.get(method.label)
        methods[method.label] = (
            method
            if known_method is None
            else replace(
                known_method,
                arguments=OverriddenArguments(known_method.arguments, method.arguments),
            )
        )
    remote = dict(base.remote)
    for name, target in override.remote.items():
        merged = _merge_target(remote.get(name), target)
        remote[name] = target if merged is None else merged
    return EncryptionConfig(
        key_providers=tuple(key_providers.values()),
        methods=tuple(methods.values()),
        state=_merge_target(base.state, override.state),
        plan=_merge_target(base.plan, override.plan),
        remote_default=_merge_target(base.remote_default, override.remote_default),
        remote=remote,
        subject=base.subject,
    )


def _over(base: KeyProviderConfig, override: KeyProviderConfig) -> KeyProviderConfig:
    return replace(
        base,
        arguments=OverriddenArguments(base.arguments, override.arguments),
        metadata_alias=override.metadata_alias or base.metadata_alias,
    )


def _merge_target(base: TargetConfig | None, override: TargetConfig | None) -> TargetConfig | None:
    if base is None or override is None:
        return base or override
    return TargetConfig(
        method=override.method or base.method,
        fallbacks=override.fallbacks or base.fallbacks,
        enforced=base.enforced or override.enforced,
        subject=base.subject,
        named_at={**base.named_at, **override.named_at},
    )
