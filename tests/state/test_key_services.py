"""Key providers whose keys a service makes and keeps."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from nigari.cty import STRING, TRUE, Value, map_value, number, object_value, string
from nigari.state.encryption.arguments import ArgumentReader
from nigari.state.encryption.key_providers import KEY_PROVIDERS, KeyProvider
from nigari.state.encryption.keys import EncryptionFailure
from tests.backends.world.moto import KEYS, running
from tests.state.key_services import GOOGLE_KEY, VAULT, FakeBao, FakeGoogleKms, FakeVault


def provider(kind: str, environ: Mapping[str, str], **given: Value) -> KeyProvider:
    reader = ArgumentReader(f"key_provider.{kind}.x", given, environ)
    made = KEY_PROVIDERS[kind](reader)
    reader.finish()
    return made


def check(make: Callable[[], KeyProvider], name: str, length: int) -> dict[str, object]:
    """Each time there is another key, and what is stored gives the same one again."""
    first, stored = make().provide(None)
    assert len(first.encryption) == length
    assert first.decryption == b""
    assert stored is not None
    metadata: dict[str, object] = json.loads(stored)
    assert next(iter(metadata)) == name
    second, _ = make().provide(stored)
    assert second.decryption == first.encryption
    assert second.encryption != first.encryption
    return metadata


def test_aws_kms() -> None:
    with running() as moto:
        created = moto.call("TrentService.CreateKey", {})["KeyMetadata"]
        assert isinstance(created, dict)
        key = string(str(created["KeyId"]))
        environ = {**KEYS, "AWS_ENDPOINT_URL_KMS": moto.url, "AWS_ENDPOINT_URL_STS": moto.url}
        for spec, length in (("AES_256", 32), ("AES_128", 16)):
            check(
                lambda spec=spec: provider(  # type: ignore[misc]
                    "aws_kms", environ, kms_key_id=key, key_spec=string(spec)
                ),
                "ciphertext_blob",
                length,
            )
        role = object_value({"role_arn": string("arn:aws:iam::123456789012:role/r")})
        arguments = {"kms_key_id": key, "key_spec": string("AES_256"), "assume_role": role}
        check(lambda: provider("aws_kms", environ, **arguments), "ciphertext_blob", 32)
        context = map_value(STRING, {"team": string("a")})
        arguments = {"kms_key_id": key, "key_spec": string("AES_256")}
        stored = check(
            lambda: provider("aws_kms", environ, **arguments, encryption_context=context),
            "ciphertext_blob",
            32,
        )
        assert stored["encryption_context"] == {"team": "a"}
        changed = {**stored, "encryption_context": {"team": "b"}}
        with pytest.raises(EncryptionFailure, match="KMS refuses"):
            provider("aws_kms", environ, **arguments).provide(json.dumps(changed).encode())
        # The context that the file was written with counts, not the one of today.
        provider("aws_kms", environ, **arguments).provide(json.dumps(stored).encode())
        wrong = provider("aws_kms", environ, kms_key_id=string("no"), key_spec=string("AES_256"))
        with pytest.raises(EncryptionFailure, match="KMS refuses"):
            wrong.provide(None)


def test_openbao() -> None:
    with FakeBao() as bao:
        environ = {"BAO_ADDR": bao.url, "BAO_TOKEN": "root"}
        key = string("k")
        check(lambda: provider("openbao", environ, key_name=key), "ciphertext", 32)
        given = {
            "key_name": key,
            "key_length": number(16),
            "transit_engine_path": string("/transit"),
        }
        check(lambda: provider("openbao", environ, **given), "ciphertext", 16)
        extra = string("bmlnYXJp")
        stored = check(
            lambda: provider("openbao", environ, key_name=key, associated_data=extra),
            "ciphertext",
            32,
        )
        assert stored["associated_data"] == "bmlnYXJp"
        provider("openbao", environ, key_name=key).provide(json.dumps(stored).encode())
        del stored["associated_data"]
        with pytest.raises(EncryptionFailure):
            provider("openbao", environ, key_name=key).provide(json.dumps(stored).encode())
        stranger = provider("openbao", {**environ, "BAO_TOKEN": "x"}, key_name=key)
        with pytest.raises(EncryptionFailure, match="permission denied"):
            stranger.provide(None)


def test_gcp_kms(tmp_path: Path) -> None:
    with FakeGoogleKms(tmp_path) as kms:
        given = {"kms_encryption_key": string(GOOGLE_KEY), "key_length": number(32)}
        metadata = check(lambda: provider("gcp_kms", kms.environ, **given), "ciphertext", 32)
        assert list(metadata) == ["ciphertext"]
        extra = {"additional_authenticated_data": string("bmlnYXJp")}
        metadata = check(
            lambda: provider("gcp_kms", kms.environ, **given, **extra), "ciphertext", 32
        )
        assert list(metadata) == ["ciphertext"]
        with pytest.raises(EncryptionFailure):
            provider("gcp_kms", kms.environ, **given).provide(json.dumps(metadata).encode())
        token = {"access_token": string("token")}
        for environ in ({"GOOGLE_OAUTH_ACCESS_TOKEN": "x"}, {"GOOGLE_CREDENTIALS": "{"}):
            around = {**kms.environ, "GOOGLE_OAUTH_ACCESS_TOKEN": "", **environ}
            with pytest.raises(EncryptionFailure):
                provider("gcp_kms", around, **given).provide(None)
            provider("gcp_kms", around, **given, **token).provide(None)
        nobody = {
            **kms.environ,
            "GOOGLE_OAUTH_ACCESS_TOKEN": "",
            "GCE_METADATA_HOST": "127.0.0.1:1",
        }
        with pytest.raises(EncryptionFailure, match="No credentials for Google Cloud"):
            provider("gcp_kms", nobody, **given).provide(None)
        other = {**given, "kms_encryption_key": string("projects/x")}
        with pytest.raises(EncryptionFailure, match="no key projects/x"):
            provider("gcp_kms", kms.environ, **other).provide(None)


AT_VAULT = {
    "vault_uri": string(f"https://{VAULT}/"),
    "vault_key_name": string("k"),
    "key_length": number(32),
}


@pytest.mark.parametrize(
    ("more", "algorithm", "sealed_with"),
    [
        ({}, "RSA-OAEP-256", set()),
        (
            {"symmetric": TRUE, "symmetric_key_size": number(256)},
            "A256GCM",
            {"iv", "authentication_tag"},
        ),
        (
            {"symmetric": TRUE, "symmetric_key_size": number(128)},
            "A128GCM",
            {"iv", "authentication_tag"},
        ),
        ({"symmetric_key_size": number(5)}, "RSA-OAEP-256", set()),
    ],
)
def test_azure_vault(
    tmp_path: Path, more: dict[str, Value], algorithm: str, sealed_with: set[str]
) -> None:
    with FakeVault(tmp_path) as vault:
        stored = check(
            lambda: provider("azure_vault", vault.environ, **AT_VAULT, **more), "ciphertext", 32
        )
        assert list(stored) == [
            "ciphertext",
            "iv",
            "authentication_tag",
            "additional_authenticated_data",
            "key_version",
            "algo",
        ]
        assert (stored["key_version"], stored["algo"]) == ("1", algorithm)
        assert {name for name in list(stored)[1:4] if stored[name] is not None} == sealed_with
        assert set(vault.asked) == {
            "POST /keys/k/encrypt?api-version=7.6",
            "POST /keys/k/1/decrypt?api-version=7.6",
        }


def test_azure_vault_opens_with_the_version_and_the_algorithm_that_sealed(tmp_path: Path) -> None:
    with FakeVault(tmp_path) as vault:
        first, stored = provider("azure_vault", vault.environ, **AT_VAULT).provide(None)
        vault.rotate()
        more = {"symmetric": TRUE, "symmetric_key_size": number(192)}
        second, newer = provider("azure_vault", vault.environ, **AT_VAULT, **more).provide(stored)
        assert second.decryption == first.encryption
        assert newer is not None
        assert json.loads(newer)["key_version"] == "2"
        without = json.dumps({**json.loads(stored or b""), "algo": ""}).encode()
        again, _ = provider("azure_vault", vault.environ, **AT_VAULT).provide(without)
        assert again.decryption == first.encryption


def test_azure_vault_that_does_not_answer_as_one(tmp_path: Path) -> None:
    with FakeVault(tmp_path, resource="https://graph.microsoft.com") as vault:
        with pytest.raises(EncryptionFailure, match="which is another service"):
            provider("azure_vault", vault.environ, **AT_VAULT).provide(None)
        vault.resource = "https://vault.azure.net"
        stranger = {**vault.environ, "ARM_CLIENT_SECRET": "x"}
        with pytest.raises(EncryptionFailure, match="Azure did not issue a token"):
            provider("azure_vault", stranger, **AT_VAULT).provide(None)
        other = {**AT_VAULT, "vault_key_name": string("other")}
        with pytest.raises(EncryptionFailure, match="no such key"):
            provider("azure_vault", vault.environ, **other).provide(None)


@pytest.mark.parametrize(
    ("kind", "given", "says"),
    [
        ("aws_kms", {}, 'needs the argument "kms_key_id"'),
        ("aws_kms", {"kms_key_id": string("k"), "key_spec": string("AES_256")}, "region"),
        (
            "aws_kms",
            {"kms_key_id": string("k"), "key_spec": string("x"), "kye": string("")},
            "region",
        ),
        ("openbao", {"key_name": string("k"), "key_length": number(5)}, "16, 32 or 64"),
        ("openbao", {"key_name": string("k"), "kye": string("")}, 'no argument named "kye"'),
        ("gcp_kms", {"kms_encryption_key": string("k")}, "between 1 and 1024"),
        ("azure_vault", {}, 'needs the argument "vault_uri"'),
        ("azure_vault", AT_VAULT | {"key_length": number(0)}, "at least 1"),
        ("azure_vault", AT_VAULT | {"vault_uri": string("https://a--b.c")}, "URL of a key vault"),
        ("azure_vault", AT_VAULT | {"vault_uri": string("http://abc.d")}, "URL of a key vault"),
        ("azure_vault", AT_VAULT | {"vault_key_name": string("a_b")}, "letters, digits"),
        ("azure_vault", AT_VAULT | {"symmetric": TRUE}, "128, 192 or 256"),
        ("azure_vault", AT_VAULT | {"symmetric": string("x")}, "must be true or false"),
        ("azure_vault", AT_VAULT | {"environment": string("moon")}, 'no Azure environment "moon"'),
    ],
)
def test_arguments_that_are_refused(kind: str, given: dict[str, Value], says: str) -> None:
    with pytest.raises(EncryptionFailure, match=says):
        provider(kind, {}, **given)
