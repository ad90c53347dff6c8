"""Encryption layers for readers and writers of states and plans: bytes in, bytes out.

A layer encrypts with its target's method, and decrypts with that method or with its fallbacks in
order. It decides whether plain data is acceptable, and reports every failure; an undecryptable file
is never changed. Deliberately unknown here: the storage.
"""

from __future__ import annotations

from collections.abc import Callable

from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.record import record

TYPE_CHECKING = False
# Most configurations use no encryption, so that its modules are loaded on demand.
if TYPE_CHECKING:
    from typing import Final

    from nigari.state.encryption.config import (
        BlockName,
        EncryptionConfig,
        MethodConfig,
        TargetConfig,
    )
    from nigari.state.encryption.envelope import Envelope, PlainFields
    from nigari.state.encryption.keys import EncryptionFailure
    from nigari.state.encryption.methods import Method

_VERSION_NAME: Final = b'"encryption_version"'
"""Text that all encrypted data contains."""


@record
class Decrypted:
    """Plain data, and whether it was protected as configured."""

    data: bytes
    is_as_configured: bool = True
    """False for data read through a fallback; the next write then uses the configured method."""


class Layer:
    """The encryption of one target: `state`, `plan`, or one remote state."""

    __slots__ = ("_config", "_looks_plain", "_methods", "_name", "_target", "_writer")

    def __init__(
        self,
        name: str,
        config: EncryptionConfig | None,
        target: TargetConfig | None,
        looks_plain: Callable[[bytes], bool],
        diags: Diagnostics,
    ) -> None:
        self._name = name
        self._config = config
        self._target = target
        self._looks_plain = looks_plain
        self._writer: tuple[Method, dict[str, bytes]] | None = None
        self._methods: tuple[MethodConfig, ...] = ()
        if config is not None and target is not None:
            self._methods = _methods(name, config, target, diags)

    @property
    def is_encrypting(self) -> bool:
        """True if written data is encrypted."""
        return bool(self._methods) and self._methods[0].is_encrypting

    def prepare(self, diags: Diagnostics) -> bool:
        """Create the keys for writing, so that later writes cannot fail for lack of a key."""
        if self._config is None or not self.is_encrypting or self._writer is not None:
            return True
        from nigari.state.encryption.setup import set_up

        self._writer = set_up(self._config, self._methods[0], {}, diags)
        return self._writer is not None

    def encrypt(
        self, data: bytes, diags: Diagnostics, plain: PlainFields | None = None
    ) -> bytes | None:
        """Encrypt data for storage."""
        if self._target is not None and not self._methods:
            diags.append(no_usable_method(self._name))
            return None
        if not self.is_encrypting:
            return data
        if not self.prepare(diags) or self._writer is None:
            return None
        from nigari.state.encryption.envelope import Envelope
        from nigari.state.encryption.keys import EncryptionFailure

        method, metadata = self._writer
        try:
            return Envelope(method.encrypt(data), metadata, plain=plain).to_bytes()
        except EncryptionFailure as failure:
            diags.append(encryption_failed(self._name, failure))
            return None

    def decrypt(self, data: bytes, diags: Diagnostics) -> Decrypted | None:
        """Decrypt stored data, if the configuration allows it."""
        if self._target is None and _VERSION_NAME not in data:
            return Decrypted(data)
        from nigari.state.encryption.envelope import VERSION, DamagedEnvelope, parse_envelope

        try:
            envelope = parse_envelope(data)
        except DamagedEnvelope:
            diags.append(damaged_envelope(self._name))
            return None
        if self._config is None or self._target is None:
            if envelope is not None:
                diags.append(encrypted_without_configuration(self._name))
                return None
            return Decrypted(data)
        if envelope is None:
            return self._accept_plain(data, diags)
        if envelope.version != VERSION:
            diags.append(unknown_envelope_version(self._name, envelope.version, VERSION))
            return None
        return self._open(envelope, self._config, diags)

    def _accept_plain(self, data: bytes, diags: Diagnostics) -> Decrypted | None:
        if not self._looks_plain(data):
            diags.append(neither_encrypted_nor_plain(self._name))
            return None
        if all(method.is_encrypting for method in self._methods):
            diags.append(unexpected_plain_data(self._name))
            return None
        return Decrypted(data, not self.is_encrypting)

    def _open(
        self, envelope: Envelope, config: EncryptionConfig, diags: Diagnostics
    ) -> Decrypted | None:
        from nigari.state.encryption.keys import EncryptionFailure
        from nigari.state.encryption.setup import set_up

        reasons = []
        for index, method in enumerate(self._methods):
            if not method.is_encrypting:
                continue
            reader = set_up(config, method, envelope.metadata, diags)
            if reader is None:
                return None
            try:
                data = reader[0].decrypt(envelope.data)
            except EncryptionFailure as failure:
                reasons.append(f"method.{method.label}: {failure.message}")
                continue
            return Decrypted(data, index == 0)
        diags.append(decryption_failed(self._name, reasons))
        return None


