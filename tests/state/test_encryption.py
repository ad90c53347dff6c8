"""Encryption of states and plans: what is accepted, what is refused, and what is never written."""

import base64
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from nigari import cty
from nigari.diagnostics import Diagnostics
from nigari.state.encryption import (
    BlockName,
    Encryption,
    EncryptionConfig,
    GivenArguments,
    KeyProviderConfig,
    TargetConfig,
    merge,
    no_encryption,
)
from tests.state.encryption_blocks import (
    AES,
    PASSPHRASE,
    PBKDF2,
    PLAIN,
    config,
    method,
    provider,
)

STATE = b'{"version":4,"terraform_version":"1.12.6","serial":7,"lineage":"abc"}\n'


def errors(diags: Diagnostics) -> list[str]:
    return [each.summary for each in diags if each.severity.value == "error"]


def encrypted(block: EncryptionConfig, data: bytes = STATE) -> bytes:
    diags = Diagnostics()
    result = Encryption(block, diags).state.encrypt(data, 7, "abc", diags)
    assert errors(diags) == []
    assert result is not None
    return result


def decrypted(block: EncryptionConfig | None, data: bytes) -> tuple[bytes | None, list[str]]:
    diags = Diagnostics()
    result = Encryption(block, diags).state.decrypt(data, diags)
    return (None if result is None else result.data), errors(diags)


def test_what_was_encrypted_is_decrypted() -> None:
    data = encrypted(config())
    assert decrypted(config(), data) == (STATE, [])


def test_the_envelope_tells_serial_and_lineage_and_no_secret() -> None:
    data = encrypted(config())
    members = json.loads(data)
    assert list(members) == ["serial", "lineage", "meta", "encrypted_data", "encryption_version"]
    assert (members["serial"], members["lineage"]) == (7, "abc")
    assert members["encryption_version"] == "v0"
    stored = json.loads(base64.b64decode(members["meta"]["key_provider.pbkdf2.k"]))
    assert list(stored) == ["salt", "iterations", "hash_function", "key_length"]
    assert PASSPHRASE.encode() not in data
    assert b"terraform_version" not in data


def test_a_passphrase_shows_up_in_no_repr() -> None:
    assert PASSPHRASE not in repr(config())


def test_a_plan_has_no_serial() -> None:
    diags = Diagnostics()
    layer = Encryption(config(), diags).plan
    data = layer.encrypt(b"PK\x03\x04plan", diags)
    assert data is not None
    assert list(json.loads(data)) == ["meta", "encrypted_data", "encryption_version"]
    plain = layer.decrypt(data, diags)
    assert plain is not None
    assert plain.data == b"PK\x03\x04plan"


def test_two_writes_of_one_run_share_the_key_and_not_the_nonce() -> None:
    diags = Diagnostics()
    layer = Encryption(config(), diags).state
    one, two = layer.encrypt(STATE, 1, "a", diags), layer.encrypt(STATE, 1, "a", diags)
    assert one is not None
    assert two is not None
    assert json.loads(one)["meta"] == json.loads(two)["meta"]
    assert json.loads(one)["encrypted_data"] != json.loads(two)["encrypted_data"]


class TestRefused:
    """Data that must not be read, or not like this."""

    def test_wrong_passphrase(self) -> None:
        assert decrypted(config("another passphrase!!"), encrypted(config())) == (
            None,
            ["Decryption failed"],
        )

    @pytest.mark.parametrize("member", ["serial", "lineage"])
    def test_changed_plain_field(self, member: str) -> None:
        members = json.loads(encrypted(config()))
        members[member] = 9 if member == "serial" else "other"
        assert decrypted(config(), json.dumps(members).encode()) == (
            None,
            ["Encrypted state was changed"],
        )

    def test_changed_ciphertext(self) -> None:
        members = json.loads(encrypted(config()))
        data = bytearray(base64.b64decode(members["encrypted_data"]))
        data[-1] ^= 1
        members["encrypted_data"] = base64.b64encode(data).decode()
        assert decrypted(config(), json.dumps(members).encode())[1] == ["Decryption failed"]

    def test_no_metadata(self) -> None:
        members = json.loads(encrypted(config()))
        members["meta"] = {}
        assert decrypted(config(), json.dumps(members).encode())[1] == ["Decryption failed"]

    def test_short_ciphertext(self) -> None:
        members = json.loads(encrypted(config()))
        members["encrypted_data"] = "AAAA"
        assert decrypted(config(), json.dumps(members).encode())[1] == ["Decryption failed"]

    def test_damaged_base64(self) -> None:
        members = json.loads(encrypted(config()))
        members["encrypted_data"] = "%"
        assert decrypted(config(), json.dumps(members).encode())[1] == ["Damaged encrypted data"]

    def test_future_envelope(self) -> None:
        members = json.loads(encrypted(config()))
        members["encryption_version"] = "v1"
        assert decrypted(config(), json.dumps(members).encode())[1] == [
            "Unsupported encryption format"
        ]

    def test_encrypted_without_configuration(self) -> None:
        assert decrypted(None, encrypted(config())) == (
            None,
            ["Encrypted data without an encryption block"],
        )

    def test_plain_where_encryption_is_wanted(self) -> None:
        assert decrypted(config(), STATE) == (None, ["Unencrypted data"])

    @pytest.mark.parametrize("data", [b"rubbish", b"[]", b'{"version":4}', b""])
    def test_neither_encrypted_nor_a_state(self, data: bytes) -> None:
        assert decrypted(config(), data)[1] == ["Neither encrypted nor plain data"]


