"""Encryption of state and plan files, compatible with OpenTofu: same configuration, same format."""

from __future__ import annotations

from nigari.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.state.encryption.config import (
        BlockName,
        EncryptionArguments,
        EncryptionConfig,
        GivenArguments,
        KeyProviderConfig,
        MethodConfig,
        TargetConfig,
        merge,
    )
    from nigari.state.encryption.keys import Keys
    from nigari.state.encryption.layers import (
        Decrypted,
        Encryption,
        Layer,
        StateLayer,
        no_encryption,
    )
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "config": (
                "EncryptionArguments",
                "BlockName",
                "EncryptionConfig",
                "GivenArguments",
                "KeyProviderConfig",
                "MethodConfig",
                "TargetConfig",
                "merge",
            ),
            "keys": ("Keys",),
            "layers": (
                "Decrypted",
                "Encryption",
                "Layer",
                "StateLayer",
                "no_encryption",
            ),
        },
    )

__all__ = [
    "EncryptionArguments",
    "BlockName",
    "Decrypted",
    "Encryption",
    "EncryptionConfig",
    "GivenArguments",
    "KeyProviderConfig",
    "Keys",
    "Layer",
    "MethodConfig",
    "StateLayer",
    "TargetConfig",
    "merge",
    "no_encryption",
]
