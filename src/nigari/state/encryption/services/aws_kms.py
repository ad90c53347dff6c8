"""The key provider `aws_kms`: data keys of AWS KMS."""

from __future__ import annotations

from collections.abc import Mapping

from nigari.clouds.arguments import Arguments
from nigari.clouds.aws.client import AwsClient, AwsService
from nigari.clouds.aws.credentials import CredentialChain
from nigari.clouds.aws.settings import aws_endpoint, aws_network, aws_region, aws_sources
from nigari.clouds.aws.signing import Credentials
from nigari.clouds.failures import CloudFailure
from nigari.net.client import Client, Policy
from nigari.state.encryption.arguments import ArgumentReader
from nigari.state.encryption.keys import EncryptionFailure
from nigari.state.encryption.services.base import DataKey, KeyService, decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_ARGUMENTS: Final = [
    "access_key",
    "allowed_account_ids",
    "assume_role",
    "assume_role_with_web_identity",
    "custom_ca_bundle",
    "ec2_metadata_service_endpoint",
    "ec2_metadata_service_endpoint_mode",
    "endpoints",
    "forbidden_account_ids",
    "http_proxy",
    "https_proxy",
    "insecure",
    "max_retries",
    "no_proxy",
    "profile",
    "region",
    "retry_mode",
    "secret_key",
    "shared_config_files",
    "shared_credentials_files",
    "skip_credentials_validation",
    "skip_metadata_api_check",
    "skip_requesting_account_id",
    "sts_region",
    "token",
    "use_dualstack_endpoint",
    "use_fips_endpoint",
]


class AwsKms(KeyService):
    """Data keys of AWS KMS."""

    sealed_as = "ciphertext_blob"

    def __init__(
        self, arguments: Arguments, key: str, spec: str, context: Mapping[str, str]
    ) -> None:
        super().__init__(aws_network(arguments))
        region = aws_region(arguments)
        self._policy = Policy(retries=arguments.number("max_retries", default=5))
        self._kms = AwsService("kms", region, aws_endpoint(arguments, "kms", region))
        sts_region = arguments.text("sts_region") or region
        sts = AwsService("sts", sts_region, aws_endpoint(arguments, "sts", sts_region))
        self._chain = CredentialChain(aws_sources(arguments), sts, self._policy)
        self._key = key
        self._spec = spec
        self._context = context

    async def make(self, client: Client) -> DataKey:
        context = {"EncryptionContext": self._context} if self._context else {}
        answer = await self._call(client, "GenerateDataKey", KeySpec=self._spec, **context)
        stored: dict[str, object] = {self.sealed_as: str(answer.get("CiphertextBlob", ""))}
        if self._context:
            stored["encryption_context"] = self._context
        return DataKey(decoded(answer.get("Plaintext")), stored)

    async def open(self, client: Client, stored: Mapping[str, object]) -> bytes:
        # KMS requires the encryption context of the file, which may differ from the configured one.
        sealed, context = str(stored[self.sealed_as]), stored.get("encryption_context")
        more = {"EncryptionContext": context} if isinstance(context, dict) else {}
        answer = await self._call(client, "Decrypt", CiphertextBlob=sealed, **more)
        return decoded(answer.get("Plaintext"))

    async def _call(self, client: Client, operation: str, **more: object) -> Mapping[str, object]:
        async def identity() -> Credentials:
            return await self._chain.current(client)

        aws = AwsClient(client, identity, self._policy)
        return await aws.call(self._kms, f"TrentService.{operation}", {"KeyId": self._key, **more})


def build(reader: ArgumentReader) -> AwsKms:
    """Build the key provider `aws_kms`."""
    key, spec = reader.required("kms_key_id"), reader.required("key_spec")
    context = reader.string_map("encryption_context")
    arguments = reader.for_cloud(_ARGUMENTS)
    if not arguments.text("region", "AWS_REGION", "AWS_DEFAULT_REGION"):
        raise EncryptionFailure(
            "The region is set neither here nor by the environment variable AWS_REGION."
        )
    try:
        return AwsKms(arguments, key, spec, context)
    except CloudFailure as failure:
        raise EncryptionFailure(failure.text) from None