class TestFallback:
    """Migrations between plain, one key and another."""

    def is_as_configured(self, block: EncryptionConfig, data: bytes) -> bool | None:
        diags = Diagnostics()
        result = Encryption(block, diags).state.decrypt(data, diags)
        return None if result is None else result.is_as_configured

    def test_plain_to_encrypted(self) -> None:
        block = config(target=TargetConfig(AES, (PLAIN,)))
        assert self.is_as_configured(block, STATE) is False
        assert self.is_as_configured(block, encrypted(block)) is True

    def test_encrypted_to_plain(self) -> None:
        block = config(target=TargetConfig(PLAIN, (AES,)))
        assert self.is_as_configured(block, encrypted(config())) is False
        assert encrypted(block) == STATE
        assert self.is_as_configured(block, STATE) is True

    def test_one_key_to_another(self) -> None:
        new, old = BlockName("pbkdf2", "new"), BlockName("pbkdf2", "k")
        block = config(
            providers=(
                provider(new, passphrase="brand new passphrase"),
                provider(old, passphrase=PASSPHRASE),
            ),
            methods=(method(BlockName("aes_gcm", "new"), new), method(AES, old)),
            target=TargetConfig(BlockName("aes_gcm", "new"), (AES,)),
        )
        assert self.is_as_configured(block, encrypted(config())) is False
        assert decrypted(block, encrypted(config())) == (STATE, [])


def test_without_configuration_nothing_happens() -> None:
    diags = Diagnostics()
    layer = no_encryption().state
    assert layer.encrypt(STATE, 7, "abc", diags) == STATE
    assert decrypted(None, STATE) == (STATE, [])


def test_plain_data_is_warned_of() -> None:
    diags = Diagnostics()
    Encryption(config(), diags)
    assert [each.summary for each in diags] == ["Unencrypted data is allowed"]


class TestKeyProviders:
    """What key providers take and what they refuse."""

    @pytest.mark.parametrize(
        ("arguments", "why"),
        [
            ({}, "neither is set"),
            ({"passphrase": "short"}, "at least 16"),
            ({"passphrase": PASSPHRASE, "iterations": 1000}, "at least 200000"),
            ({"passphrase": PASSPHRASE, "hash_function": "md5"}, "sha256 or sha512"),
            ({"passphrase": PASSPHRASE, "key_length": 0}, "greater than zero"),
            ({"passphrase": PASSPHRASE, "salt_length": 0}, "greater than zero"),
            ({"passphrase": PASSPHRASE, "key_length": 5}, "16, 24 or 32"),
            ({"passphrase": PASSPHRASE, "pass": "x"}, 'no argument named "pass"'),
            ({"passphrase": [1]}, "must be a string"),
            ({"passphrase": PASSPHRASE, "iterations": 200000.5}, "must be a whole number"),
        ],
        ids=str,
    )
    def test_refused(self, arguments: Mapping[str, object], why: str) -> None:
        diags = Diagnostics()
        block = config(providers=(provider(**arguments),))
        assert Encryption(block, diags).state.encrypt(STATE, 1, "a", diags) is None
        assert errors(diags) == ["Cannot set up encryption"]
        assert why in list(diags)[-1].detail
        assert PASSPHRASE not in list(diags)[-1].detail

    @pytest.mark.parametrize("key_length", [16, 24, 32])
    @pytest.mark.parametrize("hash_function", ["sha256", "sha512"])
    def test_accepted(self, key_length: int, hash_function: str) -> None:
        block = config(
            providers=(
                provider(
                    passphrase=PASSPHRASE,
                    key_length=key_length,
                    hash_function=hash_function,
                    salt_length=8,
                ),
            )
        )
        assert decrypted(block, encrypted(block)) == (STATE, [])

    def test_sensitive_values_are_welcome(self) -> None:
        given = {"passphrase": cty.string(PASSPHRASE).mark("sensitive")}
        block = config(providers=(KeyProviderConfig(PBKDF2, GivenArguments(given)),))
        assert decrypted(block, encrypted(block)) == (STATE, [])

    def test_chained(self) -> None:
        outer, inner = BlockName("pbkdf2", "outer"), BlockName("pbkdf2", "inner")
        block = config(
            providers=(
                provider(outer, chain=inner),
                provider(inner, passphrase=PASSPHRASE),
            ),
            methods=(method(AES, outer),),
        )
        data = encrypted(block)
        assert sorted(json.loads(data)["meta"]) == [
            "key_provider.pbkdf2.inner",
            "key_provider.pbkdf2.outer",
        ]
        assert decrypted(block, data) == (STATE, [])

    def test_a_circle_is_named(self) -> None:
        one, two = BlockName("pbkdf2", "one"), BlockName("pbkdf2", "two")
        diags = Diagnostics()
        Encryption(
            config(
                providers=(provider(one, chain=two), provider(two, chain=one)),
                methods=(method(AES, one),),
            ),
            diags,
        )
        assert errors(diags) == ["Dependency cycle between key providers"]
        assert "pbkdf2.one → key_provider.pbkdf2.two → key_provider.pbkdf2.one" in diags[0].detail

    def test_metadata_alias(self) -> None:
        block = config(providers=(provider(PBKDF2, "mine", passphrase=PASSPHRASE),))
        data = encrypted(block)
        assert list(json.loads(data)["meta"]) == ["mine"]
        renamed = BlockName("pbkdf2", "renamed")
        other = config(
            providers=(provider(renamed, "mine", passphrase=PASSPHRASE),),
            methods=(method(AES, renamed),),
        )
        assert decrypted(other, data) == (STATE, [])

    def test_an_alias_used_twice_in_one_method(self) -> None:
        outer, inner = BlockName("pbkdf2", "outer"), BlockName("pbkdf2", "inner")
        diags = Diagnostics()
        block = config(
            providers=(
                provider(outer, "same", chain=inner),
                provider(inner, "same", passphrase=PASSPHRASE),
            ),
            methods=(method(AES, outer),),
        )
        assert Encryption(block, diags).state.encrypt(STATE, 1, "a", diags) is None
        assert errors(diags) == ["Metadata name used twice"]


