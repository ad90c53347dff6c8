"""Blocks of an encryption configuration, as parts of tests."""

from nigari import cty
from nigari.state.encryption import (
    BlockName,
    EncryptionConfig,
    GivenArguments,
    KeyProviderConfig,
    MethodConfig,
    TargetConfig,
)

PASSPHRASE = "correct horse battery staple"
AES = BlockName("aes_gcm", "m")
PLAIN = BlockName("unencrypted", "u")
PBKDF2 = BlockName("pbkdf2", "k")


def provider(
    label: BlockName = PBKDF2, alias: str = "", /, **arguments: object
) -> KeyProviderConfig:
    given: dict[str, cty.Value | BlockName] = {"iterations": cty.number(200_000)}
    if label.type != "pbkdf2":
        given = {}
    for name, value in arguments.items():
        given[name] = value if isinstance(value, BlockName) else cty.Value.of(value)
    return KeyProviderConfig(label, GivenArguments(given), alias)


def method(
    label: BlockName = AES, keys: BlockName | None = PBKDF2, **arguments: object
) -> MethodConfig:
    given: dict[str, cty.Value | BlockName] = {} if keys is None else {"keys": keys}
    for name, value in arguments.items():
        given[name] = cty.Value.of(value)
    return MethodConfig(label, GivenArguments(given))


def config(
    passphrase: str = PASSPHRASE,
    target: TargetConfig | None = None,
    *,
    providers: tuple[KeyProviderConfig, ...] = (),
    methods: tuple[MethodConfig, ...] = (),
) -> EncryptionConfig:
    target = target or TargetConfig(AES)
    return EncryptionConfig(
        key_providers=providers or (provider(passphrase=passphrase),),
        methods=methods or (method(), method(PLAIN, None)),
        state=target,
        plan=target,
    )
