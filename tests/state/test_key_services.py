"""Key providers whose keys a service makes and keeps."""

import json
from collections.abc import Callable, Mapping

import pytest

from nigari.cty import Value, number, object_value, string
from nigari.state.encryption.arguments import ArgumentReader
from nigari.state.encryption.failures import EncryptionFailure
from nigari.state.encryption.key_providers import KEY_PROVIDERS, KeyProvider
from tests.backends.world.moto import KEYS, running
from tests.state.key_services import FakeBao


def provider(kind: str, environ: Mapping[str, str], **given: Value) -> KeyProvider:
    reader = ArgumentReader(f"key_provider.{kind}.x", given, environ)
    made = KEY_PROVIDERS[kind](reader)
    reader.finish()
    return made


def check(make: Callable[[], KeyProvider], name: str, length: int) -> None:
    """Each time there is another key, and what is stored gives the same one again."""
    first, stored = make().provide(None)
    assert len(first.encryption) == length
    assert first.decryption == b""
    assert stored is not None
    assert list(json.loads(stored)) == [name]
    second, _ = make().provide(stored)
    assert second.decryption == first.encryption
    assert second.encryption != first.encryption


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
        stranger = provider("openbao", {**environ, "BAO_TOKEN": "x"}, key_name=key)
        with pytest.raises(EncryptionFailure, match="permission denied"):
            stranger.provide(None)


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
    ],
)
def test_arguments_that_are_refused(kind: str, given: dict[str, Value], says: str) -> None:
    with pytest.raises(EncryptionFailure, match=says):
        provider(kind, {}, **given)