class TestConfiguration:
    """Blocks that do not fit together."""

    @pytest.mark.parametrize(
        ("block", "summary"),
        [
            (config(methods=(method(AES, BlockName("pbkdf2", "x")),)), "Key provider is not declared"),
            (config(target=TargetConfig(BlockName("aes_gcm", "x"))), "Encryption method is not declared"),
            (config(target=TargetConfig(None)), "Missing encryption method"),
            (config(target=TargetConfig(AES, (PLAIN,), enforced=True)), "Enforced encryption with an unencrypted method"),
            (config(providers=(provider(BlockName("rot13", "k")),), methods=(method(AES, BlockName("rot13", "k")),)), "Unknown key provider type"),
            (config(methods=(method(BlockName("rot13", "m")),), target=TargetConfig(BlockName("rot13", "m"))), "Unknown encryption method type"),
        ],
        ids=lambda each: each if isinstance(each, str) else "",
    )  # fmt: skip
    def test_reported_at_once(self, block: EncryptionConfig, summary: str) -> None:
        diags = Diagnostics()
        Encryption(block, diags)
        assert summary in errors(diags)

    def test_a_broken_configuration_never_writes_plain_text(self) -> None:
        diags = Diagnostics()
        layer = Encryption(config(target=TargetConfig(BlockName("aes_gcm", "x"))), diags).state
        assert layer.encrypt(STATE, 1, "a", diags) is None

    def test_aad_must_match(self) -> None:
        one = config(methods=(method(AES, PBKDF2, aad=[1, 2, 3]),))
        two = config(methods=(method(AES, PBKDF2, aad=[1, 2, 4]),))
        assert decrypted(one, encrypted(one)) == (STATE, [])
        assert decrypted(two, encrypted(one))[1] == ["Decryption failed"]

    def test_remote_states_by_name(self) -> None:
        diags = Diagnostics()
        block = EncryptionConfig(
            key_providers=(provider(passphrase=PASSPHRASE),),
            methods=(method(),),
            remote={"network": TargetConfig(AES)},
        )
        encryption = Encryption(block, diags)
        data = encryption.remote_state("network").encrypt(STATE, 7, "abc", diags)
        assert data is not None
        assert encryption.remote_state("network").decrypt(data, diags) is not None
        assert encryption.remote_state("other").decrypt(data, diags) is None

    def test_the_environment_overrides_single_arguments(self) -> None:
        override = EncryptionConfig(
            key_providers=(
                KeyProviderConfig(
                    PBKDF2, GivenArguments({"passphrase": cty.string("the other passphrase")})
                ),
            )
        )
        merged = merge(config("first passphrase here"), override)
        assert decrypted(config("the other passphrase"), encrypted(merged)) == (STATE, [])

    def test_enforcement_cannot_be_overridden(self) -> None:
        enforced = config(target=TargetConfig(AES, enforced=True))
        relaxed = config(target=TargetConfig(PLAIN))
        merged = merge(enforced, relaxed).state
        assert merged is not None
        assert merged.enforced