class StateLayer:
    """The encryption of a state: serial and lineage stay readable and are verified on reading."""

    __slots__ = ("_layer",)

    def __init__(self, layer: Layer) -> None:
        self._layer = layer

    def prepare(self, diags: Diagnostics) -> bool:
        """Create the keys for writing, before any change that must be recorded."""
        return self._layer.prepare(diags)

    @property
    def is_encrypting(self) -> bool:
        """True if written data is encrypted."""
        return self._layer.is_encrypting

    def encrypt(self, data: bytes, serial: int, lineage: str, diags: Diagnostics) -> bytes | None:
        """Encrypt a state for storage."""
        from nigari.state.encryption.envelope import PlainFields

        return self._layer.encrypt(data, diags, PlainFields(serial, lineage))

    def decrypt(self, data: bytes, diags: Diagnostics) -> Decrypted | None:
        """Decrypt a stored state."""
        decrypted = self._layer.decrypt(data, diags)
        if decrypted is None or decrypted.data is data:
            return decrypted
        outer = _plain_fields_of(data)
        inner = _plain_fields_of(decrypted.data)
        if outer is None or inner is None:
            diags.append(damaged_envelope("state"))
            return None
        if None not in (outer.serial, inner.serial) and outer.serial != inner.serial:
            diags.append(plain_fields_differ("serial", str(outer.serial), str(inner.serial)))
            return None
        if outer.lineage and outer.lineage != inner.lineage:
            diags.append(plain_fields_differ("lineage", outer.lineage, inner.lineage))
            return None
        return decrypted


class Encryption:
    """The layers of an `encryption` block; without a block they do nothing."""

    __slots__ = ("_remote", "_remote_default", "plan", "state")

    state: StateLayer
    plan: Layer

    def __init__(self, config: EncryptionConfig | None, diags: Diagnostics) -> None:
        if config is not None:
            from nigari.state.encryption.setup import check_references

            for method in config.methods:
                if not method.is_encrypting:
                    diags.append(unencrypted_is_allowed(method))
            check_references(config, diags)
        state, plan = (None, None) if config is None else (config.state, config.plan)
        remote_default = None if config is None else config.remote_default
        remote = {} if config is None else config.remote

        def layer(name: str, target: TargetConfig | None) -> StateLayer:
            return StateLayer(Layer(name, config, target, _looks_like_state, diags))

        self.state = layer("state", state)
        self.plan = Layer("plan", config, plan, _looks_like_plan, diags)
        self._remote_default = layer("remote state", remote_default)
        self._remote = {
            name: layer(f"remote state {name}", target) for name, target in remote.items()
        }

    def remote_state(self, name: str) -> StateLayer:
        """Return the layer for a `terraform_remote_state` data source."""
        return self._remote.get(name, self._remote_default)


def no_encryption() -> Encryption:
    """Build the layers of a configuration without an `encryption` block."""
    return Encryption(None, Diagnostics())


def _methods(
    name: str, config: EncryptionConfig, target: TargetConfig, diags: Diagnostics
) -> tuple[MethodConfig, ...]:
    labels = (target.method, *target.fallbacks)
    methods = []
    for label in labels:
        if label is None:
            diags.append(target_without_method(name, target))
            continue
        method = config.method(label)
        if method is None:
            diags.append(undeclared_method(label, target))
            continue
        if target.enforced and not method.is_encrypting:
            diags.append(enforced_but_unencrypted(name, target))
            continue
        methods.append(method)
    return tuple(methods) if len(methods) == len(labels) else ()


def _plain_fields_of(data: bytes) -> PlainFields | None:
    import json

    from nigari.state.encryption.envelope import plain_fields

    try:
        members = json.loads(data, parse_float=str)
    except (ValueError, RecursionError):
        return None
    return plain_fields(members) if isinstance(members, dict) else None


def _looks_like_state(data: bytes) -> bool:
    import json

    try:
        members = json.loads(data, parse_float=str)
    except (ValueError, RecursionError):
        return False
    return isinstance(members, dict) and bool(members.get("terraform_version"))


def _looks_like_plan(data: bytes) -> bool:
    return data.startswith(b"PK")


