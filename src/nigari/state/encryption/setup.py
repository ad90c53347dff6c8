"""Setup of encryption methods: key providers in dependency order, then the method.

It runs once for writing (no metadata, new keys) and once per file read (the file's metadata).
Deliberately unknown here: the types of key providers and methods.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.cty import Value
from nigari.diagnostics import Diagnostic, Diagnostics, Range, Severity
from nigari.hcl.quoting import quoted
from nigari.state.encryption.arguments import ArgumentReader
from nigari.state.encryption.config import (
    UNENCRYPTED,
    BlockName,
    EncryptionConfig,
    KeyProviderConfig,
    MethodConfig,
)
from nigari.state.encryption.key_providers import KEY_PROVIDERS
from nigari.state.encryption.keys import EncryptionFailure
from nigari.state.encryption.methods import METHODS, Method


def set_up(
    config: EncryptionConfig,
    method: MethodConfig,
    stored: Mapping[str, bytes],
    diags: Diagnostics,
) -> tuple[Method, dict[str, bytes]] | None:
    """Set up a method with its keys; also return the metadata to store with the encrypted data.

    `stored` is the metadata of the file that is read; empty for writing.
    """
    if method.label.type not in METHODS:
        diags.append(unknown_method_type(method))
        return None
    keys: dict[BlockName, Value] = {}
    metadata: dict[str, bytes] = {}
    order = _in_order(config, method.arguments.key_providers, method.subject, diags)
    if order is None:
        return None
    for provider in order:
        if not _provide(provider, config.environ, keys, metadata, stored, diags):
            return None
    values = method.arguments.values(keys, diags)
    if values is None:
        return None
    try:
        reader = ArgumentReader(f"method.{method.label}", values)
        built = METHODS[method.label.type](reader)
        reader.finish()
    except EncryptionFailure as failure:
        diags.append(unusable_block("method", method.label, method.subject, failure))
        return None
    return built, metadata


def check_references(config: EncryptionConfig, diags: Diagnostics) -> None:
    """Report key providers and methods that could never be used."""
    for provider in config.key_providers:
        if provider.label.type not in KEY_PROVIDERS:
            diags.append(unknown_key_provider_type(provider))
    for method in config.methods:
        if method.is_encrypting and method.label.type not in METHODS:
            diags.append(unknown_method_type(method))
        _in_order(config, method.arguments.key_providers, method.subject, diags)


def _provide(
    provider: KeyProviderConfig,
    environ: Mapping[str, str],
    keys: dict[BlockName, Value],
    metadata: dict[str, bytes],
    stored: Mapping[str, bytes],
    diags: Diagnostics,
) -> bool:
    build = KEY_PROVIDERS.get(provider.label.type)
    if build is None:
        diags.append(unknown_key_provider_type(provider))
        return False
    values = provider.arguments.values(keys, diags)
    if values is None:
        return False
    try:
        reader = ArgumentReader(f"key_provider.{provider.label}", values, environ)
        source = build(reader)
        reader.finish()
        made, stored_metadata = source.provide(stored.get(provider.metadata_key))
    except EncryptionFailure as failure:
        diags.append(unusable_block("key_provider", provider.label, provider.subject, failure))
        return False
    if stored_metadata is not None:
        if provider.metadata_key in metadata:
            diags.append(duplicate_metadata_key(provider))
            return False
        metadata[provider.metadata_key] = stored_metadata
    keys[provider.label] = made.to_value()
    return True


def _in_order(
    config: EncryptionConfig,
    wanted: Mapping[BlockName, Range | None],
    subject: Range | None,
    diags: Diagnostics,
) -> list[KeyProviderConfig] | None:
    """Sort the required key providers and their dependencies, dependencies first."""
    order: dict[BlockName, KeyProviderConfig] = {}
    path: list[BlockName] = []
    work = [(label, at or subject, False) for label, at in wanted.items()]
    while work:
        label, referrer, done = work.pop()
        provider = config.key_provider(label)
        if provider is None:
            diags.append(undeclared_key_provider(label, referrer))
            return None
        if done:
            path.pop()
            order[label] = provider
        elif label in path:
            diags.append(key_provider_cycle([*path[path.index(label) :], label], provider))
            return None
        elif label not in order:
            path.append(label)
            work.append((label, referrer, True))
            work.extend(
                (each, at or provider.subject, False)
                for each, at in provider.arguments.key_providers.items()
            )
    return list(order.values())


def unknown_key_provider_type(provider: KeyProviderConfig) -> Diagnostic:
    """Report an unknown type of key provider."""
    known = ", ".join(sorted(KEY_PROVIDERS))
    return Diagnostic(
        Severity.ERROR,
        "Unknown key provider type",
        f"There is no key provider of type {quoted(provider.label.type)}. Known types: {known}.",
        provider.subject,
    )


def unknown_method_type(method: MethodConfig) -> Diagnostic:
    """Report an unknown type of method."""
    known = ", ".join(sorted((*METHODS, UNENCRYPTED)))
    return Diagnostic(
        Severity.ERROR,
        "Unknown encryption method type",
        f"There is no encryption method of type {quoted(method.label.type)}. Known types: {known}.",
        method.subject,
    )


def undeclared_key_provider(label: BlockName, subject: Range | None) -> Diagnostic:
    """Report a reference to an undeclared key provider."""
    return Diagnostic(
        Severity.ERROR,
        "Key provider is not declared",
        f'The encryption configuration uses key_provider.{label}, but has no block key_provider "'
        f'{label.type}" "{label.name}".',
        subject,
    )


def key_provider_cycle(cycle: list[BlockName], provider: KeyProviderConfig) -> Diagnostic:
    """Report key providers that depend on each other."""
    way = " → ".join(f"key_provider.{label}" for label in cycle)
    return Diagnostic(
        Severity.ERROR,
        "Dependency cycle between key providers",
        "Each of these key providers needs the keys of the next one, so none of them can be set "
        f"up: {way}.",
        provider.subject,
    )


def duplicate_metadata_key(provider: KeyProviderConfig) -> Diagnostic:
    """Report two key providers of one method with the same metadata name."""
    return Diagnostic(
        Severity.ERROR,
        "Metadata name used twice",
        "Two key providers of the same method store their metadata as "
        f"{quoted(provider.metadata_key)}. Give one of them another encrypted_metadata_alias.",
        provider.subject,
    )


def unusable_block(
    kind: str, label: BlockName, subject: Range | None, failure: EncryptionFailure
) -> Diagnostic:
    """Report a key provider or method with unsuitable arguments."""
    return Diagnostic(
        Severity.ERROR,
        "Cannot set up encryption",
        f"{kind}.{label} failed. {failure.message}",
        subject,
    )