EXTERNAL = """
import base64, json, sys
mode, magic = sys.argv[1], sys.argv[2]
print(json.dumps({"magic": magic, "version": 1}), flush=True)
request = json.load(sys.stdin)
key = base64.b64encode(bytes(range(32))).decode()
if mode == "keys":
    answer = {"keys": {"encryption_key": key}, "meta": {"external_data": {"n": 1}}}
    if request is not None:
        assert request == {"external_data": {"n": 1}}
        answer["keys"]["decryption_key"] = key
elif mode == "xor":
    data = base64.b64decode(request["payload"])
    answer = {"payload": base64.b64encode(bytes(b ^ 85 for b in data)).decode()}
elif mode == "unknown field":
    answer = {"keys": {}, "more": 1}
elif mode == "rubbish":
    print("rubbish"); sys.exit()
elif mode == "fail":
    sys.exit("it went wrong")
print(json.dumps(answer))
"""


class TestExternal:
    """Programs as key providers and methods."""

    @pytest.fixture
    def script(self, tmp_path: Path) -> Path:
        path = tmp_path / "external.py"
        path.write_text(EXTERNAL)
        return path

    def command(self, script: Path, mode: str, magic: str) -> list[str]:
        return [sys.executable, str(script), mode, magic]

    def block(self, command: list[str]) -> EncryptionConfig:
        label = BlockName("external", "k")
        return config(providers=(provider(label, command=command),), methods=(method(AES, label),))

    def test_keys(self, script: Path) -> None:
        block = self.block(self.command(script, "keys", "OpenTofu-External-Key-Provider"))
        data = encrypted(block)
        stored = json.loads(data)["meta"]["key_provider.external.k"]
        assert json.loads(base64.b64decode(stored)) == {"external_data": {"n": 1}}
        assert decrypted(block, data) == (STATE, [])

    @pytest.mark.parametrize("keys", [None, PBKDF2])
    def test_method(self, script: Path, keys: BlockName | None) -> None:
        command = self.command(script, "xor", "OpenTofu-External-Encryption-Method")
        label = BlockName("external", "m")
        block = config(
            methods=(method(label, keys, encrypt_command=command, decrypt_command=command),),
            target=TargetConfig(label),
        )
        assert decrypted(block, encrypted(block)) == (STATE, [])

    @pytest.mark.parametrize(
        ("mode", "magic", "why"),
        [
            ("keys", "Another-Magic", "magic"),
            ("unknown field", "OpenTofu-External-Key-Provider", "keys and meta"),
            ("rubbish", "OpenTofu-External-Key-Provider", "JSON"),
            ("fail", "OpenTofu-External-Key-Provider", "it went wrong"),
        ],
    )
    def test_misbehaviour(self, script: Path, mode: str, magic: str, why: str) -> None:
        diags = Diagnostics()
        layer = Encryption(self.block(self.command(script, mode, magic)), diags).state
        assert layer.encrypt(STATE, 1, "a", diags) is None
        assert why in diags[0].detail

    @pytest.mark.parametrize("command", [["/no/such/program"], [], [""]], ids=str)
    def test_no_program(self, command: list[str]) -> None:
        diags = Diagnostics()
        layer = Encryption(self.block(command), diags).state
        assert layer.encrypt(STATE, 1, "a", diags) is None
        assert errors(diags) == ["Cannot set up encryption"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"iterations": 10**9}, "iterations = 1000000000"),
        ({"iterations": 2**40}, "iterations ="),
        ({"key_length": 2**31}, "key_length ="),
        ({"key_length": 2**70}, "key_length ="),
        ({"iterations": -1}, "parameters that pbkdf2 does not support"),
        ({"iterations": True}, "does not contain valid pbkdf2 parameters"),
        ({"iterations": 1e300}, "does not contain valid pbkdf2 parameters"),
        ({"hash_function": ["sha512"]}, "does not contain valid pbkdf2 parameters"),
        ({"salt": {"a": 1}}, "does not contain valid pbkdf2 parameters"),
    ],
)
def test_crafted_parameters_of_a_key(changes: dict[str, object], told: str) -> None:
    members = json.loads(encrypted(config()))
    name = "key_provider.pbkdf2.k"
    stored = {**json.loads(base64.b64decode(members["meta"][name])), **changes}
    members["meta"][name] = base64.b64encode(json.dumps(stored).encode()).decode()
    diags = Diagnostics()
    assert Encryption(config(), diags).state.decrypt(json.dumps(members).encode(), diags) is None
    assert told in " ".join(each.detail for each in diags)