def unencrypted_is_allowed(method: MethodConfig) -> Diagnostic:
    """Warn about a method that allows plain data."""
    return Diagnostic(
        Severity.WARNING,
        "Unencrypted data is allowed",
        f"method.{method.label} allows state or plan files to be stored without encryption. "
        "Remove it once the migration that needs it is complete.",
        method.subject,
    )


def target_without_method(name: str, target: TargetConfig) -> Diagnostic:
    """Report a target or fallback block without a method."""
    return Diagnostic(
        Severity.ERROR,
        "Missing encryption method",
        f"The encryption of {name} has a block without a method. Set method to one of the declared"
        " methods, such as method.aes_gcm.example.",
        target.subject,
    )


def undeclared_method(label: BlockName, target: TargetConfig) -> Diagnostic:
    """Report a reference to an undeclared method."""
    return Diagnostic(
        Severity.ERROR,
        "Encryption method is not declared",
        f'The encryption configuration uses method.{label}, but has no block method "{label.type}'
        f'" "{label.name}".',
        target.named_at.get(label, target.subject),
    )


def enforced_but_unencrypted(name: str, target: TargetConfig) -> Diagnostic:
    """Report an enforced target with an unencrypted method."""
    return Diagnostic(
        Severity.ERROR,
        "Enforced encryption with an unencrypted method",
        f"The encryption of {name} is enforced, so neither its method nor a fallback may be of"
        " type unencrypted.",
        target.subject,
    )


def encrypted_without_configuration(name: str) -> Diagnostic:
    """Report encrypted data without an encryption configuration."""
    return Diagnostic(
        Severity.ERROR,
        "Encrypted data without an encryption block",
        f"The stored {name} is encrypted, but the configuration has no encryption block for it, "
        "so it cannot be read. It was not changed.",
    )


def unexpected_plain_data(name: str) -> Diagnostic:
    """Report plain data that the configuration does not allow."""
    return Diagnostic(
        Severity.ERROR,
        "Unencrypted data",
        f"The stored {name} is not encrypted, and the encryption block does not allow that. To"
        ' encrypt existing data, add a method "unencrypted" and name it in a fallback block for'
        " the first run.",
    )


def neither_encrypted_nor_plain(name: str) -> Diagnostic:
    """Report data that is neither an envelope nor plain."""
    return Diagnostic(
        Severity.ERROR,
        "Neither encrypted nor plain data",
        f"The stored data is neither an encrypted {name} nor a plain one. It was not changed.",
    )


def damaged_envelope(name: str) -> Diagnostic:
    """Report encrypted data with invalid JSON around it."""
    return Diagnostic(
        Severity.ERROR,
        "Damaged encrypted data",
        f"The stored {name} is marked as encrypted, but it is incomplete. It was not changed; "
        "restore it from a backup.",
    )


def unknown_envelope_version(name: str, version: str, known: str) -> Diagnostic:
    """Report an envelope of a newer format."""
    return Diagnostic(
        Severity.ERROR,
        "Unsupported encryption format",
        f"The stored {name} was encrypted in format {version!r}; only {known!r} is supported. It "
        "was not changed.",
    )


def plain_fields_differ(field: str, outer: str, inner: str) -> Diagnostic:
    """Report a readable field that differs from the encrypted one."""
    return Diagnostic(
        Severity.ERROR,
        "Encrypted state was changed",
        f"The {field} stored beside the encrypted data is {outer}, but the encrypted state has "
        f"{inner}. The file was changed after it was encrypted. It was left as it is.",
    )


def no_usable_method(name: str) -> Diagnostic:
    """Report a target without a valid method; plain data must not be stored instead."""
    return Diagnostic(
        Severity.ERROR,
        "Encryption failed",
        f"The {name} must be encrypted, but the encryption configuration has errors.",
    )


def encryption_failed(name: str, failure: EncryptionFailure) -> Diagnostic:
    """Report a failed encryption."""
    return Diagnostic(
        Severity.ERROR, "Encryption failed", f"The {name} was not encrypted. {failure.message}"
    )


def decryption_failed(name: str, reasons: list[str]) -> Diagnostic:
    """Report encrypted data that no configured method can decrypt."""
    tried = "\n".join(f"  - {reason}" for reason in reasons)
    return Diagnostic(
        Severity.ERROR,
        "Decryption failed",
        f"None of the configured methods can decrypt the stored {name}, which was not "
        f"changed.\n\n{tried}"
        if tried
        else f"The stored {name} is encrypted, and no configured method can decrypt it.",
    )
